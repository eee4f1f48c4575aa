"""What a dataset's files hold so far: the manifest that counts finished batches, and whether they are still there."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from pydantic import NonNegativeInt, TypeAdapter, ValidationError

from armwright.core.errors import ArmwrightError, OutputError
from armwright.recording._tables import check_video, damaged, read_table, rows_of
from armwright.recording.layout import (
    DATA_PATH,
    EPISODES_PATH,
    INFO,
    MANIFEST,
    RECORDS_PATH,
    STATS,
    TASKS,
    VIDEO_PATH,
    WORLD_PATH,
    DatasetSchema,
    batch_path,
    episode_key,
    read_json,
)
from armwright.recording.staging import StagedEpisode


@dataclass(frozen=True)
class Manifest:
    """What the finished batches of a dataset hold."""

    batches: NonNegativeInt = 0
    episodes: NonNegativeInt = 0
    frames: NonNegativeInt = 0
    tasks: tuple[str, ...] = ()


def load_manifest(root: Path) -> Manifest:
    """Read the manifest; a dataset without one has no finished batch.

    Raises:
        OutputError: It is damaged.
    """
    path = root / MANIFEST
    if not path.exists():
        return Manifest()
    value = read_json(path)
    try:
        return TypeAdapter(Manifest).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        raise damaged(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def stored_keys(root: Path, *, batches: int) -> set[str]:
    """Return the keys of the episodes in the first ``batches`` batches.

    Raises:
        OutputError: A record file is missing or damaged.
    """
    keys: set[str] = set()
    for batch in range(batches):
        keys |= _keys_of(batch_path(root, RECORDS_PATH, batch))
    return keys


def _keys_of(records: Path) -> set[str]:
    rows = read_table(records, columns=["seed", "instruction"]).to_pylist()
    try:
        return {episode_key(row["seed"], row["instruction"]) for row in rows}
    except (TypeError, ValueError, AttributeError) as error:
        raise damaged(records, error) from error


def check_batches(root: Path, schema: DatasetSchema, manifest: Manifest) -> None:
    """Check what is cheap to tell of the finished batches: each file is there, is whole, and has its rows.

    Raises:
        OutputError: One is not; the message names it and says what to do.
    """
    try:
        episodes = frames = 0
        for batch in range(manifest.batches):
            records = read_table(batch_path(root, RECORDS_PATH, batch), columns=["length"]).column("length").to_pylist()
            data = batch_path(root, DATA_PATH, batch)
            if rows_of(data) != sum(records):
                raise damaged(data, f"it has {rows_of(data)} rows, its episodes have {sum(records)}")
            rows = batch_path(root, EPISODES_PATH, batch)
            if rows_of(rows) != len(records):
                raise damaged(rows, f"it has {rows_of(rows)} episodes of {len(records)}")
            rows_of(batch_path(root, WORLD_PATH, batch))
            for key in schema.video_keys.values():
                check_video(batch_path(root, VIDEO_PATH, batch, video_key=key), frames=sum(records))
            episodes, frames = episodes + len(records), frames + sum(records)
        if (episodes, frames) != (manifest.episodes, manifest.frames):
            raise damaged(
                root / MANIFEST,
                f"it counts {manifest.episodes} episodes and {manifest.frames} frames, "
                f"the files hold {episodes} and {frames}",
            )
    except OutputError as error:
        raise OutputError(
            str(error.args[0]),
            hint=f"Restore it from a copy, or delete {root}: --resume then runs its episodes again.",
        ) from error


def check_uncounted(root: Path, batch: int, staged: AbstractSet[str]) -> None:
    """Refuse to discard a batch that the manifest does not count if its episodes are nowhere else.

    A killed run leaves such a batch with all its episodes still staged; a lost manifest does not.

    Raises:
        OutputError: Discarding it would lose episodes.
    """
    path = batch_path(root, RECORDS_PATH, batch)
    try:
        only_here = _keys_of(path) - staged
    except ArmwrightError:
        return  # the record file is a batch's last: without it the batch was never whole
    if only_here:
        raise OutputError(
            f"{root / MANIFEST} does not count {path}, which holds {len(only_here)} episodes that are nowhere else.",
            hint=f"Restore the manifest from a copy, or delete {root}: --resume then runs its episodes again.",
        )


def check_staged(episode: StagedEpisode, schema: DatasetSchema) -> None:
    """Check what is cheap to tell of a staged episode: its files are there and whole.

    Raises:
        OutputError: One is not; the message names it and says what to do.
    """
    try:
        if rows_of(episode.folder / "frames.parquet") != episode.length:
            raise damaged(episode.folder / "frames.parquet", f"it has not the {episode.length} rows of its episode")
        if (episode.folder / "world.parquet").exists() or episode.record().get("has_world", True):
            rows_of(episode.folder / "world.parquet")
        for camera in schema.cameras:
            check_video(episode.video(camera), frames=episode.length)
    except OutputError as error:
        raise OutputError(
            str(error.args[0]), hint=f"Delete {episode.folder}: --resume then runs that episode again."
        ) from error


def metadata_is_sound(root: Path, schema: DatasetSchema, manifest: Manifest) -> bool:
    """Say whether the files under ``meta/`` that follow from the others are there and whole."""
    try:
        info, stats = read_json(root / INFO), read_json(root / STATS)
        tasks = read_table(root / TASKS, columns=["task"]).column("task").to_pylist()
    except ArmwrightError:
        return False
    wanted = schema.info(episodes=manifest.episodes, frames=manifest.frames, tasks=len(manifest.tasks))
    return bool(info == json.loads(json.dumps(wanted)) and (stats or not manifest.frames)) and tasks == [
        *manifest.tasks
    ]
