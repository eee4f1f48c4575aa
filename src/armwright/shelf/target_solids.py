"""Solids that an observed target may be: stacked sections of one outline (box, carton, can, bottle, tube), or a hull.

Frame of every solid: origin in the middle of its footprint, on what it stands on; x and y along its own sides, z up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.assets.cloud import sample_cloud
from armwright.assets.model import LinkModel, ObjectModel
from armwright.assets.solids import at_height, convex, ellipse, loft
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for

Family = Literal["box", "carton", "round", "completed"]
Outline = Literal["rectangle", "ellipse"]
SAMPLES = 6000
"""Surface points kept for registration and grasps: a pad of 22 by 37 mm meets over 80 of them on a large box."""
DENSITY_KG_M3 = 900.0
"""Assumed of what is inside: food and cleaners lie between 300 and 1100."""
_AROUND = 40
_BENT = 0.02


@dataclass(frozen=True, eq=False)
class Solid:
    """A closed target.

    Attributes:
        family: What it was taken for.
        vertices_m, faces: (n, 3) float and (m, 3) int, closed, facing out.
        hulls: Convex pieces (k, 3) each, for collisions.
        size_m: Edges along x, y, z (3,).
        points_m, normals: (p, 3) evenly spread over the surface.
        turns_rad: Turns about z that leave the outline as it is; empty if any does.
    """

    family: Family
    vertices_m: Array
    faces: NDArray[np.int32]
    hulls: tuple[Array, ...]
    size_m: Array
    points_m: Array
    normals: Array
    turns_rad: tuple[float, ...]


def sections(
    outline: Outline,
    heights_m: ArrayLike,
    half_x_m: ArrayLike,
    half_y_m: ArrayLike,
    *,
    family: Family,
    pose_solid_sections: Pose | None = None,
) -> Solid:
    """Return the solid of sections stacked along z.

    Args:
        outline: What each section is.
        heights_m: (k,) ascending.
        half_x_m, half_y_m: (k,) half extents of each section.
        family: What to call it.
        pose_solid_sections: Turns the stack, where the solid lies.
    """
    z, a, b = (np.asarray(v, float) for v in (heights_m, half_x_m, half_y_m))
    if len(z) < 2 or not (np.diff(z) > 0).all() or min(a.min(), b.min()) <= 0:
        raise UsageError(f"a solid needs ascending heights and positive sections, got {z}, {a}, {b}.")
    if outline == "rectangle":
        corner = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    else:
        corner = ellipse(1.0, 1.0, points=_AROUND)
    loops = np.stack([at_height(corner * (p, q), h) for h, p, q in zip(z, a, b, strict=True)])
    stops = _convex_stretches(z, a, b)
    if pose_solid_sections is not None:
        loops = pose_solid_sections.transform(loops)
    hulls = tuple(loops[i : j + 1].reshape(-1, 3) for i, j in stops)
    square = abs(a.max() - b.max()) < _BENT * a.max()
    if pose_solid_sections is not None or outline == "rectangle":
        turns: tuple[float, ...] = (0.0, np.pi)
        if square and family == "box" and pose_solid_sections is None:
            turns = (0.0, np.pi / 2, np.pi, -np.pi / 2)
    else:
        turns = () if square else (0.0, np.pi)
    return _solid(loft(loops), family, hulls, turns)


def hull_of(points_m: ArrayLike) -> Solid:
    """Return the convex hull of points, as a solid."""
    hull = convex(np.asarray(points_m, float))
    return _solid(hull, "completed", (np.asarray(hull.to_mesh64().vert_properties, float)[:, :3],), (0.0, np.pi))


def mesh_solid(vertices_m: ArrayLike, faces: ArrayLike) -> Solid:
    """Return a closed mesh from elsewhere as a solid; for collisions it counts as its hull."""
    vertices: Array = np.asarray(vertices_m, float)
    hull = convex(vertices).to_mesh64().vert_properties
    return _sampled("completed", vertices, np.asarray(faces, np.int32), (np.asarray(hull, float)[:, :3],), (0.0, np.pi))


def object_model(solid: Solid, *, packaging: str | None = None, mass_kg: float | None = None) -> ObjectModel:
    """Return a solid as an object: what it weighs is assumed from its volume where it is not given."""
    corner = solid.vertices_m[solid.faces]
    volume = float(np.linalg.det(corner).sum() / 6.0)
    link = LinkModel(
        name="base",
        vertices_m=solid.vertices_m,
        faces=solid.faces,
        part_names=("body",),
        face_part=np.zeros(len(solid.faces), np.int32),
        part_rgba={"body": (0.7, 0.7, 0.7, 1.0)},
        hulls=solid.hulls,
        hull_part=("body",) * len(solid.hulls),
        mass_kg=max(mass_kg if mass_kg is not None else DENSITY_KG_M3 * volume, 0.02),
    )
    return ObjectModel(packaging or solid.family, (link,), {}, {"Graspable Body": ("body",)}, {}, friction=0.6)


def _solid(manifold: Any, family: Family, hulls: tuple[Array, ...], turns: tuple[float, ...]) -> Solid:
    mesh = manifold.to_mesh64()
    vertices: Array = np.asarray(mesh.vert_properties, float)[:, :3]
    return _sampled(family, vertices, np.asarray(mesh.tri_verts, np.int32), hulls, turns)


def _sampled(
    family: Family, vertices: Array, faces: NDArray[np.int32], hulls: tuple[Array, ...], turns: tuple[float, ...]
) -> Solid:
    bare = Solid(family, vertices, faces, hulls, np.ptp(vertices, axis=0), vertices, vertices, turns)
    cloud = sample_cloud(object_model(bare), SAMPLES, rng=rng_for(0, "shelf", "solid"))
    return Solid(family, vertices, faces, hulls, bare.size_m, cloud.points_m, cloud.normals, turns)


def _convex_stretches(z: Array, a: Array, b: Array) -> list[tuple[int, int]]:
    """Return the stretches of a profile that are convex, to half a millimetre."""
    found, start = [], 0
    for end in range(2, len(z)):
        inner = slice(start + 1, end)
        share = (z[inner] - z[start]) / (z[end] - z[start])
        short = max(float((edge[start] + share * (edge[end] - edge[start]) - edge[inner]).max()) for edge in (a, b))
        if short > 0.0005:
            found.append((start, end - 1))
            start = end - 1
    return [*found, (start, len(z) - 1)]
