"""The ``armwright`` command: registers one command per file and turns errors into messages and exit codes."""

from __future__ import annotations

import errno
import sys
from typing import Annotated

import typer

from armwright import __version__
from armwright.cli import assets, bench, dataset, doctor, generate, parse, robots, run
from armwright.core.errors import ArmwrightError

_INTERRUPTED = "armwright: interrupted; what was finished is kept.\n"
# What a disk may answer to any write, also one deep inside a library.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)

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


def _version(value: bool) -> None:
    if value:
        typer.echo(f"armwright {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; exit 0 when done, 1 when the task failed, 2 for misuse."""
    try:
        app()
    except ArmwrightError as error:
        sys.stderr.write(f"armwright: {error}\n")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write(_INTERRUPTED)
        sys.exit(130)
    except SystemExit as end:
        if end.code == 130:  # typer turned the interrupt into an exit without a word
            sys.stderr.write(_INTERRUPTED)
        raise
    except BrokenPipeError:
        sys.exit(141)
    except OSError as error:
        if error.errno not in _DISK:
            raise
        where = f" {error.filename}" if error.filename else ""
        sys.stderr.write(f"armwright: cannot write{where}: {error.strerror}. Free some space, then try again.\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
