"""What a vessel holds before it is poured: beads, packed into its cavity from the floor up."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from armwright.assets.model import ObjectModel
from armwright.core.memo import kept_with
from armwright.core.pose import Array

BEAD_RADII_M = (0.006, 0.005, 0.004)
"""Small beside any lip in the library, large enough that few are needed; the largest that suits is taken."""
SPOUT_SHARE = 0.1
"""Share of a spout's width that a bead's radius may be: larger ones arch across the outlet and stay behind it."""
BEADS = 20
"""One bead is 5 % of the contents."""
FEWEST_BEADS = 12
FILL_SHARE = 0.45
"""Share of the cavity's volume that the contents take at most, gaps between beads included."""
_PACKING = 0.55
"""Share of a heap of equal balls that is ball: loose random packing."""
_GAP_M = 4e-4
"""Beads start this far from each other and from the wall, so that nothing starts in contact."""


def cavity_parts(model: ObjectModel) -> tuple[str, ...]:
    """Return the names of the parts that line the object's cavity; none for an object without one."""
    named = tuple(dict.fromkeys(c.part for c in model.containers))
    return named or tuple(part for part in model.part_names if part == "interior")


def in_cavity(model: ObjectModel, points_m: Array, *, slack_m: float = 0.0) -> np.ndarray:
    """Return (n,) bool, which points (n, 3) in the object's frame lie within its cavity's convex hull.

    Args:
        model: A vessel.
        points_m: Points in the object's frame [m].
        slack_m: How far outside still counts.
    """
    planes = _cavity_planes(model)
    if len(planes) == 0 or len(points_m) == 0:
        return np.zeros(len(points_m), bool)
    points = np.asarray(points_m, float)
    return np.asarray((points @ planes[:, :3].T + planes[:, 3] <= slack_m).all(1))


def default_fill(model: ObjectModel) -> tuple[int, float] | None:
    """Return how many beads a vessel starts with and their radius [m]; None for what cannot hold enough to judge by."""
    widest_m = SPOUT_SHARE * _spout_width(model)
    fitting = [radius_m for radius_m in BEAD_RADII_M if radius_m <= widest_m]
    for radius_m in fitting or BEAD_RADII_M[-1:]:
        room = int(FILL_SHARE * _cavity_volume(model) * _PACKING / (4 / 3 * np.pi * radius_m**3))
        count = min(BEADS, room, len(bead_positions(model, BEADS, radius_m)))
        if count >= FEWEST_BEADS:
            return count, radius_m
    return None


@kept_with
def bead_positions(model: ObjectModel, count: int, radius_m: float) -> Array:
    """Return up to ``count`` bead centres (k, 3) in the object's frame, layer by layer from the cavity's floor.

    They touch neither each other nor any collision hull. The array is kept, and cannot be written to.
    """
    planes = _cavity_planes(model)
    if len(planes) == 0:
        nothing = np.zeros((0, 3))
        nothing.flags.writeable = False
        return nothing
    corners = _cavity_points(model)
    low, high = corners.min(0), corners.max(0)
    pitch = 2 * radius_m + _GAP_M
    z = np.arange(low[2] + radius_m, high[2], pitch)
    # Columns are laid out around the middle, so that narrow vessels get their share.
    half = 0.5 * (high - low)[:2]
    x, y = (np.arange(-np.floor(h / pitch), np.floor(h / pitch) + 1) * pitch for h in half)
    middle = 0.5 * (low + high)
    grid = np.stack(np.meshgrid(z, x + middle[0], y + middle[1], indexing="ij"), -1).reshape(-1, 3)[:, [1, 2, 0]]
    grid = grid[in_cavity(model, grid, slack_m=-0.25 * radius_m)]
    free = np.ones(len(grid), bool)
    for link in model.links:
        for hull in link.hulls:
            free &= _beyond_planes(hull, grid) >= radius_m + 0.5 * _GAP_M
    grid = grid[free]
    order = np.lexsort((np.hypot(*(grid[:, :2] - middle[:2]).T).round(6), grid[:, 2].round(6)))
    found = np.array(grid[order][:count])
    found.flags.writeable = False
    return found


@kept_with
def _spout_width(model: ObjectModel) -> float:
    """Return how wide the part is that contents are poured over [m]; infinite where they come over a rim all around."""
    parts = model.regions.get("Pour Out", ())
    found = [
        link.vertices_m[np.unique(link.faces[np.isin(link.face_part, [link.part_names.index(p)])])]
        for link in model.links
        for p in parts
        if p in link.part_names
    ]
    cavity = _cavity_points(model)
    if not found or len(cavity) == 0:
        return np.inf
    points = np.concatenate(found)[:, :2]
    middle = 0.5 * (cavity.min(0) + cavity.max(0))[:2]
    offset = 0.5 * (points.min(0) + points.max(0)) - middle
    if float(np.linalg.norm(offset)) < 0.25 * float(np.ptp(cavity[:, :2], axis=0).min()):
        return np.inf
    return float(np.ptp((points - middle) @ np.array([-offset[1], offset[0]]) / np.linalg.norm(offset)))


def _beyond_planes(hull: Array, points: Array) -> Array:
    """Return (n,) the distance beyond the hull's farthest plane: never more than the true distance."""
    planes = ConvexHull(np.asarray(hull, float)).equations
    return np.asarray((points @ planes[:, :3].T + planes[:, 3]).max(1))


@kept_with
def _cavity_points(model: ObjectModel) -> Array:
    parts = cavity_parts(model)
    found = []
    for link in model.links:
        wanted = [i for i, name in enumerate(link.part_names) if name in parts]
        faces = link.faces[np.isin(link.face_part, wanted)]
        found.append(link.vertices_m[np.unique(faces)])
    points = np.concatenate(found) if found else np.zeros((0, 3))
    points.flags.writeable = False
    return points


@kept_with
def _cavity_hull(model: ObjectModel) -> ConvexHull | None:
    points = _cavity_points(model)
    if len(points) < 4:
        return None
    try:
        return ConvexHull(points)
    except QhullError:
        return None


def _cavity_planes(model: ObjectModel) -> Array:
    hull = _cavity_hull(model)
    return np.zeros((0, 4)) if hull is None else np.asarray(hull.equations)


def _cavity_volume(model: ObjectModel) -> float:
    hull = _cavity_hull(model)
    return 0.0 if hull is None else float(hull.volume)
