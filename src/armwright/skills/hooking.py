"""Ways of bringing a hole over a peg: around its tip, along it, until the peg carries the object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from armwright.affordance.holes import Hole
from armwright.affordance.pegs import Peg
from armwright.core.pose import Array

# Turns about the peg, from where the mass hangs straight below the hole.
ROLLS_RAD = np.deg2rad(np.arange(-60.0, 61.0, 20.0))
# Where along the peg the hole may come to hang, in shares from root to tip.
STATIONS = (0.30, 0.42, 0.54)
# Elevations of the passage when it hangs: level, and up like the peg by this much at most.
LEVELS_RAD = (np.deg2rad(6.0), np.deg2rad(24.0))
# The hole stands this far beyond the tip before it is put over it.
BEFORE_M = 0.045
# Poses from the tip to the station.
STEPS = 5
# Room between the object and what carries the peg on the whole way in.
ROOM_M = 0.003
# Of the carrier's cloud this many points are enough to see that two things meet.
CARRIER_POINTS = 900
OBJECT_POINTS = 4096
# The carrier may stand near others; what hangs stays this far above the table.
TABLE_ROOM_M = 0.01


@dataclass(frozen=True, eq=False)
class Hooking:
    """Alternative ways to hang an object.

    Attributes:
        poses_world_object: (w, t, 4, 4) from before the tip to over the station.
        drop_m: (w,) from there straight down until the peg carries.
        swing_rad: (w,) by how much it will turn when it is let go, as far as that is known.
    """

    poses_world_object: Array
    drop_m: Array
    swing_rad: Array


def ways_to_hook(hole: Hole, pegs: Sequence[Peg], points_m: Array, carrier_world_m: Array) -> Hooking:
    """Return the ways that are free of the carrier, for every peg, side, turn, level and station.

    Args:
        hole: Of the object, in its frame.
        pegs: In the world.
        points_m: (n, 3) surface points of the object in its frame.
        carrier_world_m: (m, 3) surface points of what carries the pegs, in the world.
    """
    center_of_mass = points_m.mean(0)
    tree = cKDTree(points_m[:: max(1, len(points_m) // OBJECT_POINTS)])
    carrier = carrier_world_m[:: max(1, len(carrier_world_m) // CARRIER_POINTS)]
    reach = float(np.linalg.norm(points_m - hole.center_m, axis=1).max())
    poses, drops, swings = [], [], []
    for peg in pegs:
        if peg.radius_m >= 0.9 * hole.radius_m:
            continue
        near = carrier[np.linalg.norm(carrier - peg.line_m.mean(0), axis=1) < reach + 0.1]
        for sign in (1.0, -1.0):
            for roll in ROLLS_RAD:
                for level in LEVELS_RAD:
                    way = _first_free(hole, peg, sign * hole.normal, roll, level, center_of_mass, tree, near, points_m)
                    if way is not None:
                        poses.append(way[0])
                        drops.append(way[1])
                        swings.append(way[2])
    shape = (0, STEPS + 2, 4, 4)
    return Hooking(np.array(poses) if poses else np.zeros(shape), np.array(drops), np.array(swings))


def _first_free(
    hole: Hole,
    peg: Peg,
    normal: Array,
    roll_rad: float,
    level_rad: float,
    center_of_mass_m: Array,
    tree: cKDTree,
    carrier_m: Array,
    points_m: Array,
) -> tuple[Array, float, float] | None:
    """The way to the station nearest to the root at which there is room."""
    up_object = _square_to(hole.center_m - center_of_mass_m, normal)
    if up_object is None:
        return None
    object_axes = np.stack([normal, np.cross(up_object, normal), up_object], axis=1)
    line = peg.line_m
    out = line[-1] - line[0]
    out = np.array([out[0], out[1], 0.0]) / max(float(np.hypot(out[0], out[1])), 1e-9)
    for share in STATIONS:
        along = _along(line, np.linspace(1.0, share, STEPS + 1))
        steep = _elevation(line[-1] - along[-1], out)
        tip = _elevation(line[-1] - line[-2], out)
        entry = 0.5 * (steep + tip)
        levels = entry + (level_rad - entry) * np.linspace(0.0, 1.0, STEPS + 1) ** 2
        turns = [_axes(out, level, roll_rad) @ object_axes.T for level in levels]
        places = [peg_point - turn @ hole.center_m for peg_point, turn in zip(along, turns, strict=True)]
        before = places[0] + BEFORE_M * (np.cos(entry) * out + np.sin(entry) * np.array([0.0, 0.0, 1.0]))
        way = np.tile(np.eye(4), (STEPS + 2, 1, 1))
        way[:, :3, :3] = np.array([turns[0], *turns])
        way[:, :3, 3] = np.array([before, *places])
        if (way[-1, 2, :3] @ points_m.T + way[-1, 2, 3]).min() < TABLE_ROOM_M + 0.05:
            continue
        if not _free(way[::-1], tree, carrier_m):
            continue
        edge = _edge_above(hole, way[-1, :3, :3])
        drop = max(edge - peg.radius_m / np.cos(steep - level_rad), 0.0) / np.cos(level_rad)
        up = _square_to(way[-1, 2, :3], hole.normal)
        contact = hole.center_m + (edge * up if up is not None else 0.0)
        arm = way[-1, :3, :3] @ (contact - center_of_mass_m)
        swing = float(np.arccos(np.clip(arm[2] / np.linalg.norm(arm), -1, 1)))
        return way, drop, swing
    return None


def _free(way: Array, tree: cKDTree, carrier_m: Array) -> bool:
    """Whether nothing of the carrier comes near the object's surface at any pose; the last is looked at first."""
    for pose in way:
        local = (carrier_m - pose[:3, 3]) @ pose[:3, :3]
        if np.isfinite(tree.query(local, distance_upper_bound=ROOM_M)[0]).any():
            return False
    return True


def _edge_above(hole: Hole, rotation: Array) -> float:
    """Distance from the hole's middle to its edge straight above, in the plane of the hole."""
    up = _square_to(rotation[2], hole.normal)
    offset = hole.outline_m - hole.center_m
    size = np.linalg.norm(offset, axis=1)
    return float(size[np.argmax(offset @ up / size)]) if up is not None else hole.radius_m


def _axes(out: Array, level_rad: float, roll_rad: float) -> Array:
    """The world directions of (passage, side, up) of a hole on a peg that points out."""
    z = np.array([0.0, 0.0, 1.0])
    passage = np.cos(level_rad) * out + np.sin(level_rad) * z
    up = np.cos(level_rad) * z - np.sin(level_rad) * out
    side = np.array([-out[1], out[0], 0.0])
    turned = np.cos(roll_rad) * up + np.sin(roll_rad) * side
    return np.stack([passage, np.cos(roll_rad) * side - np.sin(roll_rad) * up, turned], axis=1)


def _along(line_m: Array, shares: Array) -> Array:
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line_m, axis=0), axis=1))])
    return np.stack([np.interp(shares * length[-1], length, line_m[:, k]) for k in range(3)], axis=1)


def _elevation(direction: Array, out: Array) -> float:
    return float(np.arctan2(direction[2], max(float(direction @ out), 1e-9)))


def _square_to(vector: Array, axis: Array) -> Array | None:
    across = vector - (vector @ axis) * axis
    size = float(np.linalg.norm(across))
    return across / size if size > 1e-6 else None
