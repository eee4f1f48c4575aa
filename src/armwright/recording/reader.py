"""Read datasets back: episode by episode, row by row, frame by frame, as a LeRobot reader does, without torch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import OutputError, UsageError
from armwright.core.pose import Array
from armwright.recording._tables import damaged, read_table
from armwright.recording.episode import Image, WorldLog
from armwright.recording.layout import (
    CHUNK_SIZE,
    DATA_PATH,
    EPISODES_PATH,
    INDEX_FEATURES,
    INFO,
    RECORD_TEXTS,
    RECORDS_PATH,
    VIDEO_PATH,
    WORLD_PATH,
    batch_path,
    episode_key,
    load_schema,
    read_json,
)
from armwright.recording.video import read_frames


@dataclass(frozen=True, eq=False)
class EpisodeRecord:
    """What is known of a stored episode besides its rows.

    Attributes:
        index: Its number in the dataset.
        seed, instruction: What it was made from.
        success, compliance: How it was judged.
        length: Number of rows.
        model_hash: SHA-256 of the compiled model of its world, or empty.
        scene, task, versions, extra: As they were recorded.
        stages: Stage reports as dictionaries.
    """

    index: int
    seed: int
    instruction: str
    success: bool
    compliance: bool | None
    length: int
    model_hash: str
    scene: dict[str, Any]
    task: dict[str, Any]
    versions: dict[str, Any]
    extra: dict[str, Any]
    stages: list[dict[str, Any]]


class DatasetReader:
    """A dataset on disk.

    Args:
        root: Folder of the dataset.
        batches: Read only this many batches, finished or not; by default the dataset must be finished.

    Raises:
        OutputError: There is no finished dataset of ours.
    """

    def __init__(self, root: str | Path, *, batches: int | None = None) -> None:
        self.root = Path(root)
        if batches is None and not (self.root / INFO).exists():
            raise OutputError(
                f"{self.root} holds no finished dataset.", hint="If a run was interrupted, finish it with --resume."
            )
        self.schema = load_schema(self.root)
        self._batches = batches

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        needed = ["length", "data/chunk_index", "data/file_index"]
        for key in self.schema.video_keys.values():
            needed += [f"videos/{key}/{name}" for name in ("chunk_index", "file_index", "from_timestamp")]
        rows = self._table(EPISODES_PATH, needed, skip="stats/")
        if self._batches is None:
            stated = read_json(self.root / INFO).get("total_episodes")
            if stated != len(rows):
                raise damaged(self.root / INFO, f"it counts {stated} episodes, meta/episodes holds {len(rows)}")
        return rows

    @cached_property
    def _records(self) -> list[dict[str, Any]]:
        needed = ["seed", "instruction", "success", "length", "model_hash", "has_world", *RECORD_TEXTS]
        records = self._table(RECORDS_PATH, needed, skip="image_counts/", nullable=("compliance",))
        if len(records) != len(self._rows):
            path = batch_path(self.root, RECORDS_PATH, 0).parent.parent
            raise damaged(path, f"it holds records of {len(records)} episodes, meta/episodes {len(self._rows)}")
        return records

    def _table(
        self, template: str, needed: list[str], *, skip: str, nullable: tuple[str, ...] = ()
    ) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        batch = 0
        while self._batches is None or batch < self._batches:
            path = batch_path(self.root, template, batch)
            if not path.exists():
                break
            table = read_table(path, columns=lambda name: not name.startswith(skip))
            for name in (*needed, *nullable):
                if name not in table.column_names:
                    raise damaged(path, f"it has no column {name}")
                if name in needed and table.column(name).null_count:
                    raise damaged(path, f"a value of {name} is missing")
            rows += table.to_pylist()
            batch += 1
        return rows

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self._rows)

    def keys(self) -> list[str]:
        """Return the key (`episode_key`) of every episode."""
        return [episode_key(row["seed"], row["instruction"]) for row in self._records]

    def record(self, episode: int) -> EpisodeRecord:
        """Return what is known of an episode besides its rows."""
        row = self._records[self._checked(episode)]
        try:
            texts = {key: json.loads(row[key]) for key in ("scene", "task", "versions", "extra", "stages")}
        except (TypeError, ValueError, RecursionError) as error:
            raise damaged(self.record_file(episode), f"the record of episode {episode} is not JSON: {error}") from error
        names = ("seed", "instruction", "success", "compliance", "length", "model_hash")
        return EpisodeRecord(index=episode, **{name: row[name] for name in names}, **texts)

    def record_file(self, episode: int) -> Path:
        """Return the file that the record of an episode is in."""
        row = self._rows[self._checked(episode)]
        return batch_path(self.root, RECORDS_PATH, self._batch(row))

    def columns(self, episode: int) -> dict[str, NDArray[Any]]:
        """Return the rows of an episode: feature -> (t, k) float32, or (t,) for scalars."""
        row = self._rows[self._checked(episode)]
        table = self._slice(DATA_PATH, row, episode, [*self.schema.vectors, *INDEX_FEATURES])
        out: dict[str, NDArray[Any]] = {}
        for name in table.column_names:
            column = table.column(name).combine_chunks()
            if name in self.schema.vectors:
                out[name] = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
            else:
                out[name] = column.to_numpy(zero_copy_only=False)
        return out

    def has_world(self, episode: int) -> bool:
        """Say whether the world's states of an episode were recorded."""
        return bool(self._records[self._checked(episode)]["has_world"])

    def world(self, episode: int) -> WorldLog | None:
        """Return the world's states of an episode, or None if none were recorded."""
        if not self.has_world(episode):
            return None
        table = self._slice(WORLD_PATH, self._rows[episode], episode, ["time_s", "qpos", "qvel", "ctrl"])

        def rows(name: str) -> Array:
            column = table.column(name).combine_chunks()
            return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(len(column), -1)

        try:
            return WorldLog(
                time_s=np.asarray(table.column("time_s").to_numpy()),
                qpos=rows("qpos"),
                qvel=rows("qvel"),
                ctrl=rows("ctrl"),
                model_hash=self._records[episode]["model_hash"],
            )
        except (TypeError, ValueError, AttributeError, UsageError) as error:
            path = batch_path(self.root, WORLD_PATH, self._batch(self._rows[episode]))
            raise damaged(path, f"episode {episode}: {error}") from error

    def frames(self, episode: int, camera: str, *, start: int = 0, count: int | None = None) -> Iterator[Image]:
        """Yield frames of one camera, (H, W, 3) uint8, from row ``start`` of the episode on."""
        row = self._rows[self._checked(episode)]
        if camera not in self.schema.cameras:
            raise UsageError(f"the dataset has no camera {camera!r}; it has {sorted(self.schema.cameras)}.")
        first, path = self._video(row, camera)
        left = row["length"] - start
        return read_frames(
            path, fps=self.schema.fps, start=first + start, count=left if count is None else min(count, left)
        )

    def _video(self, row: dict[str, Any], camera: str) -> tuple[int, Path]:
        key = self.schema.video_keys[camera]
        batch = row[f"videos/{key}/chunk_index"] * CHUNK_SIZE + row[f"videos/{key}/file_index"]
        first = round(row[f"videos/{key}/from_timestamp"] * self.schema.fps)
        return first, batch_path(self.root, VIDEO_PATH, batch, video_key=key)

    @staticmethod
    def _batch(row: dict[str, Any]) -> int:
        return int(row["data/chunk_index"] * CHUNK_SIZE + row["data/file_index"])

    def _slice(self, template: str, row: dict[str, Any], episode: int, needed: list[str]) -> Any:
        path = batch_path(self.root, template, self._batch(row))
        table = read_table(path, filters=[("episode_index", "=", episode)])
        lacking = [name for name in needed if name not in table.column_names]
        if lacking:
            raise damaged(path, f"it has no column {', '.join(lacking)}")
        if len(table) != row["length"]:
            raise damaged(path, f"it has {len(table)} rows of episode {episode}, which has {row['length']}")
        return table

    def _checked(self, episode: int) -> int:
        if not 0 <= episode < len(self):
            raise UsageError(f"there is no episode {episode}; the dataset has {len(self)}, counted from 0.")
        return episode


def dataset_info(root: str | Path) -> dict[str, Any]:
    """Return what a finished dataset holds: robot, cameras, counts, duration, tasks, share of successes, size.

    Raises:
        OutputError: There is no finished dataset of ours.
    """
    reader = DatasetReader(root)
    records = [reader.record(number) for number in range(len(reader))]
    frames = sum(record.length for record in records)
    return {
        "robot": reader.schema.robot,
        "cameras": {name: list(size) for name, size in reader.schema.cameras.items()},
        "fps": reader.schema.fps,
        "episodes": len(records),
        "frames": frames,
        "duration_s": frames / reader.schema.fps,
        "instructions": sorted({record.instruction for record in records}),
        "success": sum(record.success for record in records),
        "compliance": sum(record.compliance is not False for record in records),
        "world_states": sum(reader.has_world(record.index) for record in records),
        "bytes": sum(path.stat().st_size for path in reader.root.rglob("*") if path.is_file()),
    }
