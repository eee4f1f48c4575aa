"""What of a region is free, occupied or unknown, as distances and as boxes that a planner takes as obstacles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.perception._jit import F32, I32, U8, kernel
from armwright.perception._tsdf_kernels import EDGE
from armwright.perception.tsdf import Tsdf

UNKNOWN, FREE, OCCUPIED = 0, 1, 2
Unknown = Literal["free", "occupied"]
"""What to take unseen space for: ``occupied`` is safe, ``free`` lets an arm into what no view reached."""


@dataclass(frozen=True, eq=False)
class Space:
    """A region of the world in cubes.

    Attributes:
        low_m: (3,) lowest corner of the region.
        voxel_m: Edge of a cube.
        state: (x, y, z) uint8 `UNKNOWN`, `FREE` or `OCCUPIED`.
    """

    low_m: Array
    voxel_m: float
    state: U8


@dataclass(frozen=True, eq=False)
class DistanceField:
    """How far each cube's centre is from what is occupied.

    Attributes:
        low_m: (3,) lowest corner of the region.
        voxel_m: Edge of a cube.
        distance_m: (x, y, z) float32, 0 inside; infinite where nothing is occupied.
        beyond: What lies outside the region.
    """

    low_m: Array
    voxel_m: float
    distance_m: F32
    beyond: Unknown


def space_of(volume: Tsdf, *, min_weight: float = 1.0) -> Space:
    """Return the states of voxels: occupied from half a voxel before the surface to the truncation behind it.

    Args:
        volume: From `region_tsdf`; of another volume, what holds no block is unknown.
        min_weight: Voxels seen fewer times are unknown.

    Raises:
        UsageError: A volume without blocks.
    """
    n = volume.count
    if n == 0:
        raise UsageError("the volume holds nothing.", hint="Integrate a view first, or take region_tsdf.")
    keys = volume.keys[:n]
    low = keys.min(0)
    state = np.zeros(tuple((keys.max(0) - low + 1) * EDGE), np.uint8)
    distance, weight = volume.cells[:n, :, 0], volume.cells[:n, :, 1]
    known = np.where(distance <= 0.5 * volume.voxel_m, OCCUPIED, FREE).astype(np.uint8)
    blocks = np.where(weight >= max(min_weight, 1e-3), known, UNKNOWN).astype(np.uint8)
    x, y, z = (s // EDGE for s in state.shape)
    tiles = state.reshape(x, EDGE, y, EDGE, z, EDGE)
    i, j, k = (keys - low).T
    tiles[i, :, j, :, k, :] = blocks.reshape(n, EDGE, EDGE, EDGE)
    return Space(low * EDGE * volume.voxel_m, volume.voxel_m, state)


def distance_field(space: Space, *, unknown: Unknown = "occupied") -> DistanceField:
    """Return the exact Euclidean distance of every cube's centre to the nearest face of an occupied cube's ball [m].

    An occupied cube counts as the ball inside it, so values are good to half a cube.

    Args:
        space: From `space_of`.
        unknown: What to take unseen cubes for.
    """
    from scipy.ndimage import distance_transform_edt

    blocked = _blocked(space, unknown)
    if not blocked.any():
        distance = np.full(blocked.shape, np.inf, np.float32)
    else:
        cells = np.asarray(distance_transform_edt(~blocked), np.float32)
        distance = np.maximum(cells - np.float32(0.5), 0) * np.float32(space.voxel_m)
    return DistanceField(space.low_m, space.voxel_m, distance, unknown)


def clearance(field: DistanceField, points_m: ArrayLike) -> Array:
    """Return (n,) how large a ball at each of (n, 3) points of the world may be before it touches something [m].

    Values between centres are interpolated. Outside the region nothing is known: 0 where the unknown counts as
    occupied, else the border's value less the way there.
    """
    points = np.asarray(points_m, float).reshape(-1, 3)
    shape = np.array(field.distance_m.shape)
    at = (points - field.low_m) / field.voxel_m - 0.5
    inside = np.clip(at, 0, shape - 1)
    out = np.linalg.norm(at - inside, axis=1) * field.voxel_m
    base = np.minimum(inside.astype(np.int64), np.maximum(shape - 2, 0))
    share = inside - base
    value = np.zeros(len(points))
    for corner in np.ndindex(2, 2, 2):
        index = np.minimum(base + corner, shape - 1)
        weight = np.prod(np.where(corner, share, 1 - share), axis=1)
        held = field.distance_m[tuple(index.T)].astype(float)
        value += np.where(weight > 0, weight * np.where(weight > 0, held, 0), 0)
    beyond = np.any((at < -0.5) | (at > shape - 0.5), axis=1)
    if field.beyond == "occupied":
        return np.where(beyond, 0.0, value)
    return np.maximum(value - np.where(beyond, out, 0), 0)


def occupied_boxes(space: Space, *, unknown: Unknown = "free", carve_m: ArrayLike | None = None) -> Array:
    """Return (n, 2, 3) boxes in the world that together cover exactly the occupied cubes and do not overlap.

    Each is as long as it can be, so that flat boards and walls become few boxes; they serve a planner as convex hulls.

    Args:
        space: From `space_of`.
        unknown: What to take unseen cubes for.
        carve_m: (k, 2, 3) boxes whose cubes are left out, such as that around the object to be grasped.
    """
    blocked = _blocked(space, unknown).astype(np.uint8)
    for low, high in np.asarray([] if carve_m is None else carve_m, float).reshape(-1, 2, 3):
        first = np.maximum(np.floor((low - space.low_m) / space.voxel_m + 1e-6).astype(int), 0)
        last = np.maximum(np.ceil((high - space.low_m) / space.voxel_m - 1e-6).astype(int), 0)
        blocked[tuple(slice(a, b) for a, b in zip(first, last, strict=True))] = 0
    cells = np.empty((int(np.count_nonzero(blocked)), 2, 3), np.int32)
    count = _grow_boxes(blocked, cells)
    return np.asarray(space.low_m + cells[:count] * space.voxel_m)


def box_corners(boxes_m: ArrayLike) -> Array:
    """Return (n, 8, 3) the corners of (n, 2, 3) boxes: convex hulls for `armwright.planning.types.Obstacle`."""
    boxes = np.asarray(boxes_m, float).reshape(-1, 2, 3)
    pick = np.array(list(np.ndindex(2, 2, 2)))
    return np.asarray(boxes[:, pick, np.arange(3)])


def _blocked(space: Space, unknown: Unknown) -> NDArray[np.bool_]:
    if unknown not in ("free", "occupied"):
        raise UsageError(f"unknown space counts as free or occupied, got {unknown!r}.", hint="Say which.")
    return np.asarray(space.state != FREE if unknown == "occupied" else space.state == OCCUPIED)


@kernel
def _all_set(blocked: U8, i: int, j0: int, j1: int, k0: int, k1: int) -> bool:
    for j in range(j0, j1):
        for k in range(k0, k1):
            if blocked[i, j, k] == 0:
                return False
    return True


@kernel
def _grow_boxes(blocked: U8, out: I32) -> int:
    """Write (n, 2, 3) first and past-the-last cells of boxes that cover the non-zero cells, which are zeroed.

    Returns how many; ``out`` has room for one per cell.
    """
    nx, ny, nz = blocked.shape
    count = 0
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if blocked[i, j, k] == 0:
                    continue
                z = k + 1
                while z < nz and blocked[i, j, z] != 0:
                    z += 1
                y = j + 1
                while y < ny and _all_set(blocked, i, y, y + 1, k, z):
                    y += 1
                x = i + 1
                while x < nx and _all_set(blocked, x, j, y, k, z):
                    x += 1
                for a in range(i, x):
                    for b in range(j, y):
                        for c in range(k, z):
                            blocked[a, b, c] = 0
                out[count, 0, 0], out[count, 0, 1], out[count, 0, 2] = i, j, k
                out[count, 1, 0], out[count, 1, 1], out[count, 1, 2] = x, y, z
                count += 1
    return count
