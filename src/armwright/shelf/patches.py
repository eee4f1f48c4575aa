"""Printed shapes from grids: each patch is a grid of points with a picture on it; welded together they close a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armwright.assets.model import Faces, Surface
from armwright.core.pose import Array

_WELD_M = 1e-7
# Pixels between patches repeat the patch's edge, so that smaller copies of the texture do not bleed.
_BORDER_PX = 4


@dataclass(frozen=True, eq=False)
class Patch:
    """A part of a surface, as somebody before it sees it: rows go down, columns to the right.

    Attributes:
        points_m: (r, c, 3) float [m]; points may coincide, as at the middle of a lid.
        image: (h, w, 3) uint8.
        uv: (r, c, 2) where the points lie on the image, right and down, 0 to 1; None spreads them evenly.
    """

    points_m: Array
    image: NDArray[np.uint8]
    uv: Array | None = None


class PrintedMesh(NamedTuple):
    """A closed mesh: vertices (n, 3) [m], faces (m, 3), and what is printed on it."""

    vertices_m: Array
    faces: Faces
    surface: Surface


def join(patches: Sequence[Patch]) -> PrintedMesh:
    """Weld patches into one closed mesh with one image; normals are smooth inside a patch and sharp between them."""
    image, places = _atlas([patch.image for patch in patches])
    points: list[Array] = []
    faces: list[NDArray[np.int64]] = []
    uv: list[Array] = []
    normals: list[Array] = []
    count = 0
    for patch, (low, size) in zip(patches, places, strict=True):
        rows, columns = patch.points_m.shape[:2]
        flat = patch.points_m.reshape(-1, 3)
        tri = _cells(rows, columns)
        welded = _welded(flat)
        kept = tri[_distinct(welded[tri])]
        own = patch.uv if patch.uv is not None else _even(rows, columns)
        uv.append((low + own.reshape(-1, 2) * size)[kept])
        normals.append(_normals(flat, kept, welded)[kept])
        points.append(flat)
        faces.append(kept + count)
        count += len(flat)
    everything = np.concatenate(points)
    welded = _welded(everything)
    used, local = np.unique(welded[np.concatenate(faces)], return_inverse=True)
    surface = Surface(image, np.concatenate(uv), np.concatenate(normals))
    return PrintedMesh(everything[used], local.reshape(-1, 3).astype(np.int32), surface)


def quad(center_m: Sequence[float], normal: Sequence[float], up: Sequence[float], size_m: tuple[float, float]) -> Array:
    """Return the (2, 2, 3) points of a rectangle seen from its outside.

    Args:
        center_m: (3,) its middle [m].
        normal, up: (3,) unit vectors: outwards, and up on its picture.
        size_m: Width and height as seen [m].
    """
    n, u = np.asarray(normal, float), np.asarray(up, float)
    right, middle = 0.5 * size_m[0] * np.cross(u, n), np.asarray(center_m, float)
    above = 0.5 * size_m[1] * u
    return np.array(
        [[middle + above - right, middle + above + right], [middle - above - right, middle - above + right]]
    )


def turned(profile_rz_m: Sequence[tuple[float, float]], *, segments: int, squash: float = 1.0) -> Array:
    """Return a profile, from the top down, turned about z: (r, segments + 1, 3) with the seam at the back (+x).

    Args:
        profile_rz_m: Radius along y and height [m].
        segments: Facets around.
        squash: Radius along x as a share of that along y.
    """
    angle = np.linspace(-np.pi, np.pi, segments + 1)
    # The seam's two columns are one column: sines of -pi and pi differ in the last bits.
    angle[-1] = -np.pi
    radius, height = np.array(profile_rz_m, float).T
    x = -radius[:, None] * squash * np.cos(angle)
    y = -radius[:, None] * np.sin(angle)
    return np.stack([x, y, np.broadcast_to(height[:, None], x.shape)], -1)


def _even(rows: int, columns: int) -> Array:
    u, v = np.meshgrid(np.linspace(0, 1, columns), np.linspace(0, 1, rows))
    return np.stack([u, v], -1)


def _cells(rows: int, columns: int) -> NDArray[np.int64]:
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]
    return np.concatenate([np.stack([a, c, d], -1).reshape(-1, 3), np.stack([a, d, b], -1).reshape(-1, 3)])


def _distinct(tri: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray((tri[:, 0] != tri[:, 1]) & (tri[:, 1] != tri[:, 2]) & (tri[:, 2] != tri[:, 0]))


def _welded(points: Array) -> NDArray[np.int64]:
    """Return for each point the first one at its place."""
    _, first, inverse = np.unique(
        np.round(points / _WELD_M).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    return np.asarray(first[inverse.reshape(-1)])


def _normals(points: Array, tri: NDArray[np.int64], welded: NDArray[np.int64]) -> Array:
    a, b, c = (points[tri[:, k]] for k in range(3))
    weighted = np.cross(b - a, c - a)
    total = np.zeros_like(points)
    for k in range(3):
        np.add.at(total, welded[tri[:, k]], weighted)
    total = total[welded]
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-15))


def _atlas(images: Sequence[NDArray[np.uint8]]) -> tuple[NDArray[np.uint8], list[tuple[Array, Array]]]:
    """Put pictures side by side in rows; return the whole and where each lies on it: low corner and size, 0 to 1."""
    border = _BORDER_PX
    width = max(
        max(i.shape[1] for i in images) + 2 * border, int(np.sqrt(sum(i.shape[0] * i.shape[1] for i in images)))
    )
    x = y = row = 0
    corners: dict[int, tuple[int, int]] = {}
    for k in sorted(range(len(images)), key=lambda k: -images[k].shape[0]):
        h, w = images[k].shape[0] + 2 * border, images[k].shape[1] + 2 * border
        if x + w > width:
            x, y, row = 0, y + row, 0
        corners[k] = (x + border, y + border)
        x, row = x + w, max(row, h)
    whole = np.zeros((y + row, width, 3), np.uint8)
    shape = np.array([width, y + row], float)
    places: list[tuple[Array, Array]] = []
    for k, image in enumerate(images):
        (cx, cy), (h, w) = corners[k], image.shape[:2]
        padded = np.pad(image, ((border, border), (border, border), (0, 0)), mode="edge")
        whole[cy - border : cy + h + border, cx - border : cx + w + border] = padded
        places.append((np.array([cx, cy]) / shape, np.array([w, h]) / shape))
    return whole, places
