"""Compiled: what the pads of each candidate hand touch of a target's surface points, and what else is in the way."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

OK, NOTHING, WIDE, FINGER, PALM = range(5)
WIDTH, MIDDLE, COSINE, OFF_X, OFF_Z, TOUCHED = range(6)
COLUMNS = 6

_FACING = 0.3
_PATCH_M = 0.0025
_FEW = 3


@njit(cache=True, fastmath=True)
def touch(  # type: ignore[no-untyped-def]
    points, normals, place, turn, half_x, half_z, depth, palm_depth, palm_x, palm_y, thick, widest, slack, margin
):
    """Look at each hand with its pads closed on what is between them.

    Args:
        points, normals: (p, 3) surface of the target.
        place, turn: (n, 3) and (n, 3, 3) pads' middles and frames (binormal, closing axis, approach).
        half_x, half_z: Half extents of a pad.
        depth, thick: How far fingers reach beyond the pads' middle, and their thickness.
        palm_depth, palm_x, palm_y: Where the palm begins behind the pads' middle, and its half extents.
        widest, slack: The widest opening, and what is kept on each side on the way in.
        margin: Within this nothing counts as in the way.

    Returns:
        ``reason`` (n,) int, and (n, 6) width, middle along the closing axis, least cosine of the contact normals, the
        farther patch's middle in half pads across and along, points touched on the worse side.
    """
    count = len(place)
    reason = np.zeros(count, np.int64)
    out = np.zeros((count, COLUMNS))
    n = len(points)
    x, y, z, f = np.empty(n), np.empty(n), np.empty(n), np.empty((n, 3))
    sums = np.zeros((2, 6))
    for c in range(count):
        o, r = place[c], turn[c]
        high, low = -1e9, 1e9
        near = 0
        for i in range(n):
            dx, dy, dz = points[i, 0] - o[0], points[i, 1] - o[1], points[i, 2] - o[2]
            pz = dx * r[0, 2] + dy * r[1, 2] + dz * r[2, 2]
            if pz > depth + margin:
                continue
            px = dx * r[0, 0] + dy * r[1, 0] + dz * r[2, 0]
            if abs(px) > palm_x:
                continue
            py = dx * r[0, 1] + dy * r[1, 1] + dz * r[2, 1]
            x[near], y[near], z[near] = px, py, pz
            for k in range(3):
                f[near, k] = normals[i, 0] * r[0, k] + normals[i, 1] * r[1, k] + normals[i, 2] * r[2, k]
            if abs(px) <= half_x and abs(pz) <= half_z:
                if f[near, 1] > _FACING:
                    high = max(high, py)
                elif f[near, 1] < -_FACING:
                    low = min(low, py)
            near += 1
        if high < -1e8 or low > 1e8 or high <= low:
            reason[c] = NOTHING
            continue
        width, middle = high - low, 0.5 * (high + low)
        out[c, WIDTH], out[c, MIDDLE] = width, middle
        if width > widest - slack:
            reason[c] = WIDE
            continue
        inner = 0.5 * width + margin
        outer = 0.5 * min(width + 2 * slack, widest) + thick
        sums[:] = 0.0
        for i in range(near):
            py = y[i] - middle
            if z[i] < -palm_depth + margin and abs(py) < palm_y:
                reason[c] = PALM
                break
            if abs(x[i]) <= half_x + margin and inner < abs(py) < outer:
                reason[c] = FINGER
                break
            if abs(x[i]) > half_x or abs(z[i]) > half_z or abs(py) < 0.5 * width - _PATCH_M:
                continue
            side, sign = (1, 1.0) if py > 0 else (0, -1.0)
            if sign * f[i, 1] <= _FACING:
                continue
            sums[side, 0] += 1.0
            sums[side, 1] += f[i, 0]
            sums[side, 2] += sign * f[i, 1]
            sums[side, 3] += f[i, 2]
            sums[side, 4] += x[i]
            sums[side, 5] += z[i]
        if reason[c] != OK:
            continue
        if min(sums[0, 0], sums[1, 0]) < _FEW:
            reason[c] = NOTHING
            continue
        cosine = 1.0
        for side in range(2):
            s = sums[side]
            cosine = min(cosine, s[2] / max(math.sqrt(s[1] ** 2 + s[2] ** 2 + s[3] ** 2), 1e-12))
            out[c, OFF_X] = max(out[c, OFF_X], abs(s[4] / s[0]) / half_x)
            out[c, OFF_Z] = max(out[c, OFF_Z], abs(s[5] / s[0]) / half_z)
        out[c, COSINE] = cosine
        out[c, TOUCHED] = min(sums[0, 0], sums[1, 0])
    return reason, out
