"""From the boundary network's answers to instances: mutex watershed at half the resolution, then edges at the full one.

The mutex watershed (Wolf et al., "The Mutex Watershed", ECCV 2018) takes all statements "these two pixels belong
together" and "these two must not" in the order of their strength, and obeys each that contradicts none before it. One
leaking pixel therefore does not merge two boxes that many pixels say are two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armwright.perception._jit import F32, I32, kernel

OFFSETS = ((0, 1), (1, 0), (0, 5), (5, 0), (5, 5), (5, -5), (0, 14), (14, 0), (10, 10), (10, -10))
"""(rows, columns) between the pixels of a pair, at half the resolution; the first two are neighbours."""
NEIGHBOURS = 2
LEVELS = 256
_RANGE = 8.0
_OFFSETS = np.array(OFFSETS, np.int64)


def decode(fine: F32, coarse: F32, *, smallest_px: int, weakest: float, mutual: float) -> tuple[I32, F32]:
    """Return the label image (H, W), 0 background, and each label's confidence (labels + 1,).

    Args:
        fine: (3, H, W) logits: foreground; one object with the next pixel to the right; with that below.
        coarse: (len(OFFSETS), H / 2, W / 2) logits of one object with the pixel at each offset.
        smallest_px: Objects of fewer pixels are dropped.
        weakest: Logit of neighbours below which they do not attract each other.
        mutual: Distant pairs repel each other below this logit.
    """
    labels = np.zeros(coarse.shape[1:], np.int32)
    _watershed(fine[0], coarse, _OFFSETS, weakest, mutual, labels)
    out = np.zeros(fine.shape[1:], np.int32)
    _sharpen(fine, labels, out)
    count = int(labels.max()) if labels.size else 0
    renumber, confidence = _judge(fine[0], coarse, out, count, smallest_px)
    return renumber[out].astype(np.int32), confidence


@kernel
def _root(parent: I32, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def _level(logit: float) -> int:
    """Return the place of a statement in the order of strength, strongest first."""
    k = int((_RANGE - logit) * ((LEVELS - 1) / (2 * _RANGE)))
    return min(max(k, 0), LEVELS - 1)


@kernel
def _watershed(front: F32, coarse: F32, offsets: NDArray[np.int64], weakest: float, mutual: float, labels: I32) -> None:
    height, width = labels.shape
    size = height * width
    there = np.zeros((height, width), np.bool_)
    for y in range(height):
        for x in range(width):
            mean = front[2 * y, 2 * x] + front[2 * y, 2 * x + 1] + front[2 * y + 1, 2 * x] + front[2 * y + 1, 2 * x + 1]
            there[y, x] = mean > 0
    start = np.zeros(LEVELS + 1, np.int64)
    # Two passes: count the statements of each strength, then put them in order.
    places = np.zeros(0, np.int32)
    kinds = np.zeros(0, np.int8)
    for turn in range(2):
        if turn == 1:
            total = 0
            for k in range(LEVELS + 1):
                count = start[k]
                start[k] = total
                total += count
            places, kinds = np.empty(total, np.int32), np.empty(total, np.int8)
        for k in range(offsets.shape[0]):
            dy, dx = offsets[k, 0], offsets[k, 1]
            step = 1 if k < NEIGHBOURS else 2
            for y in range(0, height - dy, step):
                for x in range(max(-dx, 0), width - max(dx, 0), step):
                    if not there[y, x] or not there[y + dy, x + dx]:
                        continue
                    logit = coarse[k, y, x]
                    if k < NEIGHBOURS:
                        if logit < weakest:
                            continue
                        level = _level(logit)
                    else:
                        if logit > mutual:
                            continue
                        level = _level(-logit)
                    if turn == 0:
                        start[level] += 1
                    else:
                        places[start[level]] = y * width + x
                        kinds[start[level]] = k
                        start[level] += 1
    parent = np.arange(size).astype(np.int32)
    # The mutexes of a cluster are a linked list of places in the other clusters.
    head, tail, length = np.full(size, -1, np.int32), np.full(size, -1, np.int32), np.zeros(size, np.int32)
    other = np.empty(2 * len(places) + 1, np.int32)
    following = np.empty(2 * len(places) + 1, np.int32)
    used = 0
    for i in range(len(places)):
        k = kinds[i]
        a = _root(parent, places[i])
        b = _root(parent, places[i] + offsets[k, 0] * width + offsets[k, 1])
        if a == b:
            continue
        if length[a] > length[b]:
            a, b = b, a
        apart = False
        node = head[a]
        while node >= 0:
            if _root(parent, other[node]) == b:
                apart = True
                break
            node = following[node]
        if apart:
            continue
        if k < NEIGHBOURS:
            parent[a] = b
            if length[a] > 0:
                if length[b] == 0:
                    head[b] = head[a]
                else:
                    following[tail[b]] = head[a]
                tail[b] = tail[a]
                length[b] += length[a]
        else:
            for one, two in ((a, b), (b, a)):
                other[used] = two
                following[used] = -1
                if length[one] == 0:
                    head[one] = used
                else:
                    following[tail[one]] = used
                tail[one] = used
                length[one] += 1
                used += 1
    pixels = np.zeros(size, np.int32)
    for y in range(height):
        for x in range(width):
            if there[y, x]:
                pixels[_root(parent, y * width + x)] += 1
    number = np.zeros(size, np.int32)
    count = 0
    for y in range(height):
        for x in range(width):
            if there[y, x]:
                root = _root(parent, y * width + x)
                # Crumbs are left to what surrounds them.
                if pixels[root] >= 12:
                    if number[root] == 0:
                        count += 1
                        number[root] = count
                    labels[y, x] = number[root]


@kernel
def _sharpen(fine: F32, labels: I32, out: I32) -> None:
    """Carry labels to the full resolution: pixels near two labels or none join the neighbour they stick to."""
    height, width = out.shape
    size = height * width
    loose = np.zeros((height, width), np.bool_)
    for y in range(height):
        i = y // 2
        for x in range(width):
            if fine[0, y, x] <= 0:
                continue
            j = x // 2
            own = labels[i, j]
            sure = own > 0
            for v in range(max(i - 1, 0), min(i + 2, labels.shape[0])):
                for u in range(max(j - 1, 0), min(j + 2, labels.shape[1])):
                    if labels[v, u] > 0 and labels[v, u] != own:
                        sure = False
            if sure:
                out[y, x] = own
            else:
                loose[y, x] = True
    start = np.zeros(LEVELS + 1, np.int64)
    places, kinds = np.zeros(0, np.int32), np.zeros(0, np.int8)
    for turn in range(2):
        if turn == 1:
            total = 0
            for k in range(LEVELS + 1):
                count = start[k]
                start[k] = total
                total += count
            places, kinds = np.empty(total, np.int32), np.empty(total, np.int8)
        for y in range(height):
            for x in range(width):
                for k in range(2):
                    v, u = y + k, x + 1 - k
                    if v >= height or u >= width or not (loose[y, x] or loose[v, u]):
                        continue
                    if fine[0, y, x] <= 0 or fine[0, v, u] <= 0:
                        continue
                    level = _level(fine[1 + k, y, x])
                    if turn == 0:
                        start[level] += 1
                    else:
                        places[start[level]] = y * width + x
                        kinds[start[level]] = k
                        start[level] += 1
    parent = np.arange(size).astype(np.int32)
    named = out.copy().reshape(-1)
    for i in range(len(places)):
        a = _root(parent, places[i])
        b = _root(parent, places[i] + (1 if kinds[i] == 0 else width))
        if a == b or (named[a] > 0 and named[b] > 0):
            continue
        parent[a] = b
        named[b] = max(named[a], named[b])
    for y in range(height):
        for x in range(width):
            if loose[y, x]:
                out[y, x] = named[_root(parent, y * width + x)]


@kernel
def _judge(front: F32, coarse: F32, labels: I32, count: int, smallest: int) -> tuple[I32, F32]:
    """Return new numbers without the small ones, and confidences: mean foreground times mean cohesion."""
    pixels, there = np.zeros(count + 1), np.zeros(count + 1)
    pairs, held = np.zeros(count + 1), np.zeros(count + 1)
    for y in range(labels.shape[0]):
        for x in range(labels.shape[1]):
            k = labels[y, x]
            if k == 0:
                continue
            pixels[k] += 1
            if y % 2 == 0 and x % 2 == 0:
                there[k] += 1 / (1 + np.exp(-front[y, x]))
                pairs[k] += 1
                held[k] += 1 / (1 + np.exp(-min(coarse[0, y // 2, x // 2], coarse[1, y // 2, x // 2])))
    renumber = np.zeros(count + 1, np.int32)
    confidence = np.zeros(count + 1, np.float32)
    kept = 0
    for k in range(1, count + 1):
        if pixels[k] >= smallest and pairs[k] > 0:
            kept += 1
            renumber[k] = kept
            confidence[kept] = there[k] / pairs[k] * (held[k] / pairs[k])
    return renumber, confidence[: kept + 1]
