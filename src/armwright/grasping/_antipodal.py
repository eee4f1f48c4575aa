"""Compiled search for antipodal pairs of surface points, and suppression of near-equal grasps."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_THINNEST_M = 0.002


@njit(cache=True, fastmath=True)
def antipodal_pairs(points, normals, seeds, directions, widest, radius, cos_cone):  # type: ignore[no-untyped-def]
    """Find for every ray into the object the surface points that oppose its start inside the friction cone.

    Args:
        points, normals: (n, 3) cloud and outward normals.
        seeds: (m,) int, where the rays start.
        directions: (m, 3) unit, into the object.
        widest: Longest pair [m].
        radius: How far beside the ray a point may lie [m].
        cos_cone: Cosine of the friction cone's half angle.

    Returns:
        ``other`` (m, 2) int, the nearest and the farthest opposing point, -1 for none; the same where one is all.
    """
    m = len(seeds)
    n = len(points)
    other = np.full((m, 2), -1, np.int64)
    r2 = radius * radius
    for k in range(m):
        i = seeds[k]
        ox, oy, oz = points[i, 0], points[i, 1], points[i, 2]
        dx, dy, dz = directions[k, 0], directions[k, 1], directions[k, 2]
        near_t = 1e9
        far_t = -1.0
        for j in range(n):
            vx = points[j, 0] - ox
            vy = points[j, 1] - oy
            vz = points[j, 2] - oz
            t = vx * dx + vy * dy + vz * dz
            if t < _THINNEST_M or t > widest:
                continue
            if vx * vx + vy * vy + vz * vz - t * t > r2:
                continue
            if normals[j, 0] * dx + normals[j, 1] * dy + normals[j, 2] * dz < cos_cone:
                continue
            if t < near_t:
                near_t = t
                other[k, 0] = j
            if t > far_t:
                far_t = t
                other[k, 1] = j
    return other


@njit(cache=True, fastmath=True)
def distinct(positions, rotations, distance, cos_angle, most):  # type: ignore[no-untyped-def]
    """Return up to ``most`` rows, best first, none near an earlier one in both place and orientation.

    A hand turned by half about its approach counts as the same.

    Args:
        positions, rotations: (f, 3) and (f, 3, 3), best first.
        distance: Closer than this [m] is near.
        cos_angle: Approach and closing axes that both agree better than this are near.
        most: How many to return at most.
    """
    kept = np.empty(min(most, len(positions)), np.int64)
    count = 0
    for i in range(len(positions)):
        if count >= most:
            break
        near = False
        for c in range(count):
            j = kept[c]
            dx = positions[i, 0] - positions[j, 0]
            dy = positions[i, 1] - positions[j, 1]
            dz = positions[i, 2] - positions[j, 2]
            if math.sqrt(dx * dx + dy * dy + dz * dz) > distance:
                continue
            approach = 0.0
            closing = 0.0
            for a in range(3):
                approach += rotations[i, a, 2] * rotations[j, a, 2]
                closing += rotations[i, a, 1] * rotations[j, a, 1]
            if approach > cos_angle and abs(closing) > cos_angle:
                near = True
                break
        if not near:
            kept[count] = i
            count += 1
    return kept[:count]
