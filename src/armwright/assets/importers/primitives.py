"""Triangles of boxes, cylinders and spheres that a model describes by their sizes."""

from __future__ import annotations

from typing import Any

import manifold3d
import numpy as np
from numpy.typing import ArrayLike

from armwright.assets.importers.raw import GREY, RawMesh

_SEGMENTS = 24


def _mesh(solid: Any) -> RawMesh:
    mesh = solid.to_mesh64()
    faces = np.array(mesh.tri_verts, dtype=np.int64)
    return RawMesh(np.array(mesh.vert_properties[:, :3]), faces, np.full(len(faces), "body"), {"body": GREY})


def box_mesh(half: ArrayLike) -> RawMesh:
    """Return a box about the origin."""
    return _mesh(manifold3d.Manifold.cube(2 * np.asarray(half, float), True))


def cylinder_mesh(radius: float, half_length: float) -> RawMesh:
    """Return a cylinder about z, centred on the origin."""
    return _mesh(manifold3d.Manifold.cylinder(2 * half_length, radius, radius, _SEGMENTS, True))


def sphere_mesh(radius: float) -> RawMesh:
    """Return a sphere about the origin."""
    return _mesh(manifold3d.Manifold.sphere(radius, _SEGMENTS))


def ellipsoid_mesh(half: ArrayLike) -> RawMesh:
    """Return an ellipsoid about the origin."""
    return _mesh(manifold3d.Manifold.sphere(1.0, _SEGMENTS).scale(np.asarray(half, float)))


def capsule_mesh(radius: float, half_length: float) -> RawMesh:
    """Return a capsule about z, centred on the origin; ``half_length`` is that of its cylinder."""
    ball = manifold3d.Manifold.sphere(radius, _SEGMENTS)
    up = np.array([0.0, 0.0, half_length])
    return _mesh((ball.translate(up) + ball.translate(-up)).hull())
