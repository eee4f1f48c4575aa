"""`generate`: demonstrations of one sentence into a LeRobot dataset, in parallel, resumable, seeds in order."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from armwright.assets.scene import ParsedTask
from armwright.core.errors import ArmwrightError, SceneError, UnknownNameError, UsageError
from armwright.core.files import write_json
from armwright.generate.entries import AttemptEntry
from armwright.generate.inputs import check_out, check_text
from armwright.generate.journal import Journal
from armwright.generate.names import check_names
from armwright.generate.parsing import check_skills, parse_sentence
from armwright.generate.pool import (
    CrashCount,
    EpisodeTimeoutError,
    cores,
    crash_text,
    episode_seed,
    run_in_order,
    watchdog,
)
from armwright.recording.layout import episode_key
from armwright.recording.lerobot import finished_keys
from armwright.recording.result import ResultRecord, collect_versions

# Attempts per wanted demonstration before a run gives up.
MAX_ATTEMPTS_PER_EPISODE = 5
MIN_ATTEMPTS = 20
PARSED = "parsed.json"


@dataclass(frozen=True)
class GenerateRequest:
    """What to generate; ``randomise`` is JSON from `armwright.generate.randomising.read_randomising`."""

    sentence: str
    episodes: int
    robot: str = "franka"
    seed: int = 0
    workers: int = 0
    images: bool = True
    grasps: str = "affordance"
    affordance: str = "oracle"
    model: str | None = None
    parser: str | None = None
    engine: str = "local"
    randomise: dict[str, Any] | None = None

    def identity(self) -> dict[str, Any]:
        """Return what must not change when a run goes on; the number of episodes and workers may."""
        value = asdict(self)
        for name in ("episodes", "workers", "engine"):
            value.pop(name)
        for name in ("parser", "randomise"):  # journals from before these could be chosen do not name them
            if value[name] is None:
                value.pop(name)
        return value


@dataclass(frozen=True)
class _Task:
    request: GenerateRequest
    parsed: ParsedTask
    seed: int
    folder: str


def generate_dataset(
    request: GenerateRequest,
    out: Path,
    *,
    resume: bool = False,
    update: Callable[..., None] = lambda done, note="": None,
) -> ResultRecord:
    """Run episodes until enough succeeded, and record those.

    The dataset is a function of the request: seeds are tried in order, and what is kept are the successes of the
    shortest prefix that holds enough of them, whatever the number of workers.

    Args:
        request: What to generate.
        out: Folder; the dataset goes to ``out/dataset``.
        resume: Go on with what the folder holds.
        update: Called with the number of demonstrations so far.

    Raises:
        UsageError: Wrong names, a folder that holds something else, or a journal with a damaged line.
        OutputError: The folder cannot be written, or what a run before wrote there is missing or damaged.
    """
    started = time.perf_counter()
    if request.engine != "local":
        raise UnknownNameError("engine", request.engine, ("local",))
    check_text("the sentence", request.sentence)
    check_out(out)
    check_names(robots=(request.robot,), grasps=(request.grasps,), affordance=request.affordance)
    parsed, use = _parsed_once(request, out)
    check_skills(parsed)
    with Journal(out, request.identity(), resume=resume, entry=AttemptEntry) as journal:
        if request.model is not None:
            write_json(out / PARSED, {"parsed": parsed.model_dump(mode="json", by_alias=True), "model_use": use})
        return _generate(request, parsed, use, out, journal, update, started)


def _parsed_once(request: GenerateRequest, out: Path) -> tuple[ParsedTask, dict[str, Any] | None]:
    """Parse the sentence, or read what a chat model made of it when the run began: asked again, it may answer anew."""
    path = out / PARSED
    if request.model is not None and path.exists():
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return ParsedTask.model_validate(stored["parsed"]), stored["model_use"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{path} is damaged: it does not hold what the model made of the sentence.",
                hint="Restore it from a copy, or choose another --out.",
            ) from error
    return parse_sentence(request.sentence, model=request.model, parser=request.parser)


def _generate(
    request: GenerateRequest,
    parsed: ParsedTask,
    use: dict[str, Any] | None,
    out: Path,
    journal: Journal,
    update: Callable[..., None],
    started: float,
) -> ResultRecord:
    from armwright.robots.bake import baked_robot

    _writer_of.cache_clear()  # it remembers what a folder held when it was opened
    for text in (*parsed.assumptions, *parsed.not_understood):
        update(0, f"({text})")
    baked_robot(request.robot, progress=lambda text: update(0, f"({text})"))  # once, before workers ask for it
    tried = _still_true(journal, out / "dataset", parsed.sentence)
    wins = sum(entry["ok"] for entry in tried.values())
    update(wins)
    state = {"next": 0, "wins": wins}
    crashes = CrashCount()
    limit = max(MIN_ATTEMPTS, MAX_ATTEMPTS_PER_EPISODE * request.episodes)

    def next_task(running: int) -> _Task | None:
        if state["wins"] + running >= request.episodes:
            return None
        while state["next"] < limit:
            seed = episode_seed(request.seed, state["next"])
            state["next"] += 1
            if seed not in tried:
                return _Task(request, parsed, seed, str(out / "dataset"))
        return None

    def done(entry: dict[str, Any]) -> None:
        journal.add(entry)
        crashes.note(entry["failed"])
        tried[entry["seed"]] = entry
        state["wins"] += entry["ok"]
        update(state["wins"])

    run_in_order(_work, next_task, done, workers=request.workers or cores())
    summary = _writer(request, str(out / "dataset")).finalize()
    wall = time.perf_counter() - started
    failures = Counter(entry["failed"] for entry in tried.values() if not entry["ok"])
    record = ResultRecord(
        command="generate",
        ok=summary.episodes >= request.episodes,
        seed=request.seed,
        robot=request.robot,
        wall_s=wall,
        sim_s=sum(entry["sim_s"] for entry in tried.values()),
        versions=collect_versions(),
        files={"dataset": str(out / "dataset"), "journal": str(journal.path)},
        extra={
            "sentence": request.sentence,
            "episodes": summary.episodes,
            "frames": summary.frames,
            "attempts": len(tried),
            "failures": dict(failures.most_common()),
            "not_understood": list(parsed.not_understood),
            "assumptions": list(parsed.assumptions),
            "model_use": use,
            "episodes_per_hour": 3600 * (state["wins"] - wins) / wall,
        },
    )
    record.write(out / "result.json")
    return record


def _still_true(journal: Journal, dataset: Path, sentence: str) -> dict[int, dict[str, Any]]:
    """Return the attempts by seed, without successes whose episode is gone: those are to be done again.

    An attempt that was done again has two lines; the later one counts.
    """
    stored = finished_keys(dataset)
    tried = {entry["seed"]: entry for entry in journal.entries}
    return {s: entry for s, entry in tried.items() if not entry["ok"] or episode_key(s, sentence) in stored}


@lru_cache(maxsize=2)
def _session(robot: str) -> Any:
    from armwright.generate.session import Session

    return Session.open(robot)


@lru_cache(maxsize=4)
def _writer_of(robot: str, images: bool, folder: str) -> Any:
    from armwright.generate.record import dataset_schema
    from armwright.recording.lerobot import DatasetWriter

    return DatasetWriter(folder, dataset_schema(_session(robot), images=images))


def _writer(request: GenerateRequest, folder: str) -> Any:
    return _writer_of(request.robot, request.images, folder)


def _add(writer: Any, task: _Task, data: Any) -> None:
    """Write an episode; a worker that outlived a killed run for a moment may have just written the same one."""
    try:
        writer.add_episode(data)
    except UsageError:
        if not writer.has(task.seed, task.parsed.sentence):
            raise


def _work(task: _Task) -> dict[str, Any]:
    """Run one episode in a worker; a success is on disk when this returns."""
    from armwright.generate.episode import EpisodeRequest, run_episode
    from armwright.generate.randomising import Randomising
    from armwright.generate.record import episode_data

    request = task.request
    ranges = None if request.randomise is None else Randomising.model_validate(request.randomise)
    writer = _writer(request, task.folder)
    entry: dict[str, Any] = {"seed": task.seed, "ok": False, "failed": None, "wall_s": 0.0, "sim_s": 0.0}
    if writer.has(task.seed, task.parsed.sentence):  # written before a kill, but not in the journal
        return entry | {"ok": True}
    session = _session(request.robot)
    wanted = EpisodeRequest(
        task.parsed, task.seed, grasps=request.grasps, affordance=request.affordance, randomise=ranges
    )
    started = time.perf_counter()
    try:
        with watchdog():
            episode = run_episode(session, wanted)
            entry |= {"sim_s": episode.sim_s, "failed": episode.failed_stage}
            if episode.ok:
                _add(writer, task, episode_data(session, episode, images=request.images))
                entry["ok"] = True
    except SceneError as error:
        entry["failed"] = f"scene: {error.args[0]}"
    except EpisodeTimeoutError as error:
        entry["failed"] = f"timeout: {error.args[0]}"
    except ArmwrightError as error:
        if error.exit_code != 1:
            raise
        entry["failed"] = f"{type(error).__name__}: {error.args[0]}"
    except OSError:  # a full disk or a folder that is gone: no other seed would do better
        raise
    except Exception as error:  # one bad seed must not end the run, now and at every resume
        entry["failed"] = crash_text(error)
    entry["wall_s"] = time.perf_counter() - started
    return entry
