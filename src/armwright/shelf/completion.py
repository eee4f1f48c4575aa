"""The whole box of a package of which only the front was seen: round ones are as deep as they are wide.

Views come from before the shelf, so the cloud of an object ends where it turns away. Normals say what it is: those of a
can or a bottle turn steadily and point away from an axis, those of a box stay along two directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from armwright.core.pose import Array

Section = Literal["round", "planar", "unknown"]

USUAL_DEPTH = 0.6
"""Depth over width of a box of which nothing but the front was seen, as of packages in general."""
FRONT_ONLY_M = 0.030
"""A cloud that is thinner than this from front to back shows the front alone."""
SLICES = 10
_UPRIGHT = 0.5
_FEWEST = 25
_TRIM = 0.01
_TURNED_RAD = np.deg2rad(17.0)
_LEAST_RADIUS_M, _MOST_RADIUS_M = 0.012, 0.10


@dataclass(frozen=True, eq=False)
class Completion:
    """A package as it probably is.

    Attributes:
        section: What its level section is.
        box_m: (2, 3) the box around it, along the axes of its cloud.
        added_m: By how much its sides were moved from those of what was seen, summed [m].
    """

    section: Section
    box_m: Array
    added_m: float


def complete(points_m: Array, normals: Array, *, low_m: Array, high_m: Array) -> Completion:
    """Complete a cloud seen from -x.

    Args:
        points_m, normals: (n, 3) its surface, x into the depth, z up.
        low_m, high_m: (3,) corners of the box around what was seen.
    """
    side = np.abs(normals[:, 2]) < _UPRIGHT
    seen = np.stack([low_m, high_m])
    if side.sum() < _FEWEST:
        return Completion("unknown", seen, 0.0)
    at, facing = points_m[side], normals[side, :2]
    facing = facing / np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-9)
    circle = _circle(at, facing)
    yaw, off_planar = _planar(facing)
    if circle is not None and circle[2] < off_planar and circle[2] < _TURNED_RAD:
        center, radius, _ = circle
        box = seen.copy()
        # What was seen stays inside; the far side is where the circle says.
        box[0, :2] = np.minimum(low_m[:2], center - radius)
        box[1, :2] = np.maximum(high_m[:2], center + radius)
        return Completion("round", box, float(np.abs(box - seen).sum()))
    return Completion("planar", *_boxed(points_m[:, :2], seen, yaw))


def _circle(at: Array, facing: Array) -> tuple[Array, float, float] | None:
    """Return centre (2,), radius of the widest slice [m] and mean angle off radial [rad]; None where none fits.

    A surface of revolution has points p = c + r(z) n: linear in the common centre and one radius per slice.
    """
    low, high = np.quantile(at[:, 2], (0.02, 0.98))
    slice_of = np.clip(((at[:, 2] - low) / max(high - low, 1e-6) * SLICES).astype(int), 0, SLICES - 1)
    counts = np.bincount(slice_of, minlength=SLICES)
    # The normal equations of two unknowns and a radius per slice: sums over the points, few numbers to solve for.
    total = np.zeros((2 + SLICES, 2 + SLICES))
    right = np.zeros(2 + SLICES)
    total[0, 0] = total[1, 1] = len(at)
    for axis in (0, 1):
        total[axis, 2:] = total[2:, axis] = np.bincount(slice_of, facing[:, axis], minlength=SLICES)
        right[axis] = at[:, axis].sum()
    # Facing is of unit length; a faint pull keeps slices without points from being undetermined.
    total[2:, 2:] = np.diag(counts + 1e-6)
    right[2:] = np.bincount(slice_of, (at[:, :2] * facing).sum(1), minlength=SLICES)
    found = np.linalg.lstsq(total, right)[0]
    radii = found[2:][counts >= max(4, len(at) // 100)]
    if len(radii) == 0:
        return None
    radius = float(np.quantile(radii, 0.8))
    if not _LEAST_RADIUS_M < radius < _MOST_RADIUS_M:
        return None
    away = at[:, :2] - found[:2]
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    return np.asarray(found[:2], float), radius, float(np.arccos(np.clip((away * facing).sum(1), -1, 1)).mean())


def _planar(facing: Array) -> tuple[float, float]:
    """Return the turn of the two directions that normals are along, and how far they are off them on average [rad]."""
    angle = np.arctan2(facing[:, 1], facing[:, 0])
    yaw = float(np.angle(np.exp(4j * angle).mean()) / 4)
    off = np.abs((angle - yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4)
    return yaw, float(off.mean())


def _boxed(flat: Array, seen: Array, yaw: float) -> tuple[Array, float]:
    """Return the box around a rectangle at a turn, deepened where only the front was seen, and what that added."""
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, s], [-s, c]])
    local = flat @ turn.T
    low, high = np.quantile(local, (_TRIM, 1 - _TRIM), axis=0)
    if high[0] - low[0] < FRONT_ONLY_M:
        high[0] = low[0] + max(high[0] - low[0], USUAL_DEPTH * (high[1] - low[1]))
    corners = np.array([[x, y] for x in (low[0], high[0]) for y in (low[1], high[1])]) @ turn
    box = seen.copy()
    box[0, :2], box[1, :2] = corners.min(0), corners.max(0)
    return box, float(np.abs(box - seen).sum())
