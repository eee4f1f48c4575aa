"""``armwright dataset``: check, replay, describe and join recorded datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armwright.cli.common import JsonOption, emit_json, given_path, progress

app = typer.Typer(help="Recorded datasets: verify, replay, info, merge.", no_args_is_help=True)
FolderArgument = Annotated[
    Path, typer.Argument(help="A dataset folder (LeRobot v3).", parser=given_path, metavar="FOLDER")
]


@app.command("info")
def info(folder: FolderArgument, json: JsonOption = False) -> None:
    """Print what a dataset holds."""
    from armwright.recording.reader import dataset_info

    record = dataset_info(folder)
    if json:
        emit_json(record)
        return
    for key, value in record.items():
        typer.echo(f"{key:<16} {value}")


@app.command("verify")
def verify(folder: FolderArgument, json: JsonOption = False) -> None:
    """Check every invariant that a reader relies on."""
    from armwright.recording.verify import verify_dataset

    report = verify_dataset(folder)
    if json:
        emit_json(report.to_json())
    else:
        for problem in report.problems:
            typer.echo(f"  {problem}")
        typer.echo(f"{report.checks} checks, {len(report.problems)} problems, {report.episodes} episodes")
    raise typer.Exit(0 if report.ok else 1)


@app.command("replay")
def replay(
    folder: FolderArgument,
    episodes: Annotated[int, typer.Option("--episodes", help="How many to replay; 0: all.")] = 0,
    json: JsonOption = False,
) -> None:
    """Replay episodes from their stored states and, in a fresh world, from their actions; grade both."""
    from armwright.generate.replay import replay_count, replay_dataset

    with progress("episodes", replay_count(folder, limit=episodes), quiet=json) as update:
        record = replay_dataset(folder, limit=episodes, update=update)
    if json:
        emit_json(record)
    else:
        n = record["episodes"]
        typer.echo(f"from states:  {record['states_identical']} of {n} identical")
        typer.echo(f"from actions: {record['actions_same_grade']} of {n} with the same grade")
    raise typer.Exit(0 if record["ok"] else 1)


@app.command("merge")
def merge(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="Datasets, or folders of generate that hold one, in the order to join them in.",
            parser=given_path,
            metavar="FOLDER...",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of the dataset to make.", file_okay=False)],
    verify: Annotated[bool, typer.Option("--verify/--no-verify", help="Check what was made.")] = True,
    json: JsonOption = False,
) -> None:
    """Join datasets of one robot into one; videos are shared or copied, never encoded again.

    Called again, it goes on where it stopped, or adds what is new.
    """
    from armwright.generate.joining import join_runs

    with progress("episodes", 0, quiet=json) as update:
        record = join_runs(folders, out, verify=verify, update=update)
    if json:
        emit_json(record)
    else:
        for problem in record["problems"]:
            typer.echo(f"  {problem}")
        checked = f", {len(record['problems'])} problems" if verify else ""
        typer.echo(f"{record['episodes']} episodes of {record['tasks']} instructions{checked}")
        typer.echo(f"dataset: {out}")
    raise typer.Exit(0 if record["ok"] else 1)
