"""What an object covers seen from above: convex outlines, gaps between them, and how low one can be let down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armwright.assets.model import ObjectModel
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose

CELL_M = 0.004


@dataclass(frozen=True, eq=False)
class Footprint:
    """A convex outline and the heights it spans.

    Attributes:
        outline_m: (k, 2) float, counter-clockwise, in the world's xy plane.
        z_m: Lowest and highest z.
    """

    outline_m: Array
    z_m: tuple[float, float]

    @property
    def center_m(self) -> Array:
        """Middle of the bounding rectangle, (2,)."""
        return np.asarray(0.5 * (self.outline_m.min(0) + self.outline_m.max(0)))

    @classmethod
    def from_points(cls, points_world: Array) -> Footprint:
        """Outline (n, 3) points seen from above."""
        return cls(
            convex_outline(points_world[:, :2]), (float(points_world[:, 2].min()), float(points_world[:, 2].max()))
        )

    @classmethod
    def from_model(cls, model: ObjectModel, pose_world_object: Pose) -> Footprint:
        """Outline an object, all links at their zero joints."""
        return cls.from_points(pose_world_object.transform(all_vertices(model)))

    def overlaps(self, other: Footprint, *, margin_m: float = 0.0) -> bool:
        """Tell whether the two come within ``margin_m`` of each other, in height and seen from above."""
        if self.z_m[0] >= other.z_m[1] + margin_m or other.z_m[0] >= self.z_m[1] + margin_m:
            return False
        return outline_gap(self.outline_m, other.outline_m) < margin_m


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
            weights = np.array([(i, j, count - i - j) for i in range(count + 1) for j in range(count + 1 - i)]) / count
            out.append(np.einsum("wc,fck->fwk", weights, corners[steps == count]).reshape(-1, 3))
    return np.concatenate(out)


class HeightGrid:
    """The top of an object as a grid, to find how low others can be let down on it."""

    def __init__(self, points_m: Array, *, cell_m: float = CELL_M) -> None:
        if len(points_m) == 0:
            raise UsageError("a height grid needs at least one point.")
        self.cell_m = cell_m
        self._origin = points_m[:, :2].min(0)
        index = np.floor((points_m[:, :2] - self._origin) / cell_m).astype(int)
        self._top = np.full(index.max(0) + 1, -np.inf)
        np.maximum.at(self._top, tuple(index.T), points_m[:, 2])

    def height(self, xy_m: Array) -> float:
        """Return the top's z [m] over one point (2,); -inf beside the object."""
        i, j = np.floor((xy_m - self._origin) / self.cell_m).astype(int)
        rows, cols = self._top.shape
        return float(self._top[i, j]) if 0 <= i < rows and 0 <= j < cols else float("-inf")

    def rest_height(self, points_m: Array) -> float:
        """Return the upward shift [m] at which (n, 3) points let down vertically first touch; -inf if they miss."""
        index = np.floor((points_m[:, :2] - self._origin) / self.cell_m).astype(int)
        inside = ((index >= 0) & (index < self._top.shape)).all(1)
        if not inside.any():
            return float("-inf")
        rows, cols = index[inside].T
        return float((self._top[rows, cols] - points_m[inside, 2]).max())
