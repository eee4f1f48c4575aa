"""Cover convex geoms with few spheres that stick out by at most a given overhang."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, quat_to_matrix

if TYPE_CHECKING:
    import mujoco

_ROUND_SEGMENTS = 40
_DENSE_SPACING_M = 0.0015
_DENSE_POINTS = 10_000
_MARGIN_M = 0.0004
_NEED_POINTS = 2_500
_CANDIDATES = 2_000

Spheres = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex body in the frame of the group that it belongs to.

    Attributes:
        vertices_m: (v, 3) corners.
        faces: (f, 3) corner indices of the triangles.
        normal, offset_m: Half spaces ``normal @ x <= offset``, (h, 3) and (h,).
        frame: (3, 3) rotation whose columns are axes along which the body is laid out.
        sphere: Centre and radius if the body is exactly a sphere.
    """

    vertices_m: Array
    faces: NDArray[np.int64]
    normal: Array
    offset_m: Array
    frame: Array
    sphere: tuple[Array, float] | None = None

    def depth(self, points_m: Array) -> Array:
        """Return how deep (p, 3) points lie inside [m]; negative outside."""
        worst = np.full(len(points_m), -np.inf)
        for first in range(0, len(self.normal), 512):
            part = slice(first, first + 512)
            signed = points_m @ self.normal[part].T - self.offset_m[part]
            np.maximum(worst, signed.max(axis=1), out=worst)
        return -worst

    def surface(self, spacing_m: float) -> Array:
        """Return points of the surface, no farther than about ``spacing_m`` from one another."""
        corners = self.vertices_m[self.faces]
        edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
        counts = np.maximum(np.ceil(edges / spacing_m).astype(int), 1)
        parts = [self.vertices_m]
        for n in np.unique(counts):
            i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
            inside = i + j <= n
            weights = np.stack([i[inside], j[inside], n - i[inside] - j[inside]], axis=1) / n
            parts.append(np.einsum("wk,fkc->fwc", weights, corners[counts == n]).reshape(-1, 3))
        points = np.concatenate(parts)
        cells = np.round((points - points.min(axis=0)) / (0.7 * spacing_m)).astype(np.int64)
        _, first = np.unique(cells @ np.array([1, 1 << 20, 1 << 40]), return_index=True)
        return np.asarray(points[np.sort(first)])


def hull_of_points(points_m: Array, frame: Array | None = None) -> Hull:
    """Build the convex hull of (p, 3) points."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points_m)
    return Hull(
        np.asarray(hull.points),
        np.asarray(hull.simplices, dtype=np.int64),
        np.asarray(hull.equations[:, :3]),
        -np.asarray(hull.equations[:, 3]),
        np.eye(3) if frame is None else frame,
    )


def hull_of_geom(model: mujoco.MjModel, geom: int) -> Hull:
    """Read a geom of a compiled model as a hull in its body's frame; round shapes are circumscribed."""
    import mujoco

    rotation = quat_to_matrix(model.geom_quat[geom])
    origin = np.asarray(model.geom_pos[geom], float)
    size = np.asarray(model.geom_size[geom], float)
    kind = mujoco.mjtGeom(int(model.geom_type[geom]))
    sphere = None
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        first = int(model.mesh_vertadr[mesh])
        points = np.asarray(model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])], float)
    elif kind == mujoco.mjtGeom.mjGEOM_BOX:
        points = _corners(size)
    elif kind in (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_ELLIPSOID):
        if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
            size = np.full(3, size[0])
            sphere = (origin, float(size[0]))
        points = _ball() * size
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        ball = _ball() * size[0]
        shift = np.array([0.0, 0.0, size[1]])
        points = np.concatenate([ball + shift, ball - shift])
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        angle = 2 * np.pi * np.arange(_ROUND_SEGMENTS) / _ROUND_SEGMENTS
        ring = size[0] / np.cos(np.pi / _ROUND_SEGMENTS) * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
        shift = np.array([0.0, 0.0, size[1]])
        points = np.concatenate([ring + shift, ring - shift])
    else:
        raise NotImplementedError(f"collision geoms of type {kind.name} cannot be covered with spheres.")
    hull = hull_of_points(points @ rotation.T + origin, rotation)
    return hull if sphere is None else Hull(hull.vertices_m, hull.faces, hull.normal, hull.offset_m, rotation, sphere)


def cover(hulls: list[Hull], overhang_m: float, floor: tuple[Array, float] | None = None) -> Spheres:
    """Cover hulls of one rigid group.

    Every sphere is centred inside its hull with radius at most depth + overhang, so that it sticks out of the nearest
    face by no more than the overhang; a greedy set cover picks few of them, radii then shrink to what each one alone
    must hold, and grow by the gap that a dense sampling still finds.

    Args:
        hulls: Convex bodies in the group's frame.
        overhang_m: Largest distance that a sphere may stick out of the nearest face [m].
        floor: Normal (3,) and offset [m] of a plane that spheres stay above as far as they can.

    Returns:
        Centres (s, 3) [m] and radii (s,) [m].
    """
    order = sorted(range(len(hulls)), key=lambda k: -float(np.prod(np.ptp(hulls[k].vertices_m, axis=0))))
    centers = np.zeros((0, 3))
    radii = np.zeros(0)
    for k in order:
        hull = hulls[k]
        others = [hulls[i] for i in order if i != k]
        if hull.sphere is not None:
            new_centers, new_radii = hull.sphere[0][None], np.array([hull.sphere[1]])
        else:
            new_centers, new_radii = _cover_one(hull, others, centers, radii, overhang_m, floor)
        centers = np.concatenate([centers, new_centers])
        radii = np.concatenate([radii, new_radii])
    return centers, radii


def _cover_one(
    hull: Hull,
    others: list[Hull],
    held_centers: Array,
    held_radii: Array,
    overhang_m: float,
    floor: tuple[Array, float] | None,
) -> Spheres:
    spacing = max(0.6 * overhang_m, 0.0015, float(np.sqrt(area_m2(hull) / _NEED_POINTS)))
    need = _exposed(hull.surface(spacing), others, held_centers, held_radii)
    if len(need) == 0:
        return np.zeros((0, 3)), np.zeros(0)
    candidates = _interior_grid(hull, overhang_m)
    depth = hull.depth(candidates)
    keep = depth > 0
    candidates, depth = candidates[keep], depth[keep]
    limit = depth + overhang_m - _MARGIN_M
    if floor is not None:
        limit = np.maximum(np.minimum(limit, candidates @ floor[0] - floor[1]), 1e-3)
    chosen = _greedy(candidates, limit, need)
    centers, radii = candidates[chosen], limit[chosen]
    distance = _distances(need, centers)
    radii = _shrink(distance, radii)
    dense = hull.surface(max(_DENSE_SPACING_M, float(np.sqrt(area_m2(hull) / _DENSE_POINTS))))
    dense = _exposed(dense, others, held_centers, held_radii)
    return centers, _grow(dense, centers, radii) + _MARGIN_M


def _grow(points: Array, centers: Array, radii: Array) -> Array:
    """Return radii with which every point lies in a sphere: each uncovered point widens its nearest sphere."""
    gap = _distances(points, centers) - radii
    nearest = gap.argmin(axis=1)
    worst = gap[np.arange(len(points)), nearest]
    grown = radii.copy()
    np.maximum.at(grown, nearest, radii[nearest] + worst)
    return grown


def _shrink(distance: Array, radii: Array) -> Array:
    """Shrink spheres, largest first, to the points that no other sphere holds."""
    radii = radii.copy()
    inside = distance <= radii + 1e-9
    count = inside.sum(axis=1)
    for k in np.argsort(-radii):
        only = inside[:, k] & (count == 1)
        wanted = float(distance[only, k].max()) if only.any() else 0.0
        dropped = inside[:, k] & (distance[:, k] > wanted + 1e-9)
        radii[k] = min(radii[k], wanted + 1e-9)
        inside[dropped, k] = False
        count[dropped] -= 1
    return radii


def _greedy(candidates: Array, limit: Array, need: Array) -> NDArray[np.int64]:
    """Pick the spheres that hold most points until every needed point is held; returns their indices."""
    holds = _distances(candidates, need) <= limit[:, None]
    lonely = ~holds.any(axis=0)
    if lonely.any():
        nearest = _distances(need[lonely], candidates).argmin(axis=1)
        holds[nearest, np.flatnonzero(lonely)] = True
    open_points = np.ones(len(need), bool)
    gain = holds.sum(axis=1).astype(float)
    chosen: list[int] = []
    while open_points.any():
        best = int(np.argmax(gain))
        chosen.append(best)
        fresh = holds[best] & open_points
        gain -= holds[:, fresh].sum(axis=1)
        open_points &= ~holds[best]
    count = holds[chosen].sum(axis=0)
    for index in list(chosen[::-1]):
        if (count[holds[index]] > 1).all():
            chosen.remove(index)
            count -= holds[index]
    return np.asarray(chosen, dtype=np.int64)


def _interior_grid(hull: Hull, overhang_m: float) -> Array:
    local = hull.vertices_m @ hull.frame
    low, high = local.min(axis=0), local.max(axis=0)
    extent = high - low
    step = max(overhang_m, float(np.cbrt(np.prod(extent) / _CANDIDATES)))
    axes = []
    for axis in range(3):
        # Odd counts put candidates on the middle plane, where a thin finger is held by the fewest spheres.
        count = max(int(np.ceil(extent[axis] / step)) // 2 * 2 + 1, 3)
        axes.append(low[axis] + extent[axis] * (np.arange(count) + 0.5) / count)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(np.concatenate([grid, local.mean(axis=0)[None]]) @ hull.frame.T)


def _exposed(points: Array, others: list[Hull], centers: Array, radii: Array) -> Array:
    """Keep the points that no other hull and no sphere chosen before holds."""
    for other in others:
        low, high = other.vertices_m.min(axis=0), other.vertices_m.max(axis=0)
        near = np.flatnonzero(((points > low) & (points < high)).all(axis=1))
        points = np.delete(points, near[other.depth(points[near]) >= 1e-4], axis=0)
    if len(centers) and len(points):
        points = points[(_distances(points, centers) > radii - _MARGIN_M).all(axis=1)]
    return points


def _distances(a: Array, b: Array) -> Array:
    square = (a * a).sum(1)[:, None] + (b * b).sum(1)[None] - 2 * a @ b.T
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def area_m2(hull: Hull) -> float:
    """Return the surface area of a hull [m^2]."""
    a, b, c = np.moveaxis(hull.vertices_m[hull.faces], 1, 0)
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def _corners(half: Array) -> Array:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return signs * half


def _ball() -> Array:
    """Return points whose hull holds the unit ball with little to spare."""
    polar = np.pi * (np.arange(12) + 0.5) / 12
    angle = 2 * np.pi * np.arange(24) / 24
    p, a = (v.ravel() for v in np.meshgrid(polar, angle, indexing="ij"))
    points = np.stack([np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)], axis=1)
    points = np.concatenate([points, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    inner = hull_of_points(points).offset_m.min()
    return np.asarray(points / inner)
