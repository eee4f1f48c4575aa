"""The room under a thing: between it and what it stands on or, under a spout, above its own lowest surface."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np

from armwright.assets.footprint import surface_points
from armwright.assets.model import ObjectModel, SupportSurface
from armwright.core.pose import Array

CELL_M = 0.01
# A square of this width must fit under a thing for there to be any room on the ground.
PROBE_M = 0.04
# Lower room than this is a gap between feet, not a place.
LEAST_M = 0.02
# A surface with less free height than this has something of its own object above it.
COVERED_M = 0.5


@dataclass(frozen=True, eq=False)
class Room:
    """Where things go that are put under an object.

    Attributes:
        height_m: The most clear height there is; 0 where nothing can go.
        surfaces: The object's own surfaces that count as under it; none where it stands clear of the ground.
        points_m: (n, 3) points on its surface, in its frame.
    """

    height_m: float
    surfaces: tuple[SupportSurface, ...]
    points_m: Array

    def covers(self, xy_m: Array, above_z_m: float) -> bool:
        """Tell whether some part of the object lies over a point (2,) in its frame, above a height."""
        near = (np.abs(self.points_m[:, :2] - np.asarray(xy_m, float)) < CELL_M).all(1)
        return bool((self.points_m[near, 2] > above_z_m).any())


_ROOMS: weakref.WeakKeyDictionary[ObjectModel, Room] = weakref.WeakKeyDictionary()


def room_under(model: ObjectModel) -> Room:
    """Return the room under an object that stands upright.

    What stands clear of the ground has its room there: a shelf on legs. Where it goes down to the ground all over, the
    room is on the lowest of its own surfaces that lie under another part of it: the tray below a spout. What is in a
    cavity is not under anything.
    """
    found = _ROOMS.get(model)
    if found is None:
        points = surface_points(model, cell_m=CELL_M)
        ground = _ground_room_m(points)
        within = {container.part for container in model.containers}
        covered = [s for s in model.supports if s.clearance_m < COVERED_M and s.name not in within]
        if ground >= LEAST_M or not covered:
            found = Room(ground if ground >= LEAST_M else 0.0, (), points)
        else:
            lowest = min(float(s.pose_object_surface.position_m[2]) for s in covered)
            level = tuple(s for s in covered if float(s.pose_object_surface.position_m[2]) < lowest + LEAST_M)
            found = Room(max(s.clearance_m for s in level), level, points)
        _ROOMS[model] = found
    return found


def _ground_room_m(points_m: Array) -> float:
    """Return the greatest height at which a square probe on the ground still fits under points (n, 3)."""
    from scipy.ndimage import minimum_filter

    index = np.floor((points_m[:, :2] - points_m[:, :2].min(0)) / CELL_M).astype(int)
    low = np.full(index.max(0) + 1, np.inf)
    np.minimum.at(low, tuple(index.T), points_m[:, 2] - points_m[:, 2].min())
    # Nothing is over a column without a point, so that it is not under the object.
    low[~np.isfinite(low)] = 0.0
    return float(minimum_filter(low, size=round(PROBE_M / CELL_M), mode="constant", cval=0.0).max())
