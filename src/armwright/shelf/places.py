"""The places beside objects where a target fits: what a reasoner chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armwright.shelf.candidates import CLEARANCE_M, fits
from armwright.shelf.fit import named_place
from armwright.shelf.graph import SceneGraph, board_id
from armwright.shelf.neighbours import corners
from armwright.shelf.records import Box, Orientation, Side, Target

_GAPS_M = (CLEARANCE_M, 0.03, 0.06)
"""Distances from the anchor that are tried in turn [m]."""
_BESIDE: tuple[Side, ...] = ("left", "right", "front", "behind")


@dataclass(frozen=True)
class Place:
    """A free place beside an anchor, or on an empty board.

    Attributes:
        anchor: Id of an object or a board.
        side: Where beside it.
        board: Number of the board.
        orientation: How the target would stand.
        box: Where the target would be.
    """

    anchor: str
    side: Side
    board: int
    orientation: Orientation
    box: Box


def free_places(graph: SceneGraph, target: Target, *, orientations: Sequence[Orientation] | None = None) -> list[Place]:
    """Return the places flush beside each object where the target fits, and empty boards.

    Args:
        graph: The shelf.
        target: What is to be placed.
        orientations: Which to try, of those that the packaging allows; by default all of these.
    """
    low_o, high_o = corners([o.box for o in graph.objects])
    found: list[Place] = []
    for orientation, size in target.sizes().items():
        if orientations is not None and orientation not in orientations:
            continue
        for one in graph.objects:
            board = graph.board[one.id]
            for side in _BESIDE:
                boxes = [_on_board(graph, named_place(one.box, side, size, gap_m=gap), board, side) for gap in _GAPS_M]
                low, high = corners(boxes)
                free = fits(graph.shelf, low, high, board, low_o, high_o)
                if free.any():
                    found.append(Place(one.id, side, board, orientation, boxes[int(np.argmax(free))]))
        occupied = set(graph.board.values())
        for board, height in enumerate(graph.shelf.boards_m):
            middle = Box((graph.shelf.depth_m / 2, 0.0, height + size[2] / 2), size)
            low, high = corners([middle])
            if board not in occupied and fits(graph.shelf, low, high, board, low_o, high_o)[0]:
                found.append(Place(board_id(board), "on_board", board, orientation, middle))
    return found


def _on_board(graph: SceneGraph, box: Box, board: int, side: Side) -> Box:
    """Return the box resting on its board and, across the side it is on, within the board's edges."""
    (x, y, _), (depth, width, height) = box.center_m, box.size_m
    if side in ("left", "right"):
        x = min(max(x, depth / 2), max(graph.shelf.depth_m - depth / 2, depth / 2))
    else:
        half = max((graph.shelf.width_m - width) / 2, 0.0)
        y = min(max(y, -half), half)
    return Box((x, y, graph.shelf.boards_m[board] + height / 2), box.size_m)
