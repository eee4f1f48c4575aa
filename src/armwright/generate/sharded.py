"""Collect demonstrations in shards: hand them out, keep those that are whole, join what is wanted into one dataset."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from armwright.assets.scene import ParsedTask
from armwright.core.errors import OutputError, UsageError
from armwright.core.files import ensure_writable, write_json
from armwright.generate.attempt import attempt_writer
from armwright.generate.engines import Engine
from armwright.generate.request import GenerateRequest
from armwright.generate.shards import (
    SHARDS,
    MadeShard,
    ShardRecord,
    ShardTask,
    dataset_of,
    discard,
    make_shard,
    read_shard,
    shard_folder,
    surroundings,
    sweep,
    take,
)
from armwright.recording.layout import INFO, SCHEMA, episode_key, load_schema
from armwright.recording.lerobot import DatasetSummary, DatasetWriter, finished_keys
from armwright.recording.merge import merge_datasets
from armwright.recording.verify import verify_dataset

PLAN = "plan.json"


class _Plan(BaseModel):
    model_config = ConfigDict(strict=True)

    size: int = Field(gt=0)


class _State:
    """What is known so far: attempts by seed, how many succeeded, and of each shard the keys of its episodes."""

    def __init__(self, tried: dict[int, dict[str, Any]]) -> None:
        self.known = dict(tried)
        self.wins = sum(entry["ok"] for entry in tried.values())
        self.keys: dict[int, set[str]] = {}
        self.made = 0
        self.cpu_s = self.peak_mb = 0.0

    def add(self, record: ShardRecord, sentence: str) -> None:
        """Take in a finished shard."""
        self.keys[record.number] = record.keys(sentence)
        self.cpu_s += record.cpu_s
        self.peak_mb = max(self.peak_mb, record.peak_mb)
        for entry in record.entries:
            if entry.seed not in self.known:
                self.known[entry.seed] = entry.model_dump(mode="json")
                self.wins += entry.ok


def collect_in_shards(
    request: GenerateRequest,
    parsed: ParsedTask,
    out: Path,
    tried: dict[int, dict[str, Any]],
    *,
    engine: Engine,
    update: Callable[..., None],
) -> tuple[DatasetSummary, list[dict[str, Any]], dict[str, Any]]:
    """Make the shards that are lacking, and join the successes of the shortest prefix of seeds that holds enough.

    Args:
        request: What to generate.
        parsed: What the sentence means.
        out: The run's folder, which no other process is working in.
        tried: Attempts of before by seed, with successes that the dataset holds.
        engine: Who makes shards.
        update: Called with the number of demonstrations so far.

    Returns:
        What the dataset holds, the attempts of the prefix that are not among ``tried``, and figures for the record.

    Raises:
        UsageError: The run was begun with shards of another size.
        OutputError: A shard or the dataset cannot be written, or is not whole.
    """
    folder = ensure_writable(out / SHARDS)
    sweep(folder)
    size = _planned_size(request, folder)
    state = _State(tried)
    _make_all(request, parsed, folder, size, state, engine=engine, update=update)
    prefix = _prefix(request, state.known)
    keep = {episode_key(entry["seed"], parsed.sentence) for entry in prefix if entry["ok"]}
    summary = _join(request, parsed, out, state, keep, update)
    figures = {
        "size": size,
        "used": len(state.keys),
        "made": state.made,
        "cpu_s": state.cpu_s,
        "peak_mb": state.peak_mb,
    }
    return summary, [entry for entry in prefix if entry["seed"] not in tried], figures


def _planned_size(request: GenerateRequest, folder: Path) -> int:
    """Return the size of shards, which is settled when the first one is asked for."""
    path = folder / PLAN
    if not path.exists():
        size = request.shard_size or request.usual_shard_size()
        write_json(path, {"size": size})
        return size
    try:
        size = _Plan.model_validate_json(path.read_bytes()).size
    except (OSError, ValidationError) as error:
        raise OutputError(f"{path} is damaged.", hint=f"Delete {folder}: its shards are then made again.") from error
    if request.shard_size not in (0, size):
        raise UsageError(
            f"{folder} holds shards of {size} attempts, not of {request.shard_size}.",
            hint="Leave --shard-size away to go on, or choose another --out.",
        )
    return size


def _make_all(
    request: GenerateRequest,
    parsed: ParsedTask,
    folder: Path,
    size: int,
    state: _State,
    *,
    engine: Engine,
    update: Callable[..., None],
) -> None:
    here = surroundings()
    token = folder / f".here-{secrets.token_hex(8)}"
    token.touch()
    numbers = iter(range(-(-request.most_attempts // size)))

    def next_task(running: int) -> ShardTask | None:
        rate = state.wins / len(state.known) if state.known else 1.0
        while state.wins + rate * size * running < request.wanted and (number := next(numbers, None)) is not None:
            task = ShardTask(request, parsed, number, size, str(folder.absolute()), token.name, here)
            if all(seed in state.known for seed in task.seeds):
                continue
            record = read_shard(task)
            if record is None:
                if task.place.exists():
                    discard(task.place)
                return task
            state.add(record, parsed.sentence)
            update(state.wins)
        return None

    def done(made: MadeShard) -> None:
        state.add(take(made), parsed.sentence)
        state.made += 1
        update(state.wins)

    try:
        engine.run(make_shard, next_task, done, workers=request.workers)
    finally:
        token.unlink(missing_ok=True)


def _prefix(request: GenerateRequest, known: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the attempts that one worker would have made, going from seed to seed until there are enough."""
    prefix: list[dict[str, Any]] = []
    wins = 0
    for index in range(request.most_attempts):
        entry = known.get(request.attempt_seed(index))
        if entry is None or wins >= request.wanted:
            break
        prefix.append(entry)
        wins += entry["ok"]
    return prefix


def _join(
    request: GenerateRequest,
    parsed: ParsedTask,
    out: Path,
    state: _State,
    keep: set[str],
    update: Callable[..., None],
) -> DatasetSummary:
    dataset = out / "dataset"
    sources = [
        dataset_of(shard_folder(out / SHARDS, number)) for number, keys in sorted(state.keys.items()) if keys & keep
    ]
    elsewhere = {key for keys in state.keys.values() for key in keys}
    if sources and not ((dataset / INFO).exists() and keep <= finished_keys(dataset, elsewhere=elsewhere)):
        summary = merge_datasets(sources, dataset, keep=keep.__contains__, update=lambda n: update(n, "(joining)"))
    elif (dataset / SCHEMA).exists():
        summary = DatasetWriter(dataset, load_schema(dataset)).finalize()
    else:
        summary = attempt_writer(request, str(dataset)).finalize()
    if summary.episodes:
        update(summary.episodes, "(verifying)")
        report = verify_dataset(dataset, decode=False)  # frames were decoded when their shard was made
        if not report.ok:
            raise OutputError(
                f"the joined dataset {dataset} is not whole: {report.problems[0]}.",
                hint=f"Delete {dataset} and use --resume: it is then joined again.",
            )
    return summary
