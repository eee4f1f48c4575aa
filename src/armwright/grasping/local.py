"""Local surface geometry at a contact: PCA normal, approach directions, closing axes (AffordSim §3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array

_SCALES_M = (0.018, 0.045)
_SAME_AXIS_COS = 0.94
_FLAT = 0.05


def pca_normals(points_m: Array, normals: Array, index: NDArray[np.int64], *, neighbours: int) -> Array:
    """Return (c, 3) unit outward normals at points: smallest principal axis of their nearest neighbours.

    Only neighbours that face the same way count, since a thin bar or wall has its far side nearer than ``neighbours``
    points away; the cloud's own normal says which way is out. Where the cloud has no normals (zeros), the axis is
    turned away from the cloud's centroid, as in the paper.
    """
    out = np.empty((len(index), 3))
    centroid = points_m.mean(0)
    wanted = min(len(points_m), 2 * neighbours)
    for row, i in enumerate(index):
        offset = points_m - points_m[i]
        distance = (offset**2).sum(1)
        near = np.argpartition(distance, wanted - 1)[:wanted]
        near = near[np.argsort(distance[near], kind="stable")]
        away = points_m[i] - centroid
        if normals[i] @ normals[i] > 0.25:
            away = normals[i]
            near = near[normals[near] @ normals[i] > 0.3]
        near = near[:neighbours]
        if len(near) < 4:
            out[row] = away / max(float(np.linalg.norm(away)), 1e-12)
            continue
        centred = points_m[near] - points_m[near].mean(0)
        axis = np.linalg.eigh(centred.T @ centred)[1][:, 0]
        out[row] = axis if axis @ away >= 0 else -axis
    return out


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


def local_tensors(points_m: Array, normals: Array, contacts_m: Array, *, pieces: Array) -> Array:
    """Return (c, 4, 3, 3) symmetric tensors whose main axis across an approach suits as the closing axis.

    Pads press best where the surface turns towards them on both sides: along the main axis of the surface normals,
    near the contact, further out, and over the whole piece. A flat neighbourhood says nothing; the last tensor is
    largest in the direction in which the surface near the contact is narrowest.

    Args:
        points_m, normals: (n, 3) cloud of the object.
        contacts_m: (c, 3) the contacts.
        pieces: (c, n) 1 where a point belongs to the masked piece that the contact lies on, else 0.
    """
    outer = (normals[:, :, None] * normals[:, None, :]).reshape(-1, 9)
    square = (points_m[:, :, None] * points_m[:, None, :]).reshape(-1, 9)
    distance = ((points_m[None] - contacts_m[:, None]) ** 2).sum(2)
    near, further = ((distance < radius**2).astype(float) for radius in _SCALES_M)
    tensors = np.empty((len(contacts_m), 4, 3, 3))
    for k, weight in enumerate((near, further, pieces)):
        tensors[:, k] = (weight @ outer / np.maximum(weight.sum(1), 1)[:, None]).reshape(-1, 3, 3)
    count = np.maximum(near.sum(1), 1)[:, None]
    mean = near @ points_m / count
    spread = (near @ square / count).reshape(-1, 3, 3) - mean[:, :, None] * mean[:, None, :]
    trace = np.maximum(np.trace(spread, axis1=1, axis2=2), 1e-12)[:, None, None]
    tensors[:, 3] = np.eye(3) - spread / trace
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
    u = np.cross(directions, np.eye(3)[np.abs(directions).argmin(1)])
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(directions, u)
    tu, tv = tensors @ u[:, None, :, None], tensors @ v[:, None, :, None]
    uu, uv, vv = (np.einsum("ktij,ki->kt", t, w) for t, w in ((tu, u), (tu, v), (tv, v)))
    angle = 0.5 * np.arctan2(2 * uv, uu - vv)[..., None]
    main = np.cos(angle) * u[:, None] + np.sin(angle) * v[:, None]
    largest = 0.5 * (uu + vv) + np.hypot(0.5 * (uu - vv), uv)
    axes = np.concatenate([main, np.cross(directions, main[:, -1])[:, None]], axis=1)
    usable = np.concatenate([largest > _FLAT, np.ones((len(axes), 1), bool)], axis=1)
    if uniform > 1:
        base = axes[:, :1]
        turn = (np.pi * np.arange(1, uniform) / uniform)[None, :, None]
        turned = np.cos(turn) * base + np.sin(turn) * np.cross(directions[:, None], base)
        axes = np.concatenate([axes, turned], axis=1)
        usable = np.concatenate([usable, np.ones(turned.shape[:2], bool)], axis=1)
    same = np.abs(axes @ axes.transpose(0, 2, 1)) > _SAME_AXIS_COS
    for j in range(1, axes.shape[1]):
        usable[:, j] &= ~(same[:, j, :j] & usable[:, :j]).any(1)
    row, col = np.nonzero(usable)
    return np.asarray(row, np.int64), np.asarray(axes[row, col])
