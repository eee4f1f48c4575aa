"""`generate`: demonstrations of one sentence into a LeRobot dataset, in parallel, resumable, seeds in order."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from armwright.assets.scene import ParsedTask
from armwright.core.errors import UsageError
from armwright.core.files import write_json
from armwright.core.pool import CrashCount
from armwright.generate.attempt import Attempt, attempt_writer, forget_writers, run_attempt
from armwright.generate.engines import Engine, compute_engine
from armwright.generate.entries import AttemptEntry
from armwright.generate.names import check_names
from armwright.generate.parsing import check_skills, parse_sentence
from armwright.generate.request import GenerateRequest
from armwright.generate.sharded import collect_in_shards
from armwright.generate.shards import SHARDS, shard_keys
from armwright.recording.journal import Journal
from armwright.recording.layout import episode_key
from armwright.recording.lerobot import finished_keys
from armwright.recording.outputs import check_out, check_text
from armwright.recording.result import ResultRecord, collect_versions

PARSED = "parsed.json"


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
    engine = compute_engine(request.engine)
    check_text("the sentence", request.sentence)
    check_out(out)
    check_names(robots=(request.robot,), grasps=(request.grasps,), affordance=request.affordance)
    parsed, use = _parsed_once(request, out)
    check_skills(parsed)
    with Journal(out, request.identity(), resume=resume, entry=AttemptEntry) as journal:
        if request.model is not None:
            write_json(out / PARSED, {"parsed": parsed.model_dump(mode="json", by_alias=True), "model_use": use})
        return _generate(request, parsed, use, out, journal, engine, update, started)


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
    engine: Engine,
    update: Callable[..., None],
    started: float,
) -> ResultRecord:
    from armwright.robots.bake import baked_robot

    forget_writers()
    for text in (*parsed.assumptions, *parsed.not_understood):
        update(0, f"({text})")
    baked_robot(request.robot, progress=lambda text: update(0, f"({text})"))  # once, before workers ask for it
    tried = _still_true(journal, out, parsed.sentence)
    wins = sum(entry["ok"] for entry in tried.values())
    update(wins)
    shards: dict[str, Any] | None = None
    if request.shard_size or engine.shards:
        summary, entries, shards = collect_in_shards(request, parsed, out, tried, engine=engine, update=update)
        journal.add(*entries)
        tried |= {entry["seed"]: entry for entry in entries}
    else:
        _collect_one_by_one(request, parsed, out, journal, tried, engine=engine, update=update)
        summary = attempt_writer(request, str(out / "dataset")).finalize()
    wall = time.perf_counter() - started
    failures = Counter(entry["failed"] for entry in tried.values() if not entry["ok"])
    record = ResultRecord(
        command="generate",
        ok=summary.episodes >= request.wanted,
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
            "episodes_per_hour": 3600 * (sum(entry["ok"] for entry in tried.values()) - wins) / wall,
            **({} if request.part is None else {"part": list(request.part)}),
            **({} if shards is None else {"engine": request.engine, "shards": shards}),
        },
    )
    record.write(out / "result.json")
    return record


def _collect_one_by_one(
    request: GenerateRequest,
    parsed: ParsedTask,
    out: Path,
    journal: Journal,
    tried: dict[int, dict[str, Any]],
    *,
    engine: Engine,
    update: Callable[..., None],
) -> None:
    """Attempt seed after seed, each attempt a task of its own, until enough succeeded; they are noted in ``tried``."""
    state = {"next": 0, "wins": sum(entry["ok"] for entry in tried.values())}
    crashes = CrashCount()

    def next_task(running: int) -> Attempt | None:
        if state["wins"] + running >= request.wanted:
            return None
        while state["next"] < request.most_attempts:
            seed = request.attempt_seed(state["next"])
            state["next"] += 1
            if seed not in tried:
                return Attempt(request, parsed, seed, str(out / "dataset"))
        return None

    def done(entry: dict[str, Any]) -> None:
        journal.add(entry)
        crashes.note(entry["failed"])
        tried[entry["seed"]] = entry
        state["wins"] += entry["ok"]
        update(state["wins"])

    engine.run(run_attempt, next_task, done, workers=request.workers)


def _still_true(journal: Journal, out: Path, sentence: str) -> dict[int, dict[str, Any]]:
    """Return the attempts by seed, without successes whose episode is gone: those are to be done again.

    An attempt that was done again has two lines; the later one counts.
    """
    stored = finished_keys(out / "dataset", elsewhere=shard_keys(out / SHARDS, sentence))
    tried = {entry["seed"]: entry for entry in journal.entries}
    return {s: entry for s, entry in tried.items() if not entry["ok"] or episode_key(s, sentence) in stored}
