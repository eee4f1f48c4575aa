"""Make meshes small: merge surfaces by colour, decimate to a budget of faces, simplify convex hulls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from armwright.core.pose import Array
from armwright.robots.links import Faces, Surface, join_surfaces

_SAME_COLOUR = 0.12
_LEAST_FACES = 60
_HULL_TOLERANCE_M = 0.0008
_HULL_VERTICES = 48
_SPLIT_GRID_M = 0.004
_SPLIT_PLANES = 7
_SPLIT_GAIN = 0.06


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
    return [join_surfaces(group) for group in groups]


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

    welded = surface
    for tolerance_m in (0.0, 0.0005, 0.001):  # meshes of many small pieces only shrink once these grow together
        if tolerance_m:
            welded = weld(welded, tolerance_m=tolerance_m)
        points, triangles = welded.vertices_m.astype(np.float32), welded.faces
        for aggressiveness in (3.0, 4.0, 5.0, 7.0):
            if len(triangles) <= 1.1 * faces:
                return Surface(np.asarray(points, float), np.asarray(triangles, np.int32), surface.rgba)
            points, triangles = fast_simplification.simplify(
                points, triangles, target_count=int(faces), agg=aggressiveness
            )
    return Surface(np.asarray(points, float), np.asarray(triangles, np.int32), surface.rgba)


def area_m2(surface: Surface) -> float:
    """Return the area of a surface [m^2]."""
    a, b, c = (surface.vertices_m[surface.faces[:, k]] for k in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def face_budget(surfaces: Sequence[Surface], total: int) -> list[int]:
    """Share ``total`` faces among surfaces, by the root of faces times area: detail counts less than size.

    Small surfaces keep at least 60 faces, and none gets more than it has.
    """
    counts = np.array([len(s.faces) for s in surfaces])
    weights = np.sqrt(counts * np.array([area_m2(s) for s in surfaces]))
    least = np.minimum(counts, _LEAST_FACES)
    low, high = 0.0, float((counts / np.maximum(weights, 1e-9)).max())
    for _ in range(50):
        scale = 0.5 * (low + high)
        spent = np.clip(scale * weights, least, counts).sum()
        low, high = (scale, high) if spent <= total else (low, scale)
    return [int(n) for n in np.clip(low * weights, least, counts)]


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


def _hull_volume(surface: Surface | None) -> float:
    from scipy.spatial import ConvexHull, QhullError

    if surface is None or len(surface.vertices_m) < 4:
        return 0.0
    try:
        return float(ConvexHull(surface.vertices_m).volume)
    except QhullError:  # flat
        return 0.0


def split_convex(surface: Surface, *, pieces: int) -> list[Surface]:
    """Split a surface by axis-aligned planes into at most ``pieces`` parts whose convex hulls hug it.

    Each step takes the cut that saves most hull volume, and stops when that is under 6 % of what is left.
    """
    coarse, result = [weld(surface, tolerance_m=_SPLIT_GRID_M)], [surface]
    volumes = [_hull_volume(coarse[0])]
    while len(result) < pieces:
        best: tuple[float, int, int, float] = (_SPLIT_GAIN * sum(volumes), -1, 0, 0.0)
        for k, part in enumerate(coarse):
            low, high = part.vertices_m.min(0), part.vertices_m.max(0)
            for axis in range(3):
                for at in np.linspace(low[axis], high[axis], _SPLIT_PLANES + 2)[1:-1]:
                    halves = [_hull_volume(cut(part, axis=axis, at_m=float(at), above=side)) for side in (True, False)]
                    saved = volumes[k] - sum(halves)
                    if saved > best[0]:
                        best = (saved, k, axis, float(at))
        _, k, axis, at = best
        if k < 0:
            break
        for parts in (coarse, result):
            whole = parts.pop(k)
            halves_of = [cut(whole, axis=axis, at_m=at, above=side) for side in (True, False)]
            parts.extend(half for half in halves_of if half is not None)
        volumes = [_hull_volume(part) for part in coarse]
    return result


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
