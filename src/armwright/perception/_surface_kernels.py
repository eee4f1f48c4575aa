"""Compiled loops that turn blocks of distances into vertices and faces (naive surface nets, Gibson 1998)."""

from __future__ import annotations

import math

import numpy as np

from armwright.perception._jit import F32, I32, kernel
from armwright.perception._tsdf_kernels import CUBE, EDGE

SIDE = EDGE + 1


@kernel
def _number(table: I32, low: I32, x: int, y: int, z: int) -> int:
    """Return the number of the block with this key, -1 where there is none."""
    i, j, k = x - low[0], y - low[1], z - low[2]
    if i < 0 or j < 0 or k < 0 or i >= table.shape[0] or j >= table.shape[1] or k >= table.shape[2]:
        return -1
    return int(table[i, j, k])


@kernel
def _gather(cells: F32, table: I32, low: I32, key: I32, number: I32, out: F32) -> None:
    """Copy a block and the first layer of its upper neighbours to out (9, 9, 9, 2), of weight 0 where there is none."""
    for a in range(2):
        for b in range(2):
            for c in range(2):
                number[a * 4 + b * 2 + c] = _number(table, low, key[0] + a, key[1] + b, key[2] + c)
    for i in range(SIDE):
        for j in range(SIDE):
            for k in range(SIDE):
                n = number[(i // EDGE) * 4 + (j // EDGE) * 2 + k // EDGE]
                if n < 0:
                    out[i, j, k, 1] = 0
                    continue
                at = ((i % EDGE) * EDGE + j % EDGE) * EDGE + k % EDGE
                out[i, j, k, 0] = cells[n, at, 0]
                out[i, j, k, 1] = cells[n, at, 1]


@kernel
def number_vertices(cells: F32, keys: I32, table: I32, low: I32, least: np.float32, index: I32) -> int:
    """Write to index (n, 512) the vertex of each cell that the surface crosses, -1 elsewhere; return how many.

    A cell lies between eight voxels; it counts where all of them weigh at least ``least``.
    """
    side = np.empty((SIDE, SIDE, SIDE, 2), np.float32)
    number = np.empty(8, np.int32)
    count = 0
    for n in range(len(keys)):
        _gather(cells, table, low, keys[n], number, side)
        for i in range(EDGE):
            for j in range(EDGE):
                for k in range(EDGE):
                    below, known = 0, True
                    for a in range(2):
                        for b in range(2):
                            for c in range(2):
                                if side[i + a, j + b, k + c, 1] < least:
                                    known = False
                                if side[i + a, j + b, k + c, 0] < 0:
                                    below += 1
                    at = (i * EDGE + j) * EDGE + k
                    if known and 0 < below < 8:
                        index[n, at] = count
                        count += 1
                    else:
                        index[n, at] = -1
    return count


@kernel
def place_vertices(
    cells: F32,
    colours: F32,
    keys: I32,
    table: I32,
    low: I32,
    index: I32,
    voxel: np.float32,
    out: F32,
    normal: F32,
    rgb: F32,
) -> None:
    """Write each vertex: the mean of the points at which its cell's edges cross zero.

    Args:
        cells, colours, keys, table, low: Of the volume.
        index: (n, 512) from `number_vertices`.
        voxel: Edge [m].
        out: (v, 3) places [m].
        normal: (v, 3) unit normals, towards the free side.
        rgb: (v, 3) colours 0–255 of the nearest voxels that have one; -1 where none has.
    """
    side = np.empty((SIDE, SIDE, SIDE, 2), np.float32)
    number = np.empty(8, np.int32)
    for n in range(len(keys)):
        any_here = False
        for at in range(CUBE):
            if index[n, at] >= 0:
                any_here = True
                break
        if not any_here:
            continue
        _gather(cells, table, low, keys[n], number, side)
        for i in range(EDGE):
            for j in range(EDGE):
                for k in range(EDGE):
                    vertex = index[n, (i * EDGE + j) * EDGE + k]
                    if vertex < 0:
                        continue
                    crossings = 0
                    sx, sy, sz = np.float32(0), np.float32(0), np.float32(0)
                    gx, gy, gz = np.float32(0), np.float32(0), np.float32(0)
                    for a in range(2):
                        for b in range(2):
                            p, q = side[i, j + a, k + b, 0], side[i + 1, j + a, k + b, 0]
                            gx += q - p
                            if (p < 0) != (q < 0):
                                sx, sy, sz, crossings = sx + p / (p - q), sy + a, sz + b, crossings + 1
                            p, q = side[i + a, j, k + b, 0], side[i + a, j + 1, k + b, 0]
                            gy += q - p
                            if (p < 0) != (q < 0):
                                sx, sy, sz, crossings = sx + a, sy + p / (p - q), sz + b, crossings + 1
                            p, q = side[i + a, j + b, k, 0], side[i + a, j + b, k + 1, 0]
                            gz += q - p
                            if (p < 0) != (q < 0):
                                sx, sy, sz, crossings = sx + a, sy + b, sz + p / (p - q), crossings + 1
                    out[vertex, 0] = (keys[n, 0] * EDGE + i + 0.5 + sx / crossings) * voxel
                    out[vertex, 1] = (keys[n, 1] * EDGE + j + 0.5 + sy / crossings) * voxel
                    out[vertex, 2] = (keys[n, 2] * EDGE + k + 0.5 + sz / crossings) * voxel
                    length = math.sqrt(gx * gx + gy * gy + gz * gz) + 1e-20
                    normal[vertex, 0], normal[vertex, 1], normal[vertex, 2] = gx / length, gy / length, gz / length
                    weight = np.float32(0)
                    r, g, b_ = np.float32(0), np.float32(0), np.float32(0)
                    if colours.shape[0] > 0:
                        for a in range(2):
                            for b in range(2):
                                for c in range(2):
                                    m = number[((i + a) // EDGE) * 4 + ((j + b) // EDGE) * 2 + (k + c) // EDGE]
                                    at = (((i + a) % EDGE) * EDGE + (j + b) % EDGE) * EDGE + (k + c) % EDGE
                                    if colours[m, at, 0] >= 0:
                                        share = voxel / (abs(cells[m, at, 0]) + np.float32(0.1) * voxel)
                                        weight += share
                                        r += share * colours[m, at, 0]
                                        g += share * colours[m, at, 1]
                                        b_ += share * colours[m, at, 2]
                    if weight > 0:
                        rgb[vertex, 0], rgb[vertex, 1], rgb[vertex, 2] = r / weight, g / weight, b_ / weight
                    else:
                        rgb[vertex, 0] = rgb[vertex, 1] = rgb[vertex, 2] = -1


@kernel
def _cell(index: I32, table: I32, low: I32, key: I32, i: int, j: int, k: int) -> int:
    """Return the vertex of the cell (i, j, k) counted from a block's corner, which may lie in a neighbour below."""
    n = _number(table, low, key[0] + (i >> 3), key[1] + (j >> 3), key[2] + (k >> 3))
    return int(index[n, ((i & 7) * EDGE + (j & 7)) * EDGE + (k & 7)]) if n >= 0 else -1


@kernel
def _square(p: F32, a: int, b: int) -> float:
    x, y, z = p[a, 0] - p[b, 0], p[a, 1] - p[b, 1], p[a, 2] - p[b, 2]
    return float(x * x + y * y + z * z)


@kernel
def join_faces(cells: F32, keys: I32, table: I32, low: I32, index: I32, points: F32) -> I32:
    """Return (f, 3) triangles, counter-clockwise from the free side: two around each crossed edge between voxels."""
    out = np.empty((6 * len(points) + 6, 3), np.int32)
    count = 0
    for n in range(len(keys)):
        key = keys[n]
        for at in range(CUBE):
            if cells[n, at, 1] <= 0:
                continue
            i, j, k = at // (EDGE * EDGE), at // EDGE % EDGE, at % EDGE
            for axis in range(3):
                # The four cells that share the edge from this voxel along the axis, in a turn about it.
                if axis == 0:
                    a = _cell(index, table, low, key, i, j - 1, k - 1)
                    b = _cell(index, table, low, key, i, j, k - 1)
                    c = _cell(index, table, low, key, i, j, k)
                    d = _cell(index, table, low, key, i, j - 1, k)
                    m = _number(table, low, key[0] + (i + 1) // EDGE, key[1], key[2])
                    to = ((i + 1) % EDGE * EDGE + j) * EDGE + k
                elif axis == 1:
                    a = _cell(index, table, low, key, i - 1, j, k - 1)
                    b = _cell(index, table, low, key, i - 1, j, k)
                    c = _cell(index, table, low, key, i, j, k)
                    d = _cell(index, table, low, key, i, j, k - 1)
                    m = _number(table, low, key[0], key[1] + (j + 1) // EDGE, key[2])
                    to = (i * EDGE + (j + 1) % EDGE) * EDGE + k
                else:
                    a = _cell(index, table, low, key, i - 1, j - 1, k)
                    b = _cell(index, table, low, key, i, j - 1, k)
                    c = _cell(index, table, low, key, i, j, k)
                    d = _cell(index, table, low, key, i - 1, j, k)
                    m = _number(table, low, key[0], key[1], key[2] + (k + 1) // EDGE)
                    to = (i * EDGE + j) * EDGE + (k + 1) % EDGE
                if a < 0 or b < 0 or c < 0 or d < 0 or m < 0:
                    continue
                inside = cells[n, at, 0] < 0
                if inside == (cells[m, to, 0] < 0):
                    continue
                if not inside:
                    b, d = d, b
                if _square(points, a, c) <= _square(points, b, d):
                    out[count, 0], out[count, 1], out[count, 2] = a, b, c
                    out[count + 1, 0], out[count + 1, 1], out[count + 1, 2] = a, c, d
                else:
                    out[count, 0], out[count, 1], out[count, 2] = a, b, d
                    out[count + 1, 0], out[count + 1, 1], out[count + 1, 2] = b, c, d
                count += 2
    return out[:count].copy()


@kernel
def crossing_voxels(cells: F32, keys: I32, voxel: np.float32, least: np.float32) -> F32:
    """Return (n, 3) centres [m] of the voxels within half a voxel of the surface that weigh at least ``least``."""
    half = np.float32(0.5) * voxel
    count = 0
    for n in range(len(keys)):
        for at in range(CUBE):
            if cells[n, at, 1] >= least and abs(cells[n, at, 0]) <= half:
                count += 1
    out = np.empty((count, 3), np.float32)
    count = 0
    for n in range(len(keys)):
        for at in range(CUBE):
            if cells[n, at, 1] >= least and abs(cells[n, at, 0]) <= half:
                out[count, 0] = np.float32(keys[n, 0] * EDGE + at // (EDGE * EDGE) + 0.5) * voxel
                out[count, 1] = np.float32(keys[n, 1] * EDGE + at // EDGE % EDGE + 0.5) * voxel
                out[count, 2] = np.float32(keys[n, 2] * EDGE + at % EDGE + 0.5) * voxel
                count += 1
    return out
