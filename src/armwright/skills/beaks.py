"""Where the outline of a rim, seen from above, sticks out on one side: the beak that a vessel pours over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array

DIRECTIONS = 24
# A beak stands out of the circle of the rim by at least this share of its radius, and by so much in all.
STANDS_OUT, STANDS_OUT_M = 0.15, 0.006
# What stands out by more than this share of the farthest on any other side makes it a corner, not the one beak.
ONLY = 0.5
# A beak is seen under no more than this angle from the middle: beyond, the rim itself is oval.
WIDEST_RAD = np.deg2rad(100.0)
# A handle in this range of directions is what stands out there.
BESIDE_RAD = np.deg2rad(40.0)
# Directions that an outline is known in, of `DIRECTIONS`, for a circle to be laid through it; points of a handle.
FEWEST = 8
_ROUNDS = 6


def beak_of(outline_m: Array, middle_m: Array, handle_m: Array) -> NDArray[np.bool_] | None:
    """Find the one place where an outline stands out of the circle that it runs around.

    Args:
        outline_m: (n, 2) points of a rim or spout, seen from above.
        middle_m: (2,) a point well inside the vessel.
        handle_m: (k, 2) points of what the vessel is held by: where they are farther out, a handle begins.

    Returns:
        (n,) bool, the points of the beak, or None: the outline is round, has corners, or is too little of a circle.
    """
    fitted = _circle(outline_m, middle_m)
    if fitted is None:
        return None
    middle, radius_m = fitted
    offset = outline_m - middle
    beyond_m = np.linalg.norm(offset, axis=1) - radius_m
    turn = np.arctan2(offset[:, 1], offset[:, 0])
    first = int(np.argmax(beyond_m))
    height_m = float(beyond_m[first])
    if height_m < max(STANDS_OUT * radius_m, STANDS_OUT_M):
        return None
    aside = np.abs(_wrapped(turn - turn[first]))
    elsewhere = aside > 0.5 * WIDEST_RAD
    if beyond_m[elsewhere].max(initial=0.0) > ONLY * height_m:
        return None
    beak: NDArray[np.bool_] = (beyond_m > 0.25 * height_m) & ~elsewhere
    held = handle_m - middle
    farther = np.linalg.norm(held, axis=1) > radius_m + height_m
    there = np.abs(_wrapped(np.arctan2(held[:, 1], held[:, 0]) - turn[first])) < BESIDE_RAD
    return None if (farther & there).sum() >= FEWEST else beak


def _circle(points_m: Array, middle: Array) -> tuple[Array, float] | None:
    """Lay a circle through most of an outline (n, 2), beginning with a middle (2,): middle and radius, or None."""
    radius_m = 0.0
    for _ in range(_ROUNDS):
        offset = points_m - middle
        turn = np.floor((np.arctan2(offset[:, 1], offset[:, 0]) + np.pi) / (2 * np.pi) * DIRECTIONS).astype(int)
        far = np.linalg.norm(offset, axis=1)
        rows = np.array(
            [own[np.argmax(far[own])] for k in range(DIRECTIONS) if len(own := np.flatnonzero(turn % DIRECTIONS == k))]
        )
        if len(rows) < FEWEST:
            return None
        kept = rows[far[rows] < (1.0 + STANDS_OUT) * np.median(far[rows])]
        if len(kept) < FEWEST // 2:
            return None
        solved = np.linalg.lstsq(
            np.column_stack([2 * points_m[kept], np.ones(len(kept))]), (points_m[kept] ** 2).sum(axis=1), rcond=None
        )[0]
        middle = solved[:2]
        radius_m = float(np.sqrt(max(solved[2] + middle @ middle, 0.0)))
    return middle, radius_m


def _wrapped(angle_rad: Array) -> Array:
    return np.asarray((angle_rad + np.pi) % (2 * np.pi) - np.pi)
