"""What the compiled kernels read: a robot and a world as a few flat arrays.

Every array argument costs compile time and registers in every kernel, so related values share an array.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.planning._jit import F32, F64, I32, I64, U64, Flags, kernel
from armwright.robots.kinematics import Kinematics, SphereSet

# Columns of `WorldArrays.part`.
ROTATION, POSITION, HALF, SCALE, PAD = 0, 9, 12, 15, 16
PART_COLUMNS = 17
# Paths are searched with spheres this much too large [m], and checked once they are timed with spheres of their own
# size: the timed samples lie between those of the search, and may touch what those just missed.
SPHERE_PAD_M = 0.0003
# Columns of `WorldArrays.grid`.
FIRST_NODE, SHAPE = 0, 1
# Elements of `WorldArrays.frame`.
CELLS_PER_M, SLACK, LARGEST = 3, 4, 5
# Stretches of an edge that can wait for a look.
QUEUE = 1024


class RobotArrays(NamedTuple):
    """A sphere robot in single precision; frames as in `Kinematics`.

    Attributes:
        offset: (n, 3, 4) upper rows of the frame offsets.
        limit: (2, n) lower and upper joint limits [rad].
        ball: (m, 4) centre and radius in link frames [m]: per link a tree of spheres, parents before children. A leaf
            is a collision sphere, any other ball contains its children.
        skip: (m,) the next ball to look at when a ball is missed; ``skip[i] == i + 1`` marks a leaf.
        first: (n + 2,) each link's first ball, the root of its tree.
        pair: (p, 2) link pairs that may collide.
        slack: (n + 1, n + 1) how deep the spheres of two links may overlap before the links touch [m].
        held: (k, 4) spheres of a held object in the last link's frame.
        held_link: (m,) links that the held object is checked against.
        reach: (n, n + 2) how far points of each link, and of the held object, can be from each joint's axis [m].
    """

    offset: F32
    limit: F32
    ball: F32
    skip: I32
    first: I32
    pair: I32
    slack: F32
    held: F32
    held_link: I32
    reach: F32


class WorldArrays(NamedTuple):
    """Obstacles as parts (exact boxes and local distance grids) under one coarse grid.

    The coarse grid answers most questions with one look-up. Each cell holds the distance of its centre to the nearest
    part, so a point anywhere in the cell is at most ``slack`` nearer, and one bit per part that is near. Only the parts
    whose bit is set are asked exactly. To ignore an obstacle is to clear its bits; nothing is rebuilt.

    Attributes:
        coarse: (x, y, z) float [m], cut off at the band.
        near: (x, y, z) uint64 bits of the parts near each cell.
        frame: (6,) lowest corner [m], cells per metre, slack (half of a cell's diagonal) [m], and the largest radius of
            a sphere for which the bits are complete [m].
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
    """Memory that a check overwrites.

    Attributes:
        frame: (n + 1, 3, 4) link frames.
        root: (n + 1, 3) centres of the links' roots.
        q: (n,) a configuration.
        speed: (n + 1, 6) velocities of the links along an edge.
        travel: (2, n + 2) bounds on how far each body comes along an edge.
        stretch: (QUEUE, 2) first and last step of stretches of an edge that wait.
        mask: (QUEUE, 2) what of each is not proven free yet.
    """

    frame: F32
    root: F32
    q: F32
    speed: F32
    travel: F32
    stretch: I32
    mask: U64


@kernel
def bounding_sphere(spheres: F64) -> F64:
    """Return (4,) centre and radius of a sphere around spheres (k, 4), within a few per cent of the smallest."""
    ball = np.zeros(4)
    for i in range(len(spheres)):
        for axis in range(3):
            ball[axis] += spheres[i, axis] / len(spheres)
    # Badoiu and Clarkson 2003: ever smaller steps towards whatever is farthest; the last round measures.
    for step in range(2, 61):
        far, reach, gap = 0, -1.0, 0.0
        for i in range(len(spheres)):
            dx, dy, dz = spheres[i, 0] - ball[0], spheres[i, 1] - ball[1], spheres[i, 2] - ball[2]
            away = math.sqrt(dx * dx + dy * dy + dz * dz)
            if away + spheres[i, 3] > reach:
                far, reach, gap = i, away + spheres[i, 3], away
        ball[3] = reach
        if step < 60 and gap > 1e-9:
            for axis in range(3):
                ball[axis] += (spheres[far, axis] - ball[axis]) * (1 + spheres[far, 3] / gap) / step
    return ball


def _grow_tree(spheres: Array, balls: list[Array], skip: list[int]) -> None:
    """Append a tree over spheres (k, 4), each ball followed by its children, halved across the longest extent."""
    index = len(balls)
    balls.append(spheres[0] if len(spheres) == 1 else bounding_sphere(np.ascontiguousarray(spheres)))
    skip.append(0)
    if len(spheres) > 1:
        halves = [spheres]
        # Four children per ball: half the levels of a binary tree at the price of one more look per level.
        for _ in range(2):
            split: list[Array] = []
            for part in halves:
                order = np.argsort(part[:, int(np.argmax(np.ptp(part[:, :3], axis=0)))], kind="stable")
                middle = (len(part) + 1) // 2
                split += [part[order[:middle]], part[order[middle:]]]
            halves = [part for part in split if len(part)]
        for part in halves:
            _grow_tree(part, balls, skip)
    skip[index] = len(balls)


def padded_spheres(kinematics: Kinematics, spheres: SphereSet) -> Array:
    """Return the spheres as (s, 4), padded, and link 1's cut where they reach under the mounting surface (z = 0).

    A fitted sphere sticks out of what it covers; where an arm stands on a table, its shoulder would touch it for ever.
    """
    every = np.column_stack([spheres.center_m, spheres.radius_m + SPHERE_PAD_M]).astype(float)
    turn = kinematics.offset[0, :3, :3]
    if abs(turn[2, 2]) > 1 - 1e-6:
        own = spheres.link == 1
        height = every[own, :3] @ turn[2] + kinematics.offset[0, 2, 3]
        every[own, 3] = np.where(height > 0, np.minimum(every[own, 3], np.maximum(height - 2e-3, 1e-3)), every[own, 3])
    return every


def robot_arrays(
    kinematics: Kinematics, spheres: SphereSet, *, limit_margin_rad: float, held: Array | None = None
) -> RobotArrays:
    """Flatten ``kinematics`` with one of its sphere sets; held (k, 4) spheres are in the last link's frame."""
    n = kinematics.dof
    every = padded_spheres(kinematics, spheres)
    balls: list[Array] = []
    skip: list[int] = []
    first = [0]
    for link in range(n + 1):
        own = every[spheres.link == link]
        if len(own):
            _grow_tree(own, balls, skip)
        first.append(len(balls))
    slack = np.zeros((n + 1, n + 1), np.float32)
    if kinematics.self_slack_m is not None:
        a, b = np.asarray(kinematics.self_pairs).reshape(-1, 2).T
        slack[a, b] = slack[b, a] = kinematics.self_slack_m
    limits = np.stack([kinematics.lower_rad + limit_margin_rad, kinematics.upper_rad - limit_margin_rad])
    return RobotArrays(
        offset=np.ascontiguousarray(kinematics.offset[:, :3], np.float32),
        limit=limits.astype(np.float32),
        ball=np.array(balls, np.float32).reshape(-1, 4),
        skip=np.array(skip, np.int32),
        first=np.array(first, np.int32),
        pair=np.ascontiguousarray(kinematics.self_pairs, np.int32).reshape(-1, 2),
        slack=slack,
        held=np.zeros((0, 4), np.float32) if held is None else np.ascontiguousarray(held, np.float32),
        # The last link holds the object and the one before may be a hand's breadth away: both touch it by design.
        held_link=np.arange(0, max(n - 1, 1), dtype=np.int32),
        reach=axis_reach(kinematics, every, spheres.link, held),
    )


def axis_reach(kinematics: Kinematics, spheres: Array, link: NDArray[Any], held: Array | None) -> F32:
    """Return (n, n + 2) bounds on how far points of each link, and of what is held, can be from each joint's axis [m].

    The bound is the chain stretched out; about its own joint, a link's points keep their distance to the axis.

    Args:
        kinematics: The arm.
        spheres: (s, 4) in link frames.
        link: (s,) whose they are.
        held: (k, 4) spheres in the last link's frame.
    """
    n = kinematics.dof
    lengths = np.linalg.norm(kinematics.offset[:, :3, 3], axis=1)
    reach = np.zeros((n, n + 2), np.float32)
    for body in range(1, n + 2):
        own = held if body > n else spheres[link == body]
        if own is None or len(own) == 0:
            continue
        last = min(body, n)
        far = float((np.linalg.norm(own[:, :3], axis=1) + own[:, 3]).max())
        reach[last - 1, body] = (np.hypot(own[:, 0], own[:, 1]) + own[:, 3]).max()
        for joint in range(last - 1):
            reach[joint, body] = lengths[joint + 1 : last].sum() + far
    return reach
