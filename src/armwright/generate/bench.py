"""`bench`: sentences × arms × grasp sources, fresh seeds, success and compliance with their intervals."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armwright.assets.scene import ParsedTask
from armwright.core.errors import ArmwrightError, UsageError, quoted
from armwright.core.pool import CrashCount, crash_text, episode_seed, watchdog
from armwright.generate.engines import Engine, compute_engine
from armwright.generate.entries import RolloutEntry, rollout_key
from armwright.generate.names import check_names
from armwright.generate.parsing import check_skills, parse_sentence
from armwright.generate.snapshots import snapshot_path, write_snapshot
from armwright.generate.stages import stage_outcomes, stage_rates, unreached
from armwright.generate.suite import is_task_name, load_task
from armwright.generate.tables import write_tables
from armwright.recording.journal import Journal
from armwright.recording.outputs import check_out
from armwright.recording.result import Outcome, ResultRecord, bench_rows, bench_summary, collect_versions

if TYPE_CHECKING:
    from armwright.generate.episode import Episode


@dataclass(frozen=True)
class BenchRequest:
    """What to measure; each of the sentences is one, or the name of a task."""

    sentences: tuple[str, ...]
    robots: tuple[str, ...] = ("all",)
    rollouts: int = 10
    seed: int = 0
    workers: int = 0
    grasps: tuple[str, ...] = ("affordance",)
    affordance: str = "oracle"
    parser: str | None = None
    pictures: bool = False
    engine: str = "local"

    def arms(self) -> tuple[str, ...]:
        """Return the arms by name.

        Raises:
            UnknownNameError: There is no such arm.
        """
        from armwright.robots.registry import load_spec, robot_names

        names = robot_names() if "all" in self.robots else self.robots
        for name in names:
            load_spec(name)
        return tuple(dict.fromkeys(names))

    @property
    def total(self) -> int:
        """Number of rollouts in all."""
        return len(set(self.sentences)) * len(self.arms()) * len(set(self.grasps)) * self.rollouts


@dataclass(frozen=True)
class _Rollout:
    sentence: str
    parsed: ParsedTask
    robot: str
    grasps: str
    affordance: str
    seed: int
    picture: Path | None = None
    first: bool = False

    def __str__(self) -> str:
        return self.key

    @property
    def key(self) -> str:
        """What tells it from all others of the bench."""
        return rollout_key(robot=self.robot, grasps=self.grasps, sentence=self.sentence, seed=self.seed)


def run_bench(
    request: BenchRequest,
    out: Path,
    *,
    resume: bool = False,
    update: Callable[..., None] = lambda done, note="": None,
) -> ResultRecord:
    """Run every cell and write ``out/result.json``.

    Raises:
        UsageError: No sentence, one that cannot be parsed, wrong names, or a folder or journal that cannot be gone
            on with.
        OutputError: The folder cannot be written.
    """
    started = time.perf_counter()
    engine = compute_engine(request.engine)
    if not request.sentences:
        raise UsageError("bench got no task.", hint='Give --task "SENTENCE", --task NAME or --suite fifty.')
    check_out(out)
    arms = request.arms()
    parsed = {sentence: parse_sentence(sentence, parser=request.parser)[0] for sentence in request.sentences}
    check_names(robots=arms, grasps=request.grasps, affordance=request.affordance)
    for task in parsed.values():
        check_skills(task)
    identity = {
        "sentences": list(dict.fromkeys(request.sentences)),
        "robots": list(arms),
        "grasps": list(dict.fromkeys(request.grasps)),
        "affordance": request.affordance,
        "seed": request.seed,
        **({"parser": request.parser} if request.parser is not None else {}),
    }
    named = {name: load_task(name).model_dump(mode="json") for name in parsed if is_task_name(name)}
    if named:  # a task file that was edited since makes another bench
        identity["tasks"] = named
    with Journal(out, identity, resume=resume, entry=RolloutEntry) as journal:
        return _bench(request, arms, parsed, out, journal, engine, update, started)


def _bench(
    request: BenchRequest,
    arms: tuple[str, ...],
    parsed: dict[str, ParsedTask],
    out: Path,
    journal: Journal,
    engine: Engine,
    update: Callable[..., None],
    started: float,
) -> ResultRecord:
    from armwright.robots.bake import baked_robot

    for name in arms:
        baked_robot(name, progress=lambda text: update(len(journal.entries), f"({text})"))
    finished = _once(journal)
    everything = list(_rollouts(request, arms, parsed, out))
    todo = [r for r in everything if r.key not in finished]
    waiting = iter(todo)

    def next_task(running: int) -> _Rollout | None:
        return next(waiting, None)

    crashes = CrashCount()

    def done(entry: dict[str, Any]) -> None:
        journal.add(entry)
        finished[entry["key"]] = entry
        crashes.note(entry["failed"])
        show()

    def show() -> None:
        ended = wanted & finished.keys()
        good = sum(finished[key]["success"] and finished[key]["compliance"] is not False for key in ended)
        update(len(ended), f"({good} succeeded)")

    wanted = {r.key for r in everything}
    show()
    engine.run(_work, next_task, done, workers=request.workers)
    entries = sorted((finished[key] for key in wanted), key=lambda e: e["order"])
    rows = bench_rows(
        Outcome(
            slice={"robot": e["robot"], "grasps": e["grasps"], "task": e["task"]},
            success=e["success"],
            compliance=e["compliance"] is not False,
            failed_stage=e["failed"],
        )
        for e in entries
    )
    record = ResultRecord(
        command="bench",
        ok=True,
        seed=request.seed,
        wall_s=time.perf_counter() - started,
        sim_s=sum(e["sim_s"] for e in entries),
        versions=collect_versions(),
        files={"journal": str(journal.path)},
        extra={
            "rollouts": request.rollouts,
            "rows": [row.to_json() for row in rows],
            "stage_rates": stage_rates(entries),
            "pictures": _pictures(everything, finished),
            "summary": bench_summary(rows),
            "draws": sum(e["draws"] for e in entries),
            "rejected_draws": sum(e["rejected"] for e in entries),
            "touched": sum(bool(e["touched"]) for e in entries),
        },
    )
    record = record.model_copy(update={"files": {**record.files, **write_tables(record.to_json(), out)}})
    record.write(out / "result.json")
    return record


def _pictures(rollouts: list[_Rollout], finished: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the pictures that were drawn: each cell's first rollout, and the first that failed."""
    found, failed = [], set()
    for rollout in rollouts:
        path, entry = rollout.picture, finished[rollout.key]
        cell = (rollout.sentence, rollout.robot, rollout.grasps)
        good = entry["success"] and entry["compliance"] is not False
        if path is None or not path.is_file() or not (rollout.first or (not good and cell not in failed)):
            continue
        if not good:
            failed.add(cell)
        found.append(
            {
                "task": rollout.sentence,
                "robot": rollout.robot,
                "grasps": rollout.grasps,
                "seed": rollout.seed,
                "outcome": "success" if good else str(entry["failed"]),
                "file": f"{path.parent.name}/{path.name}",
            }
        )
    return found


def _once(journal: Journal) -> dict[str, dict[str, Any]]:
    """Return the journal's rollouts by key. A line that says again what another said counts once.

    Raises:
        UsageError: Two lines disagree about a rollout; seeds fix it, so one of them is wrong.
    """
    finished: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(journal.entries, 1):
        before = finished.setdefault(entry["key"], entry)
        if before != entry:
            raise UsageError(
                f"line {number} of {journal.path} contradicts line {journal.entries.index(before) + 1} about "
                f"{quoted(entry['task'])} on {entry['robot']}, seed {entry['seed']}.",
                hint="Delete both lines and use --resume: the rollout is then done again.",
            )
    return finished


def _rollouts(
    request: BenchRequest, arms: tuple[str, ...], parsed: dict[str, ParsedTask], out: Path
) -> Iterator[_Rollout]:
    for robot in arms:
        for grasps in dict.fromkeys(request.grasps):
            for sentence in dict.fromkeys(request.sentences):
                for index in range(request.rollouts):
                    seed = episode_seed(request.seed, index)
                    path = snapshot_path(out, task=sentence, robot=robot, grasps=grasps, seed=seed)
                    yield _Rollout(
                        sentence,
                        parsed[sentence],
                        robot,
                        grasps,
                        request.affordance,
                        seed,
                        picture=path if request.pictures else None,
                        first=index == 0,
                    )


@lru_cache(maxsize=2)
def _session(robot: str) -> Any:
    from armwright.generate.session import Session

    return Session.open(robot)


def _work(rollout: _Rollout) -> dict[str, Any]:
    from armwright.generate.episode import EpisodeRequest, run_episode

    complied = False if any(query.role == "grasp" for query in rollout.parsed.queries) else None
    entry: dict[str, Any] = {
        "key": rollout.key,
        "order": [rollout.robot, rollout.grasps, rollout.sentence, rollout.seed],
        "robot": rollout.robot,
        "grasps": rollout.grasps,
        "task": rollout.sentence,
        "seed": rollout.seed,
        "success": False,
        "compliance": complied,
        "failed": None,
        "detail": "",
        "sim_s": 0.0,
        "draws": 0,
        "rejected": 0,
        "touched": [],
        "stages": unreached(rollout.parsed.primitives),
    }
    wanted = EpisodeRequest(rollout.parsed, rollout.seed, grasps=rollout.grasps, affordance=rollout.affordance)
    try:
        with watchdog():
            episode = run_episode(_session(rollout.robot), wanted)
    except ArmwrightError as error:
        if error.exit_code != 1:
            raise
        return entry | {"failed": type(error).__name__.removesuffix("Error").lower(), "detail": str(error)}
    except OSError:
        raise
    except Exception as error:  # one bad seed must not end the table, now and at every resume
        return entry | {"failed": "crash", "detail": crash_text(error)}
    if rollout.picture is not None and rollout.picture.parent.parent.is_dir() and (rollout.first or not episode.ok):
        _draw(rollout.picture, episode)
    last = next((s for s in episode.stages if not s.ok), None)
    return entry | {
        "success": episode.graded.success,
        "compliance": episode.graded.compliance,
        "failed": episode.failed_stage,
        "detail": last.detail if last else episode.graded.detail,
        "sim_s": episode.sim_s,
        "draws": episode.draws,
        "rejected": sum(episode.rejected.values()),
        "touched": list(episode.graded.touched),
        "stages": stage_outcomes(episode),
    }


def _draw(path: Path, episode: Episode) -> None:
    """Draw a rollout's picture; one that fails or takes too long is left out, and the grade stays what it is.

    Raises:
        ArmwrightError: Nothing can be drawn or written here at all.
    """
    try:
        with watchdog():
            write_snapshot(path, episode)
    except Exception as error:
        if isinstance(error, ArmwrightError) and error.exit_code != 1:
            raise
        warnings.warn(f"no picture {path.name}: {crash_text(error)}", stacklevel=2)
