"""The opening of a handle or a ring: where its free passage is, how wide, and what bounds it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.spatial import ConvexHull, QhullError

from armwright.affordance.protocol import AffordanceMask, ObjectCloud
from armwright.core.pose import Array, Pose

# Directions in which the edge of a hole is measured, and the share of them in which there must be one.
EDGES = 36
CLOSED_SHARE = 0.97
# Half width of the sector in which the nearest point counts as the edge of its direction.
SECTOR_RAD = np.deg2rad(7.5)
# The view is drawn with this resolution, coarser for large regions, and with this many pixels around the region.
PIXEL_M, PIXELS, MARGIN = 0.001, 120, 20
# The axis is turned by these to see whether the passage gets wider, and by how much it must.
TURNS_RAD = (0.12, 0.05)
BETTER_M = 0.0003
# Nothing hangs by less.
MIN_RADIUS_M = 0.004


@dataclass(frozen=True, eq=False)
class Hole:
    """A free passage through an object.

    Attributes:
        center_m: (3,) middle of the widest free circle.
        normal: (3,) unit vector along the passage; its sign means nothing.
        radius_m: Of that circle.
        outline_m: (k, 3) the edge seen from the middle, in the plane of the circle, counter-clockwise about the normal.
    """

    center_m: Array
    normal: Array
    radius_m: float
    outline_m: Array

    def at(self, pose: Pose) -> Hole:
        """Return the hole of the object at a pose."""
        center, normal = pose.transform(self.center_m), pose.rotate(self.normal)
        return Hole(center, normal, self.radius_m, pose.transform(self.outline_m))

    def holds(self, point_m: Array) -> bool:
        """Say whether a point, moved along the passage into its plane, lies within the outline."""
        x, y = _across(self.normal)
        flat = np.stack([(self.outline_m - self.center_m) @ x, (self.outline_m - self.center_m) @ y], axis=1)
        p = np.array([(point_m - self.center_m) @ x, (point_m - self.center_m) @ y])
        a, b = flat, np.roll(flat, -1, axis=0)
        spans = (a[:, 1] > p[1]) != (b[:, 1] > p[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = a[:, 0] + (p[1] - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
        return bool(np.count_nonzero(spans & (p[0] < crossing)) % 2)


def hole_of(cloud: ObjectCloud, mask: AffordanceMask) -> Hole | None:
    """Find the opening of a region, such as the "Hanging Handle" of a mug.

    The points of the whole object are seen along the principal axes of the region. The hole is the widest empty
    circle in that view whose middle lies within the region's outline and that has an edge all around, be it the
    region's or the body's.

    Args:
        cloud: Points of the object in its frame.
        mask: The queried region on it.

    Returns:
        The hole, or None where the region encloses nothing.
    """
    region = cloud.points_m[mask.mask]
    if len(region) < 16:
        return None
    axes = np.linalg.eigh(np.cov(region.T))[1].T
    best: Hole | None = None
    for axis in axes:
        best = _seen_along(cloud.points_m, region, axis, MIN_RADIUS_M if best is None else best.radius_m) or best
    if best is None:
        return None
    for turn in TURNS_RAD:
        x, y = _across(best.normal)
        for side in (x, -x, y, -y):
            turned = best.normal * np.cos(turn) + side * np.sin(turn)
            best = _seen_along(cloud.points_m, region, turned, best.radius_m + BETTER_M) or best
    return best


def _seen_along(points_m: Array, region_m: Array, normal: Array, beat_m: float) -> Hole | None:
    """The hole in a view along a direction, if it is wider than ``beat_m`` and closed all around."""
    x, y = _across(normal)
    origin = region_m.mean(0)
    flat = np.stack([(points_m - origin) @ x, (points_m - origin) @ y], axis=1)
    own = np.stack([(region_m - origin) @ x, (region_m - origin) @ y], axis=1)
    try:
        hull = ConvexHull(own)
    except QhullError:
        return None
    low, high = own.min(0), own.max(0)
    pixel = max(PIXEL_M, float((high - low).max()) / PIXELS)
    rows = np.floor((flat - low) / pixel).astype(int) + MARGIN
    size = np.ceil((high - low) / pixel).astype(int) + 2 * MARGIN
    taken = np.zeros(tuple(size), bool)
    rows = rows[((rows >= 0) & (rows < size)).all(1)]
    taken[rows[:, 0], rows[:, 1]] = True
    free = distance_transform_edt(~taken)
    places = (np.stack(np.meshgrid(*map(np.arange, size), indexing="ij"), axis=-1) + 0.5 - MARGIN) * pixel + low
    free[(places @ hull.equations[:, :2].T + hull.equations[:, 2] > 0).any(-1)] = 0.0
    middle = places[np.unravel_index(np.argmax(free), free.shape)]
    radius = float(np.linalg.norm(flat - middle, axis=1).min())
    if radius <= beat_m:
        return None
    offset = flat - middle
    distance = np.linalg.norm(offset, axis=1)
    turn = np.arctan2(offset[:, 1], offset[:, 0])
    angles = np.arange(EDGES) * 2 * np.pi / EDGES
    apart = np.abs((turn[:, None] - angles + np.pi) % (2 * np.pi) - np.pi)
    edge = np.where(apart < SECTOR_RAD, distance[:, None], np.inf).min(axis=0)
    if np.isfinite(edge).mean() < CLOSED_SHARE:
        return None
    edge[~np.isfinite(edge)] = radius
    ring = middle + edge[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    center = origin + middle[0] * x + middle[1] * y
    depth = float(np.median((region_m - center) @ normal))
    center = center + depth * normal
    return Hole(center, normal, radius, origin + ring @ np.stack([x, y]) + depth * normal)


def _across(normal: Array) -> tuple[Array, Array]:
    helper = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = helper - (helper @ normal) * normal
    x /= np.linalg.norm(x)
    return x, np.cross(normal, x)
