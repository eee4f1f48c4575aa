"""Distance grids: one per shape from its convex hulls, and the coarse one over the whole world."""

from __future__ import annotations

import math

import numpy as np

from armwright.planning._arrays import CELLS_PER_M, WorldArrays
from armwright.planning._jit import F32, I64, kernel, pure_kernel
from armwright.planning.kernels_check import part_distance


@pure_kernel
def _triangle_distance(t: F32, x: float, y: float, z: float) -> np.float32:
    """Return the squared distance [m^2] from a point to a triangle, rows of t (3, 3)."""
    e0x, e0y, e0z = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[1, 2] - t[0, 2]
    e1x, e1y, e1z = t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2]
    dx, dy, dz = x - t[0, 0], y - t[0, 1], z - t[0, 2]
    a00 = e0x * e0x + e0y * e0y + e0z * e0z
    a01 = e0x * e1x + e0y * e1y + e0z * e1z
    a11 = e1x * e1x + e1y * e1y + e1z * e1z
    b0 = dx * e0x + dy * e0y + dz * e0z
    b1 = dx * e1x + dy * e1y + dz * e1z
    det = a00 * a11 - a01 * a01
    zero = np.float32(0.0)
    one = np.float32(1.0)
    tiny = np.float32(1e-18)
    s = a11 * b0 - a01 * b1
    r = a00 * b1 - a01 * b0
    if s >= zero and r >= zero and s + r <= det and det > tiny:
        s /= det
        r /= det
        px = dx - s * e0x - r * e1x
        py = dy - s * e0y - r * e1y
        pz = dz - s * e0z - r * e1z
        return np.float32(px * px + py * py + pz * pz)
    # The foot is outside: the nearest point lies on one of the three sides.
    c = min(max(b0 / max(a00, tiny), zero), one)
    px, py, pz = dx - c * e0x, dy - c * e0y, dz - c * e0z
    best = px * px + py * py + pz * pz
    c = min(max(b1 / max(a11, tiny), zero), one)
    px, py, pz = dx - c * e1x, dy - c * e1y, dz - c * e1z
    best = min(best, px * px + py * py + pz * pz)
    fx, fy, fz = e1x - e0x, e1y - e0y, e1z - e0z
    gx, gy, gz = dx - e0x, dy - e0y, dz - e0z
    c = min(max((gx * fx + gy * fy + gz * fz) / max(fx * fx + fy * fy + fz * fz, tiny), zero), one)
    px, py, pz = gx - c * fx, gy - c * fy, gz - c * fz
    return np.float32(min(best, px * px + py * py + pz * pz))


@kernel
def fill_shape_grid(
    triangles: F32, planes: F32, first_plane: I64, bounds: F32, origin: F32, spacing: np.float32, out: F32
) -> None:
    """Fill out (x, y, z) with the signed distance [m] of every node to a union of convex hulls.

    Outside: exact for nodes beside the surface; farther away each node takes the nearest among the triangles that its
    neighbours found nearest. Inside: the depth under the nearest plane of the deepest hull.

    Args:
        triangles: (t, 3, 3) of all hulls.
        planes: (f, 4) outward normals and offsets, n . x <= d inside, of all hulls.
        first_plane: (h + 1,) where each hull's planes begin.
        bounds: (h, 2, 3) lowest and highest corner of each hull.
        origin: (3,) the first node.
        spacing: Between nodes [m].
        out: The grid to fill.
    """
    nx, ny, nz = out.shape
    nearest = np.empty((nx, ny, nz), np.int32)
    far = np.float32(1e6)
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                nearest[i, j, k] = -1
                out[i, j, k] = far
    inverse = np.float32(1.0) / spacing
    low = np.empty(3, np.int64)
    high = np.empty(3, np.int64)
    for t in range(triangles.shape[0]):
        triangle = triangles[t]
        for a in range(3):
            lowest = min(triangle[0, a], min(triangle[1, a], triangle[2, a]))
            highest = max(triangle[0, a], max(triangle[1, a], triangle[2, a]))
            low[a] = max(0, math.floor((lowest - origin[a]) * inverse))
            high[a] = min(out.shape[a] - 1, math.ceil((highest - origin[a]) * inverse))
        for i in range(low[0], high[0] + 1):
            for j in range(low[1], high[1] + 1):
                for k in range(low[2], high[2] + 1):
                    d = _triangle_distance(
                        triangle, origin[0] + i * spacing, origin[1] + j * spacing, origin[2] + k * spacing
                    )
                    if d < out[i, j, k]:
                        out[i, j, k] = d
                        nearest[i, j, k] = t
    for sweep in range(8):
        si = 1 if sweep & 1 else -1
        sj = 1 if sweep & 2 else -1
        sk = 1 if sweep & 4 else -1
        for ii in range(nx):
            i = ii if si > 0 else nx - 1 - ii
            for jj in range(ny):
                j = jj if sj > 0 else ny - 1 - jj
                for kk in range(nz):
                    k = kk if sk > 0 else nz - 1 - kk
                    for axis in range(3):
                        pi = i - si if axis == 0 else i
                        pj = j - sj if axis == 1 else j
                        pk = k - sk if axis == 2 else k
                        if pi < 0 or pj < 0 or pk < 0 or pi >= nx or pj >= ny or pk >= nz:
                            continue
                        t = nearest[pi, pj, pk]
                        if t < 0 or t == nearest[i, j, k]:
                            continue
                        d = _triangle_distance(
                            triangles[t], origin[0] + i * spacing, origin[1] + j * spacing, origin[2] + k * spacing
                        )
                        if d < out[i, j, k]:
                            out[i, j, k] = d
                            nearest[i, j, k] = t
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                out[i, j, k] = math.sqrt(out[i, j, k])
    for hull in range(bounds.shape[0]):
        for a in range(3):
            low[a] = max(0, math.ceil((bounds[hull, 0, a] - origin[a]) * inverse))
            high[a] = min(out.shape[a] - 1, math.floor((bounds[hull, 1, a] - origin[a]) * inverse))
        for i in range(low[0], high[0] + 1):
            x = origin[0] + i * spacing
            for j in range(low[1], high[1] + 1):
                y = origin[1] + j * spacing
                for k in range(low[2], high[2] + 1):
                    z = origin[2] + k * spacing
                    depth = -far
                    for f in range(first_plane[hull], first_plane[hull + 1]):
                        d = planes[f, 0] * x + planes[f, 1] * y + planes[f, 2] * z - planes[f, 3]
                        if d > depth:
                            depth = d
                            if depth > np.float32(0.0):
                                break
                    if depth <= np.float32(0.0) and depth < out[i, j, k]:
                        out[i, j, k] = depth


@pure_kernel
def fill_coarse(world: WorldArrays, cells: I64, near_reach: np.float32) -> None:
    """Lower the world's coarse distances where parts are nearer, and set the bits of parts within ``near_reach`` [m].

    The caller has filled the distances with the band and the bits with 0; cells (p, 3, 2) are each part's first cell
    and the one after its last, per axis.
    """
    coarse = world.coarse
    near = world.near
    frame = world.frame
    spacing = np.float32(1.0) / frame[CELLS_PER_M]
    half = np.float32(0.5)
    for part in range(cells.shape[0]):
        bit = world.bit[part]
        for i in range(cells[part, 0, 0], cells[part, 0, 1]):
            x = frame[0] + (i + half) * spacing
            for j in range(cells[part, 1, 0], cells[part, 1, 1]):
                y = frame[1] + (j + half) * spacing
                for k in range(cells[part, 2, 0], cells[part, 2, 1]):
                    d = part_distance(world, part, x, y, frame[2] + (k + half) * spacing)
                    if d < coarse[i, j, k]:
                        coarse[i, j, k] = d
                    if d < near_reach:
                        near[i, j, k] |= bit
