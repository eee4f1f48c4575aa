"""What every command shares: options, error messages, exit codes, output folders, progress."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from armwright.core.errors import UsageError

# Episodes are numbered seed * 1,000,000 + index, which a dataset stores in 64 bits.
MAX_SEED = 2**32 - 1
# Far more than any machine has, so that a slip is not taken for a wish.
MAX_WORKERS = 100_000
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of every random draw.", min=0, max=MAX_SEED)]


def given_path(text: str) -> Path:
    """Return a path from the command line.

    Raises:
        UsageError: It has no characters, which would mean the present folder.
    """
    if not text:
        raise UsageError("a path is empty; it must name a file or folder.", hint="For the present folder write '.'.")
    return Path(text)


OutOption = Annotated[Path | None, typer.Option("--out", help="Folder for the results.", file_okay=False)]
EngineOption = Annotated[
    str,
    typer.Option("--engine", help="Compute engine: local (processes here) or ray (a cluster; see docs/scale.md)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result record, and nothing else, on stdout.")]
RobotOption = Annotated[str, typer.Option("--robot", help="franka, kinova, sawyer, ur5e or xarm7.", show_default=True)]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Chat model that parses the sentence, e.g. openai:NAME or anthropic:NAME; without it "
        "the built-in parser works offline.",
    ),
]
ParserOption = Annotated[
    str | None,
    typer.Option(
        "--parser",
        help="Parser of the sentence: embedded, chat (which --model selects), or one that a package adds.",
    ),
]

RandomiseOption = Annotated[
    str | None,
    typer.Option(
        "--randomise",
        help="Axes to randomise, all others being fixed: pose, texture, lighting, background, noise, or none; or a "
        "YAML file of ranges. Without it poses are drawn and pictures look plain.",
    ),
]
TexturesOption = Annotated[
    Path | None,
    typer.Option(
        "--textures", help="Folder of pictures for textures and backgrounds, beside patterns.", parser=given_path
    ),
]
SplatOption = Annotated[
    list[Path] | None,
    typer.Option("--splat", help="Gaussian field (.ply, .splat) as background; may be repeated.", parser=given_path),
]


def slug(text: str, *, limit: int = 40) -> str:
    """Turn a sentence into the tail of a folder's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:limit].strip("-") or "run"


def default_out(text: str, *, parent: str = "runs") -> Path:
    """Return ``runs/<time>-<slug>``, with a number where that exists already."""
    first = Path(parent) / f"{time.strftime('%Y%m%d-%H%M%S')}-{slug(text)}"
    path, number = first, 2
    while path.exists():
        path, number = first.with_name(f"{first.name}-{number}"), number + 1
    return path


def emit_json(record: Any) -> None:
    """Write a record to stdout as JSON."""
    sys.stdout.write(json.dumps(record, indent=2, allow_nan=False) + "\n")


def say(text: str, *, quiet: bool = False) -> None:
    """Write a line for a person to stderr, so that stdout stays machine-readable."""
    if not quiet:
        sys.stderr.write(text + "\n")


def check_count(name: str, value: int, *, low: int = 1, high: int = 1_000_000) -> int:
    """Check a count from the command line.

    Raises:
        UsageError: It lies outside.
    """
    if not low <= value <= high:
        raise UsageError(f"{name} is {value}; it must be from {low} to {high}.")
    return value


@contextmanager
def progress(title: str, total: int, *, quiet: bool) -> Iterator[Any]:
    """Show a progress bar on a terminal; yields a function to call with the number of finished items."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, note="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done, note="": bar.update(task, completed=done, description=f"{title} {note}".strip())
