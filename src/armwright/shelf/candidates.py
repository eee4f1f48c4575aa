"""Where the target fits: places sampled over all boards, with what ruled the others out (OMAR §IV-D)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armwright.shelf.neighbours import corners
from armwright.shelf.records import Box, Orientation, Shelf, Target, Vector

Array = NDArray[np.float64]
Obstacle = Literal["too_large", "too_tall", "occupied"]
CLEARANCE_M = 0.008
"""Free space kept to each side; a finger is thinner, but the planner decides that, not the sampler."""
HEADROOM_M = 0.02
"""Free height kept above, to lift the target over the board's edge."""
STEP_M = 0.02


@dataclass(frozen=True, eq=False)
class Candidates:
    """Free places.

    Attributes:
        low_m, high_m: Corners of the target's box at each place (m, 3) [m].
        board: Its board (m,).
        orientation: Its orientation, m of them.
        rejected: Why other places were ruled out -> how many.
    """

    low_m: Array
    high_m: Array
    board: NDArray[np.intp]
    orientation: tuple[Orientation, ...]
    rejected: dict[Obstacle, int]

    def __len__(self) -> int:
        return len(self.low_m)

    def box(self, index: int) -> Box:
        """Return the target's box at a place."""
        low, high = self.low_m[index].tolist(), self.high_m[index].tolist()
        return Box.between((low[0], low[1], low[2]), (high[0], high[1], high[2]))


def fits(
    shelf: Shelf, low_m: Array, high_m: Array, board: int, objects_low_m: Array, objects_high_m: Array
) -> NDArray[np.bool_]:
    """Return which places (m, 3) lie within a board and touch no object, with the clearance kept (m,)."""
    half = shelf.width_m / 2
    slack = 1e-9
    inside = (low_m[:, 0] >= -slack) & (high_m[:, 0] <= shelf.depth_m + slack)
    inside &= (low_m[:, 1] >= -half - slack) & (high_m[:, 1] <= half + slack)
    inside &= high_m[:, 2] + HEADROOM_M <= shelf.boards_m[board] + shelf.clearance_m(board) + slack
    if len(objects_low_m):
        # Resting on the board is contact by design, so heights are compared as they are.
        keep = np.array([CLEARANCE_M, CLEARANCE_M, 0.0]) - slack
        apart = (low_m[:, None] >= objects_high_m[None] + keep) | (high_m[:, None] <= objects_low_m[None] - keep)
        inside &= np.all(np.any(apart, axis=2), axis=1)
    return np.asarray(inside)


def sample_candidates(
    shelf: Shelf,
    objects: Sequence[Box],
    target: Target,
    *,
    orientations: Sequence[Orientation] | None = None,
    step_m: float = STEP_M,
) -> Candidates:
    """Sample the places where the target stands free.

    Args:
        shelf: The shelf.
        objects: Boxes of everything on it.
        target: What is to be placed.
        orientations: Which to try, of those that the packaging allows; by default all of these.
        step_m: Distance of the grid along width and depth [m].
    """
    low_o, high_o = corners(objects)
    lows: list[Array] = []
    highs: list[Array] = []
    board_of: list[int] = []
    standing: list[Orientation] = []
    rejected: dict[Obstacle, int] = {"too_large": 0, "too_tall": 0, "occupied": 0}
    for orientation, size in target.sizes().items():
        if orientations is not None and orientation not in orientations:
            continue
        depth, width, height = size
        if depth > shelf.depth_m or width > shelf.width_m:
            rejected["too_large"] += len(shelf.boards_m)
            continue
        xs = _grid(depth / 2, shelf.depth_m - depth / 2, step_m)
        ys = _grid(-(shelf.width_m - width) / 2, (shelf.width_m - width) / 2, step_m)
        plane = np.stack(np.meshgrid(xs, ys, indexing="ij"), -1).reshape(-1, 2)
        for board, base in enumerate(shelf.boards_m):
            if height + HEADROOM_M > shelf.clearance_m(board):
                rejected["too_tall"] += len(plane)
                continue
            low, high = _boxes(plane, size, base)
            free = fits(shelf, low, high, board, low_o, high_o)
            rejected["occupied"] += int((~free).sum())
            lows.append(low[free])
            highs.append(high[free])
            board_of += [board] * int(free.sum())
            standing += [orientation] * int(free.sum())
    empty = np.zeros((0, 3))
    return Candidates(
        np.concatenate(lows) if lows else empty,
        np.concatenate(highs) if highs else empty,
        np.array(board_of, np.intp),
        tuple(standing),
        rejected,
    )


def _boxes(plane_m: Array, size_m: Vector, base_m: float) -> tuple[Array, Array]:
    half = np.array(size_m) / 2
    center = np.column_stack([plane_m, np.full(len(plane_m), base_m + half[2])])
    return center - half, center + half


def _grid(low: float, high: float, step: float) -> Array:
    """Return values at most ``step`` apart that reach both ends."""
    return np.linspace(low, high, max(1, int(np.ceil((high - low) / step - 1e-9)) + 1))
