"""Build the files of one batch from staged episodes, and the dataset's metadata from the batches."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from armwright.core.files import atomic_path
from armwright.recording.layout import (
    CHUNK_SIZE,
    DATA_PATH,
    EPISODES_PATH,
    RECORD_TEXTS,
    RECORDS_PATH,
    TASKS,
    VIDEO_DIGEST,
    VIDEO_PATH,
    WORLD_PATH,
    DatasetSchema,
    batch_path,
    file_digest,
)
from armwright.recording.stats import QUANTILES, RunningStats, Stats, image_stats, vector_stats
from armwright.recording.video import join_videos

_QUANTILE_ROWS = 200_000
"""Quantiles of the whole dataset look at no more rows than this, evenly spread, so that memory stays bounded."""

_ADDED = ("episode_index", "index", "task_index")


class EpisodeSource(Protocol):
    """An episode that lies finished somewhere: staged, or in the files of another dataset."""

    @property
    def instruction(self) -> str: ...

    @property
    def length(self) -> int: ...

    def record(self) -> dict[str, Any]:
        """Return all that is known of it; the caller may change it."""
        ...

    def frames(self) -> Any:
        """Return an arrow table of its vector features and ``frame_index``."""
        ...

    def world(self) -> Any:
        """Return an arrow table of ``time_s``, ``qpos``, ``qvel`` and ``ctrl``; asked for only if it has any."""
        ...


@dataclass(frozen=True)
class Batch:
    """What goes into one set of files.

    Attributes:
        number: From 0 over the whole dataset.
        first_episode, first_index: Index of its first episode and of its first row.
        task_index: Instruction -> index.
        episodes: In the order they are written.
        videos: Camera name -> the files that hold these episodes' frames, to be joined.
        linked: The one file per camera may be shared with where it comes from, since it is never changed.
    """

    number: int
    first_episode: int
    first_index: int
    task_index: Mapping[str, int]
    episodes: Sequence[EpisodeSource]
    videos: Mapping[str, Sequence[Path]]
    linked: bool = False


def write_batch(root: Path, schema: DatasetSchema, batch: Batch) -> None:
    """Write all files of a batch; each is whole or absent."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    digests: dict[str, str] = {}
    for camera, key in schema.video_keys.items():
        target = batch_path(root, VIDEO_PATH, batch.number, video_key=key)
        if batch.linked:
            link_file(batch.videos[camera][0], target)
        else:
            join_videos(batch.videos[camera], target, fps=schema.fps)
        digests[f"{VIDEO_DIGEST}{key}"] = file_digest(target)
    rows: list[dict[str, Any]] = []
    records: list[dict[str, Any]] = []
    start = batch.first_index
    with (
        atomic_path(batch_path(root, DATA_PATH, batch.number)) as data_path,
        atomic_path(batch_path(root, WORLD_PATH, batch.number)) as world_path,
        pq.ParquetWriter(data_path, data_schema(schema), compression="snappy", write_page_checksum=True) as data,
        pq.ParquetWriter(world_path, world_schema(), compression="zstd", write_page_checksum=True) as world,
    ):
        for offset, episode in enumerate(batch.episodes):
            number, length, record = batch.first_episode + offset, episode.length, episode.record()
            frame = np.arange(length)
            extra = {
                "timestamp": (frame / schema.fps).astype(np.float32),
                "episode_index": np.full(length, number),
                "index": start + frame,
                "task_index": np.full(length, batch.task_index[episode.instruction]),
            }
            table = episode.frames()
            for name, values in extra.items():
                table = table.append_column(name, pa.array(values))
            data.write_table(table.select(data_schema(schema).names).cast(data_schema(schema)))
            if record["has_world"]:
                states = episode.world()
                for name in ("episode_index", "index"):
                    states = states.append_column(name, pa.array(extra[name]))
                states = states.append_column("frame_index", pa.array(frame))
                world.write_table(states.select(world_schema().names).cast(world_schema()))
            record["stats"].update({name: vector_stats(extra[name]) for name in _ADDED})
            rows.append(_episode_row(schema, batch, record, number=number, start=start))
            records.append(_record_row(record, number))
            start += length
    _write_rows(batch_path(root, EPISODES_PATH, batch.number), rows, _episode_schema(schema))
    _write_rows(batch_path(root, RECORDS_PATH, batch.number), records, _record_schema(schema).with_metadata(digests))


def link_file(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the file systems differ or have no hard links."""
    with atomic_path(target) as temporary:
        temporary.unlink()
        try:
            os.link(source, temporary)
        except OSError:
            shutil.copyfile(source, temporary)


def write_tasks(root: Path, tasks: Sequence[str]) -> None:
    """Write ``meta/tasks.parquet``; its metadata makes pandas read ``task`` as the index."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def column(name: str, kind: str, numpy_kind: str) -> dict[str, Any]:
        return {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy_kind, "metadata": None}

    pandas = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [column("task_index", "int64", "int64"), column("task", "unicode", "object")],
        "pandas_version": "2.0.0",
    }
    table = pa.table({"task_index": pa.array(range(len(tasks)), pa.int64()), "task": pa.array(tasks, pa.string())})
    with atomic_path(root / TASKS) as temporary:
        pq.write_table(
            table.replace_schema_metadata({"pandas": json.dumps(pandas)}), temporary, write_page_checksum=True
        )


def dataset_stats(root: Path, schema: DatasetSchema, *, frames: int) -> dict[str, Stats]:
    """Return the statistics of the whole dataset: exact, quantiles of vectors from an even sample of rows."""
    import pyarrow.parquet as pq

    running = RunningStats()
    counts = {key: np.zeros((3, 256), dtype=np.int64) for key in schema.video_keys.values()}
    sampled = dict.fromkeys(counts, 0)
    for path in sorted((root / "armwright/episodes").glob("*/*.parquet")):
        for part in pq.ParquetFile(path).iter_batches(batch_size=64):
            for row in part.to_pylist():
                stats = json.loads(row["stats"])
                running.add({key: value for key, value in stats.items() if key not in counts})
                for key, total in counts.items():
                    total += np.array(row[f"image_counts/{key}"]).reshape(3, 256)
                    sampled[key] += int(stats[key]["count"][0])
    result = running.result()
    if not result:
        return {}
    for key in [*schema.vectors, "timestamp", "frame_index", "episode_index", "index", "task_index"]:
        sample = _sample_column(root, key, every=max(1, -(-frames // _QUANTILE_ROWS)))
        for name, row in zip(QUANTILES, np.quantile(sample, list(QUANTILES.values()), axis=0), strict=True):
            result[key][name] = row.tolist()
    for key, total in counts.items():
        result[key] = image_stats(total, sampled[key])
    return result


def _sample_column(root: Path, key: str, *, every: int) -> NDArray[np.float64]:
    import pyarrow.parquet as pq

    parts: list[NDArray[np.float64]] = []
    seen = 0
    for path in sorted((root / "data").glob("*/*.parquet")):
        column = pq.read_table(path, columns=[key]).column(0)
        rows = len(column)
        flat = column.combine_chunks()
        values = flat.flatten() if hasattr(flat, "flatten") else flat
        array = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64).reshape(rows, -1)
        parts.append(array[(-seen) % every :: every])
        seen += rows
    return np.concatenate(parts)


def data_schema(schema: DatasetSchema) -> Any:
    """Return the arrow schema of data files: the non-video features, in info.json's order."""
    import pyarrow as pa

    kinds = {"float32": pa.float32(), "int64": pa.int64()}
    fields = [
        pa.field(key, pa.list_(pa.float32(), spec["shape"][0]) if key in schema.vectors else kinds[spec["dtype"]])
        for key, spec in schema.features().items()
        if spec["dtype"] != "video"
    ]
    return pa.schema(fields)


def world_schema() -> Any:
    """Return the arrow schema of world files."""
    import pyarrow as pa

    fields: dict[str, Any] = {name: pa.int64() for name in ("index", "episode_index", "frame_index")}
    fields["time_s"] = pa.float64()
    fields.update({name: pa.list_(pa.float64()) for name in ("qpos", "qvel", "ctrl")})
    return pa.schema(fields.items())


def _episode_schema(schema: DatasetSchema) -> Any:
    import pyarrow as pa

    fields: dict[str, Any] = {
        "episode_index": pa.int64(),
        "tasks": pa.list_(pa.string()),
        "length": pa.int64(),
        "data/chunk_index": pa.int64(),
        "data/file_index": pa.int64(),
        "dataset_from_index": pa.int64(),
        "dataset_to_index": pa.int64(),
    }
    for key in schema.video_keys.values():
        fields[f"videos/{key}/chunk_index"] = pa.int64()
        fields[f"videos/{key}/file_index"] = pa.int64()
        fields[f"videos/{key}/from_timestamp"] = pa.float64()
        fields[f"videos/{key}/to_timestamp"] = pa.float64()
    image = pa.list_(pa.list_(pa.list_(pa.float64())))
    for key, spec in schema.features().items():
        for name in ("min", "max", "mean", "std", *QUANTILES):
            fields[f"stats/{key}/{name}"] = image if spec["dtype"] == "video" else pa.list_(pa.float64())
        fields[f"stats/{key}/count"] = pa.list_(pa.int64())
    fields["meta/episodes/chunk_index"] = pa.int64()
    fields["meta/episodes/file_index"] = pa.int64()
    return pa.schema(fields.items())


def _record_schema(schema: DatasetSchema) -> Any:
    import pyarrow as pa

    fields: dict[str, Any] = {
        "episode_index": pa.int64(),
        "seed": pa.int64(),
        "instruction": pa.string(),
        "success": pa.bool_(),
        "compliance": pa.bool_(),
        "length": pa.int64(),
        "model_hash": pa.string(),
        "has_world": pa.bool_(),
    }
    fields.update({name: pa.string() for name in RECORD_TEXTS})
    fields.update({f"image_counts/{key}": pa.list_(pa.int64()) for key in schema.video_keys.values()})
    return pa.schema(fields.items())


def _episode_row(
    schema: DatasetSchema, batch: Batch, record: Mapping[str, Any], *, number: int, start: int
) -> dict[str, Any]:
    chunk, file = divmod(batch.number, CHUNK_SIZE)
    row: dict[str, Any] = {
        "episode_index": number,
        "tasks": [record["instruction"]],
        "length": record["length"],
        "dataset_from_index": start,
        "dataset_to_index": start + record["length"],
    }
    for prefix in ("data", "meta/episodes", *(f"videos/{key}" for key in schema.video_keys.values())):
        row[f"{prefix}/chunk_index"] = chunk
        row[f"{prefix}/file_index"] = file
    for key in schema.video_keys.values():
        row[f"videos/{key}/from_timestamp"] = (start - batch.first_index) / schema.fps
        row[f"videos/{key}/to_timestamp"] = (start - batch.first_index + record["length"]) / schema.fps
    for key, values in record["stats"].items():
        row.update({f"stats/{key}/{name}": value for name, value in values.items()})
    return row


def _record_row(record: Mapping[str, Any], number: int) -> dict[str, Any]:
    plain = ("seed", "instruction", "success", "compliance", "length", "model_hash", "has_world")
    row = {key: record[key] for key in plain}
    row["episode_index"] = number
    row.update({key: json.dumps(record[key]) for key in RECORD_TEXTS})
    row.update({f"image_counts/{key}": value for key, value in record["image_counts"].items()})
    return row


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]], arrow_schema: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_path(path) as temporary:
        pq.write_table(
            pa.Table.from_pylist(list(rows), schema=arrow_schema),
            temporary,
            compression="zstd",
            write_page_checksum=True,
        )
