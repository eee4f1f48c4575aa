"""Points on an object with the part each belongs to, and the part nearest to a given point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.assets.model import LinkModel, ObjectModel
from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pose import Array

Names = NDArray[np.str_]

_CHUNK = 256


@dataclass(frozen=True, eq=False)
class LabelledCloud:
    """Points on the surface of an object, in its frame with joints at 0.

    Attributes:
        points_m: (n, 3) float [m].
        normals: (n, 3) float, outward.
        part: (n,) str.
        link: (n,) str.
    """

    points_m: Array
    normals: Array
    part: Names
    link: Names

    def __iter__(self) -> Any:
        return iter((self.points_m, self.normals, self.part, self.link))


def link_mesh(link: LinkModel) -> tuple[Array, Array, Names]:
    """Return triangles (m, 3, 3) [m], outward unit normals (m, 3) and part names (m,) of a link's faces."""
    triangles = link.vertices_m[link.faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return triangles, normals, np.asarray(link.part_names)[link.face_part]


def surface_m2(model: ObjectModel) -> float:
    """Return the area of an object's surface, inner walls with it [m^2]."""
    total = 0.0
    for link in model.links:
        triangles = link.vertices_m[link.faces]
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        total += 0.5 * float(np.linalg.norm(normals, axis=1).sum())
    return total


def sample_cloud(
    model: ObjectModel, n: int = 2048, *, rng: np.random.Generator, parts: Sequence[str] | None = None
) -> LabelledCloud:
    """Draw points from the surface, evenly by area.

    Args:
        model: The object.
        n: Number of points.
        rng: Source of randomness.
        parts: Only these parts; all of them if None.

    Raises:
        UnknownNameError: The object has no part of that name.
    """
    for name in parts or ():
        if name not in model.part_names:
            raise UnknownNameError(f"part of {model.category}", name, model.part_names)
    meshes = [link_mesh(link) for link in model.links]
    triangles, normals, part = (np.concatenate([mesh[k] for mesh in meshes]) for k in range(3))
    link = np.repeat([link.name for link in model.links], [len(mesh[0]) for mesh in meshes])
    edge_a, edge_b = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    area = np.linalg.norm(np.cross(edge_a, edge_b), axis=1)
    if parts is not None:
        area = area * np.isin(part, list(parts))
    face = np.sort(rng.choice(len(area), n, p=area / area.sum()))
    u, v = rng.random((2, n, 1))
    fold = u + v > 1
    u, v = np.where(fold, 1 - u, u), np.where(fold, 1 - v, v)
    points = triangles[face, 0] + u * edge_a[face] + v * edge_b[face]
    return LabelledCloud(points, normals[face], part[face], link[face])


def nearest_part(model: ObjectModel, points_m: ArrayLike, *, link: str | None = None) -> Names:
    """Return the part whose face is nearest to each point; exact.

    Args:
        model: The object.
        points_m: (n, 3) float in the object's frame with joints at 0 [m].
        link: Only faces of this link; all of them if None. With a moved joint, give the link and points moved back.

    Returns:
        (n,) str.
    """
    return nearest_faces(model, points_m, link=link)[0]


def nearest_faces(model: ObjectModel, points_m: ArrayLike, *, link: str | None = None) -> tuple[Names, Array]:
    """Return the nearest part (n,) str and the distance to it (n,) float [m]; arguments as ``nearest_part``."""
    points = np.atleast_2d(np.asarray(points_m, float))
    if points.shape[-1] != 3 or not np.isfinite(points).all():
        raise UsageError(f"points are (n, 3) finite metres, got shape {points.shape}.")
    links = [one for one in model.links if link is None or one.name == link]
    if not links:
        raise UnknownNameError(f"link of {model.category}", str(link), [one.name for one in model.links])
    meshes = [link_mesh(one) for one in links]
    triangles = np.concatenate([mesh[0] for mesh in meshes])
    part = np.concatenate([mesh[2] for mesh in meshes])
    face, distance = nearest_triangles(points, triangles)
    return part[face], distance


def nearest_triangles(points_m: Array, triangles_m: Array) -> tuple[NDArray[np.int64], Array]:
    """Return for each of (n, 3) points the nearest of (m, 3, 3) triangles and its distance [m], (n,) each; exact."""
    centers = triangles_m.mean(1)
    reach = np.linalg.norm(triangles_m - centers[:, None], axis=2).max(1)
    face = np.empty(len(points_m), dtype=np.int64)
    distance = np.empty(len(points_m))
    for start in range(0, len(points_m), _CHUNK):
        chunk = points_m[start : start + _CHUNK]
        to_center = np.linalg.norm(chunk[:, None] - centers[None], axis=2)
        # A triangle may be nearer than its centre by its reach: only those that could win are measured exactly.
        row, candidate = np.nonzero(to_center - reach <= to_center.min(1, keepdims=True))
        exact = point_triangle_distance(chunk[row], triangles_m[candidate])
        order = np.lexsort((exact, row))
        first = order[np.unique(row[order], return_index=True)[1]]
        face[start : start + _CHUNK] = candidate[first]
        distance[start : start + _CHUNK] = exact[first]
    return face, distance


def point_triangle_distance(points_m: Array, triangles_m: Array) -> Array:
    """Return the distance of point i to triangle i, (n,) float [m], from (n, 3) and (n, 3, 3)."""
    a, b, c = triangles_m[:, 0], triangles_m[:, 1], triangles_m[:, 2]
    normal = np.cross(b - a, c - a)
    squared = np.einsum("ij,ij->i", normal, normal)
    inside = squared > 1e-30
    best = np.full(len(points_m), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        edge, offset = end - start, points_m - start
        length = np.maximum(np.einsum("ij,ij->i", edge, edge), 1e-30)
        share = np.clip(np.einsum("ij,ij->i", offset, edge) / length, 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(offset - share[:, None] * edge, axis=1))
        inside &= np.einsum("ij,ij->i", np.cross(edge, offset), normal) >= 0
    height = np.abs(np.einsum("ij,ij->i", points_m - a, normal)) / np.sqrt(np.maximum(squared, 1e-30))
    return np.where(inside, np.minimum(height, best), best)
