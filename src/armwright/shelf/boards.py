"""The shelf's own frame from what was seen of its boards, where nobody measured it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armwright.core.camera import CameraModel
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.perception.boards import Board, level_boards, plan_axes, vertical
from armwright.perception.surface import Surface
from armwright.shelf.records import Shelf

OPEN_ABOVE_M = 0.40
"""Height of the uppermost compartment where nothing was seen to close it."""
_OVER = 0.3
_THINNEST_M = 0.05
_TURNS = np.deg2rad(np.arange(0, 90, 1))


@dataclass(frozen=True)
class FoundShelf:
    """A shelf that was found.

    Attributes:
        shelf: Its measures.
        pose_world_shelf: Where its frame stands, z up.
    """

    shelf: Shelf
    pose_world_shelf: Pose


def find_shelf(mesh: Surface, cameras: Sequence[CameraModel], *, cell_m: float, up: Array | None = None) -> FoundShelf:
    """Return the boards that stand above each other before the cameras, as a shelf; a table is a shelf of one board.

    Of the level surfaces, those count that overlap in plan with the largest one near what the cameras look at. The
    front is the side towards the cameras.

    Args:
        mesh: Of a coarse volume of everything.
        cameras: Those that saw it.
        cell_m: The volume's voxels.
        up: (3,) the vertical, or None to find it.

    Raises:
        UsageError: No level surface, or a vertical without a direction.
    """
    axis = vertical(mesh, cameras, cell_m=cell_m) if up is None else direction(up)
    boards = level_boards(mesh, up=axis, cell_m=cell_m)
    eyes = np.array([camera.pose_world_camera.position_m for camera in cameras])
    # A board is looked at from in front or from above, never from far below.
    boards = [b for b in boards if b.height_m < float(np.median(eyes @ axis)) + 0.5]
    if not boards:
        raise UsageError(
            "no level surface of the size of a board was seen.",
            hint="Record views from higher up and nearer; is the direction up right, and depth in millimetres?",
        )
    plan = plan_axes(axis)
    aims = np.array([c.pose_world_camera.position_m + 0.6 * c.pose_world_camera.rotation[:, 2] for c in cameras])
    looked_at = np.median(aims, axis=0)
    main = max(boards, key=lambda b: b.area_m2 / (0.3 + float(np.linalg.norm(b.points_m.mean(0) - looked_at))))
    stack = [b for b in boards if b is main or _share(b, main, plan) > _OVER]
    return _measured(stack, eyes, plan, axis)


def direction(up: Array) -> Array:
    """Return the unit vector along ``up``, however long that is.

    Raises:
        UsageError: It is none.
    """
    axis = np.asarray(up, float)
    largest = float(np.abs(axis).max(initial=0.0)) if axis.shape == (3,) else 0.0
    if not 0 < largest < np.inf:  # NaN too
        raise UsageError(
            f"the direction up needs three finite numbers that are not all 0, got {axis.tolist()}.",
            hint="For a world whose z points up it is 0,0,1.",
        )
    axis = axis / largest
    return axis / np.linalg.norm(axis)


def _share(board: Board, main: Board, plan: Array) -> float:
    """Return which share of the smaller of two boxes in plan the other covers."""
    a, b = (np.quantile(x.points_m @ plan.T, (0.02, 0.98), axis=0) for x in (board, main))
    both = np.prod(np.maximum(np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]), 0))
    return float(both / max(min(np.prod(a[1] - a[0]), np.prod(b[1] - b[0])), 1e-9))


def _measured(stack: Sequence[Board], eyes: Array, plan: Array, up: Array) -> FoundShelf:
    points = np.concatenate([b.points_m for b in stack])
    flat = points @ plan.T
    along = np.stack([np.cos(_TURNS), np.sin(_TURNS)], 1)
    across = np.stack([-np.sin(_TURNS), np.cos(_TURNS)], 1)
    sides = np.stack([np.ptp(np.quantile(flat @ d.T, (0.01, 0.99), axis=0), axis=0) for d in (along, across)])
    k = int(np.argmin(sides.prod(0)))
    # The depth runs from the cameras into the shelf, along whichever side of the box is nearer to that.
    gaze = flat.mean(0) - (eyes @ plan.T).mean(0)
    choices = [s * d for d in (along[k], across[k]) for s in (1, -1)]
    deep = max(choices, key=lambda d: float(d @ gaze))
    depth = deep @ plan
    lateral = np.cross(up, depth)
    frame = np.stack([depth, lateral, up])
    local = points @ frame.T
    (x0, x1), (y0, y1) = np.quantile(local[:, :2], (0.01, 0.99), axis=0).T
    heights = _distinct([b.height_m for b in stack])
    origin = np.array([x0, (y0 + y1) / 2, heights[0]]) @ frame
    shelf = Shelf(
        width_m=max(float(y1 - y0), _THINNEST_M),
        depth_m=max(float(x1 - x0), _THINNEST_M),
        boards_m=tuple(h - heights[0] for h in heights),
        top_m=heights[-1] - heights[0] + OPEN_ABOVE_M,
    )
    return FoundShelf(shelf, Pose.from_rotation(frame.T, origin))


def _distinct(heights_m: Sequence[float]) -> list[float]:
    """Return ascending heights, pieces of one board taken together."""
    out: list[list[float]] = []
    for height in sorted(heights_m):
        if out and height - out[-1][-1] < 0.05:
            out[-1].append(height)
        else:
            out.append([height])
    return [float(np.mean(group)) for group in out]
