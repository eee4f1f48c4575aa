"""What an object covers seen from above: convex outlines, gaps between them, and how low one can be let down."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armwright.assets.model import ObjectModel
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose

CELL_M = 0.004
# Underside points are kept one per cell of this width.
UNDERSIDE_CELL_M = 0.001
# A settled object leans by less than this (0.2 mm over 20 cm); such a pose counts as a turn about the vertical.
_UPRIGHT = float(np.cos(1e-3))


@dataclass(frozen=True, eq=False)
class Footprint:
    """A convex outline and the heights it spans.

    Attributes:
        outline_m: (k, 2) float, counter-clockwise, in the world's xy plane.
        z_m: Lowest and highest z.
    """

    outline_m: Array
    z_m: tuple[float, float]

    @cached_property
    def bounds_m(self) -> tuple[Array, Array]:
        """Lowest and highest corner of the bounding rectangle, (2,) each."""
        return self.outline_m.min(0), self.outline_m.max(0)

    @property
    def center_m(self) -> Array:
        """Middle of the bounding rectangle, (2,)."""
        return np.asarray(0.5 * (self.bounds_m[0] + self.bounds_m[1]))

    @classmethod
    def from_points(cls, points_world: Array) -> Footprint:
        """Outline (n, 3) points seen from above."""
        return cls(
            convex_outline(points_world[:, :2]), (float(points_world[:, 2].min()), float(points_world[:, 2].max()))
        )

    @classmethod
    def from_model(cls, model: ObjectModel, pose_world_object: Pose) -> Footprint:
        """Outline an object, all links at their zero joints."""
        if not is_upright(pose_world_object):
            return cls.from_points(pose_world_object.transform(all_vertices(model)))
        own = _OUTLINES.get(model)
        if own is None:
            own = _OUTLINES[model] = cls.from_points(all_vertices(model))
        z = float(pose_world_object.position_m[2])
        outline = own.outline_m @ pose_world_object.rotation[:2, :2].T + pose_world_object.position_m[:2]
        return cls(outline, (own.z_m[0] + z, own.z_m[1] + z))

    def overlaps(self, other: Footprint, *, margin_m: float = 0.0) -> bool:
        """Tell whether the two come within ``margin_m`` of each other, in height and seen from above."""
        if self.z_m[0] >= other.z_m[1] + margin_m or other.z_m[0] >= self.z_m[1] + margin_m:
            return False
        (low, high), (other_low, other_high) = self.bounds_m, other.bounds_m
        # The gap between the rectangles is never more than that between the outlines.
        if (np.maximum(low - other_high, other_low - high) >= margin_m).any():
            return False
        return outline_gap(self.outline_m, other.outline_m) < margin_m


_OUTLINES: weakref.WeakKeyDictionary[ObjectModel, Footprint] = weakref.WeakKeyDictionary()
_UNDERSIDES: weakref.WeakKeyDictionary[ObjectModel, Array] = weakref.WeakKeyDictionary()
_TOPS: weakref.WeakKeyDictionary[ObjectModel, dict[float | None, HeightGrid]] = weakref.WeakKeyDictionary()


def is_upright(pose_world_object: Pose) -> bool:
    """Tell whether a pose only turns about the vertical and shifts."""
    _, x, y, _ = pose_world_object.quat_wxyz
    return bool(1.0 - 2.0 * (x * x + y * y) > _UPRIGHT)


def all_vertices(model: ObjectModel) -> Array:
    """Return (n, 3) vertices of all links in the object's frame."""
    return np.concatenate([link.vertices_m for link in model.links])


def convex_outline(points_m: Array) -> Array:
    """Return the (k, 2) convex hull of (n, 2) points, counter-clockwise; degenerate sets give their extreme points."""
    points_m = _extremes(points_m)
    p = np.unique(np.round(points_m, 7), axis=0)
    if len(p) < 3:
        return p

    def chain(rows: Array) -> list[Array]:
        out: list[Array] = []
        for q in rows:
            while len(out) > 1 and _cross(out[-1] - out[-2], q - out[-1]) <= 0:
                out.pop()
            out.append(q)
        return out

    return np.array(chain(p)[:-1] + chain(p[::-1])[:-1])


def _extremes(points_m: Array) -> Array:
    """Return the points that can be corners: not inside the polygon of the outermost along 64 directions."""
    if len(points_m) < 64:
        return points_m
    turn = 2 * np.pi * np.arange(64) / 64
    direction = np.stack([np.cos(turn), np.sin(turn)])
    along = points_m @ direction
    corners = np.unique(along.argmax(0))
    ring = points_m[corners[np.argsort(np.arctan2(*(points_m[corners] - points_m[corners].mean(0)).T[::-1]))]]
    edge = np.roll(ring, -1, axis=0) - ring
    normal = np.stack([edge[:, 1], -edge[:, 0]])
    outside = (points_m @ normal - (ring.T * normal).sum(0) > -1e-12).any(1)
    return np.asarray(points_m[outside])


def _cross(a: Array, b: Array) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def outline_gap(a_m: Array, b_m: Array) -> float:
    """Return the distance between two convex outlines [m]; negative depth along the best axis where they overlap."""
    best = -np.inf
    for first, second in ((a_m, b_m), (b_m, a_m)):
        edge = np.roll(first, -1, axis=0) - first
        normal = np.stack([edge[:, 1], -edge[:, 0]], axis=1)
        size = np.linalg.norm(normal, axis=1)
        normal, origin = normal[size > 0] / size[size > 0, None], first[size > 0]
        if len(normal):
            separation = (second @ normal.T).min(0) - (origin * normal).sum(1)
            best = max(best, float(separation.max()))
    if best <= 0:
        return best
    return min(_point_edges(a_m, b_m), _point_edges(b_m, a_m))


def _point_edges(points: Array, outline: Array) -> float:
    """Return the least distance from points to the edges of an outline."""
    start = outline
    edge = np.roll(outline, -1, axis=0) - start
    length = np.maximum((edge**2).sum(1), 1e-18)
    offset = points[:, None] - start[None]
    share = np.clip((offset * edge).sum(2) / length, 0, 1)
    return float(np.linalg.norm(offset - share[..., None] * edge, axis=2).min())


def surface_points(model: ObjectModel, *, cell_m: float = CELL_M) -> Array:
    """Return points on all faces of the object, close enough for a height map of that cell size, (n, 3)."""
    out = [all_vertices(model)]
    for link in model.links:
        corners = link.vertices_m[link.faces]
        longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(1)
        steps = np.ceil(longest / (0.7 * cell_m)).astype(int)
        for count in np.unique(steps[steps > 1]):
            i, j = np.nonzero(np.add.outer(np.arange(count + 1), np.arange(count + 1)) <= count)
            weights = np.stack([i, j, count - i - j], axis=1) / count
            out.append(np.einsum("wc,fck->fwk", weights, corners[steps == count]).reshape(-1, 3))
    return np.concatenate(out)


def underside(points_m: Array, *, cell_m: float = UNDERSIDE_CELL_M) -> Array:
    """Return the lowest of (n, 3) points in each cell seen from below, (k, 3): all that can touch when let down."""
    column = np.floor((points_m[:, :2] - points_m[:, :2].min(0)) / cell_m).astype(np.int64)
    rank = column[:, 0] * (column[:, 1].max() + 1) + column[:, 1]
    order = np.lexsort((points_m[:, 2], rank))
    first = np.flatnonzero(np.diff(rank[order], prepend=-1))
    return np.asarray(points_m[order[first]])


def model_underside(model: ObjectModel) -> Array:
    """Return `underside` of an upright object in its own frame (k, 3), kept for each model."""
    found = _UNDERSIDES.get(model)
    if found is None:
        found = _UNDERSIDES[model] = underside(surface_points(model))
    return found


class HeightGrid:
    """The top of an object as a grid, to find how low others can be let down on it.

    Args:
        points_m: (n, 3) points on the object's surface.
        cell_m: Width of a cell.
    """

    def __init__(self, points_m: Array, *, cell_m: float = CELL_M) -> None:
        if len(points_m) == 0:
            raise UsageError("a height grid needs at least one point.")
        self.cell_m = cell_m
        self._origin = points_m[:, :2].min(0)
        index = np.floor((points_m[:, :2] - self._origin) / cell_m).astype(int)
        self._top = np.full(index.max(0) + 1, -np.inf)
        np.maximum.at(self._top, tuple(index.T), points_m[:, 2])

    @classmethod
    def of_model(cls, model: ObjectModel, pose_world_object: Pose, *, cell_m: float | None = None) -> PlacedGrid:
        """Return the top of an object that stands at a pose, in cells of a width or, by default, that suit its size."""
        upright = is_upright(pose_world_object)
        kept = _TOPS.setdefault(model, {}) if upright else {}
        grid = kept.get(cell_m)
        if grid is None:
            turn = Pose() if upright else Pose(np.zeros(3), pose_world_object.quat_wxyz)
            extent = float(np.ptp(turn.transform(all_vertices(model))[:, :2], axis=0).max())
            cell = cell_m or max(CELL_M, extent / 80)
            points = surface_points(model, cell_m=cell)
            grid = kept[cell_m] = cls(points if upright else turn.transform(points), cell_m=cell)
        frame = pose_world_object if upright else Pose(pose_world_object.position_m)
        return PlacedGrid(grid, frame)

    def height(self, xy_m: Array) -> Array:
        """Return the top's z [m] (...) over points (..., 2); -inf beside the object."""
        index = np.floor((xy_m - self._origin) / self.cell_m).astype(int)
        inside = ((index >= 0) & (index < self._top.shape)).all(-1)
        rows, columns = np.moveaxis(np.where(inside[..., None], index, 0), -1, 0)
        return np.where(inside, self._top[rows, columns], -np.inf)

    def rest_height(self, points_m: Array) -> float:
        """Return the upward shift [m] at which (n, 3) points let down vertically first touch; -inf if they miss."""
        return float((self.height(points_m[:, :2]) - points_m[:, 2]).max())


@dataclass(frozen=True, eq=False)
class PlacedGrid:
    """A height grid in the frame of something that stands turned about the vertical.

    Attributes:
        grid: The grid, in its own frame.
        pose_world_grid: Where that frame is; upright.
    """

    grid: HeightGrid
    pose_world_grid: Pose

    def height(self, xy_m: Array) -> Array:
        """Return the top's z [m] (...) over points (..., 2) in the world; -inf beside the object."""
        frame = self.pose_world_grid
        local = (np.asarray(xy_m, float) - frame.position_m[:2]) @ frame.rotation[:2, :2]
        return self.grid.height(local) + float(frame.position_m[2])

    def rest_height(self, points_m: Array) -> float:
        """Return the upward shift [m] at which (n, 3) world points let down vertically first touch."""
        return float((self.height(points_m[:, :2]) - points_m[:, 2]).max())
