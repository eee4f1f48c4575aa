"""Compiled geometry for the point networks: farthest points, local shape, what each point sees around it."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LOCAL = ("linear", "planar", "round", "size", "smooth", "hollow")
AROUND = ("thick", "clear", "above", "below", "enclosed", "nearest_wall", "mean_wall")
FAR = 1.5
"""What a distance reads where nothing is met, in units of the object's largest extent."""
LANES = 96
"""How many points `look_around` compares one with at a time."""

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

    ``others`` and ``other_normals`` are (3, m) with m a multiple of twice `LANES`: the inner loops run over so many of
    them at a time without a branch, each with a smallest value of its own, so that they compile to vector instructions.
    """
    # Rows first and then pieces of them: of a piece of both axes the compiler would not know that its steps are one.
    ox, oy, oz = others[0], others[1], others[2]
    ux, uy, uz = other_normals[0], other_normals[1], other_normals[2]
    best = np.empty((4, LANES), points.dtype)
    walls = np.empty((_SECTORS, LANES), points.dtype)
    second, second_normals = others[:, ::2].copy(), other_normals[:2, ::2].copy()
    for i in range(len(points)):
        best[:] = points.dtype.type(FAR)
        for start in range(0, others.shape[1], LANES):
            stop = start + LANES
            places = ox[start:stop], oy[start:stop], oz[start:stop]
            _faces(points[i], normals[i], places, (ux[start:stop], uy[start:stop], uz[start:stop]), slack, best)
        walls[:] = points.dtype.type(FAR * FAR)
        for start in range(0, second.shape[1], LANES):
            stop = start + LANES
            places = second[0][start:stop], second[1][start:stop], second[2][start:stop]
            _walls(points[i], places, (second_normals[0][start:stop], second_normals[1][start:stop]), slack, walls)
        for k in range(4):
            out[i, k] = best[k].min()
        blocked, nearest, mean = 0.0, FAR * FAR, 0.0
        for s in range(_SECTORS):
            wall = walls[s].min()
            blocked += 1.0 if wall < points.dtype.type(FAR * FAR) else 0.0
            nearest = min(nearest, wall)
            mean += math.sqrt(wall)
        out[i, 4] = blocked / _SECTORS
        out[i, 5] = math.sqrt(nearest)
        out[i, 6] = mean / _SECTORS


@njit(cache=True, fastmath=True, error_model="numpy", inline="always")
def _faces(point, normal, others, other_normals, slack, best):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Lower (4, LANES) ``best``: the nearest faces behind, before, above and below a point among LANES others."""
    one = point.dtype.type(1.0)
    zero, far, wide, narrow, turned = one * 0, one * FAR, one * 0.35, one * 0.25, one * -0.2
    px, py, pz = point[0], point[1], point[2]
    nx, ny, nz = normal[0], normal[1], normal[2]
    (ox, oy, oz), (ux, uy, uz) = others, other_normals
    thick, clear, above, below = best[0], best[1], best[2], best[3]
    before = narrow * slack
    for j in range(LANES):
        dx, dy, dz = ox[j] - px, oy[j] - py, oz[j] - pz
        flat = dx * dx + dy * dy
        along = dx * nx + dy * ny + dz * nz
        depth, rise = abs(along), abs(dz)
        reach, column = slack + wide * depth, slack + narrow * rise
        facing = nx * ux[j] + ny * uy[j] + nz * uz[j] < turned
        met = depth if facing & (flat + dz * dz - along * along < reach * reach) else far
        behind, ahead = met if along < zero else far, met if along > before else far
        thick[j] = behind if behind < thick[j] else thick[j]
        clear[j] = ahead if ahead < clear[j] else clear[j]
        met = rise if flat < column * column else far
        over, under = met if dz > slack else far, met if dz < -slack else far
        above[j] = over if over < above[j] else above[j]
        below[j] = under if under < below[j] else below[j]


@njit(cache=True, fastmath=True, error_model="numpy", inline="always")
def _walls(point, others, other_normals, slack, walls):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Lower (8, LANES) ``walls``: squared distances to what stands at a point's height and turns its face to it."""
    one = point.dtype.type(1.0)
    zero, far, wider = one * 0, one * FAR * FAR, one * 0.1225
    px, py, pz = point[0], point[1], point[2]
    (ox, oy, oz), (ux, uy) = others, other_normals
    w0, w1, w2, w3 = walls[0], walls[1], walls[2], walls[3]
    w4, w5, w6, w7 = walls[4], walls[5], walls[6], walls[7]
    for j in range(LANES):
        dx, dy = ox[j] - px, oy[j] - py
        flat = dx * dx + dy * dy
        over = max(abs(oz[j] - pz) - slack, zero)
        stands = (dx * ux[j] + dy * uy[j] < zero) & (flat > slack * slack) & (over * over < wider * flat)
        met = flat if stands else far
        right, left = met if dx > zero else far, far if dx > zero else met
        steep = abs(dx) > abs(dy)
        a, b = right if dy > zero else far, far if dy > zero else right
        c, d = left if dy > zero else far, far if dy > zero else left
        a_steep, b_steep, c_steep, d_steep = (
            a if steep else far,
            b if steep else far,
            c if steep else far,
            d if steep else far,
        )
        a, b, c, d = far if steep else a, far if steep else b, far if steep else c, far if steep else d
        w0[j] = a if a < w0[j] else w0[j]
        w1[j] = b if b < w1[j] else w1[j]
        w2[j] = c if c < w2[j] else w2[j]
        w3[j] = d if d < w3[j] else w3[j]
        w4[j] = a_steep if a_steep < w4[j] else w4[j]
        w5[j] = b_steep if b_steep < w5[j] else w5[j]
        w6[j] = c_steep if c_steep < w6[j] else w6[j]
        w7[j] = d_steep if d_steep < w7[j] else w7[j]
