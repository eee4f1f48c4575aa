"""A shard: the attempts of a range of seeds, made by one worker into a folder that is there whole or not at all.

What a shard holds follows from the request, the sentence's meaning and the range alone. It may be made twice, by
workers that do not know of each other: the first to rename its folder into place wins. A worker that does not see the
run's folder makes its shard elsewhere and sends it back packed.
"""

from __future__ import annotations

import io
import json
import os
import platform
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from armwright.assets.scene import ParsedTask
from armwright.core.errors import ArmwrightError, OutputError, UsageError
from armwright.core.files import write_json
from armwright.core.pool import CrashCount
from armwright.generate.attempt import Attempt, attempt_writer, run_attempt
from armwright.generate.entries import AttemptEntry
from armwright.generate.request import GenerateRequest
from armwright.recording.layout import INFO, episode_key
from armwright.recording.lerobot import finished_keys
from armwright.recording.result import collect_versions
from armwright.recording.verify import verify_dataset

SHARDS = "shards"
MARK = "shard.json"
# What one node has written, another one may see only after a while.
VISIBLE_WITHIN_S = 90.0
_PART = ".part-"
_DATASET = "dataset"
# What must be the same on every node, or a shard made there would be another one.
_SAME = ("armwright", "git", "mujoco", "numpy")


class ShardRecord(BaseModel):
    """What the mark of a finished shard says.

    Attributes:
        number, first, last: Which shard, and its attempts' numbers; ``last`` is not one of them.
        request: Digest of everything that decides what it holds.
        entries: Its attempts, in order.
        cpu_s, wall_s: Computing and elapsed time, the check of what was written included [s].
        peak_mb: Most memory that its worker had held by then [MB]; 0 where the system does not tell.
        host: Where it was made.
    """

    model_config = ConfigDict(strict=True, populate_by_name=True)

    schema_name: Literal["armwright.shard/1"] = Field(default="armwright.shard/1", alias="schema")
    number: Annotated[int, Field(ge=0)]
    first: int
    last: int
    request: str
    entries: list[AttemptEntry]
    cpu_s: float
    wall_s: float
    peak_mb: float
    host: str

    def keys(self, sentence: str) -> set[str]:
        """Return the keys (`episode_key`) of its episodes."""
        return {episode_key(entry.seed, sentence) for entry in self.entries if entry.ok}


@dataclass(frozen=True)
class ShardTask:
    """A shard to make.

    Attributes:
        request, parsed: What to do.
        number: Which shard.
        size: Attempts per shard.
        folder: Where shards are, as the driver calls it.
        token: A file in that folder which shows a worker that it sees the same one.
        surroundings: `surroundings` of the driver.
    """

    request: GenerateRequest
    parsed: ParsedTask
    number: int
    size: int
    folder: str
    token: str
    surroundings: dict[str, str | None]

    def __str__(self) -> str:
        return f"shard {self.number} (seeds {self.seeds[0]} to {self.seeds[-1]})"

    @property
    def range(self) -> range:
        """Numbers of its attempts."""
        first = self.number * self.size
        return range(first, min(first + self.size, self.request.possible_attempts))

    @property
    def seeds(self) -> list[int]:
        """Seeds of its attempts."""
        return [self.request.attempt_seed(index) for index in self.range]

    @property
    def place(self) -> Path:
        """Where it lies when it is finished."""
        return shard_folder(Path(self.folder), self.number)

    @property
    def digest(self) -> str:
        """Tells it from shards of other requests."""
        value = [self.request.identity(), self.parsed.model_dump(mode="json", by_alias=True), self.number, self.size]
        return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class MadeShard:
    """A worker's answer: the shard lies in its place, or is sent along as a tar file."""

    task: ShardTask
    packed: bytes | None = None


def shard_folder(folder: Path, number: int) -> Path:
    """Return where a finished shard lies."""
    return folder / f"{number:05d}"


def surroundings() -> dict[str, str | None]:
    """Return what a shard depends on besides its task: versions, and the user's own objects."""
    from armwright.assets.imported import imported_entries, library_folder

    versions = collect_versions()
    found = {name: versions[name] for name in _SAME}
    objects = sha256()
    for name in sorted(imported_entries()[0]):
        for file in sorted((library_folder() / name).iterdir()):
            objects.update(f"{name}/{file.name}".encode() + file.read_bytes())
    return {**found, "imported objects": objects.hexdigest()[:16]}


def make_shard(task: ShardTask) -> MadeShard:
    """Make a shard in a worker, unless it is there.

    Raises:
        UsageError: This node has another version of what shards depend on.
        OutputError: It cannot be written, or what was written is not whole.
    """
    _check_surroundings(task)
    folder = Path(task.folder)
    near = (folder / task.token).exists()
    if near and read_shard(task) is not None:  # the worker before died between the rename and its answer
        return MadeShard(task)
    with _part(task, folder if near else None) as part:
        _fill(task, part)
        if near:
            put_in_place(part, task)
            return MadeShard(task)
        return MadeShard(task, _packed(part))


def take(made: MadeShard) -> ShardRecord:
    """Put what a worker sent into its place, and return what the shard holds.

    Raises:
        OutputError: It is not there, or not whole.
    """
    if made.packed is not None:
        with _part(made.task, Path(made.task.folder)) as part:
            with tarfile.open(fileobj=io.BytesIO(made.packed)) as tar:
                tar.extractall(part, filter="data")
            put_in_place(part, made.task)
    deadline = time.monotonic() + VISIBLE_WITHIN_S
    while (record := read_shard(made.task)) is None and time.monotonic() < deadline:
        list(Path(made.task.folder).iterdir())  # makes a network file system look again
        time.sleep(1.0)
    if record is None:
        raise OutputError(
            f"{made.task.place} is missing or damaged just after it was made.",
            hint="Do all nodes see the same files there? Go on with --resume.",
        )
    return record


def read_shard(task: ShardTask) -> ShardRecord | None:
    """Return what a finished shard holds, or None if it is not there, is of another request or is damaged."""
    record = _read_mark(task.place)
    if record is None or (record.number, record.request) != (task.number, task.digest):
        return None
    if [entry.seed for entry in record.entries] != task.seeds:
        return None
    dataset = dataset_of(task.place)
    try:
        whole = finished_keys(dataset) == record.keys(task.parsed.sentence)
    except ArmwrightError:
        return None
    return record if whole and (dataset / INFO).exists() else None


def shard_keys(folder: Path, sentence: str) -> set[str]:
    """Return the keys of all episodes that finished shards say they hold."""
    records = (_read_mark(path) for path in sorted(folder.glob("[0-9]*")))
    return {key for record in records if record is not None for key in record.keys(sentence)}


def dataset_of(place: Path) -> Path:
    """Return the dataset of a finished shard."""
    return place / _DATASET


def put_in_place(part: Path, task: ShardTask) -> None:
    """Give a finished shard its name; if another worker was faster, its shard stays."""
    try:
        part.rename(task.place)
        return
    except OSError as error:
        if not task.place.exists():
            raise OutputError(f"cannot write {task.place}: {error.strerror or error}.") from error
    if read_shard(task) is None:
        discard(task.place)
        put_in_place(part, task)


def discard(place: Path) -> None:
    """Remove a folder of which nothing is worth keeping; at no moment is it there in part."""
    doomed = Path(tempfile.mkdtemp(dir=place.parent, prefix=f"{_PART}gone-"))
    with suppress(FileNotFoundError):  # another worker was faster
        place.rename(doomed / place.name)
    shutil.rmtree(doomed, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove what dead workers left."""
    for path in folder.glob(f"{_PART}*"):
        shutil.rmtree(path, ignore_errors=True)


def _fill(task: ShardTask, part: Path) -> None:
    started, computed = time.perf_counter(), time.process_time()
    dataset = dataset_of(part)
    crashes = CrashCount()
    entries = []
    for seed in task.seeds:
        entry = run_attempt(Attempt(task.request, task.parsed, seed, str(dataset)))
        crashes.note(entry["failed"])
        entries.append(entry)
    summary = attempt_writer(task.request, str(dataset)).finalize()
    report = verify_dataset(dataset) if summary.episodes else None
    if report is not None and not report.ok:
        raise OutputError(f"{task} is not whole: {report.problems[0]}.", hint="Is the disk full? Go on with --resume.")
    record = ShardRecord(
        number=task.number,
        first=task.range.start,
        last=task.range.stop,
        request=task.digest,
        entries=[AttemptEntry.model_validate(entry) for entry in entries],
        cpu_s=time.process_time() - computed,
        wall_s=time.perf_counter() - started,
        peak_mb=_peak_mb(),
        host=platform.node(),
    )
    write_json(part / MARK, record.model_dump(mode="json", by_alias=True))


@contextmanager
def _part(task: ShardTask, folder: Path | None) -> Iterator[Path]:
    """Yield a new folder; its name says who is at work in it. What is left of it at the end is removed."""
    prefix = f"{_PART}{task.number:05d}-{platform.node()}-{os.getpid()}-"
    try:
        part = Path(tempfile.mkdtemp(dir=folder, prefix=prefix))
        part.chmod(0o755)
    except OSError as error:
        raise OutputError(f"cannot write into {folder}: {error.strerror or error}.") from error
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _check_surroundings(task: ShardTask) -> None:
    here = surroundings()
    for name, value in task.surroundings.items():
        if here.get(name) != value:
            raise UsageError(
                f"the node {platform.node()} has {name} {here.get(name)}, the one that began the run {value}.",
                hint="Install the same versions on all nodes; let ARMWRIGHT_LIBRARY_DIR name a folder that all see.",
            )


def _read_mark(place: Path) -> ShardRecord | None:
    try:
        return ShardRecord.model_validate_json((place / MARK).read_bytes())
    except (OSError, ValidationError):
        return None


def _packed(part: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:  # videos and parquet are compressed already
        for path in sorted(part.iterdir()):
            tar.add(path, arcname=path.name)
    return buffer.getvalue()


def _peak_mb() -> float:
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if platform.system() == "Darwin" else 2**10)
