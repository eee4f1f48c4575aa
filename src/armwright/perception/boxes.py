"""Upright boxes around what was seen: (2, 3) float arrays, lowest and highest corner in the world [m]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from armwright.core.errors import UsageError
from armwright.core.pose import Array

MIN_SIDE_M = 0.02
"""A box is never thinner: one view of a flat front has no depth, and no volume to overlap with."""

_TRIM = 0.01
_TURNS = np.deg2rad(np.arange(0, 90, 5))
_ENOUGH_POINTS = 1000


def _trimmed(values: Array, trim: float) -> tuple[Array, Array]:
    """Return lowest and highest of values (..., n) without a share at each end; a tenth of the cost of quantiles."""
    last = values.shape[-1] - 1
    first = int(trim * last)
    ordered = np.partition(values, (first, last - first), axis=-1)
    return ordered[..., first], ordered[..., last - first]


def points_box(points_m: ArrayLike, *, trim: float = _TRIM) -> Array:
    """Return the (2, 3) box around (n >= 1, 3) points, without the outermost share on every side.

    Raises:
        UsageError: No points.
    """
    points = np.asarray(points_m, float).reshape(-1, 3)
    if len(points) == 0:
        raise UsageError("a box needs at least one point.", hint="Leave out what has no depth.")
    low, high = _trimmed(points.T, trim)
    short = np.maximum(MIN_SIDE_M - (high - low), 0) / 2
    return np.stack([low - short, high + short])


def box_center(boxes_m: ArrayLike) -> Array:
    """Return the (..., 3) centres of (..., 2, 3) boxes [m]."""
    return np.asarray(np.asarray(boxes_m, float).mean(-2))


def box_volume(boxes_m: ArrayLike) -> Array:
    """Return the (...) volumes of (..., 2, 3) boxes [m³]; an empty one has none."""
    boxes = np.asarray(boxes_m, float)
    return np.asarray(np.prod(np.maximum(boxes[..., 1, :] - boxes[..., 0, :], 0), axis=-1))


def box_overlap(a_m: ArrayLike, b_m: ArrayLike) -> Array:
    """Return the overlap over the smaller box, |a ∩ b| / min(|a|, |b|), of (..., 2, 3) boxes (OMAR §IV-B).

    It is 1 for a box inside the other, however different their sizes, and 0 where either is empty.
    """
    a, b = np.asarray(a_m, float), np.asarray(b_m, float)
    both = np.stack([np.maximum(a[..., 0, :], b[..., 0, :]), np.minimum(a[..., 1, :], b[..., 1, :])], axis=-2)
    smaller = np.minimum(box_volume(a), box_volume(b))
    share = np.divide(box_volume(both), smaller, out=np.zeros(np.shape(smaller)), where=smaller > 0)
    return np.minimum(share, 1.0)


def upright_extent(points_m: ArrayLike, *, trim: float = _TRIM) -> Array:
    """Return (3,) the sides [m] of the upright box of least footprint around (n >= 1, 3) points, its height last.

    The box may turn about z in steps of 5°, so that a box that stands askew is not measured along its diagonal.

    Raises:
        UsageError: No points.
    """
    points = np.asarray(points_m, float).reshape(-1, 3)
    if len(points) == 0:
        raise UsageError("an extent needs at least one point.", hint="Leave out what has no depth.")
    points = points[:: -(-len(points) // _ENOUGH_POINTS)]
    along = np.stack([np.cos(_TURNS), np.sin(_TURNS)], 1)
    across = np.stack([-np.sin(_TURNS), np.cos(_TURNS)], 1)
    low, high = _trimmed(np.concatenate([along, across]) @ points[:, :2].T, trim)
    sides = (high - low).reshape(2, -1)
    bottom, top = _trimmed(points[:, 2], trim)
    return np.array([*sides[:, int(np.argmin(sides[0] * sides[1]))], top - bottom])
