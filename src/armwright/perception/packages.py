"""Packaging and orientation from shape: points of one thing, seen from one side, classed by a small fitted network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.core.errors import CacheError, UsageError
from armwright.core.pose import Array
from armwright.perception.describers import checked_up

PACKAGINGS = ("box", "bottle", "can", "carton", "tube")
ORIENTATIONS = ("upright", "lying")
ROWS, COLUMNS = 14, 11
MIN_POINTS = 60
SURE = 0.5
"""A class less probable than this is left open."""
_DEEP = 1.5


@dataclass(frozen=True)
class Shape:
    """What the shape of a thing says.

    Attributes:
        packaging: One of `PACKAGINGS`, empty where the shape does not say.
        orientation: One of `ORIENTATIONS`, or empty.
        packaging_sure, orientation_sure: Probabilities of them.
        probabilities: Of every packaging; empty where there were too few points.
    """

    packaging: str = ""
    orientation: str = ""
    packaging_sure: float = 0.0
    orientation_sure: float = 0.0
    probabilities: Mapping[str, float] = field(default_factory=dict)


def describe_points(
    points_m: ArrayLike,
    *,
    up: ArrayLike,
    towards: ArrayLike,
    hidden: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    likely: Mapping[str, float] | None = None,
) -> Shape:
    """Return what the shape of one thing says of its packaging and orientation.

    Points of one view suffice; those of several views, fused, show more of the sides.

    Args:
        points_m: (n, 3) on the visible surface, in any frame [m].
        up: (3,) against gravity, in that frame.
        towards: (3,) from the thing to who looks at it, in that frame; of several views the mean.
        hidden: How far its left, right, lower and upper outline is covered by nearer things or ends with the picture,
            0 to 1 each (`masks.covered`): the thing goes on there.
        likely: Packaging -> how likely before anything is seen, where something else is known; others count 1.

    Raises:
        UsageError: Points that are not (n, 3), or looking straight down: then there is no side to class.
    """
    points = np.asarray(points_m, float)
    if points.ndim != 2 or points.shape[1] != 3:
        raise UsageError(f"points must be (n, 3), got {points.shape}.", hint="Give one thing's points in metres.")
    points = points[np.isfinite(points).all(1)]
    if len(points) < MIN_POINTS:
        return Shape()
    values = relief(points, up=up, towards=towards, hidden=hidden)
    packaging, orientation = _network()(values)
    for k, name in enumerate(PACKAGINGS):
        packaging[k] *= 1.0 if likely is None else likely.get(name, 1.0)
    packaging /= packaging.sum()
    best, lies = int(packaging.argmax()), int(orientation.argmax())
    return Shape(
        PACKAGINGS[best] if packaging[best] >= SURE else "",
        ORIENTATIONS[lies] if orientation[lies] >= SURE else "",
        float(packaging[best]),
        float(orientation[lies]),
        {name: float(p) for name, p in zip(PACKAGINGS, packaging, strict=True)},
    )


def relief(
    points_m: Array, *, up: ArrayLike, towards: ArrayLike, hidden: Sequence[float] | Array = (0.0, 0.0, 0.0, 0.0)
) -> NDArray[np.float32]:
    """Return what the network sees: a thing's front as a small relief, all lengths relative to its width.

    Per cell of a grid over the front (`ROWS` from the bottom up, `COLUMNS` from left to right): how far behind the
    nearest point its surface lies, and whether it holds any; per row the depth that its points span; then the ratio of
    height to width, the depth that is seen over the width and over the height, and what is hidden at each side.

    Args:
        points_m: (n, 3).
        up, towards: (3,) in the points' frame.
        hidden: Of the left, right, lower and upper outline.
    """
    vertical = checked_up(up)
    level = np.asarray(towards, float) - (np.asarray(towards, float) @ vertical) * vertical
    length = float(np.linalg.norm(level))
    if length < 1e-6:
        raise UsageError("a thing seen from straight above shows no side.", hint="Give another direction as towards.")
    near = level / length
    across = np.cross(vertical, near)
    a, h, n = points_m @ across, points_m @ vertical, points_m @ near
    (a0, a1), (h0, h1), (n0, n1) = (np.quantile(v, (0.01, 0.99)) for v in (a, h, n))
    width, height = max(a1 - a0, 1e-3), max(h1 - h0, 1e-3)
    column = np.clip(((a - a0) / width * COLUMNS).astype(int), 0, COLUMNS - 1)
    row = np.clip(((h - h0) / height * ROWS).astype(int), 0, ROWS - 1)
    depth = np.clip((n1 - n) / width, 0.0, _DEEP)
    behind, full, span = _cells(row * COLUMNS + column, row, depth, max(2, len(points_m) // 1500))
    ratios = [np.log(height / width), min((n1 - n0) / width, 3.0), min((n1 - n0) / height, 3.0)]
    return np.concatenate([behind, full, span, ratios, np.asarray(hidden, float)]).astype(np.float32)


def _cells(cell: NDArray[np.int_], row: NDArray[np.int_], depth: Array, least: int) -> tuple[Array, Array, Array]:
    """Return per cell the near fifth of its depths, whether it holds enough points, and per row the span of depths."""
    behind, full = np.full(ROWS * COLUMNS, _DEEP), np.zeros(ROWS * COLUMNS)
    order = np.lexsort((depth, cell))
    sorted_cell, sorted_depth = cell[order], depth[order]
    starts = np.searchsorted(sorted_cell, np.arange(ROWS * COLUMNS + 1))
    count = np.diff(starts)
    used = np.flatnonzero(count >= least)
    behind[used] = sorted_depth[starts[used] + (count[used] * 0.2).astype(int)]
    full[used] = 1.0
    span = np.zeros(ROWS)
    for k in range(ROWS):
        own = depth[row == k]
        if len(own) >= least:
            low, high = np.quantile(own, (0.05, 0.95))
            span[k] = high - low
    return behind, full, span


class PackageNetwork:
    """Two layers: relief -> probabilities of packaging and of orientation; fitted by ``scripts/train_packaging.py``.

    Args:
        weights: ``mean``, ``scale`` (f,); ``w1`` (f, h), ``b1``; ``w2`` (h, k), ``b2``; ``w3`` (k, 7), ``b3``.
    """

    def __init__(self, weights: Mapping[str, NDArray[np.floating]]) -> None:
        self._w = {name: np.asarray(value, np.float32) for name, value in weights.items()}

    def __call__(self, values: NDArray[np.float32]) -> tuple[Array, Array]:
        """Return (5,) and (2,) probabilities in the order of `PACKAGINGS` and `ORIENTATIONS`."""
        w = self._w
        x = np.clip((values - w["mean"]) / w["scale"], -6, 6)
        x = np.maximum(x @ w["w1"] + w["b1"], 0)
        x = np.maximum(x @ w["w2"] + w["b2"], 0)
        out = (x @ w["w3"] + w["b3"]).astype(float)
        return _softmax(out[: len(PACKAGINGS)]), _softmax(out[len(PACKAGINGS) :])


def _softmax(values: Array) -> Array:
    raised = np.exp(values - values.max())
    return np.asarray(raised / raised.sum())


@lru_cache(maxsize=1)
def _network() -> PackageNetwork:
    path = files("armwright.perception") / "data" / "packaging.npz"
    try:
        with path.open("rb") as stream, np.load(stream) as data:
            return PackageNetwork({name: data[name] for name in data.files})
    except (OSError, ValueError, KeyError) as error:
        raise CacheError(f"cannot read {path}: {error}.", hint="Install armwright again.") from error
