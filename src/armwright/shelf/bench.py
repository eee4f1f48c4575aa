"""`armwright shelf bench`: scenes × methods, resumable, and Tables I and II of OMAR from what came of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.files import write_text
from armwright.core.pool import CrashCount, cores, run_in_order
from armwright.recording.journal import Journal
from armwright.recording.outputs import check_out
from armwright.recording.result import ResultRecord, collect_versions
from armwright.shelf.bench_page import page
from armwright.shelf.bench_tables import best_rows, format_tables, mapping_rows, placing_rows, rows_csv, scenes_csv
from armwright.shelf.methods import PLACED, methods_of
from armwright.shelf.parts import Parts
from armwright.shelf.scene_files import SCENE_NAMES
from armwright.shelf.trial import Trial, check_parts, run_trial
from armwright.shelf.worlds import ROBOT

COMMAND = "shelf bench"
DEFAULT_SETS = ("single-row", "multi-row", "varying-clearance")
DEFAULT_METHODS = ("gt-labels", "ours", "basic", "bl1", "bl2")
TEXT, CSV, SCENES_CSV, PAGE = "table.txt", "table.csv", "scenes.csv", "table.html"


@dataclass(frozen=True)
class BenchRequest(Parts):
    """What to measure, with which parts.

    Attributes:
        sets: Of scenes, by name.
        runs: Scenes of a set, from consecutive seeds.
        seed: Of the first scene.
        methods: By name.
        place: Methods whose placing is executed.
        tables: 1, 2 or both; for the first alone nothing is chosen and nothing placed.
        workers: Processes; 0 for one per core.
    """

    sets: tuple[str, ...] = DEFAULT_SETS
    runs: int = 100
    seed: int = 0
    methods: tuple[str, ...] = DEFAULT_METHODS
    place: tuple[str, ...] = PLACED
    tables: tuple[int, ...] = (1, 2)
    workers: int = 0

    @property
    def total(self) -> int:
        """Number of scenes in all."""
        return len(dict.fromkeys(self.sets)) * self.runs

    def trials(self) -> list[Trial]:
        """Return the scenes, set by set."""
        return [
            Trial(
                scene=name,
                seed=self.seed + k,
                methods=tuple(method.name for method in methods_of(self.methods)),
                place=tuple(method.name for method in methods_of(self.place) if method.name in self.methods),
                choose=2 in self.tables,
                **self.parts(),
            )
            for name in dict.fromkeys(self.sets)
            for k in range(self.runs)
        ]

    def identity(self) -> dict[str, Any]:
        """Return what a folder is a bench of; more sets and more runs may be added to it."""
        one = self.trials()[0]
        kept = {name: value for name, value in vars(one).items() if name not in ("scene", "seed")}
        kept = {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}
        return {"command": COMMAND, "seed": self.seed, **kept}


class SceneEntry(BaseModel):
    """A line of the journal: one scene with all methods.

    Attributes:
        key: Set and seed.
        failed: Why no method could begin; None if they could.
        mapping: Method -> metrics of its map.
        placing: Method -> how its placing went.
        weights: The experts', for this scene.
        best: SF of the best places that are truly free.
        cpu_s: Part -> computing time [s].
    """

    model_config = ConfigDict(strict=True, extra="allow")

    key: str
    scene: str
    seed: Annotated[int, Field(ge=0)]
    failed: str | None
    mapping: dict[str, dict[str, float]]
    placing: dict[str, dict[str, Any]]
    weights: dict[str, float]
    best: dict[str, float] = {}
    cpu_s: dict[str, float]


def run_bench(
    request: BenchRequest,
    out: Path,
    *,
    resume: bool = False,
    update: Callable[..., None] = lambda done, note="": None,
) -> ResultRecord:
    """Run every scene and write the tables and ``out/result.json``.

    Raises:
        UsageError: Wrong names or counts, or a folder or journal that cannot be gone on with.
        OutputError: The folder cannot be written.
    """
    started = time.perf_counter()
    check_out(out)
    _check(request)
    with Journal(out, request.identity(), resume=resume, entry=SceneEntry) as journal:
        finished = {entry["key"]: entry for entry in journal.entries}
        trials = request.trials()
        wanted = [trial.key for trial in trials]
        waiting = iter([trial for trial in trials if trial.key not in finished])
        crashes = CrashCount()

        def done(entry: dict[str, Any]) -> None:
            journal.add(entry)
            finished[entry["key"]] = entry
            failures = [entry["failed"], *(row["failed"] for row in entry["placing"].values())]
            crashes.note(next((f for f in failures if f is not None and f.startswith("crash")), None))
            show()

        def show() -> None:
            ended = [finished[key] for key in wanted if key in finished]
            update(len(ended), _so_far(ended))

        show()
        run_in_order(run_trial, lambda running: next(waiting, None), done, workers=request.workers or cores())
        entries = [finished[key] for key in wanted]
        record = _record(request, entries, {"journal": str(journal.path)}, wall_s=time.perf_counter() - started)
        texts = bench_files(record.to_json())
        for name, text in {**texts, SCENES_CSV: scenes_csv(entries, methods=request.methods)}.items():
            write_text(out / name, text)
        roles = {TEXT: "table", CSV: "csv", SCENES_CSV: "scenes", PAGE: "page"}
        record = record.model_copy(
            update={"files": {**record.files, **{role: str(out / name) for name, role in roles.items()}}}
        )
        record.write(out / "result.json")
    return record


def bench_files(record: Mapping[str, Any]) -> dict[str, str]:
    """Return name -> text of the tables that a record holds, as JSON data."""
    return {TEXT: format_tables(record) + "\n", CSV: rows_csv(record), PAGE: page(record)}


def _check(request: BenchRequest) -> None:
    if not request.sets or not request.methods:
        raise UsageError("shelf bench needs at least one set and one method.")
    for name in request.sets:
        if name not in SCENE_NAMES:
            raise UnknownNameError("shelf scene", name, SCENE_NAMES)
    methods_of((*request.methods, *request.place))
    absent = [name for name in request.place if name not in request.methods and request.place != PLACED]
    if absent:
        raise UsageError(f"--place names {', '.join(absent)}, which --methods does not.")
    if not request.tables or not set(request.tables) <= {1, 2}:
        raise UsageError(f"tables of scenes are 1 and 2, got {request.tables}.")
    if request.runs < 1 or min(request.shelf_views, request.target_views) < 1:
        raise UsageError("a bench needs at least one run, one view of the shelf and one of the target.")
    check_parts(request)


def _so_far(entries: Sequence[Mapping[str, Any]]) -> str:
    placed = [row["placed"] for entry in entries if (row := entry["placing"].get("ours")) is not None]
    if not placed:
        return ""
    return f"(ours placed {sum(p is not None and p['success'] for p in placed)} of {len(placed)})"


def _record(
    request: BenchRequest, entries: Sequence[Mapping[str, Any]], files: dict[str, str], *, wall_s: float
) -> ResultRecord:
    cpu: Counter[str] = Counter()
    for entry in entries:
        cpu.update(entry["cpu_s"])
    failed = Counter(
        (entry["scene"], name, row["failed"].partition(":")[0])
        for entry in entries
        for name, row in entry["placing"].items()
        if row["failed"] is not None
    )
    return ResultRecord(
        command=COMMAND,
        ok=True,
        seed=request.seed,
        robot=ROBOT,
        wall_s=wall_s,
        versions=collect_versions(),
        files=files,
        extra={
            "runs": request.runs,
            "sets": list(dict.fromkeys(request.sets)),
            "request": request.identity(),
            "rows": [
                *(mapping_rows(entries, methods=request.methods) if 1 in request.tables else []),
                *(placing_rows(entries, methods=request.methods, placed=request.place) if 2 in request.tables else []),
            ],
            "best": best_rows(entries) if 2 in request.tables else [],
            "scenes_not_begun": [
                {"scene": e["scene"], "seed": e["seed"], "reason": e["failed"]} for e in entries if e["failed"]
            ],
            "failures": [
                {"set": scene, "method": method, "stage": stage, "n": n}
                for (scene, method, stage), n in sorted(failed.items(), key=lambda item: (item[0][:2], -item[1]))
            ],
            "cpu_s_per_scene": {name: round(value / len(entries), 3) for name, value in sorted(cpu.items())},
        },
    )
