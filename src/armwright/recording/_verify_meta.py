"""Checks of a dataset's metadata: info, tasks, episode rows, statistics."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from armwright.recording._verify_state import TOLERANCE_S, Findings
from armwright.recording.layout import CODEBASE_VERSION, INDEX_FEATURES, INFO, STATS, TASKS
from armwright.recording.stats import QUANTILES

_INFO_TYPES: dict[str, tuple[type, ...]] = {
    "codebase_version": (str,),
    "fps": (int, float),
    "features": (dict,),
    "total_episodes": (int,),
    "total_frames": (int,),
    "total_tasks": (int,),
    "chunks_size": (int,),
    "data_path": (str,),
    "splits": (dict,),
}


def check_info(found: Findings) -> None:
    """Check ``meta/info.json``; without a sound one nothing else can be read."""
    try:
        info = json.loads((found.root / INFO).read_text())
    except (OSError, ValueError) as error:
        found.add("info", INFO, f"cannot be read: {error}")
        return
    found.info = info if isinstance(info, dict) else {}
    before = len(found.violations)
    for key, kinds in _INFO_TYPES.items():
        value = found.info.get(key)
        if not isinstance(value, kinds) or isinstance(value, bool):
            found.add("info", INFO, f"{key} is {value!r}, it must be {' or '.join(k.__name__ for k in kinds)}")
    if len(found.violations) > before:
        return
    if found.info["codebase_version"] != CODEBASE_VERSION:
        found.add("info", INFO, f"codebase_version is {found.info['codebase_version']!r}, not {CODEBASE_VERSION!r}")
    if found.info["fps"] <= 0:
        found.add("info", INFO, f"fps is {found.info['fps']}")
        return
    found.usable = _check_features(found)
    splits = found.info["splits"]
    if splits.get("train") != f"0:{found.info['total_episodes']}":
        found.add("info", INFO, f"splits are {splits}, there are {found.info['total_episodes']} episodes")


def _check_features(found: Findings) -> bool:
    before = len(found.violations)
    for key, spec in found.features.items():
        shape = spec.get("shape") if isinstance(spec, dict) else None
        if not isinstance(shape, list) or not all(isinstance(n, int) and n > 0 for n in shape):
            found.add("info", INFO, f"feature {key} has no valid shape")
            continue
        names, dtype = spec.get("names"), spec.get("dtype")
        if "/" in key:
            found.add("info", INFO, f"feature {key} has a slash in its name")
        if dtype == "video" and (len(shape) != 3 or not isinstance(names, list) or len(names) != 3):
            found.add("info", INFO, f"video feature {key} has shape {shape} and names {names}")
        elif dtype not in ("video", "image", "float32", "float64", "int64", "bool", "string"):
            found.add("info", INFO, f"feature {key} has dtype {dtype!r}")
        elif len(shape) == 1 and isinstance(names, list) and len(names) != shape[0]:
            found.add("info", INFO, f"feature {key} has {len(names)} names for {shape[0]} values")
    for key, dtype in INDEX_FEATURES.items():
        spec = found.features.get(key, {})
        if spec.get("dtype") != dtype or spec.get("shape") != [1]:
            found.add("info", INFO, f"feature {key} must be {dtype} of shape [1], it is {spec or 'missing'}")
    if len(found.violations) > before:
        return False
    for name in ("data_path", *(("video_path",) if found.video_keys else ())):
        try:
            str.format(found.info[name], chunk_index=0, file_index=0, video_key="x")
        except (KeyError, IndexError, TypeError, ValueError):
            found.add("info", INFO, f"{name} is {found.info.get(name)!r}, not a path with chunk_index and file_index")
    return len(found.violations) == before


def check_tasks(found: Findings) -> None:
    """Check ``meta/tasks.parquet``: row k has task index k, every instruction once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(found.root / TASKS, page_checksum_verification=True)
        rows = table.select(["task_index", "task"]).to_pylist()
    except (OSError, KeyError, pa.ArrowException) as error:
        found.add("tasks", TASKS, f"cannot be read: {error}")
        return
    found.tasks = [str(row["task"]) for row in rows]
    if [row["task_index"] for row in rows] != list(range(len(rows))):
        found.add("tasks", TASKS, "task_index does not count from 0 in the order of the rows")
    if len(set(found.tasks)) != len(rows):
        found.add("tasks", TASKS, "an instruction occurs twice")
    if len(rows) != found.info["total_tasks"]:
        found.add("tasks", TASKS, f"{len(rows)} tasks, info.json says {found.info['total_tasks']}")
    pandas = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    if pandas.get("index_columns") != ["task"]:
        found.add("tasks", TASKS, "readers that use pandas need the column 'task' marked as the index")


def check_episodes(found: Findings) -> None:
    """Check ``meta/episodes``: every episode once, in order, its ranges joined end to end, its files there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    needed = ["episode_index", "tasks", "length", "dataset_from_index", "dataset_to_index"]
    for prefix in ("data", "meta/episodes", *(f"videos/{key}" for key in found.video_keys)):
        needed += [f"{prefix}/chunk_index", f"{prefix}/file_index"]
    for key in found.video_keys:
        needed += [f"videos/{key}/from_timestamp", f"videos/{key}/to_timestamp"]
    for path in sorted((found.root / "meta/episodes").glob("*/*.parquet")):
        try:
            table = pq.read_table(path, page_checksum_verification=True)
            rows = table.select(needed).to_pylist()
        except (OSError, KeyError, pa.ArrowException) as error:
            found.add("episodes", path, f"cannot be read: {error}")
            continue
        found.episodes += rows
        found.episode_files += [str(path.relative_to(found.root))] * len(rows)
        _check_episode_stats(found, path, table)
    if len(found.episodes) != found.info["total_episodes"]:
        found.add(
            "episodes", "meta/episodes", f"{len(found.episodes)} rows, info.json says {found.info['total_episodes']}"
        )
    start = 0
    videos: dict[str, tuple[Path, float]] = {}
    for number, (row, file) in enumerate(zip(found.episodes, found.episode_files, strict=True)):
        if any(row[name] is None for name in needed):
            found.add("episodes", file, "a value is missing", episode=number)
            found.usable = False
            return
        start = _check_range(found, row, file, number=number, start=start)
        for key in found.video_keys:
            _check_video_range(found, row, file, number=number, key=key, videos=videos)
    if start != found.info["total_frames"]:
        found.add("episodes", "meta/episodes", f"{start} rows in all, info.json says {found.info['total_frames']}")


def _check_range(found: Findings, row: dict[str, Any], file: str, *, number: int, start: int) -> int:
    def wrong(detail: str) -> None:
        found.add("episodes", file, detail, episode=number)

    if row["episode_index"] != number:
        wrong(f"episode_index is {row['episode_index']}, expected {number}")
    if row["length"] < 1:
        wrong(f"length is {row['length']}")
    first, last = row["dataset_from_index"], row["dataset_to_index"]
    if first != start:
        wrong(f"dataset_from_index is {first}, the episode before ended at {start}")
    if last - first != row["length"]:
        wrong(f"rows {first} to {last}, but length {row['length']}")
    if not row["tasks"] or any(task not in found.tasks for task in row["tasks"]):
        wrong(f"tasks {row['tasks']} are not in {TASKS}")
    own = f"chunk-{row['meta/episodes/chunk_index']:03d}/file-{row['meta/episodes/file_index']:03d}.parquet"
    if not file.endswith(own):
        wrong(f"the row says it is in {own}")
    if not found.data_file(row).exists():
        wrong(f"{found.data_file(row).relative_to(found.root)} is missing")
    return int(last)


def _check_video_range(
    found: Findings, row: dict[str, Any], file: str, *, number: int, key: str, videos: dict[str, tuple[Path, float]]
) -> None:
    path = found.video_file(row, key)
    if not path.exists():
        found.add("episodes", file, f"{path.relative_to(found.root)} is missing", episode=number)
    start, end = row[f"videos/{key}/from_timestamp"], row[f"videos/{key}/to_timestamp"]
    before, expected = videos.get(key, (path, 0.0))
    expected = expected if before == path else 0.0
    if abs(start - expected) > TOLERANCE_S:
        found.add("episodes", file, f"{key} starts at {start} s, expected {expected} s", episode=number)
    if abs(end - start - row["length"] / found.fps) > TOLERANCE_S:
        found.add("episodes", file, f"{key} lasts {end - start} s for {row['length']} rows", episode=number)
    videos[key] = (path, end)


def _check_episode_stats(found: Findings, path: Path, table: Any) -> None:
    for key, spec in found.features.items():
        if spec["dtype"] == "string":
            continue
        for name in ("min", "max", "mean", "std", "count"):
            column = f"stats/{key}/{name}"
            if column not in table.column_names:
                found.add("stats", path, f"{column} is missing")
                continue
            for index, value in zip(
                table.column("episode_index").to_pylist(), table.column(column).to_pylist(), strict=True
            ):
                if value is None or not np.isfinite(np.asarray(value, dtype=float)).all():
                    found.add("stats", path, f"{column} is not finite", episode=index)


def check_stats(found: Findings) -> None:
    """Check ``meta/stats.json``: there, finite, of the right shape, and true to the data."""
    try:
        stats = json.loads((found.root / STATS).read_text())
    except (OSError, ValueError) as error:
        found.add("stats", STATS, f"cannot be read: {error}")
        return
    for key, spec in found.features.items():
        if spec["dtype"] == "string":
            continue
        entry = stats.get(key)
        if not isinstance(entry, dict):
            found.add("stats", STATS, f"{key} is missing")
            continue
        shape = (3, 1, 1) if spec["dtype"] in ("video", "image") else tuple(spec["shape"])
        _check_entry(found, key, entry, shape, image=spec["dtype"] in ("video", "image"))


def _check_entry(found: Findings, key: str, entry: dict[str, Any], shape: tuple[int, ...], *, image: bool) -> None:
    rows: dict[str, Any] = {}
    for name in ("min", "max", "mean", "std", *QUANTILES):
        if name not in entry:
            found.add("stats", STATS, f"{key}/{name} is missing")
            return
        try:
            rows[name] = np.asarray(entry[name], dtype=float)
        except (TypeError, ValueError):
            rows[name] = np.array(np.nan)
        if rows[name].shape != shape or not np.isfinite(rows[name]).all():
            found.add("stats", STATS, f"{key}/{name} must be finite and of shape {shape}")
            return
    slack = 1e-6 * (1 + np.abs(rows["max"]) + np.abs(rows["min"]))
    order = [rows["min"], *(rows[name] for name in QUANTILES), rows["max"]]
    if any((low > high + slack).any() for low, high in pairwise(order)):
        found.add("stats", STATS, f"{key}: min, quantiles and max are not in order")
    if (rows["mean"] < rows["min"] - slack).any() or (rows["mean"] > rows["max"] + slack).any():
        found.add("stats", STATS, f"{key}/mean is outside min..max")
    if image and ((rows["min"] < 0).any() or (rows["max"] > 1).any()):
        found.add("stats", STATS, f"{key} must lie in 0..1")
    if key in found.running:
        low, high, mean, count = found.running[key]
        if entry.get("count") != [count]:
            found.add("stats", STATS, f"{key}/count is {entry.get('count')}, the data have {count} rows")
        for name, truth in (("min", low), ("max", high), ("mean", mean)):
            if not np.allclose(rows[name], truth, rtol=1e-4, atol=1e-5):
                found.add("stats", STATS, f"{key}/{name} is not that of the data")
