"""Where the files of a dataset lie and which features they declare (LeRobot v3.0, plus our own sidecar)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from armwright.core.errors import OutputError

CODEBASE_VERSION = "v3.0"
CHUNK_SIZE = 1000
"""Files per chunk folder; part of the format's defaults."""

MAX_VIDEO_S = 1000.0
"""Longest video file. Readers compare times in float32 with a tolerance of 1e-4 s; past 1024 s a float32 second is
rounded by up to 6e-5 s, and the error of sum and query together breaks the tolerance."""

MAX_STATE_S = 20_000.0
"""Longest data file of a dataset without cameras."""

MAX_EPISODES = 500
"""Most episodes per file, so that the memory to write one is bounded."""

INFO = "meta/info.json"
STATS = "meta/stats.json"
TASKS = "meta/tasks.parquet"
SCHEMA = "armwright/schema.json"
MANIFEST = "armwright/manifest.json"
STAGING = "armwright/staging"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
WORLD_PATH = "armwright/world/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
RECORDS_PATH = "armwright/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"

RECORD_TEXTS = ("stages", "scene", "task", "versions", "extra", "stats")
"""Columns of a record file that hold JSON."""

VIDEO_DIGEST = "sha256/"
"""Prefix of the metadata entries of a record file that hold the SHA-256 of the batch's videos."""

INDEX_FEATURES: dict[str, str] = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}

_REMEDY = "Restore it from a copy; armwright dataset verify lists more."

POSE_NAMES = ("x_m", "y_m", "z_m", "quat_w", "quat_x", "quat_y", "quat_z")


class DatasetSchema(BaseModel):
    """What all episodes of one dataset share.

    Attributes:
        robot: Name of the arm; ``robot_type`` in the dataset.
        joints: Joint names from base to tip.
        cameras: Camera name -> (height, width) [px], both even.
        fps: Frames per second.
        opening_limits_m: Smallest and largest gap between the pads [m].
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_name: Literal["armwright.recording/1"] = Field(default="armwright.recording/1", alias="schema")
    robot: str
    joints: tuple[str, ...] = Field(min_length=1)
    cameras: dict[str, tuple[int, int]] = Field(default_factory=dict)
    fps: int = Field(default=20, gt=0)
    opening_limits_m: tuple[float, float] = (0.0, 0.12)

    @property
    def vectors(self) -> dict[str, tuple[str, ...]]:
        """Vector features of a frame -> names of their entries, units included."""
        joints = tuple(f"{name}_rad" for name in self.joints)
        return {
            "observation.state": (*joints, "gripper_opening_m"),
            "observation.tool_pose": POSE_NAMES,
            "action": (*POSE_NAMES, "gripper_opening_m"),
            "action.joint_target": joints,
        }

    @property
    def video_keys(self) -> dict[str, str]:
        """Camera name -> feature key."""
        return {name: f"observation.images.{name}" for name in self.cameras}

    @property
    def batch_frames(self) -> int:
        """How many frames one file may hold."""
        return int((MAX_VIDEO_S if self.cameras else MAX_STATE_S) * self.fps)

    def features(self) -> dict[str, dict[str, Any]]:
        """Return the ``features`` of info.json."""
        out: dict[str, dict[str, Any]] = {
            key: {"dtype": "float32", "shape": [len(names)], "names": list(names)}
            for key, names in self.vectors.items()
        }
        for name, (height, width) in self.cameras.items():
            out[self.video_keys[name]] = {
                "dtype": "video",
                "shape": [height, width, 3],
                "names": ["height", "width", "channels"],
                "info": {
                    "video.height": height,
                    "video.width": width,
                    "video.codec": "h264",
                    "video.pix_fmt": "yuv420p",
                    "video.is_depth_map": False,
                    "video.fps": self.fps,
                    "video.channels": 3,
                    "has_audio": False,
                },
            }
        for key, dtype in INDEX_FEATURES.items():
            out[key] = {"dtype": dtype, "shape": [1], "names": None}
        return out

    def info(self, *, episodes: int, frames: int, tasks: int) -> dict[str, Any]:
        """Return the whole of info.json."""
        return {
            "codebase_version": CODEBASE_VERSION,
            "robot_type": self.robot,
            "total_episodes": episodes,
            "total_frames": frames,
            "total_tasks": tasks,
            "chunks_size": CHUNK_SIZE,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 500,
            "fps": self.fps,
            "splits": {"train": f"0:{episodes}"},
            "data_path": DATA_PATH,
            "video_path": VIDEO_PATH if self.cameras else None,
            "features": self.features(),
        }


def batch_path(root: Path, template: str, batch: int, *, video_key: str = "") -> Path:
    """Return the file of a batch; batches are numbered from 0 over all chunks."""
    name = template.format(chunk_index=batch // CHUNK_SIZE, file_index=batch % CHUNK_SIZE, video_key=video_key)
    return root / name


def batch_of(path: Path) -> int:
    """Return the batch number of a ``chunk-XXX/file-YYY.*`` path."""
    return int(path.parent.name.removeprefix("chunk-")) * CHUNK_SIZE + int(path.stem.removeprefix("file-"))


def batch_files(root: Path) -> list[Path]:
    """Return every batch file under ``root``, sorted."""
    patterns = (
        "data/*/file-*.parquet",
        "meta/episodes/*/file-*.parquet",
        "armwright/world/*/file-*.parquet",
        "armwright/episodes/*/file-*.parquet",
        "videos/*/*/file-*.mp4",
    )
    return sorted(path for pattern in patterns for path in root.glob(pattern))


def half_written(root: Path) -> list[Path]:
    """Return temporary files of killed processes; readers that list ``*.parquet`` would take them for data."""
    folders = ("data", "meta", "videos", "armwright/world", "armwright/episodes")
    deep = [path for folder in folders for path in (root / folder).rglob(".*")]
    return [path for path in (*deep, *(root / "armwright").glob(".*")) if path.is_file()]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def episode_key(seed: int, instruction: str) -> str:
    """Return the name that no two episodes share: the seed, and what was asked for with it."""
    return f"{seed:012d}-{hashlib.sha256(instruction.encode()).hexdigest()[:10]}"


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        OutputError: It is missing or damaged.
    """
    import json

    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise OutputError(f"{path} is missing.", hint=_REMEDY) from error
    except (OSError, ValueError, RecursionError) as error:
        raise OutputError(f"{path} is damaged: {error}.", hint=_REMEDY) from error
    if not isinstance(value, Mapping):
        raise OutputError(f"{path} is damaged: it does not hold a JSON object.", hint=_REMEDY)
    return dict(value)


def load_schema(root: str | Path) -> DatasetSchema:
    """Read what the episodes of a dataset share.

    Raises:
        OutputError: There is no dataset of ours, or the file is damaged.
    """
    path = Path(root) / SCHEMA
    try:
        return DatasetSchema.model_validate(read_json(path))
    except ValidationError as error:
        raise OutputError(f"{path} is damaged: {error.error_count()} fields are wrong.", hint=_REMEDY) from error
