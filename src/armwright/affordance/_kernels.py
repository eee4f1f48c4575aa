"""Compiled geometry for the point networks: farthest points, local shape, what each point sees around it."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LOCAL = ("linear", "planar", "round", "size", "smooth", "hollow")
AROUND = ("thick", "clear", "above", "below", "enclosed", "nearest_wall", "mean_wall")
FAR = 1.5
"""What a distance reads where nothing is met, in units of the object's largest extent."""

_SECTORS = 8


@njit(cache=True, fastmath=True)
def farthest_points(points, count):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the indices (count,) of points that are spread farthest, beginning with the first."""
    n = len(points)
    chosen = np.zeros(count, np.int64)
    away = np.full(n, 1e30, points.dtype)
    last = 0
    for k in range(1, count):
        best, far = 0, -1.0
        x, y, z = points[last, 0], points[last, 1], points[last, 2]
        for i in range(n):
            dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
            d = dx * dx + dy * dy + dz * dz
            if d < away[i]:
                away[i] = d
            if away[i] > far:
                far = away[i]
                best = i
        chosen[k] = best
        last = best
    return chosen


@njit(cache=True)
def first_of_cells(keys, slots, kept, cell_of):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the positions at which each of (n,) non-negative keys comes first, in order; return how many there are.

    ``cell_of`` takes, for each of the keys, which of ``kept`` has the same. ``slots`` (a power of two, over twice as
    long as the keys) is room to work in.
    """
    slots[:] = -1
    mask = len(slots) - 1
    count = 0
    for i in range(len(keys)):
        at = (keys[i] * 0x9E3779B1 >> 7) & mask
        while slots[at] >= 0 and keys[kept[slots[at]]] != keys[i]:
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = count
            kept[count] = i
            count += 1
        cell_of[i] = slots[at]
    return count


@njit(cache=True, fastmath=True)
def nearest_three(points, queries, start, neighbours, found, squares):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the three nearest of (n, d) points to each of (m, d) queries, nearest first, and the squared distances.

    Looks among the ``neighbours`` (n, k) of a point near the query, ``start`` (m,), and then among those of the best.
    """
    d, k = points.shape[1], neighbours.shape[1]
    for q in range(len(queries)):
        best, index = squares[q], found[q]
        best[:] = np.inf
        index[:] = start[q]
        hub = start[q]
        for hop in range(2):
            for j in range(k):
                i = neighbours[hub, j]
                if hop == 1 and (i == index[0] or i == index[1] or i == index[2]):
                    continue
                square = 0.0
                for a in range(d):
                    step = points[i, a] - queries[q, a]
                    square += step * step
                if square < best[2]:
                    r = 2
                    while r > 0 and best[r - 1] > square:
                        best[r] = best[r - 1]
                        index[r] = index[r - 1]
                        r -= 1
                    best[r] = square
                    index[r] = i
            hub = index[0]


@njit(cache=True, fastmath=True)
def local_shape(points, normals, neighbours, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write (n, 6) `LOCAL` of each point from its neighbours' indices (n, k)."""
    k = neighbours.shape[1]
    for i in range(len(points)):
        mx = my = mz = 0.0
        for j in range(k):
            q = neighbours[i, j]
            mx += points[q, 0]
            my += points[q, 1]
            mz += points[q, 2]
        mx, my, mz = mx / k, my / k, mz / k
        xx = xy = xz = yy = yz = zz = 0.0
        sx = sy = sz = 0.0
        bend = 0.0
        nx, ny, nz = normals[i, 0], normals[i, 1], normals[i, 2]
        for j in range(k):
            q = neighbours[i, j]
            dx, dy, dz = points[q, 0] - mx, points[q, 1] - my, points[q, 2] - mz
            xx += dx * dx
            xy += dx * dy
            xz += dx * dz
            yy += dy * dy
            yz += dy * dz
            zz += dz * dz
            sx += normals[q, 0]
            sy += normals[q, 1]
            sz += normals[q, 2]
            ex, ey, ez = points[q, 0] - points[i, 0], points[q, 1] - points[i, 1], points[q, 2] - points[i, 2]
            length = math.sqrt(ex * ex + ey * ey + ez * ez)
            if length > 1e-9:
                bend += (ex * nx + ey * ny + ez * nz) / length
        trace = xx + yy + zz
        mean = trace / 3.0
        p = (xx - mean) ** 2 + (yy - mean) ** 2 + (zz - mean) ** 2 + 2.0 * (xy * xy + xz * xz + yz * yz)
        p = math.sqrt(p / 6.0)
        if p < 1e-15:
            big = middle = small = mean
        else:
            a, b, c = (xx - mean) / p, (yy - mean) / p, (zz - mean) / p
            d, e, f = xy / p, xz / p, yz / p
            half = 0.5 * (a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e))
            angle = math.acos(min(1.0, max(-1.0, half))) / 3.0
            big = mean + 2.0 * p * math.cos(angle)
            small = mean + 2.0 * p * math.cos(angle + 2.0943951023931953)
            middle = trace - big - small
        big = max(big, 1e-15)
        root = math.sqrt(big)
        second, third = math.sqrt(max(middle, 0.0)), math.sqrt(max(small, 0.0))
        out[i, 0] = (root - second) / root
        out[i, 1] = (second - third) / root
        out[i, 2] = third / root
        out[i, 3] = math.sqrt(trace / k)
        out[i, 4] = math.sqrt(sx * sx + sy * sy + sz * sz) / k
        out[i, 5] = bend / k


@njit(cache=True, fastmath=True, error_model="numpy")
def look_around(points, normals, others, other_normals, slack, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write (n, 7) `AROUND`: distances behind and before the surface, above, below, and to the walls around.

    ``others`` and ``other_normals`` are (3, m), so that the inner loops run over them in steps of one.
    """
    ox, oy, oz = others[0], others[1], others[2]
    ux, uy, uz = other_normals[0], other_normals[1], other_normals[2]
    wall = np.empty(_SECTORS, points.dtype)
    one = points.dtype.type(1.0)
    far, far_square = one * FAR, one * FAR * FAR
    wide, wider, narrow, turned = one * 0.35, one * 0.1225, one * 0.25, one * -0.2
    for i in range(len(points)):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        nx, ny, nz = normals[i, 0], normals[i, 1], normals[i, 2]
        thick, clear, above, below = far, far, far, far
        for j in range(len(ox)):
            dx, dy, dz = ox[j] - px, oy[j] - py, oz[j] - pz
            flat = dx * dx + dy * dy
            along = dx * nx + dy * ny + dz * nz
            depth = abs(along)
            reach = slack + wide * depth
            facing = nx * ux[j] + ny * uy[j] + nz * uz[j] < turned
            met = facing & (flat + dz * dz - along * along < reach * reach)
            thick = min(thick, depth if met & (along < 0) else far)
            clear = min(clear, depth if met & (depth > narrow * slack) & (along > 0) else far)
            rise = abs(dz)
            reach = slack + narrow * rise
            met = (rise > slack) & (flat < reach * reach)
            above = min(above, rise if met & (dz > 0) else far)
            below = min(below, rise if met & (dz < 0) else far)
        wall[:] = far_square
        for j in range(0, len(ox), 2):
            dx, dy = ox[j] - px, oy[j] - py
            # A wall is what stands at this height and turns its face here.
            if dx * ux[j] + dy * uy[j] < 0:
                flat = dx * dx + dy * dy
                over = max(abs(oz[j] - pz) - slack, one * 0)
                if flat > slack * slack and over * over < wider * flat:
                    sector = (1 if dx > 0 else 0) + (2 if dy > 0 else 0) + (4 if abs(dx) > abs(dy) else 0)
                    wall[sector] = min(wall[sector], flat)
        blocked, nearest, mean = 0.0, far_square, 0.0
        for s in range(_SECTORS):
            if wall[s] < far_square:
                blocked += 1.0
            nearest = min(nearest, wall[s])
            mean += math.sqrt(wall[s])
        out[i, 0] = thick
        out[i, 1] = clear
        out[i, 2] = above
        out[i, 3] = below
        out[i, 4] = blocked / _SECTORS
        out[i, 5] = math.sqrt(nearest)
        out[i, 6] = mean / _SECTORS
