"""Find where things can be put in or on an imported object: from its heights seen from above, by letting water in."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import ConvexHull

from armwright.assets.model import Container, LinkModel, SupportSurface
from armwright.core.pose import Array, Pose

_CELLS = 160
_FINEST_M = 0.0015
_SHALLOWEST_M = 0.012
_FLOOR_M = (0.00015, 0.004)
"""How uneven a floor may be: flat, or else somewhat hollow."""
_LEVEL_M = 0.0015
_SMALLEST_M = 0.012
"""Half extents of the smallest rectangle worth naming."""
_MARGIN_M = 0.003
"""How far a hull may stand out of the wall beside what is put down."""
_OPEN_M = 1.0


def height_map(link: LinkModel) -> tuple[Array, Array, Array]:
    """Return x and y of cell centres and the height of the highest face in each cell, 0 where there is none [m]."""
    low, high = link.vertices_m.min(0), link.vertices_m.max(0)
    cell = max(float((high - low)[:2].max()) / _CELLS, _FINEST_M)
    x, y = (np.arange(low[k] + cell / 2, high[k], cell) for k in (0, 1))
    z = np.zeros((len(x), len(y)))
    for a, b, c in link.vertices_m[link.faces]:
        first, last = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        i = slice(*np.searchsorted(x, (first[0], last[0])))
        j = slice(*np.searchsorted(y, (first[1], last[1])))
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if i.start == i.stop or j.start == j.stop or abs(area) < 1e-14:
            continue
        dx, dy = x[i, None] - a[0], y[None, j] - a[1]
        v = (dx * (c[1] - a[1]) - dy * (c[0] - a[0])) / area
        w = (dy * (b[0] - a[0]) - dx * (b[1] - a[1])) / area
        inside = (v >= 0) & (w >= 0) & (v + w <= 1)
        height = a[2] + v * (b[2] - a[2]) + w * (c[2] - a[2])
        z[i, j] = np.where(inside, np.maximum(z[i, j], height), z[i, j])
    return x, y, z


def water_level(z: Array) -> Array:
    """Return how high water would stand in each cell if it rained for ever (priority flood)."""
    level = np.full(z.shape, np.inf)
    edge = np.ones(z.shape, bool)
    edge[1:-1, 1:-1] = False
    queue = [(float(z[i, j]), int(i), int(j)) for i, j in np.argwhere(edge)]
    for height, i, j in queue:
        level[i, j] = height
    heapq.heapify(queue)
    while queue:
        height, i, j = heapq.heappop(queue)
        for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if 0 <= a < z.shape[0] and 0 <= b < z.shape[1] and np.isinf(level[a, b]):
                level[a, b] = max(height, z[a, b])
                heapq.heappush(queue, (float(level[a, b]), a, b))
    return level


def inscribed(cells: NDArray[np.bool_]) -> tuple[slice, slice] | None:
    """Return a large rectangle of true cells: a square about the innermost cell, grown while it stays inside."""
    if not cells.any():
        return None
    padded = np.pad(cells, 1)
    depth = ndimage.distance_transform_cdt(padded, metric="chessboard")[1:-1, 1:-1]
    i, j = np.unravel_index(int(np.argmax(depth)), depth.shape)
    half = int(depth[i, j]) - 1
    box = [int(i) - half, int(i) + half + 1, int(j) - half, int(j) + half + 1]
    grown = True
    while grown:
        grown = False
        for side, step in ((0, -1), (1, 1), (2, -1), (3, 1)):
            trial = box.copy()
            trial[side] += step
            if min(trial) < 0 or trial[1] > cells.shape[0] or trial[3] > cells.shape[1]:
                continue
            if cells[trial[0] : trial[1], trial[2] : trial[3]].all():
                box, grown = trial, True
    return slice(box[0], box[1]), slice(box[2], box[3])


def _rectangle(x: Array, y: Array, box: tuple[slice, slice]) -> tuple[float, float, float, float] | None:
    """Return centre and half extents of a rectangle of cells [m], less a margin; None if it is too small."""
    middle = [0.5 * float(v[s][0] + v[s][-1]) for v, s in zip((x, y), box, strict=True)]
    half = [0.5 * float(v[s][-1] - v[s][0]) - _MARGIN_M for v, s in zip((x, y), box, strict=True)]
    return None if min(half) < _SMALLEST_M else (middle[0], middle[1], half[0], half[1])


def _filled(link: LinkModel, column: Array) -> bool:
    """Tell whether a collision hull holds any of (n, 3) points."""
    for hull in link.hulls:
        planes = ConvexHull(hull, qhull_options="QJ").equations
        if (column @ planes[:, :3].T + planes[:, 3] < -1e-4).all(1).any():
            return True
    return False


def hulls_fill(link: LinkModel, inside: Container) -> bool:
    """Tell whether the collision hulls of a link reach into its cavity."""
    signs = ((0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
    heights = np.linspace(inside.floor_z_m + 0.004, inside.rim_z_m, 7)
    x, y, _ = inside.center_m
    half_x, half_y = inside.half_extents_m
    columns = np.array([[x + sx * half_x, y + sy * half_y, h] for sx, sy in signs for h in heights])
    return _filled(link, columns)


@dataclass(frozen=True, eq=False)
class Cavity:
    """An open hollow of a link.

    Attributes:
        axis_m: (2,) its middle seen from above [m].
        floor_z_m: Height of its floor [m].
        lining: Which of the link's faces line it.
        container: Where things can be put in it, None where its floor is too small.
    """

    axis_m: Array
    floor_z_m: float
    lining: NDArray[np.bool_]
    container: Container | None


def find_cavity(link: LinkModel) -> Cavity | None:
    """Return the largest open cavity of a link, or None."""
    x, y, z = height_map(link)
    level = water_level(z)
    wet, number = ndimage.label(level - z > _SHALLOWEST_M)
    if not number:
        return None
    volume = ndimage.sum_labels(level - z, wet, np.arange(1, number + 1))
    own = wet == 1 + int(np.argmax(volume))
    rim, floor = float(np.median(level[own])), float(np.quantile(z[own], 0.05))
    i, j = np.nonzero(own)
    axis = np.array([0.5 * (x[i.min()] + x[i.max()]), 0.5 * (y[j.min()] + y[j.max()])])
    rectangle = box = None
    for deep in _FLOOR_M:
        box = inscribed(own & (z < floor + deep))
        rectangle = None if box is None else _rectangle(x, y, box)
        if rectangle is not None:
            break
    container = None
    if box is not None and rectangle is not None:
        floor = float(z[box].max())
        at = np.array([rectangle[0], rectangle[1], floor])
        container = Container("interior", at, floor, rim, (rectangle[2], rectangle[3]), link=link.name)
    return Cavity(axis, floor, _lining(link, x, y, own, axis, (floor - 0.002, rim - 0.001)), container)


def _lining(
    link: LinkModel, x: Array, y: Array, own: NDArray[np.bool_], axis_m: Array, between_m: tuple[float, float]
) -> NDArray[np.bool_]:
    """Return the faces that lie in a cavity's cells, between two heights, and look in or up."""
    triangles = link.vertices_m[link.faces]
    middle = triangles.mean(1)
    half = 0.5 * (x[1] - x[0])
    i = np.clip(np.searchsorted(x, middle[:, 0] - half), 0, len(x) - 1)
    j = np.clip(np.searchsorted(y, middle[:, 1] - half), 0, len(y) - 1)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    inward = np.einsum("ij,ij->i", normals[:, :2], axis_m - middle[:, :2])
    near = ndimage.binary_dilation(own, iterations=2)[i, j]
    return np.asarray(
        near & (middle[:, 2] > between_m[0]) & (middle[:, 2] < between_m[1]) & ((normals[:, 2] > 0.5) | (inward > 0))
    )


def find_support(link: LinkModel) -> SupportSurface | None:
    """Return the highest level place on a link that something can stand on, or None."""
    x, y, z = height_map(link)
    for level in np.unique(np.round(z[z > 0.004] / (2 * _LEVEL_M)))[::-1] * 2 * _LEVEL_M:
        cells = np.abs(z - level) < _LEVEL_M
        box = inscribed(cells)
        rectangle = None if box is None else _rectangle(x, y, box)
        if box is not None and rectangle is not None and np.ptp(z[box]) < _LEVEL_M:
            center_x, center_y, half_x, half_y = rectangle
            at = np.array([center_x, center_y, float(z[box].mean())])
            return SupportSurface("top", Pose(at), (half_x, half_y), _OPEN_M, link=link.name)
    return None
