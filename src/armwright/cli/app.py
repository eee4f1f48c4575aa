"""The ``armwright`` commands: registers one per file."""

from __future__ import annotations

from typing import Annotated

import typer

import armwright
from armwright.cli import assets, bench, dataset, doctor, generate, parse, robots, run, shelf

app = typer.Typer(
    name="armwright",
    help="From a sentence to a scene, affordance-guided grasps, planned motions and graded, recorded demonstrations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("doctor")(doctor.doctor)
app.command("parse")(parse.parse)
app.command("run")(run.run)
app.command("generate")(generate.generate)
app.command("bench")(bench.bench)
app.add_typer(dataset.app, name="dataset")
app.add_typer(assets.app, name="assets")
app.add_typer(robots.app, name="robots")
app.add_typer(shelf.app, name="shelf")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"armwright {armwright.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
