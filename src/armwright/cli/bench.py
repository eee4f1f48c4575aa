"""``armwright bench``: success and compliance per sentence and arm, as a table."""

from __future__ import annotations

from typing import Annotated

import typer

from armwright.cli.common import (
    MAX_WORKERS,
    EngineOption,
    JsonOption,
    OutOption,
    ParserOption,
    SeedOption,
    check_count,
    default_out,
    emit_json,
    progress,
)
from armwright.core.errors import UnknownNameError, UsageError


def bench(
    task: Annotated[
        list[str] | None, typer.Option("--task", help="A sentence, or a task's name; may be given several times.")
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option("--suite", help="fifty, easy, medium or hard; may be given several times.")
    ] = None,
    robots: Annotated[str, typer.Option("--robots", help="Arms, comma-separated, or all.")] = "all",
    rollouts: Annotated[int, typer.Option("--rollouts", help="Fresh seeds per cell.")] = 10,
    workers: Annotated[int, typer.Option("--workers", help="Worker processes; 0: one per core.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what --out already holds.")] = False,
    seed: SeedOption = 0,
    out: OutOption = None,
    grasps: Annotated[str, typer.Option("--grasps", help="Grasp sources, comma-separated.")] = "affordance",
    affordance: Annotated[str, typer.Option("--affordance", help="Affordance model.")] = "oracle",
    parser: ParserOption = None,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Draw each cell's first rollout and those that failed.")
    ] = True,
    engine: EngineOption = "local",
    json: JsonOption = False,
) -> None:
    """Roll out every task on every arm with fresh seeds, and print success and compliance with their intervals."""
    from armwright.generate import suite as suites
    from armwright.generate.bench import BenchRequest, run_bench
    from armwright.generate.tables import format_table

    check_count("--rollouts", rollouts)
    check_count("--workers", workers, low=0, high=MAX_WORKERS)
    request = BenchRequest(
        sentences=(*(name for group in suite or () for name in suites.suite(group)), *(task or ())),
        robots=tuple(name.strip() for name in robots.split(",") if name.strip()),
        rollouts=rollouts,
        seed=seed,
        workers=workers,
        grasps=tuple(name.strip() for name in grasps.split(",") if name.strip()),
        affordance=affordance,
        parser=parser,
        pictures=pictures,
        engine=engine,
    )
    folder = out or default_out("bench")
    with progress("rollouts", request.total, quiet=json) as update:
        try:
            record = run_bench(request, folder, resume=resume, update=update)
        except UnknownNameError:
            raise
        except UsageError as error:
            if all(len(text.split()) != 1 for text in task or ()):
                raise
            raise UsageError(str(error), hint="Tasks' names are in docs/tasks.md; --suite fifty runs all.") from error
    if json:
        emit_json(record.to_json())
    else:
        typer.echo(format_table(record.to_json()))
        typer.echo(f"page: {record.files['page']}")
        typer.echo(f"record: {folder / 'result.json'}")
    raise typer.Exit(0 if record.ok else 1)
