"""Make meshes small: merge surfaces by colour, decimate to a budget of faces, simplify convex hulls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from armwright.core.pose import Array
from armwright.robots.links import Faces, Surface

_SAME_COLOUR = 0.12
_LEAST_FACES = 60
_HULL_TOLERANCE_M = 0.0008
_HULL_VERTICES = 48


def merge_by_colour(surfaces: Sequence[Surface]) -> list[Surface]:
    """Join surfaces whose colours differ by less than 0.12 per channel; the largest gives the colour."""
    groups: list[list[Surface]] = []
    for surface in sorted(surfaces, key=lambda s: -len(s.faces)):
        for group in groups:
            if np.abs(np.subtract(group[0].rgba, surface.rgba)).max() < _SAME_COLOUR:
                group.append(surface)
                break
        else:
            groups.append([surface])
    return [_join(group) for group in groups]


def _join(group: Sequence[Surface]) -> Surface:
    offsets = np.cumsum([0, *(len(s.vertices_m) for s in group[:-1])])
    vertices = np.concatenate([s.vertices_m for s in group])
    faces = np.concatenate([s.faces + offset for s, offset in zip(group, offsets, strict=True)])
    return Surface(vertices, faces.astype(np.int32), group[0].rgba)


def weld(surface: Surface, *, tolerance_m: float = 1e-6) -> Surface:
    """Merge vertices closer than ``tolerance_m`` and drop faces that collapse."""
    keys = np.round(surface.vertices_m / tolerance_m).astype(np.int64)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    faces = inverse.reshape(-1)[surface.faces]
    good = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])
    return Surface(surface.vertices_m[first], faces[good].astype(np.int32), surface.rgba)


def decimate(surface: Surface, faces: int) -> Surface:
    """Reduce a surface to about ``faces`` triangles by quadric edge collapse."""
    import fast_simplification

    if len(surface.faces) <= faces:
        return surface
    points, triangles = fast_simplification.simplify(
        surface.vertices_m.astype(np.float32), surface.faces, target_count=int(faces), agg=5.0
    )
    return Surface(np.asarray(points, float), np.asarray(triangles, np.int32), surface.rgba)


def face_budget(counts: Sequence[int], total: int) -> list[int]:
    """Share ``total`` faces among meshes in proportion to their counts; small ones keep at least 60."""
    floor = [min(n, _LEAST_FACES) for n in counts]
    low, high = 0.0, 1.0
    for _ in range(40):
        ratio = 0.5 * (low + high)
        spent = sum(max(f, n * ratio) for f, n in zip(floor, counts, strict=True))
        low, high = (ratio, high) if spent <= total else (low, ratio)
    return [max(f, int(n * low)) for f, n in zip(floor, counts, strict=True)]


def cut(surface: Surface, *, axis: int, at_m: float, above: bool) -> Surface | None:
    """Return the part of a surface on one side of an axis-aligned plane, or None if nothing is left."""
    height = (surface.vertices_m[:, axis] - at_m) * (1.0 if above else -1.0)
    inside = height >= 0
    kept = inside[surface.faces]
    faces = [surface.faces[kept.all(1)]]
    extra: list[Array] = []
    for corners in surface.faces[kept.any(1) & ~kept.all(1)]:
        polygon: list[int] = []
        for one, other in zip(corners, np.roll(corners, -1), strict=True):
            if inside[one]:
                polygon.append(int(one))
            if inside[one] != inside[other]:
                t = height[one] / (height[one] - height[other])
                polygon.append(len(surface.vertices_m) + len(extra))
                extra.append(surface.vertices_m[one] * (1 - t) + surface.vertices_m[other] * t)
        faces.append(np.array([[polygon[0], polygon[k], polygon[k + 1]] for k in range(1, len(polygon) - 1)], np.int32))
    joined = np.concatenate(faces)
    if len(joined) == 0:
        return None
    used, renumbered = np.unique(joined, return_inverse=True)
    vertices = np.concatenate([surface.vertices_m, np.reshape(extra, (-1, 3))])[used]
    return Surface(vertices, renumbered.reshape(-1, 3).astype(np.int32), surface.rgba)


def simple_hull(points: Array) -> Array:
    """Return at most 48 vertices of the convex hull of ``points`` that stay within 0.8 mm of it where that suffices.

    Vertices are added greedily, the farthest outside first, so the result lies inside the true hull.

    Args:
        points: (n, 3) float [m], spanning three dimensions.
    """
    from scipy.spatial import ConvexHull

    outer = points[ConvexHull(points).vertices]
    directions = np.concatenate([np.eye(3), -np.eye(3), np.array([[1, 1, 1], [-1, -1, -1]])])
    chosen = sorted({int(np.argmax(outer @ d)) for d in directions})
    while len(chosen) < min(_HULL_VERTICES, len(outer)):
        try:
            planes = ConvexHull(outer[chosen]).equations
        except Exception:  # the few first points may be flat; scipy's error type is private
            far = int(np.argmax(np.linalg.norm(outer - outer[chosen].mean(0), axis=1)))
            rest = [k for k in range(len(outer)) if k not in chosen]
            chosen.append(far if far not in chosen else rest[0])
            continue
        outside = (outer @ planes[:, :3].T + planes[:, 3]).max(1)
        outside[chosen] = 0
        far = int(np.argmax(outside))
        if outside[far] < _HULL_TOLERANCE_M:
            break
        chosen.append(far)
    return np.asarray(outer[sorted(chosen)])


def write_stl(path: Path, vertices_m: Array, faces: Faces) -> None:
    """Write a binary STL file."""
    record = np.zeros(len(faces), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("flags", "<u2")])
    record["corners"] = vertices_m[faces]
    path.write_bytes(b"\0" * 80 + np.uint32(len(faces)).tobytes() + record.tobytes())
