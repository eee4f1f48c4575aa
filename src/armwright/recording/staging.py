"""Finished episodes that are not yet in the dataset's files: one folder each, there whole or not at all.

Any number of processes may stage into one dataset at the same time: an episode is written under a temporary name and
renamed when it is whole. A killed process leaves at most a temporary folder behind.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import ArmwrightError, OutputError, UsageError
from armwright.core.files import ensure_writable, write_json
from armwright.recording._tables import read_table
from armwright.recording.episode import EpisodeData
from armwright.recording.layout import STAGING, DatasetSchema, episode_key, read_json
from armwright.recording.stats import ImageCounts, Stats, image_stats, vector_stats
from armwright.recording.video import VideoEncoder

_TEMPORARY = ".part-"


@dataclass(frozen=True)
class StagedEpisode:
    """A finished episode in its own folder.

    Attributes:
        folder: Holds ``frames.parquet``, ``world.parquet``, one video per camera and ``episode.json``.
        seed, instruction: What it was made from.
        length: Number of rows.
    """

    folder: Path
    seed: int
    instruction: str
    length: int

    @classmethod
    def open(cls, folder: Path) -> StagedEpisode:
        """Look at an episode's folder; its record is not kept, so that thousands of them take little memory."""
        path = folder / "episode.json"
        try:
            record = read_json(path)
            return cls(folder, int(record["seed"]), str(record["instruction"]), int(record["length"]))
        except (OutputError, KeyError, TypeError, ValueError) as error:
            raise OutputError(
                f"{path} is missing or damaged.", hint=f"Delete {folder}: --resume then runs that episode again."
            ) from error

    @property
    def order(self) -> tuple[int, str]:
        """By seed, then by instruction."""
        return self.seed, self.instruction

    def record(self) -> dict[str, Any]:
        """Read all that is known of it."""
        return read_json(self.folder / "episode.json")

    def frames(self) -> Any:
        """Read its rows, as an arrow table."""
        return read_table(self.folder / "frames.parquet")

    def world(self) -> Any:
        """Read the world's states, as an arrow table."""
        return read_table(self.folder / "world.parquet")

    def video(self, camera: str) -> Path:
        """Return the video of one camera."""
        return self.folder / f"{camera}.mp4"


class Stage:
    """The staging area of one dataset.

    Args:
        root: Folder of the dataset.
        schema: What the dataset's episodes share.
    """

    def __init__(self, root: Path, schema: DatasetSchema) -> None:
        self.schema = schema
        self.folder = ensure_writable(root / STAGING)

    def keys(self) -> set[str]:
        """Return the keys of all finished episodes in the area."""
        return _keys(self.folder)

    def has(self, key: str) -> bool:
        """Say whether an episode is staged, without listing the others."""
        return (self.folder / key).is_dir()

    def episodes(self) -> list[StagedEpisode]:
        """Return all finished episodes, by seed."""
        return _episodes(self.folder)

    def drop(self, episode: StagedEpisode) -> None:
        """Remove an episode that is safe in the dataset's files."""
        doomed = self.folder / f"{_TEMPORARY}gone-{episode.folder.name}"
        episode.folder.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what killed processes left; nothing may be staging meanwhile."""
        for path in self.folder.glob(f"{_TEMPORARY}*"):
            shutil.rmtree(path, ignore_errors=True)

    def add(self, episode: EpisodeData) -> StagedEpisode:
        """Write one episode.

        Raises:
            UsageError: It does not fit the schema, or is already there.
            OutputError: It cannot be written.
        """
        vectors = self._checked(episode)
        name = episode_key(episode.seed, episode.instruction)
        return self.adopt(name, lambda folder: self._write(folder, episode, vectors))

    def adopt(self, name: str, fill: Callable[[Path], dict[str, Any]]) -> StagedEpisode:
        """Let ``fill(folder)`` write an episode's files and return its record; then make it one of ours."""
        target = self.folder / name
        if target.exists():
            raise UsageError(f"episode {name} is already staged.", hint="Give each episode its own seed.")
        part = Path(tempfile.mkdtemp(dir=self.folder, prefix=_TEMPORARY))
        try:
            record = fill(part)
            write_json(part / "episode.json", record)
            part.chmod(0o755)
            part.rename(target)
        except ArmwrightError:
            shutil.rmtree(part, ignore_errors=True)
            raise
        except OSError as error:
            shutil.rmtree(part, ignore_errors=True)
            if target.exists():
                raise UsageError(
                    f"episode {name} is already staged.", hint="Give each episode its own seed."
                ) from error
            raise OutputError(
                f"cannot write episode {name} into {self.folder}: {error.strerror or error}.",
                hint="Free some space or choose another folder with --out.",
            ) from error
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        return StagedEpisode.open(target)

    def _checked(self, episode: EpisodeData) -> dict[str, NDArray[np.float32]]:
        vectors = episode.vectors()
        for key, names in self.schema.vectors.items():
            values = vectors[key]
            if values.shape[1] != len(names):
                raise UsageError(
                    f"{key} has {values.shape[1]} columns, the dataset has {len(names)}: {', '.join(names)}."
                )
            if not np.isfinite(values).all():
                row = int(np.argwhere(~np.isfinite(values))[0, 0])
                raise UsageError(f"{key} is not finite in row {row} of seed {episode.seed}.")
        given, wanted = set(episode.images), set(self.schema.cameras)
        if given != wanted:
            raise UsageError(f"the episode has cameras {sorted(given)}, the dataset {sorted(wanted)}.")
        return vectors

    def _write(self, folder: Path, episode: EpisodeData, vectors: Mapping[str, NDArray[np.float32]]) -> dict[str, Any]:
        rows = len(episode)
        index = np.arange(rows)
        write_columns(folder / "frames.parquet", {**vectors, "frame_index": index}, vectors=self.schema.vectors)
        if episode.world is not None:
            world = episode.world
            write_world(
                folder / "world.parquet", time_s=world.time_s, qpos=world.qpos, qvel=world.qvel, ctrl=world.ctrl
            )
        stats: dict[str, Stats] = {key: vector_stats(value) for key, value in vectors.items()}
        stats["timestamp"] = vector_stats(index / self.schema.fps)
        stats["frame_index"] = vector_stats(index)
        counts: dict[str, list[int]] = {}
        for name, images in episode.images.items():
            seen = ImageCounts()
            with VideoEncoder(folder / f"{name}.mp4", fps=self.schema.fps) as encoder:
                for image in images:
                    if image.shape[:2] != self.schema.cameras[name]:
                        raise UsageError(
                            f"camera {name} gave {image.shape[:2]} px, the dataset has {self.schema.cameras[name]}."
                        )
                    encoder.add(image)
                    seen.update(image)
            if encoder.frames != rows:
                raise UsageError(f"camera {name} gave {encoder.frames} frames for {rows} rows.")
            key = self.schema.video_keys[name]
            stats[key] = image_stats(seen.counts, seen.sampled)
            counts[key] = seen.counts.ravel().tolist()
        return {
            "instruction": episode.instruction,
            "seed": episode.seed,
            "length": rows,
            "success": bool(episode.success),
            "compliance": episode.compliance,
            "model_hash": episode.world.model_hash if episode.world is not None else "",
            "has_world": episode.world is not None,
            "stages": [asdict(stage) for stage in episode.stages],
            "scene": dict(episode.scene),
            "task": dict(episode.task),
            "versions": dict(episode.versions),
            "extra": dict(episode.extra),
            "stats": stats,
            "image_counts": counts,
        }


def write_columns(path: Path, columns: Mapping[str, NDArray[Any]], *, vectors: Mapping[str, tuple[str, ...]]) -> None:
    """Write numpy columns as parquet; vector features become fixed-size lists of float32."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        key: pa.FixedSizeListArray.from_arrays(pa.array(value.ravel(), pa.float32()), len(vectors[key]))
        if key in vectors
        else pa.array(value)
        for key, value in columns.items()
    }
    pq.write_table(pa.table(arrays), path, compression="snappy", write_page_checksum=True)


def write_world(
    path: Path, *, time_s: NDArray[Any], qpos: NDArray[Any], qvel: NDArray[Any], ctrl: NDArray[Any]
) -> None:
    """Write world states; lists, because scenes differ in their number of coordinates."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def lists(values: NDArray[Any]) -> Any:
        rows, width = values.shape
        offsets = pa.array(np.arange(rows + 1) * width, pa.int32())
        return pa.ListArray.from_arrays(offsets, pa.array(np.asarray(values, float).ravel(), pa.float64()))

    columns = {
        "time_s": pa.array(np.asarray(time_s, float)),
        "qpos": lists(qpos),
        "qvel": lists(qvel),
        "ctrl": lists(ctrl),
    }
    pq.write_table(pa.table(columns), path, compression="zstd", write_page_checksum=True)


def staged_keys(root: Path) -> set[str]:
    """Return the keys of the episodes staged under a dataset's folder, which may have no staging area."""
    return _keys(root / STAGING)


def staged_episodes(root: Path) -> list[StagedEpisode]:
    """Return the episodes staged under a dataset's folder, by seed."""
    return _episodes(root / STAGING)


def _keys(folder: Path) -> set[str]:
    if not folder.is_dir():
        return set()
    return {path.name for path in folder.iterdir() if not path.name.startswith(_TEMPORARY)}


def _episodes(folder: Path) -> list[StagedEpisode]:
    return sorted((StagedEpisode.open(folder / key) for key in _keys(folder)), key=lambda episode: episode.order)
