"""Checks of a dataset's content: data rows, videos, and our sidecar of world states and records."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import ArmwrightError, OutputError
from armwright.recording._verify_state import TOLERANCE_S, Findings, column_array
from armwright.recording.layout import (
    MANIFEST,
    RECORD_TEXTS,
    SCHEMA,
    VIDEO_DIGEST,
    VIDEO_PATH,
    batch_of,
    batch_path,
    file_digest,
    load_schema,
)
from armwright.recording.video import packet_times, read_frames

_QUAT = ("quat_w", "quat_x", "quat_y", "quat_z")


def check_data(found: Findings) -> None:
    """Check every row of the data files, file by file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    owners: dict[Path, list[int]] = defaultdict(list)
    for number, row in enumerate(found.episodes):
        owners[found.data_file(row)].append(number)
    limits = _opening_limits(found)
    for path in sorted((found.root / "data").glob("*/*.parquet")):
        try:
            table = pq.read_table(path, partitioning=None, page_checksum_verification=True)
        except (OSError, pa.ArrowException) as error:
            found.add("data", path, f"cannot be read: {error}")
            continue
        if path not in owners:
            found.add("data", path, "no episode is in this file, but readers will load it")
        if not _check_columns(found, path, table):
            continue
        columns = {name: column_array(table.column(name)) for name in table.column_names}
        _take_in(found, columns)
        _check_rows(found, path, columns, owners[path], limits=limits)


def _opening_limits(found: Findings) -> tuple[float, float] | None:
    try:
        low, high = json.loads((found.root / SCHEMA).read_text())["opening_limits_m"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return float(low), float(high)


def _check_columns(found: Findings, path: Path, table: Any) -> bool:
    import pyarrow as pa

    before = len(found.violations)
    missing, extra = found.vectors.keys() - set(table.column_names), set(table.column_names) - found.vectors.keys()
    if missing or extra:
        found.add("data", path, f"columns differ from info.json: missing {sorted(missing)}, extra {sorted(extra)}")
    for key, spec in found.vectors.items():
        if key in missing or spec["dtype"] == "string":
            continue
        kind = table.schema.field(key).type
        is_list = pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind)
        wanted = {"bool": "bool", "float32": "float", "float64": "double"}.get(spec["dtype"], spec["dtype"])
        scalar = kind.value_type if is_list else kind
        if str(scalar) != wanted or is_list != (spec["shape"] != [1]):
            found.add("data", path, f"{key} is {kind}, info.json says {spec['dtype']} {spec['shape']}")
            continue
        if table.column(key).null_count:
            found.add("data", path, f"{key} has {table.column(key).null_count} missing values")
            continue
        if is_list:
            flat = table.column(key).combine_chunks().flatten()
            if len(flat) != table.num_rows * spec["shape"][0] or flat.null_count:
                found.add("data", path, f"{key} does not have {spec['shape'][0]} values in every row")
    return len(found.violations) == before


def _take_in(found: Findings, columns: dict[str, NDArray[Any]]) -> None:
    for key, values in columns.items():
        if values.dtype.kind not in "fiu" or not len(values):
            continue
        x = values.reshape(len(values), -1).astype(float)
        low, high, mean, count = x.min(0), x.max(0), x.mean(0), len(x)
        if key in found.running:
            low0, high0, mean0, count0 = found.running[key]
            total = count0 + count
            low, high = np.minimum(low, low0), np.maximum(high, high0)
            mean, count = (mean0 * count0 + mean * count) / total, total
        found.running[key] = (low, high, mean, count)


def _check_rows(
    found: Findings,
    path: Path,
    columns: dict[str, NDArray[Any]],
    owners: list[int],
    *,
    limits: tuple[float, float] | None,
) -> None:
    expected = sum(found.episodes[number]["length"] for number in owners)
    if len(columns["index"]) != expected:
        found.add("data", path, f"{len(columns['index'])} rows, its episodes have {expected}")
    start = 0
    for number in owners:
        row = found.episodes[number]
        part = {key: values[start : start + row["length"]] for key, values in columns.items()}
        start += row["length"]
        if len(part["index"]):
            _check_episode(found, path, number, row, part, limits=limits)


def _check_episode(
    found: Findings,
    path: Path,
    number: int,
    row: dict[str, Any],
    part: dict[str, NDArray[Any]],
    *,
    limits: tuple[float, float] | None,
) -> None:
    def wrong(detail: str) -> None:
        found.add("data", path, detail, episode=number)

    count = len(part["index"])
    frame = np.arange(count)
    if (part["episode_index"] != number).any():
        wrong(f"row {int((part['episode_index'] != number).argmax())} has another episode_index")
    if (part["index"] != row["dataset_from_index"] + frame).any():
        wrong("index does not go on from the episode before")
    if (part["frame_index"] != frame).any():
        wrong("frame_index does not count from 0")
    off = np.abs(part["timestamp"].astype(float) - frame / found.fps)
    if not (off <= TOLERANCE_S).all():
        wrong(f"row {int(np.nanargmax(off))}: timestamp is off by {np.nanmax(off):.4f} s")
    tasks = [found.tasks[k] if 0 <= k < len(found.tasks) else None for k in np.unique(part["task_index"])]
    if any(task not in row["tasks"] for task in tasks):
        wrong(f"task_index stands for {tasks}, the episode for {row['tasks']}")
    for key, spec in found.vectors.items():
        values = part[key]
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            wrong(f"{key} is not finite in row {int(np.argwhere(~np.isfinite(values))[0, 0])}")
        names = spec["names"] if isinstance(spec.get("names"), list) else []
        if all(name in names for name in _QUAT):
            quats = values[:, [names.index(name) for name in _QUAT]].astype(float)
            norm = np.linalg.norm(quats, axis=1)
            if not (np.abs(norm - 1) < 1e-4).all():
                wrong(f"{key}: quaternion of row {int(np.abs(norm - 1).argmax())} is not of unit length")
            elif (np.einsum("ij,ij->i", quats[1:], quats[:-1]) < 0).any():
                wrong(f"{key}: the quaternion's sign jumps")
        for k, name in enumerate(names):
            if limits and name == "gripper_opening_m":
                low, high = limits
                if (values[:, k] < low - 2e-3).any() or (values[:, k] > high + 2e-3).any():
                    wrong(f"{key}: gripper opening outside {low}..{high} m")


def check_videos(found: Findings) -> None:
    """Check that every video has a frame for every row, at the right time, and that they can be decoded."""
    for key in found.video_keys:
        owners: dict[Path, list[int]] = defaultdict(list)
        for number, row in enumerate(found.episodes):
            owners[found.video_file(row, key)].append(number)
        for path in sorted((found.root / "videos" / key).glob("*/*.mp4")):
            if path not in owners:
                found.add("videos", path, "no episode is in this file")
        for path, numbers in owners.items():
            if path.exists():
                _check_video(found, key, path, numbers)


def _check_video(found: Findings, key: str, path: Path, numbers: list[int]) -> None:
    try:
        times = packet_times(path)
    except (ArmwrightError, OSError) as error:
        found.add("videos", path, f"cannot be read: {error}")
        return
    expected = sum(found.episodes[number]["length"] for number in numbers)
    if len(times) != expected:
        found.add("videos", path, f"{len(times)} frames, its episodes have {expected} rows")
    off = np.abs(np.array([time for time, _ in times]) - np.arange(len(times)) / found.fps)
    if len(off) and off.max() > TOLERANCE_S:
        found.add("videos", path, f"frame {int(off.argmax())} is shown {off.max():.4f} s off its time")
        return
    shape = tuple(found.features[key]["shape"])
    for number in numbers:
        row = found.episodes[number]
        first = round(row[f"videos/{key}/from_timestamp"] * found.fps)
        if 0 <= first < len(times) and not times[first][1]:
            found.add("videos", path, f"frame {first}, its first, is not a key frame", episode=number)
        if not found.decode:
            continue
        for frame in {first, first + row["length"] - 1}:
            try:
                image = next(read_frames(path, fps=round(found.fps), start=frame, count=1), None)
            except (ArmwrightError, OSError, ValueError) as error:
                found.add("videos", path, f"frame {frame} cannot be decoded: {error}", episode=number)
                continue
            if image is None:
                found.add("videos", path, f"frame {frame} is missing", episode=number)
            elif image.shape != shape:
                found.add("videos", path, f"frames are {image.shape}, info.json says {shape}", episode=number)


def check_sidecar(found: Findings) -> None:
    """Check our own records and world states against the rest, where the dataset has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not (found.root / SCHEMA).exists():
        others = [path for path in (found.root / "armwright").rglob("*") if path.is_file()]
        if others:  # a dataset of another writer has no such folder
            found.add("sidecar", SCHEMA, f"is missing, though {others[0].relative_to(found.root)} is there")
        return
    _check_own_metadata(found)
    with_world: set[int] = set()
    seen: dict[tuple[int, str], int] = {}
    count = 0
    for path in sorted((found.root / "armwright/episodes").glob("*/*.parquet")):
        try:
            table = pq.read_table(path, partitioning=None, page_checksum_verification=True)
            rows = table.to_pylist()
        except (OSError, pa.ArrowException) as error:
            found.add("sidecar", path, f"cannot be read: {error}")
            continue
        _check_digests(found, path, table.schema.metadata or {})
        for row in rows:
            _check_record(found, path, row, number=count, seen=seen)
            if row["has_world"]:
                with_world.add(count)
            count += 1
    if count != len(found.episodes):
        found.add("sidecar", "armwright/episodes", f"{count} records for {len(found.episodes)} episodes")
    checked: set[int] = set()
    for path in sorted((found.root / "armwright/world").glob("*/*.parquet")):
        try:
            table = pq.read_table(path, partitioning=None, page_checksum_verification=True)
            _check_world(found, path, table, checked)
        except (OSError, KeyError, ValueError, pa.ArrowException) as error:
            found.add("sidecar", path, f"cannot be read: {error}")
    for number in sorted(with_world - checked):
        found.add("sidecar", "armwright/world", "the world's states are missing", episode=number)


def _check_own_metadata(found: Findings) -> None:
    try:
        schema = load_schema(found.root)
        if schema.features() != found.features or schema.robot != found.info.get("robot_type"):
            found.add("sidecar", SCHEMA, "differs from meta/info.json")
    except OutputError as error:
        found.add("sidecar", SCHEMA, str(error.args[0]).removeprefix(f"{found.root / SCHEMA} "))
    try:
        manifest = json.loads((found.root / MANIFEST).read_text())
        counts = {"episodes": len(found.episodes), "frames": found.info["total_frames"], "tasks": found.tasks}
        if any(manifest[key] != value for key, value in counts.items()):
            found.add("sidecar", MANIFEST, "differs from meta/")
    except (OSError, ValueError, KeyError, TypeError) as error:
        found.add("sidecar", MANIFEST, f"cannot be read: {error}")


def _check_digests(found: Findings, records: Path, metadata: dict[bytes, bytes]) -> None:
    for key in found.video_keys:
        digest = metadata.get(f"{VIDEO_DIGEST}{key}".encode(), b"").decode()
        path = batch_path(found.root, VIDEO_PATH, batch_of(records), video_key=key)
        if path.exists() and file_digest(path) != digest:
            found.add("sidecar", path, "the file is not the one that was written: its SHA-256 differs")


def _check_record(
    found: Findings, path: Path, row: dict[str, Any], *, number: int, seen: dict[tuple[int, str], int]
) -> None:
    def wrong(detail: str) -> None:
        found.add("sidecar", path, detail, episode=number)

    if row["episode_index"] != number:
        wrong(f"episode_index is {row['episode_index']}")
    if number < len(found.episodes):
        episode = found.episodes[number]
        if row["length"] != episode["length"]:
            wrong(f"length is {row['length']}, not {episode['length']}")
        if [row["instruction"]] != episode["tasks"]:
            wrong(f"instruction is {row['instruction']!r}, the episode's task {episode['tasks']}")
    key = (row["seed"], row["instruction"])
    if key in seen:
        wrong(f"seed {row['seed']} was used for the same instruction in episode {seen[key]}")
    seen[key] = number
    for name in RECORD_TEXTS:
        try:
            json.loads(row[name])
        except (TypeError, ValueError):
            wrong(f"{name} is not JSON")


def _check_world(found: Findings, path: Path, table: Any, checked: set[int]) -> None:
    numbers = table.column("episode_index").to_numpy()
    for number in np.unique(numbers):
        part = table.filter(numbers == number)
        if not 0 <= number < len(found.episodes):
            found.add("sidecar", path, "no such episode", episode=int(number))
            continue
        checked.add(int(number))
        episode = found.episodes[int(number)]
        frame = np.arange(episode["length"])
        same = np.array_equal(part.column("frame_index").to_numpy(), frame) and np.array_equal(
            part.column("index").to_numpy(), episode["dataset_from_index"] + frame
        )
        if not same:
            found.add("sidecar", path, "the world's rows are not those of the episode", episode=int(number))
            continue
        for name in ("qpos", "qvel", "ctrl"):
            widths = {len(row) for row in part.column(name).to_pylist()}
            flat = part.column(name).combine_chunks().flatten().to_numpy(zero_copy_only=False)
            if len(widths) != 1:
                found.add("sidecar", path, f"{name} changes its width", episode=int(number))
            elif not np.isfinite(flat).all():
                found.add("sidecar", path, f"{name} is not finite", episode=int(number))
