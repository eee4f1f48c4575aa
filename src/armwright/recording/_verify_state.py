"""What the checks of a dataset share: where files are, what was read so far, what was found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

CheckName = Literal["info", "tasks", "episodes", "data", "stats", "videos", "sidecar"]

TOLERANCE_S = 1e-4
"""How far a time may be off; readers of the format use the same."""


@dataclass(frozen=True)
class Violation:
    """One broken invariant.

    Attributes:
        check: Which group of checks found it.
        file: The file it is in, relative to the dataset.
        episode: The episode it is in, where it is in one.
        detail: What is wrong.
    """

    check: CheckName
    file: str
    episode: int | None
    detail: str

    def __str__(self) -> str:
        where = self.file if self.episode is None else f"{self.file}, episode {self.episode}"
        return f"{self.check}: {where}: {self.detail}"


class Findings:
    """State of a verification.

    Attributes:
        root: The dataset.
        decode: Whether to decode frames.
        usable: What was read so far is good enough to go on with.
        info: info.json.
        tasks: Instructions by task index.
        episodes: Rows of ``meta/episodes``, without statistics.
        episode_files: Which file each of them is in.
        running: Feature -> (min, max, mean, rows) over all data, for the check of the statistics.
    """

    def __init__(self, root: Path, *, decode: bool) -> None:
        self.root = root
        self.decode = decode
        self.usable = False
        self.info: dict[str, Any] = {}
        self.tasks: list[str] = []
        self.episodes: list[dict[str, Any]] = []
        self.episode_files: list[str] = []
        self.running: dict[str, tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]] = {}
        self.violations: list[Violation] = []

    def add(self, check: CheckName, file: str | Path, detail: str, *, episode: int | None = None) -> None:
        """Note a violation."""
        path = Path(file)
        name = str(path.relative_to(self.root)) if path.is_absolute() and path.is_relative_to(self.root) else str(path)
        self.violations.append(Violation(check, name, episode, detail))

    def total(self, key: str) -> int:
        """Return a count of info.json, or 0."""
        value = self.info.get(key)
        return value if isinstance(value, int) else 0

    @property
    def fps(self) -> float:
        """Frames per second."""
        return float(self.info["fps"])

    @property
    def features(self) -> dict[str, dict[str, Any]]:
        """Declared features."""
        features: dict[str, dict[str, Any]] = self.info["features"]
        return features

    @property
    def vectors(self) -> dict[str, dict[str, Any]]:
        """Declared features that live in data files."""
        return {key: spec for key, spec in self.features.items() if spec["dtype"] not in ("video", "image")}

    @property
    def video_keys(self) -> list[str]:
        """Declared features that live in video files."""
        return [key for key, spec in self.features.items() if spec["dtype"] == "video"]

    def data_file(self, row: dict[str, Any]) -> Path:
        """Return the data file of an episode."""
        name: str = self.info["data_path"].format(
            chunk_index=row["data/chunk_index"], file_index=row["data/file_index"]
        )
        return self.root / name

    def video_file(self, row: dict[str, Any], key: str) -> Path:
        """Return the video file of an episode and a camera."""
        chunk, file = row[f"videos/{key}/chunk_index"], row[f"videos/{key}/file_index"]
        name: str = self.info["video_path"].format(video_key=key, chunk_index=chunk, file_index=file)
        return self.root / name


def column_array(column: Any) -> NDArray[Any]:
    """Return an arrow column as (t,) or (t, k) numpy; nulls become NaN."""
    joined = column.combine_chunks()
    rows = len(joined)
    if hasattr(joined, "flatten") and hasattr(joined.type, "value_type"):
        return np.asarray(joined.flatten().to_numpy(zero_copy_only=False)).reshape(rows, -1)
    return np.asarray(joined.to_numpy(zero_copy_only=False))
