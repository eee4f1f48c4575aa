"""Join datasets that several workers wrote into one, batch by batch, without decoding or encoding a frame.

A batch that is taken over as it is keeps its videos, by hard link where the file system allows it; rows are numbered
anew. Small batches are joined into larger ones. The sources stay as they are and may be deleted afterwards.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from armwright.core.errors import UsageError
from armwright.recording._batch import EpisodeSource
from armwright.recording._stored import check_batches, check_staged, load_manifest
from armwright.recording._tables import damaged, read_table
from armwright.recording.layout import (
    DATA_PATH,
    MAX_EPISODES,
    RECORD_TEXTS,
    RECORDS_PATH,
    STAGING,
    VIDEO_PATH,
    WORLD_PATH,
    DatasetSchema,
    batch_path,
    episode_key,
    load_schema,
)
from armwright.recording.lerobot import DatasetSummary, DatasetWriter, describe
from armwright.recording.staging import StagedEpisode, staged_episodes
from armwright.recording.video import cut_video

# A batch that fills at least this share of a file is taken over as it is; joining it with others would copy its videos.
LINKED_FROM = 0.25


def merge_datasets(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    keep: Callable[[str], bool] = lambda key: True,
    update: Callable[[int], None] = lambda done: None,
) -> DatasetSummary:
    """Join datasets, finished or not, in the order given; each one's episodes stay in their order.

    What ``out`` already holds stays first and is not taken again, so that a merge which was interrupted, or to which
    sources were added, goes on by calling it again.

    Args:
        sources: Folders of datasets; they are only read.
        out: Folder of the dataset to make.
        keep: Which episodes to take, by their key (`episode_key`).
        update: Called with the number of episodes so far.

    Raises:
        UsageError: No sources, sources of different schemas, or one seed and instruction in two of them.
        OutputError: A source cannot be read, or the output cannot be written.
    """
    roots = [Path(source) for source in sources]
    if not roots:
        raise UsageError("there are no datasets to merge.")
    schema = _common_schema(roots)
    parts = [part for root in roots for part in _parts(root, schema)]
    origin: dict[str, Path] = {}
    for part in parts:
        for key in part.keys:
            if key in origin:
                raise UsageError(
                    f"episode {key} is in {origin[key]} and in {part.root}.",
                    hint="Give each worker its own seeds, and each dataset once.",
                )
            origin[key] = part.root
    writer = DatasetWriter(out, schema)
    writer.recover(elsewhere=origin.keys())
    present = writer.keys
    pieces = (piece for part in parts for piece in part.pieces(lambda key: key not in present and keep(key)))
    done = len(present)
    for group in _groups(pieces, limit=schema.batch_frames):
        episodes = [episode for piece in group for episode in piece.episodes]
        with tempfile.TemporaryDirectory(dir=writer.root / STAGING, prefix=".part-") as scratch:
            videos = {
                camera: [video for number, piece in enumerate(group) for video in piece.videos(camera, scratch, number)]
                for camera in schema.cameras
            }
            writer.commit(episodes, videos, linked=len(group) == 1 and group[0].whole)
        done += len(episodes)
        update(done)
    return writer.finalize()


def _common_schema(roots: Sequence[Path]) -> DatasetSchema:
    schemas = [load_schema(root) for root in roots]
    for root, schema in zip(roots, schemas, strict=True):
        if schema != schemas[0]:
            raise UsageError(f"{root} is of {describe(schema)}, {roots[0]} of {describe(schemas[0])}.")
    return schemas[0]


def _parts(root: Path, schema: DatasetSchema) -> Iterator[_Stored | _Staged]:
    manifest = load_manifest(root)
    check_batches(root, schema, manifest)
    stored: set[str] = set()
    for number in range(manifest.batches):
        batch = _Stored(root, schema, number)
        stored.update(batch.keys)
        yield batch
    staged = [episode for episode in staged_episodes(root) if episode.folder.name not in stored]
    for episode in staged:
        check_staged(episode, schema)
    if staged:
        yield _Staged(root, schema, tuple(staged))


@dataclass(frozen=True, eq=False)
class _Piece:
    """Episodes that follow each other in a source, with the video files that hold just their frames."""

    episodes: Sequence[EpisodeSource]
    videos: Callable[[str, str, int], list[Path]]
    whole: bool

    @property
    def frames(self) -> int:
        return sum(episode.length for episode in self.episodes)


@dataclass(frozen=True, eq=False)
class _Staged:
    """The episodes of a source that are not yet in its files."""

    root: Path
    schema: DatasetSchema
    episodes: tuple[StagedEpisode, ...]

    @property
    def keys(self) -> list[str]:
        return [episode.folder.name for episode in self.episodes]

    def pieces(self, wanted: Callable[[str], bool]) -> Iterator[_Piece]:
        for episode in self.episodes:
            if wanted(episode.folder.name):
                yield _Piece((episode,), lambda camera, scratch, number, e=episode: [e.video(camera)], whole=False)  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class _Stored:
    """One batch of a source."""

    root: Path
    schema: DatasetSchema
    number: int

    def path(self, template: str, *, video_key: str = "") -> Path:
        return batch_path(self.root, template, self.number, video_key=video_key)

    @cached_property
    def keys(self) -> list[str]:
        rows = read_table(self.path(RECORDS_PATH), columns=["seed", "instruction"]).to_pylist()
        try:
            return [episode_key(row["seed"], row["instruction"]) for row in rows]
        except (TypeError, ValueError, AttributeError) as error:
            raise damaged(self.path(RECORDS_PATH), error) from error

    def pieces(self, wanted: Callable[[str], bool]) -> Iterator[_Piece]:
        for chosen, numbers in groupby(range(len(self.keys)), lambda number: wanted(self.keys[number])):
            if chosen:
                yield self._piece([*numbers])

    def _piece(self, numbers: list[int]) -> _Piece:
        rows = _Rows(self)
        episodes = [_StoredEpisode(rows, number) for number in numbers]
        whole = len(numbers) == len(self.keys)
        start = sum(rows.records[number]["length"] for number in range(numbers[0]))
        count = sum(episode.length for episode in episodes)

        def videos(camera: str, scratch: str, number: int) -> list[Path]:
            source = self.path(VIDEO_PATH, video_key=self.schema.video_keys[camera])
            if whole:
                return [source]
            target = Path(scratch) / f"{camera}-{number}.mp4"
            cut_video(source, target, start=start, count=count, fps=self.schema.fps)
            return [target]

        return _Piece(episodes, videos, whole)


class _Rows:
    """The tables of a batch; what they hold is read when it is asked for, one episode at a time."""

    def __init__(self, batch: _Stored) -> None:
        self._batch = batch
        self.records: list[dict[str, Any]] = read_table(batch.path(RECORDS_PATH)).to_pylist()
        self._world_group: dict[int, int] = {}
        for number, record in enumerate(self.records):
            if record["has_world"]:
                self._world_group[number] = len(self._world_group)

    def frames(self, number: int) -> Any:
        return self._group(
            self._data, self._batch.path(DATA_PATH), number, [*self._batch.schema.vectors, "frame_index"]
        )

    def world(self, number: int) -> Any:
        names = ["time_s", "qpos", "qvel", "ctrl"]
        return self._group(self._world, self._batch.path(WORLD_PATH), self._world_group[number], names)

    @cached_property
    def _data(self) -> Any:
        return _open(self._batch.path(DATA_PATH), groups=len(self.records))

    @cached_property
    def _world(self) -> Any:
        return _open(self._batch.path(WORLD_PATH), groups=len(self._world_group))

    @staticmethod
    def _group(file: Any, path: Path, group: int, columns: list[str]) -> Any:
        import pyarrow as pa

        try:
            return file.read_row_group(group, columns=columns)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise damaged(path, error) from error


@dataclass(frozen=True, eq=False)
class _StoredEpisode:
    rows: _Rows
    number: int

    @property
    def instruction(self) -> str:
        return str(self.rows.records[self.number]["instruction"])

    @property
    def length(self) -> int:
        return int(self.rows.records[self.number]["length"])

    def record(self) -> dict[str, Any]:
        """Return the record as it was before the episode was put together with others."""
        row = dict(self.rows.records[self.number])
        counts = {name: row.pop(name) for name in list(row) if name.startswith("image_counts/")}
        row.pop("episode_index")
        for key in RECORD_TEXTS:
            row[key] = json.loads(row[key])
        for key in ("episode_index", "index", "task_index"):
            row["stats"].pop(key, None)
        row["image_counts"] = {name.removeprefix("image_counts/"): value for name, value in counts.items()}
        return row

    def frames(self) -> Any:
        return self.rows.frames(self.number)

    def world(self) -> Any:
        return self.rows.world(self.number)


def _open(path: Path, *, groups: int) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise damaged(path, error) from error
    if file.num_row_groups != groups:
        raise damaged(path, f"it has {file.num_row_groups} row groups for {groups} episodes")
    return file


def _groups(pieces: Iterable[_Piece], *, limit: int) -> Iterator[list[_Piece]]:
    group: list[_Piece] = []
    frames = episodes = 0
    for piece in pieces:
        alone = piece.whole and piece.frames >= LINKED_FROM * limit
        full = frames + piece.frames > limit or episodes + len(piece.episodes) > MAX_EPISODES
        if group and (alone or full):
            yield group
            group, frames, episodes = [], 0, 0
        if alone:
            yield [piece]
            continue
        group.append(piece)
        frames, episodes = frames + piece.frames, episodes + len(piece.episodes)
    if group:
        yield group
