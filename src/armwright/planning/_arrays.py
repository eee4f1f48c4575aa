"""What the compiled kernels read: a robot and a world as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armwright.planning._jit import F32, I32, I64, U64, Flags
from armwright.robots.kinematics import Kinematics, SphereSet


class RobotArrays(NamedTuple):
    """A sphere robot in single precision; frames as in `Kinematics`.

    Attributes:
        offset: (n, 4, 4).
        lower, upper: (n,) joint limits [rad].
        center, radius: (s, 3) and (s,) spheres in link frames [m], sorted by link.
        first: (n + 2,) index of each link's first sphere.
        bound_center, bound_radius: (n + 1, 3) and (n + 1,) one sphere around all of a link's spheres.
        pairs: (p, 2) link pairs that may collide.
        held_center, held_radius: (k, 3) and (k,) spheres of a held object in the last link's frame.
        held_bound: (4,) centre and radius of one sphere around them.
        held_links: (m,) links that the held object is checked against.
    """

    offset: F32
    lower: F32
    upper: F32
    center: F32
    radius: F32
    first: I32
    bound_center: F32
    bound_radius: F32
    pairs: I32
    held_center: F32
    held_radius: F32
    held_bound: F32
    held_links: I32


class WorldArrays(NamedTuple):
    """Obstacles as parts (exact boxes and local distance grids) under one coarse grid.

    The coarse grid answers most questions with one look-up. Each cell holds the distance of its centre to the nearest
    part, so a point anywhere in the cell is at most ``slack`` nearer, and one bit per part that is near. Only the parts
    whose bit is set are asked exactly. To ignore an obstacle is to clear its bits; nothing is rebuilt.

    Attributes:
        coarse: (x, y, z) float [m], cut off at the band.
        near: (x, y, z) uint64 bits of the parts near each cell.
        origin: (3,) lowest corner [m].
        scale: Cells per metre.
        slack: Half of a cell's diagonal [m].
        bit: (p,) the bit of each part; parts past the 63rd share the last one.
        rotation: (p, 3, 3) base to part.
        position: (p, 3) the part's centre in the base frame [m].
        half: (p, 3) half extents [m] of the box, or of the local grid (between outer nodes).
        grid: (p,) index of the part's first node in ``nodes``; -1 for a box.
        shape: (p, 3) nodes of the local grid.
        nodes_per_m: (p,).
        pad: (p,) free border of the local grid around the shape [m].
        nodes: All local grids, flat [m].
    """

    coarse: F32
    near: U64
    origin: F32
    scale: np.float32
    slack: np.float32
    bit: U64
    rotation: F32
    position: F32
    half: F32
    grid: I64
    shape: I64
    nodes_per_m: F32
    pad: F32
    nodes: F32


class Layers(NamedTuple):
    """Which parts the arm may not touch, and which the held object may not touch."""

    arm: Flags
    arm_bits: np.uint64
    held: Flags
    held_bits: np.uint64


class Scene(NamedTuple):
    """All that a collision check reads."""

    robot: RobotArrays
    world: WorldArrays
    layers: Layers


class Scratch(NamedTuple):
    """Memory that a check overwrites: rotation (n + 1, 3, 3), position and bound (n + 1, 3), q (n,)."""

    rotation: F32
    position: F32
    bound: F32
    q: F32


def bounding_sphere(center: F32, radius: F32) -> tuple[F32, float]:
    """Return centre (3,) and radius [m] of a sphere around spheres (k, 3), (k,); not the smallest, but close."""
    low = (center - radius[:, None]).min(0)
    high = (center + radius[:, None]).max(0)
    middle = ((low + high) / 2).astype(np.float32)
    return middle, float((np.linalg.norm(center - middle, axis=1) + radius).max())


def robot_arrays(
    kinematics: Kinematics,
    spheres: SphereSet,
    *,
    limit_margin_rad: float,
    held_center: F32 | None = None,
    held_radius: F32 | None = None,
) -> RobotArrays:
    """Flatten ``kinematics`` with one of its sphere sets; held spheres are given in the last link's frame."""
    n = kinematics.dof
    order = np.argsort(spheres.link, kind="stable")
    center = np.ascontiguousarray(spheres.center_m[order], np.float32)
    radius = np.ascontiguousarray(spheres.radius_m[order], np.float32)
    first = np.searchsorted(spheres.link[order], np.arange(n + 2)).astype(np.int32)
    bound_center = np.zeros((n + 1, 3), np.float32)
    bound_radius = np.zeros(n + 1, np.float32)
    for link in range(n + 1):
        part = slice(first[link], first[link + 1])
        if first[link + 1] > first[link]:
            bound_center[link], bound_radius[link] = bounding_sphere(center[part], radius[part])
    held_bound = np.zeros(4, np.float32)
    if held_center is None or held_radius is None:
        held_center, held_radius = np.zeros((0, 3), np.float32), np.zeros(0, np.float32)
    else:
        held_bound[:3], held_bound[3] = bounding_sphere(held_center, held_radius)
    return RobotArrays(
        offset=np.ascontiguousarray(kinematics.offset, np.float32),
        lower=(kinematics.lower_rad + limit_margin_rad).astype(np.float32),
        upper=(kinematics.upper_rad - limit_margin_rad).astype(np.float32),
        center=center,
        radius=radius,
        first=first,
        bound_center=bound_center,
        bound_radius=bound_radius,
        pairs=np.ascontiguousarray(kinematics.self_pairs, np.int32).reshape(-1, 2),
        held_center=held_center,
        held_radius=held_radius,
        held_bound=held_bound,
        # The last link holds the object and the one before may be a hand's breadth away: both touch it by design.
        held_links=np.arange(0, max(n - 1, 1), dtype=np.int32),
    )
