"""Statistics that policies normalise with: min, max, mean, std, count and five quantiles per feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array

QUANTILES: dict[str, float] = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
SAMPLE_EVERY = 10
"""Every which frame of a video is looked at, and there every second pixel both ways."""

Stats = dict[str, Any]


def vector_stats(values: NDArray[Any]) -> Stats:
    """Return the statistics of (t, k) or (t,) values over t, as JSON-safe lists of length k (or 1)."""
    x = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    out: Stats = {
        "min": x.min(0).tolist(),
        "max": x.max(0).tolist(),
        "mean": x.mean(0).tolist(),
        "std": x.std(0).tolist(),
        "count": [len(x)],
    }
    for name, row in zip(QUANTILES, np.quantile(x, list(QUANTILES.values()), axis=0), strict=True):
        out[name] = row.tolist()
    return out


class ImageCounts:
    """Histogram of a video's channels, built frame by frame; its size does not depend on the video's."""

    def __init__(self) -> None:
        self.counts: NDArray[np.int64] = np.zeros((3, 256), dtype=np.int64)
        self.sampled = 0
        self._seen = 0

    def update(self, image: NDArray[np.uint8]) -> None:
        """Look at the next frame, (H, W, 3) uint8."""
        if self._seen % SAMPLE_EVERY == 0:
            small = image[::2, ::2]
            for channel in range(3):
                self.counts[channel] += np.bincount(small[..., channel].ravel(), minlength=256)
            self.sampled += 1
        self._seen += 1


def image_stats(counts: NDArray[np.int64], sampled: int) -> Stats:
    """Return a video's statistics, each (3, 1, 1) in 0..1, from its (3, 256) histogram."""
    level = np.arange(256) / 255.0
    share = counts / counts.sum(1, keepdims=True)
    mean = share @ level
    spread = np.sqrt(np.maximum(share @ level**2 - mean**2, 0.0))
    present = counts > 0
    cumulative = np.cumsum(share, axis=1)
    rows: dict[str, Array] = {
        "min": level[present.argmax(1)],
        "max": level[255 - present[:, ::-1].argmax(1)],
        "mean": mean,
        "std": spread,
    }
    for name, q in QUANTILES.items():
        rows[name] = level[(cumulative >= q - 1e-12).argmax(1)]
    out: Stats = {name: row.reshape(3, 1, 1).tolist() for name, row in rows.items()}
    out["count"] = [int(sampled)]
    return out


class RunningStats:
    """Joins the statistics of episodes into those of the dataset (exact but for the quantiles)."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[float, Array, Array, Array, Array]] = {}

    def add(self, stats: Mapping[str, Stats]) -> None:
        """Take in one episode's statistics, feature by feature."""
        for key, new in stats.items():
            n, mean, std = float(new["count"][0]), np.asarray(new["mean"]), np.asarray(new["std"])
            low, high = np.asarray(new["min"]), np.asarray(new["max"])
            if key in self._rows:
                n0, mean0, square0, low0, high0 = self._rows[key]
                total = n0 + n
                shift = mean - mean0
                square = square0 + std**2 * n + shift**2 * (n0 * n / total)
                row = (total, mean0 + shift * n / total, square, np.minimum(low, low0), np.maximum(high, high0))
            else:
                row = (n, mean, std**2 * n, low, high)
            self._rows[key] = row

    def result(self) -> dict[str, Stats]:
        """Return the joined statistics without quantiles."""
        return {
            key: {
                "min": low.tolist(),
                "max": high.tolist(),
                "mean": mean.tolist(),
                "std": np.sqrt(square / n).tolist(),
                "count": [int(n)],
            }
            for key, (n, mean, square, low, high) in self._rows.items()
        }
