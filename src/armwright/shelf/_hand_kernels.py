"""Compiled: where a hand, as spheres, meets boxes, for many ways of holding and many places."""

from __future__ import annotations

import numpy as np
from numba import njit

CLEAR, OBJECT, STRUCTURE = range(3)


@njit(cache=True, fastmath=True)
def meets(turn, offset, gap, ball, radius, place, low, high, structure):  # type: ignore[no-untyped-def]
    """Look at every way of holding at every place, all in the frame of the boxes.

    Args:
        turn, offset: (w, 3, 3) and (w, 3) tool frames, where the target's place is the origin.
        gap: (w,) int, which opening of the hand.
        ball, radius: (k, s, 3) and (k, s) its spheres in the tool frame at each opening [m].
        place: (p, 3) places [m].
        low, high: (b, 3) boxes [m].
        structure: (b,) bool, whether a box is a part of the shelf, else it is a thing.

    Returns:
        (w, p) int: clear, meets an object, meets the shelf.
    """
    ways, places, spheres, boxes = len(turn), len(place), ball.shape[1], len(low)
    out = np.zeros((ways, places), np.int8)
    centre = np.empty((spheres, 3))
    near = np.empty(boxes, np.int64)
    for w in range(ways):
        size = radius[gap[w]]
        least, most = np.full(3, 1e9), np.full(3, -1e9)
        for s in range(spheres):
            for k in range(3):
                b = ball[gap[w], s]
                v = offset[w, k] + turn[w, k, 0] * b[0] + turn[w, k, 1] * b[1] + turn[w, k, 2] * b[2]
                centre[s, k] = v
                least[k] = min(least[k], v - size[s])
                most[k] = max(most[k], v + size[s])
        for p in range(places):
            count = 0
            for b in range(boxes):
                apart = False
                for k in range(3):
                    if most[k] + place[p, k] < low[b, k] or least[k] + place[p, k] > high[b, k]:
                        apart = True
                        break
                if not apart:
                    near[count] = b
                    count += 1
            for i in range(count):
                b = near[i]
                if out[w, p] == STRUCTURE:
                    break
                for s in range(spheres):
                    gap2 = 0.0
                    for k in range(3):
                        v = centre[s, k] + place[p, k]
                        away = max(low[b, k] - v, 0.0, v - high[b, k])
                        gap2 += away * away
                    if gap2 < size[s] * size[s]:
                        out[w, p] = STRUCTURE if structure[b] else OBJECT
                        break
    return out
