"""Who stands next to what on a board: the nearest box to the left, right, front and behind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.shelf.records import Box, Shelf

Array = NDArray[np.float64]
DIRECTIONS = ("left", "right", "front", "behind")
"""Columns of ``nearest``."""
_AXIS_AND_SIGN = ((1, 1.0), (1, -1.0), (0, -1.0), (0, 1.0))


def corners(boxes: Sequence[Box]) -> tuple[Array, Array]:
    """Return the low and high corners of boxes, (n, 3) each [m]."""
    center = np.array([b.center_m for b in boxes], float).reshape(-1, 3)
    half = np.array([b.size_m for b in boxes], float).reshape(-1, 3) / 2
    return center - half, center + half


def boards(shelf: Shelf, low_m: Array, high_m: Array) -> NDArray[np.intp]:
    """Return the board of each box by its centroid's height (n,)."""
    middle = (low_m[:, 2] + high_m[:, 2]) / 2
    return np.asarray(np.abs(middle[:, None] - np.array(shelf.boards_m)).argmin(1))


def nearest(
    low_m: Array,
    high_m: Array,
    board: NDArray[np.intp],
    *,
    at_low_m: Array | None = None,
    at_high_m: Array | None = None,
    at_board: NDArray[np.intp] | None = None,
) -> tuple[NDArray[np.intp], Array]:
    """Return the nearest box in each direction of every place, and the gap to it.

    A box is to the left of a place if its centre is, on the same board, and the two overlap in depth; likewise for the
    other directions, the axes exchanged in front and behind.

    Args:
        low_m, high_m, board: The boxes, (n, 3), (n, 3), (n,).
        at_low_m, at_high_m, at_board: The places, (m, 3), (m, 3), (m,); by default the boxes themselves.

    Returns:
        Index of the neighbour or -1 (m, 4), and the gap along the axis, at least 0 and infinite without one (m, 4) [m].
    """
    own = at_low_m is None or at_high_m is None or at_board is None
    p_low, p_high, p_board = (low_m, high_m, board) if own else (at_low_m, at_high_m, at_board)
    assert p_low is not None and p_high is not None and p_board is not None
    index = np.full((len(p_low), 4), -1, np.intp)
    gaps = np.full((len(p_low), 4), np.inf)
    if not len(low_m) or not len(p_low):
        return index, gaps
    center, p_center = (low_m + high_m) / 2, (p_low + p_high) / 2
    same = p_board[:, None] == board[None]
    if own:
        same &= ~np.eye(len(low_m), dtype=bool)
    for column, (axis, sign) in enumerate(_AXIS_AND_SIGN):
        across = 1 - axis
        overlap = np.minimum(p_high[:, None, across], high_m[None, :, across]) - np.maximum(
            p_low[:, None, across], low_m[None, :, across]
        )
        ahead = sign * (center[None, :, axis] - p_center[:, None, axis])
        half = (high_m[None, :, axis] - low_m[None, :, axis] + p_high[:, None, axis] - p_low[:, None, axis]) / 2
        gap = np.maximum(ahead - half, 0.0)
        # Equal gaps are ordered by centres, then by index, so that the answer does not depend on rounding.
        key = np.where(same & (overlap > 0) & (ahead > 0), np.round(gap, 6) + 1e-3 * ahead, np.inf)
        best = key.argmin(1)
        found = np.isfinite(key[np.arange(len(key)), best])
        index[found, column] = best[found]
        gaps[found, column] = gap[found, best[found]]
    return index, gaps
