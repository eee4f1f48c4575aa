"""``armwright shelf bench``: the methods compared on sets of scenes, as the paper's tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armwright.cli.common import (
    MAX_SEED,
    MAX_WORKERS,
    JsonOption,
    ModelOption,
    OutOption,
    SeedOption,
    check_count,
    default_out,
    emit_json,
    progress,
)
from armwright.core.errors import UsageError, quoted

if TYPE_CHECKING:
    from armwright.recording.result import ResultRecord


def bench(
    sets: Annotated[
        str, typer.Option("--set", help="Sets of scenes, comma-separated.")
    ] = "single-row,multi-row,varying-clearance",
    runs: Annotated[int, typer.Option("--runs", help="Scenes of a set, from consecutive seeds.")] = 100,
    methods: Annotated[
        str, typer.Option("--methods", help="ours, bl1, bl2, basic, gt-labels, score; comma-separated.")
    ] = "ours,bl1,bl2,basic,gt-labels",
    place: Annotated[
        str | None, typer.Option("--place", help="Methods whose placing is executed; else ours, bl1 and bl2.")
    ] = None,
    table: Annotated[
        str,
        typer.Option("--table", help="1 (maps alone), 2, or 1,2; or 3, which takes --seed, --workers and --resume."),
    ] = "1,2",
    workers: Annotated[int, typer.Option("--workers", help="Worker processes; 0: one per core.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what --out already holds.")] = False,
    seed: SeedOption = 0,
    out: OutOption = None,
    segmenter: Annotated[
        str, typer.Option("--segmenter", help="boundary, planes, sam3, or simulated (true masks).")
    ] = "boundary",
    describer: Annotated[str, typer.Option("--describer", help="labels, chat, or an installed one.")] = "labels",
    reasoner: Annotated[str, typer.Option("--reasoner", help="embedded, chat, or an installed one.")] = "embedded",
    model: ModelOption = None,
    noise: Annotated[str, typer.Option("--noise", help="Of the depth camera: none, stereo …")] = "stereo",
    views: Annotated[int, typer.Option("--views", help="Viewpoints of the shelf.")] = 9,
    target_views: Annotated[int, typer.Option("--target-views", help="Viewpoints of the object to place.")] = 4,
    json: JsonOption = False,
) -> None:
    """Compare methods on sets of scenes: OMAR's Tables I and II, or its Table III."""
    from armwright.shelf.bench import BenchRequest, run_bench
    from armwright.shelf.bench_tables import format_tables
    from armwright.shelf.methods import PLACED

    check_count("--runs", runs)
    check_count("--workers", workers, low=0, high=MAX_WORKERS)
    if table.strip() == "3":
        _table3(seed=seed, workers=workers, resume=resume, out=out or default_out("shelf-bench-3"), json=json)
        return
    check_count("--views", views, high=60)
    check_count("--target-views", target_views, high=60)
    if seed + runs - 1 > MAX_SEED:
        raise UsageError(f"the last scene would have seed {seed + runs - 1}; the largest is {MAX_SEED}.")
    names = _listed(methods)
    request = BenchRequest(
        sets=_listed(sets),
        runs=runs,
        seed=seed,
        methods=names,
        place=_listed(place) if place is not None else tuple(name for name in PLACED if name in names),
        tables=_tables(table),
        workers=workers,
        segmenter=segmenter,
        describer=describer,
        reasoner=reasoner,
        model=model,
        noise=noise,
        shelf_views=views,
        target_views=target_views,
    )
    folder = out or default_out("shelf-bench")
    with progress("scenes", request.total, quiet=json) as update:
        record = run_bench(request, folder, resume=resume, update=update)
    if json:
        emit_json(record.to_json())
        return
    _show(format_tables(record.to_json()), record, folder)


def _table3(*, seed: int, workers: int, resume: bool, out: Path, json: bool) -> None:
    from armwright.shelf.records import ATTRIBUTES
    from armwright.shelf.table3 import format_table3, run_table3

    with progress("attributes", len(ATTRIBUTES), quiet=json) as update:
        record = run_table3(out, seed=seed, workers=workers, resume=resume, update=update)
    if json:
        emit_json(record.to_json())
        return
    _show(format_table3(record.to_json()), record, out)


def _show(table: str, record: ResultRecord, folder: Path) -> None:
    typer.echo(table)
    typer.echo(f"page: {record.files['page']}")
    typer.echo(f"record: {folder / 'result.json'}")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _tables(text: str) -> tuple[int, ...]:
    if not set(_listed(text)) <= {"1", "2"} or not text.strip():
        raise UsageError(f"--table takes 1, 2, 1,2 or 3, got {quoted(text)}.")
    return tuple(int(name) for name in _listed(text))
