"""Where things can stand: the vertical and the level surfaces of a fused room, for shelves nobody measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.core.camera import CameraModel
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.perception.surface import Surface

LEVEL = 0.95
"""Cosine from which a normal counts as vertical: within 18°, as normals of a coarse volume waver."""
MIN_BOARD_M2 = 0.03
"""Least area of a board that counts: a sheet of A5 paper."""

_TILTED = 0.7
_BIN_M = 0.005
_APART_M = 0.06
_CELL_M = 0.03
_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class Board:
    """A level surface.

    Attributes:
        height_m: Along the vertical, in the world.
        points_m: (n, 3) of it in the world.
        area_m2: Of what was seen; what stands on it hides some.
    """

    height_m: float
    points_m: Array
    area_m2: float


def vertical(mesh: Surface, cameras: Sequence[CameraModel], *, cell_m: float) -> Array:
    """Return (3,) the unit vector that points up: the direction most level surfaces share, near where cameras hold up.

    People and robots hold cameras upright within 45°; among the normals that near to their mean upward axis the mode is
    taken, then the planes of the largest boards that it leads to.

    Args:
        mesh: Of a volume of everything.
        cameras: Those that saw it.
        cell_m: Edge of the volume's voxels.

    Raises:
        UsageError: No camera, or no surface that faces upwards.
    """
    if not cameras:
        raise UsageError("the vertical needs at least one camera.", hint="Give it with up instead.")
    # Image rows run downwards.
    held = np.mean([-camera.pose_world_camera.rotation[:, 1] for camera in cameras], axis=0)
    held = held / max(float(np.linalg.norm(held)), 1e-9)
    near = mesh.normals[mesh.normals @ held > _TILTED].astype(float)
    if len(near) < 50:
        raise UsageError(
            "no level surface was seen, so the vertical is not known.",
            hint="Give the direction up (--up X,Y,Z), or record views that show a board, a table or the floor.",
        )
    # The mode: the normal with most others close by, of a thinned set.
    some = near[:: -(-len(near) // 1500)]
    up = some[int(np.argmax(((some @ some.T) > LEVEL).sum(1)))]
    for _ in range(_ROUNDS):
        up = near[near @ up > LEVEL].mean(0)
        up = up / np.linalg.norm(up)
    return _squared(mesh, up, cell_m=cell_m)


def _squared(mesh: Surface, up: Array, *, cell_m: float) -> Array:
    """Return the vertical made exact: normals are biased near edges, the planes of the boards themselves are not."""
    boards = level_boards(mesh, up=up, cell_m=cell_m)
    if not boards:
        return up
    largest = sorted(boards, key=lambda board: -board.area_m2)[:3]
    flat = np.concatenate([board.points_m - board.points_m.mean(0) for board in largest])
    plane = np.linalg.svd(flat, full_matrices=False)[2][2]
    plane = plane * np.sign(plane @ up)
    return np.asarray(plane if plane @ up > LEVEL else up)


def level_boards(
    mesh: Surface, *, up: ArrayLike = (0.0, 0.0, 1.0), cell_m: float, min_area_m2: float = MIN_BOARD_M2
) -> list[Board]:
    """Return the level surfaces that face up, each in one piece, the lowest first.

    Args:
        mesh: Of a volume of everything.
        up: (3,) the vertical in the world.
        cell_m: Edge of the volume's voxels; a vertex stands for a cell's area.
        min_area_m2: Smaller ones are left out.
    """
    axis = np.asarray(up, float) / np.linalg.norm(up)
    points = mesh.points_m[mesh.normals @ axis > LEVEL].astype(float)
    found: list[Board] = []
    if len(points) == 0:
        return found
    height = points @ axis
    low = float(height.min())
    counts = np.bincount(((height - low) / _BIN_M).astype(int))
    near = np.convolve(counts, np.ones(5), "same")
    half = max(cell_m, 0.01)
    while near.max() * cell_m**2 >= min_area_m2:
        peak = int(np.argmax(near))
        middle = low + (peak + 0.5) * _BIN_M
        at = np.abs(height - middle) <= half
        for piece in _pieces(points[at], axis, cell_m):
            area = len(piece) * cell_m**2
            if area >= min_area_m2:
                found.append(Board(float(np.median(piece @ axis)), piece, area))
        apart = int(_APART_M / _BIN_M)
        near[max(0, peak - apart) : peak + apart + 1] = 0
    return sorted(found, key=lambda board: board.height_m)


def plan_axes(up: ArrayLike) -> Array:
    """Return (2, 3) two level unit vectors that make a right-handed frame with the vertical."""
    axis = np.asarray(up, float) / np.linalg.norm(up)
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(other, axis)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first)])


def _pieces(points_m: Array, up: Array, cell_m: float) -> list[Array]:
    """Split points of one height into pieces with a gap between them."""
    from scipy.ndimage import label

    plan = points_m @ plan_axes(up).T
    edge = max(_CELL_M, 2 * cell_m)
    at = np.floor((plan - plan.min(0)) / edge).astype(int)
    grid = np.zeros(at.max(0) + 1, bool)
    grid[tuple(at.T)] = True
    names, count = label(grid, np.ones((3, 3)))
    whose: NDArray[np.intp] = names[tuple(at.T)]
    return [points_m[whose == k] for k in range(1, count + 1)]
