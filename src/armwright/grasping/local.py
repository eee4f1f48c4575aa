"""Local surface geometry at a contact: PCA normal, approach directions, closing axes (AffordSim §3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from armwright.core.pose import Array

_SCALES_M = (0.018, 0.045)
_SAME_AXIS_COS = 0.94
_FLAT = 0.05


def pca_normal(points_m: Array, normals: Array, index: int, *, neighbours: int, tree: cKDTree) -> Array:
    """Return the unit outward normal at a point: smallest principal axis of its nearest neighbours.

    Only neighbours that face the same way count, since a thin bar or wall has its far side nearer than ``neighbours``
    points away; the cloud's own normal says which way is out. Where the cloud has no normals (zeros), the axis is
    turned away from the cloud's centroid, as in the paper.
    """
    near = np.atleast_1d(tree.query(points_m[index], k=min(len(points_m), 2 * neighbours))[1])
    own = normals[index]
    labelled = bool(np.linalg.norm(own) > 0.5)
    if labelled:
        near = near[normals[near] @ own > 0.3]
    near = near[:neighbours]
    out = own if labelled else points_m[index] - points_m.mean(0)
    if len(near) < 4:
        return np.asarray(out / max(float(np.linalg.norm(out)), 1e-12))
    centred = points_m[near] - points_m[near].mean(0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, 0]
    return np.asarray(axis if axis @ out >= 0 else -axis)


def tangent_basis(normal: Array) -> tuple[Array, Array]:
    """Return two unit vectors that complete the normal to a right-handed frame; azimuth 0 points as low as it can."""
    down = np.array([0.0, 0.0, -1.0])
    if abs(normal[2]) > 0.95:
        down = np.array([1.0, 0.0, 0.0])
    first = down - (down @ normal) * normal
    first /= np.linalg.norm(first)
    return first, np.cross(normal, first)


def approach_directions(normal: Array, *, count: int, tilts_rad: Sequence[float]) -> Array:
    """Return (k, 3) unit directions at each polar tilt from -n, azimuth 2 pi k / count; one only for tilt 0."""
    first, second = tangent_basis(normal)
    phi = 2 * np.pi * np.arange(count) / count
    ring = np.cos(phi)[:, None] * first + np.sin(phi)[:, None] * second
    rows = [(np.sin(tilt) * ring - np.cos(tilt) * normal)[: 1 if abs(tilt) < 1e-9 else count] for tilt in tilts_rad]
    return np.asarray(np.concatenate(rows))


def local_tensors(points_m: Array, normals: Array, contact_m: Array, *, tree: cKDTree, piece: Array) -> Array:
    """Return (4, 3, 3) symmetric tensors whose main axis across an approach suits as the closing axis.

    Pads press best where the surface turns towards them on both sides: along the main axis of the surface normals,
    near the contact, further out, and over the whole piece. A flat neighbourhood says nothing; the last tensor is
    largest in the direction in which the region near the contact is narrowest.

    Args:
        points_m, normals: (n, 3) cloud of the object.
        contact_m: (3,) the contact.
        tree: Over the cloud.
        piece: Indices of the masked piece that the contact lies on.
    """
    tensors = np.zeros((4, 3, 3))
    near = np.asarray(tree.query_ball_point(contact_m, _SCALES_M[0]), np.int64)
    further = np.asarray(tree.query_ball_point(contact_m, _SCALES_M[1]), np.int64)
    for k, rows in enumerate((near, further, piece)):
        if len(rows):
            tensors[k] = normals[rows].T @ normals[rows] / len(rows)
    if len(near) >= 4:
        centred = points_m[near] - points_m[near].mean(0)
        spread = centred.T @ centred / len(near)
        tensors[3] = (np.trace(spread) * np.eye(3) - spread) / max(float(np.trace(spread)), 1e-12)
    return tensors


def closing_axes(directions: Array, tensors: Array, *, uniform: int = 0) -> tuple[NDArray[np.int64], Array]:
    """Return the closing axes of every approach: unit, perpendicular to it, along a tensor's main axis across it.

    Args:
        directions: (k, 3) unit approaches.
        tensors: (k, t, 3, 3), see `local_tensors`; of the last one the two axes are used, of the others the first.
        uniform: How many more axes per direction, evenly over half a turn from the first one.

    Returns:
        (f,) int the row of ``directions``, and (f, 3) the axes; axes nearly equal to an earlier one are left out.
    """
    project = np.eye(3) - directions[:, :, None] * directions[:, None, :]
    flat = project[:, None] @ tensors @ project[:, None]
    values, vectors = np.linalg.eigh(flat)
    axes = np.concatenate([vectors[..., 2], vectors[:, -1:, :, 1]], axis=1)
    usable = np.concatenate([values[..., 2] > _FLAT, values[:, -1:, 1] > 1e-6], axis=1)
    if uniform > 1:
        base = axes[:, :1]
        angle = (np.pi * np.arange(1, uniform) / uniform)[None, :, None]
        turned = np.cos(angle) * base + np.sin(angle) * np.cross(directions[:, None], base)
        axes = np.concatenate([axes, turned], axis=1)
        usable = np.concatenate([usable, np.ones(turned.shape[:2], bool)], axis=1)
    same = np.abs(axes @ axes.transpose(0, 2, 1)) > _SAME_AXIS_COS
    for j in range(1, axes.shape[1]):
        usable[:, j] &= ~(same[:, j, :j] & usable[:, :j]).any(1)
    row, col = np.nonzero(usable)
    return np.asarray(row, np.int64), np.asarray(axes[row, col])
