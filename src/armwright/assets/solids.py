"""Closed solids for the CSG builder: lathes, lofts, sweeps and bevelled boxes, in metres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import manifold3d
import numpy as np
from numpy.typing import ArrayLike

from armwright.core.errors import UsageError
from armwright.core.pose import Array

SEGMENTS = 32
"""Facets around a turned solid: 0.2 mm off a circle of 40 mm radius, and few faces to draw."""


def lathe(profile_rz_m: ArrayLike, *, segments: int = SEGMENTS) -> Any:
    """Turn a profile about the z axis.

    Args:
        profile_rz_m: (k, 2) float radius and height [m], a closed simple polygon in either sense.
        segments: Facets around.

    Returns:
        A manifold.
    """
    section = manifold3d.CrossSection([np.asarray(profile_rz_m, float)], manifold3d.FillRule.NonZero)
    if section.is_empty():
        section = manifold3d.CrossSection([np.asarray(profile_rz_m, float)[::-1]], manifold3d.FillRule.Positive)
    return manifold3d.Manifold.revolve(section, segments)


def loft(loops_m: ArrayLike) -> Any:
    """Join loops of equally many points into a closed solid; first and last loop become flat ends.

    Args:
        loops_m: (k, n, 3) float, k >= 2 convex loops in order, all in one sense of rotation.

    Raises:
        UsageError: The loops do not bound a volume.
    """
    loops = np.asarray(loops_m, float)
    k, n, _ = loops.shape
    vertices = np.concatenate([loops.reshape(-1, 3), loops[0].mean(0)[None], loops[-1].mean(0)[None]])
    i = np.arange(n)
    j = (i + 1) % n
    faces = []
    for ring in range(k - 1):
        low, high = ring * n, (ring + 1) * n
        faces.append(np.stack([low + i, low + j, high + j], 1))
        faces.append(np.stack([low + i, high + j, high + i], 1))
    start, end = k * n, k * n + 1
    faces.append(np.stack([np.full(n, start), j, i], 1))
    faces.append(np.stack([np.full(n, end), (k - 1) * n + i, (k - 1) * n + j], 1))
    triangles = np.concatenate(faces)
    a, b, c = (vertices[triangles[:, axis]] for axis in range(3))
    if float(np.einsum("ij,ij->", a, np.cross(b, c))) < 0:
        triangles = triangles[:, ::-1]
    solid = manifold3d.Manifold(manifold3d.Mesh64(vertices, np.ascontiguousarray(triangles, dtype=np.uint64)))
    if solid.is_empty() or solid.volume() <= 0:
        raise UsageError(
            f"{k} loops of {n} points bound no volume ({solid.status()}).",
            hint="Give convex loops in one sense of rotation, in order.",
        )
    return solid


def rings_along(path_m: ArrayLike, sections_m: ArrayLike, *, side: ArrayLike) -> Array:
    """Place cross sections along a path, each square to it.

    Args:
        path_m: (k, 3) float, points of the centre line [m].
        sections_m: (n, 2) float for one section or (k, n, 2) for one per point; first column along ``side``.
        side: (3,) direction nowhere parallel to the path.

    Returns:
        (k, n, 3) float, loops for ``loft`` or ``hulls.chain``.
    """
    path = np.asarray(path_m, float)
    sections = np.asarray(sections_m, float)
    if sections.ndim == 2:
        sections = np.broadcast_to(sections, (len(path), *sections.shape))
    steps = np.diff(path, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    tangent = np.concatenate([steps[:1], steps[:-1] + steps[1:], steps[-1:]])
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    across = np.asarray(side, float)[None] - (tangent @ np.asarray(side, float))[:, None] * tangent
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    up = np.cross(tangent, across)
    # A section keeps its thickness on both sides of a corner only when its mitre is stretched.
    half_cos = np.ones(len(path))
    half_cos[1:-1] = np.sqrt(np.clip(0.5 * (1 + np.einsum("ij,ij->i", steps[:-1], steps[1:])), 0.25, 1))
    return np.asarray(
        path[:, None] + sections[..., :1] * across[:, None] + sections[..., 1:] * (up / half_cos[:, None])[:, None]
    )


def rounded_rectangle(half_x_m: float, half_y_m: float, radius_m: float, *, per_corner: int = 3) -> Array:
    """Return a rectangle with rounded corners, (4 per_corner, 2) float, counter-clockwise from +x."""
    radius = min(radius_m, half_x_m, half_y_m)
    angles = np.linspace(0, np.pi / 2, per_corner) if per_corner > 1 else np.array([np.pi / 4])
    corners = []
    for quarter, (sx, sy) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        turn = angles + quarter * np.pi / 2
        arc = radius * np.stack([np.cos(turn), np.sin(turn)], 1)
        corners.append(np.array([sx * (half_x_m - radius), sy * (half_y_m - radius)]) + arc)
    return np.concatenate(corners)


def ellipse(half_x_m: float, half_y_m: float, *, points: int = 12, phase: float = 0.0) -> Array:
    """Return points of an ellipse, (points, 2) float, counter-clockwise; ``phase`` in units of one step."""
    angle = 2 * np.pi * (np.arange(points) + phase) / points
    return np.stack([half_x_m * np.cos(angle), half_y_m * np.sin(angle)], 1)


def at_height(loop_m: ArrayLike, z_m: float, *, center_m: Sequence[float] = (0.0, 0.0)) -> Array:
    """Lift a (n, 2) loop to height ``z_m``, (n, 3) float."""
    loop = np.asarray(loop_m, float) + np.asarray(center_m, float)
    return np.column_stack([loop, np.full(len(loop), z_m)])


def box_corners(low_m: ArrayLike, high_m: ArrayLike, *, bevel_m: float = 0.0) -> Array:
    """Return the corners of an axis-aligned box, (8, 3) float, or (24, 3) with its edges bevelled."""
    low, high = np.asarray(low_m, float), np.asarray(high_m, float)
    signs = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    corners = low + signs * (high - low)
    if bevel_m <= 0:
        return np.asarray(corners)
    inward = 1 - 2 * signs
    bevel = min(bevel_m, 0.45 * float((high - low).min()))
    return np.concatenate([corners + bevel * inward * (1 - np.eye(3)[axis]) for axis in range(3)])


def box(low_m: ArrayLike, high_m: ArrayLike, *, bevel_m: float = 0.0) -> Any:
    """Return an axis-aligned box between two corners [m], its edges bevelled by ``bevel_m``."""
    return manifold3d.Manifold.hull_points(box_corners(low_m, high_m, bevel_m=bevel_m))


def convex(points_m: ArrayLike) -> Any:
    """Return the convex solid around (n, 3) points [m]."""
    return manifold3d.Manifold.hull_points(np.asarray(points_m, float))


def cylinder(
    start_m: ArrayLike, end_m: ArrayLike, radius_m: float, *, end_radius_m: float | None = None, segments: int = 16
) -> Any:
    """Return a cylinder or cone frustum between two points [m]."""
    return loft(cylinder_loops(start_m, end_m, radius_m, end_radius_m=end_radius_m, segments=segments))


def cylinder_loops(
    start_m: ArrayLike, end_m: ArrayLike, radius_m: float, *, end_radius_m: float | None = None, segments: int = 16
) -> Array:
    """Return the two end loops of a cylinder or frustum, (2, segments, 3) float [m]."""
    start, end = np.asarray(start_m, float), np.asarray(end_m, float)
    axis = (end - start) / np.linalg.norm(end - start)
    side = np.eye(3)[int(np.argmin(np.abs(axis)))]
    radii = (radius_m, radius_m if end_radius_m is None else end_radius_m)
    sections = np.stack([ellipse(r, r, points=segments, phase=0.5) for r in radii])
    return rings_along(np.stack([start, end]), sections, side=side)
