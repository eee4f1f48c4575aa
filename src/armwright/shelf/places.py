"""The places where a target fits, each named by an object beside it: what a reasoner chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.shelf.candidates import CLEARANCE_M, sample_candidates
from armwright.shelf.fit import MATCH_M
from armwright.shelf.graph import SceneGraph, board_id
from armwright.shelf.neighbours import corners, nearest
from armwright.shelf.records import Box, Orientation, Side, Target

_SIDES: tuple[tuple[Side, int], ...] = (("right", 1), ("left", 1), ("behind", 0), ("front", 0))
"""Where a place is, seen from its neighbour to the left, right, front and behind, and along which axis."""


@dataclass(frozen=True)
class Place:
    """A free place beside an anchor, or on an empty board.

    Attributes:
        anchor: Id of an object or a board.
        side: Where beside it.
        board: Number of the board.
        orientation: How the target would stand.
        box: Where the target would be.
        neighbours: Indices of the nearest objects to the left, right, front and behind, of those that there are.
        gap_m: Mean distance to them, 0 without any [m].
    """

    anchor: str
    side: Side
    board: int
    orientation: Orientation
    box: Box
    neighbours: tuple[int, ...]
    gap_m: float


def free_places(graph: SceneGraph, target: Target, *, orientations: Sequence[Orientation] | None = None) -> list[Place]:
    """Return the sampled places where the target fits, each named by the neighbour whose flush place it is nearest to.

    Places that are more than ``MATCH_M`` from all of those have no name and are left out, but for empty boards.

    Args:
        graph: The shelf.
        target: What is to be placed.
        orientations: Which to try, of those that the packaging allows; by default all of these.
    """
    boxes = [o.box for o in graph.objects]
    free = sample_candidates(graph.shelf, boxes, target, orientations=orientations)
    low, high = corners(boxes)
    board = np.array([graph.board[o.id] for o in graph.objects], np.intp)
    index, gaps = nearest(low, high, board, at_low_m=free.low_m, at_high_m=free.high_m, at_board=free.board)
    away = _distances((low + high) / 2, (free.low_m + free.high_m) / 2, index, gaps)
    occupied = set(graph.board.values())
    found: list[Place] = []
    for k, row in enumerate(index):
        number = int(free.board[k])
        present = row >= 0
        column = int(away[k].argmin())
        if away[k, column] <= MATCH_M:
            anchor, side = graph.objects[row[column]].id, _SIDES[column][0]
        elif number not in occupied:
            anchor, side = board_id(number), "on_board"
        else:
            continue
        gap = float(gaps[k, present].mean()) if present.any() else 0.0
        near = tuple(int(i) for i in row[present])
        found.append(Place(anchor, side, number, free.orientation[k], free.box(k), near, gap))
    return found


def _distances(
    objects_m: NDArray[np.float64],
    places_m: NDArray[np.float64],
    index: NDArray[np.intp],
    gaps_m: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return how far each place is from being flush beside each neighbour, infinite without one (m, 4) [m]."""
    out = np.full(index.shape, np.inf)
    for column, (_, axis) in enumerate(_SIDES):
        has = index[:, column] >= 0
        across = places_m[has, 1 - axis] - objects_m[index[has, column], 1 - axis]
        out[has, column] = np.hypot(gaps_m[has, column] - CLEARANCE_M, across)
    return out
