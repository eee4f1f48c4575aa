"""What the compiled kernels read: a robot and a world as a few flat arrays.

Every array argument costs compile time and registers in every kernel, so related values share an array.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armwright.core.pose import Array
from armwright.planning._jit import F32, I32, I64, U64, Flags
from armwright.robots.kinematics import Kinematics, SphereSet

# Columns of `WorldArrays.part`.
ROTATION, POSITION, HALF, SCALE, PAD = 0, 9, 12, 15, 16
PART_COLUMNS = 17
# Columns of `WorldArrays.grid`.
FIRST_NODE, SHAPE = 0, 1
# Elements of `WorldArrays.frame`.
CELLS_PER_M, SLACK = 3, 4
# Spheres under one bound; more make bounds loose, fewer make bounds many.
GROUP_SIZE = 8


class RobotArrays(NamedTuple):
    """A sphere robot in single precision; frames as in `Kinematics`.

    Attributes:
        offset: (n, 3, 4) upper rows of the frame offsets.
        limit: (2, n) lower and upper joint limits [rad].
        sphere: (s, 4) centre and radius in link frames [m], sorted by link and group.
        group: (g, 4) centre and radius of a sphere around each group of spheres.
        bound: (n + 1, 4) the same around each link.
        first_sphere: (g + 1,) where each group's spheres begin.
        first_group: (n + 2,) where each link's groups begin.
        pair: (p, 2) link pairs that may collide.
        held: (k, 4) spheres of a held object in the last link's frame.
        held_link: (m,) links that the held object is checked against.
    """

    offset: F32
    limit: F32
    sphere: F32
    group: F32
    bound: F32
    first_sphere: I32
    first_group: I32
    pair: I32
    held: F32
    held_link: I32


class WorldArrays(NamedTuple):
    """Obstacles as parts (exact boxes and local distance grids) under one coarse grid.

    The coarse grid answers most questions with one look-up. Each cell holds the distance of its centre to the nearest
    part, so a point anywhere in the cell is at most ``slack`` nearer, and one bit per part that is near. Only the parts
    whose bit is set are asked exactly. To ignore an obstacle is to clear its bits; nothing is rebuilt.

    Attributes:
        coarse: (x, y, z) float [m], cut off at the band.
        near: (x, y, z) uint64 bits of the parts near each cell.
        frame: (5,) lowest corner [m], cells per metre, slack (half of a cell's diagonal) [m].
        part: (p, 17) rotation base to part, centre in the base frame [m], half extents [m] of the box or of the local
            grid (between outer nodes), nodes per metre, free border of the local grid around the shape [m].
        grid: (p, 4) index of the part's first node in ``node`` (-1 for a box), and the local grid's shape.
        bit: (p,) the bit of each part; parts past the 63rd share the last one.
        node: All local grids, flat [m].
    """

    coarse: F32
    near: U64
    frame: F32
    part: F32
    grid: I64
    bit: U64
    node: F32


class Scene(NamedTuple):
    """All that a collision check reads.

    Attributes:
        robot, world: The two bodies.
        active: (2, p) which parts count for the arm, and for what it holds.
        active_bits: (2,) the same as bits.
    """

    robot: RobotArrays
    world: WorldArrays
    active: Flags
    active_bits: U64


class Scratch(NamedTuple):
    """Memory that a check overwrites: frame (n + 1, 3, 4), bound (n + 1, 3), q (n,)."""

    frame: F32
    bound: F32
    q: F32


def bounding_sphere(spheres: Array) -> Array:
    """Return (4,) centre and radius of a sphere around spheres (k, 4); not the smallest, but close."""
    center, radius = spheres[:, :3], spheres[:, 3]
    middle = ((center - radius[:, None]).min(0) + (center + radius[:, None]).max(0)) / 2
    return np.array([*middle, (np.linalg.norm(center - middle, axis=1) + radius).max()])


def _split(spheres: Array) -> list[Array]:
    """Halve spheres (k, 4) across their longest extent until groups are small."""
    if len(spheres) <= GROUP_SIZE:
        return [spheres]
    axis = int(np.argmax(np.ptp(spheres[:, :3], axis=0)))
    order = np.argsort(spheres[:, axis], kind="stable")
    half = len(spheres) // 2
    return _split(spheres[order[:half]]) + _split(spheres[order[half:]])


def robot_arrays(
    kinematics: Kinematics, spheres: SphereSet, *, limit_margin_rad: float, held: Array | None = None
) -> RobotArrays:
    """Flatten ``kinematics`` with one of its sphere sets; held (k, 4) spheres are in the last link's frame."""
    n = kinematics.dof
    every = np.column_stack([spheres.center_m, spheres.radius_m])
    groups: list[Array] = []
    first_group = [0]
    bound = np.zeros((n + 1, 4))
    for link in range(n + 1):
        own = every[spheres.link == link]
        if len(own):
            groups += _split(own)
            bound[link] = bounding_sphere(own)
        first_group.append(len(groups))
    return RobotArrays(
        offset=np.ascontiguousarray(kinematics.offset[:, :3], np.float32),
        limit=np.stack([kinematics.lower_rad + limit_margin_rad, kinematics.upper_rad - limit_margin_rad]).astype(
            np.float32
        ),
        sphere=np.concatenate(groups).astype(np.float32) if groups else np.zeros((0, 4), np.float32),
        group=np.array([bounding_sphere(g) for g in groups], np.float32).reshape(-1, 4),
        bound=bound.astype(np.float32),
        first_sphere=np.cumsum([0, *map(len, groups)]).astype(np.int32),
        first_group=np.array(first_group, np.int32),
        pair=np.ascontiguousarray(kinematics.self_pairs, np.int32).reshape(-1, 2),
        held=np.zeros((0, 4), np.float32) if held is None else np.ascontiguousarray(held, np.float32),
        # The last link holds the object and the one before may be a hand's breadth away: both touch it by design.
        held_link=np.arange(0, max(n - 1, 1), dtype=np.int32),
    )
