"""Straight joint-space edges and way-point paths: free, how long, shorter."""

from __future__ import annotations

import math

import numpy as np

from armwright.planning._arrays import QUEUE, Scene, Scratch
from armwright.planning._jit import F32, U64, Flags, kernel, pure_kernel
from armwright.planning.kernels_check import is_free, new_scratch
from armwright.planning.kernels_frames import copy_row
from armwright.planning.kernels_random import uniform
from armwright.planning.kernels_sweep import NONE, all_bits, sweep, travel_bounds

# Proofs are tried within this distance of a configuration; farther ones mostly fail [rad].
PROOF_RAD = np.float32(0.08)
# Cuts that fail in a row before shortening is given up.
IDLE_CUTS = 10


@pure_kernel
def _stepwise(scene: Scene, a: F32, b: F32, steps: int, scratch: Scratch) -> bool:
    """Tell whether every step of an edge is free, one after the other."""
    q = scratch.q
    for i in range(1, steps):
        t = np.float32(i) / np.float32(steps)
        for j in range(a.shape[0]):
            q[j] = a[j] + t * (b[j] - a[j])
        if not is_free(scene, q, scratch):
            return False
    return True


@pure_kernel
def edge_free(
    scene: Scene,
    a: F32,
    b: F32,
    resolution: float,
    scratch: Scratch,
) -> bool:
    """Tell whether the edge from ``a`` (taken to be free) to ``b`` is free at ``resolution`` [rad] of any joint.

    The end comes first, then halves, quarters, and so on: an edge that fails fails early. Of a stretch only those
    bodies are looked at again that might come as far as what they could touch.
    """
    n = a.shape[0]
    q = scratch.q
    longest = np.float32(0.0)
    for j in range(n):
        longest = max(longest, abs(b[j] - a[j]))
    steps = max(1, math.ceil(longest / resolution))
    if not is_free(scene, b, scratch):
        return False
    if steps < 2:
        return True
    travel_bounds(scene.robot, a, b, scratch.travel)
    stretch = scratch.stretch
    mask = scratch.mask
    stretch[0, 0] = 1
    stretch[0, 1] = steps
    mask[0, 0] = all_bits(n + 3)
    mask[0, 1] = all_bits(scene.robot.pair.shape[0])
    head = 0
    waiting = 1
    while waiting > 0:
        first = stretch[head, 0]
        last = stretch[head, 1]
        bodies = mask[head, 0]
        pairs = mask[head, 1]
        head = (head + 1) % QUEUE
        waiting -= 1
        middle = (first + last) // 2
        t = np.float32(middle) / np.float32(steps)
        for j in range(n):
            q[j] = a[j] + t * (b[j] - a[j])
        half = np.float32(np.float32(max(middle - first, last - 1 - middle)) / np.float32(steps))
        if half * longest > PROOF_RAD:
            # Too far for a proof: the look is only to find a collision early.
            if not is_free(scene, q, scratch):
                return False
        else:
            free, bodies, pairs = sweep(scene, a, b, half, bodies, pairs, scratch)
            if not free:
                return False
        if bodies == NONE and pairs == NONE:
            continue
        for side in range(2):
            low = first if side == 0 else middle + 1
            high = middle if side == 0 else last
            if low < high:
                if waiting == QUEUE:
                    return _stepwise(scene, a, b, steps, scratch)
                tail = (head + waiting) % QUEUE
                stretch[tail, 0] = low
                stretch[tail, 1] = high
                mask[tail, 0] = bodies
                mask[tail, 1] = pairs
                waiting += 1
    return True


@kernel
def check_edge_batch(scene: Scene, a: F32, b: F32, resolution: float, out: Flags) -> None:
    """Fill out (e,): True where the edge from a (e, n) to b (e, n), both ends included, is free."""
    n = a.shape[1]
    scratch = new_scratch(n)
    for e in range(a.shape[0]):
        out[e] = is_free(scene, a[e], scratch) and edge_free(scene, a[e], b[e], resolution, scratch)


@kernel
def path_free(scene: Scene, path: F32, resolution: float) -> bool:
    """Tell whether every edge of path (w, n) is free; its first way point is taken to be."""
    n = path.shape[1]
    scratch = new_scratch(n)
    free = True
    i = 0
    while free and i < path.shape[0] - 1:
        free = edge_free(scene, path[i], path[i + 1], resolution, scratch)
        i += 1
    return free


@pure_kernel
def distance(a: F32, b: F32) -> float:
    """Return the Euclidean distance [rad] of two configurations."""
    total = 0.0
    for j in range(a.shape[0]):
        d = a[j] - b[j]
        total += d * d
    return math.sqrt(total)


@pure_kernel
def path_length(path: F32) -> float:
    """Return the joint-space arc length [rad] of path (w, n)."""
    total = 0.0
    for i in range(path.shape[0] - 1):
        total += distance(path[i], path[i + 1])
    return total


@kernel
def shortcut(
    scene: Scene,
    path: F32,
    resolution: float,
    tries: int,
    state: U64,
) -> F32:
    """Return a path that is never longer: needless way points dropped, then at most ``tries`` random cuts.

    ``state`` (1,) uint64 is the random state.
    """
    n = path.shape[1]
    scratch = new_scratch(n)
    size = path.shape[0]
    points = np.empty((size + 2 * tries + 2, n), np.float32)
    for i in range(size):
        copy_row(path[i], points[i])
    i = 0
    while i < size - 2:
        for j in range(size - 1, i + 1, -1):
            if edge_free(scene, points[i], points[j], resolution, scratch):
                for k in range(j, size):
                    copy_row(points[k], points[i + 1 + k - j])
                size -= j - i - 1
                break
        i += 1
    along = np.empty(points.shape[0], np.float64)
    a = np.empty(n, np.float32)
    b = np.empty(n, np.float32)
    idle = 0
    for _ in range(tries):
        if size < 3 or idle >= IDLE_CUTS:
            break
        idle += 1
        along[0] = 0.0
        for k in range(1, size):
            along[k] = along[k - 1] + distance(points[k], points[k - 1])
        total = along[size - 1]
        u = uniform(state) * total
        v = uniform(state) * total
        if u > v:
            u, v = v, u
        i = 0
        while i < size - 2 and along[i + 1] < u:
            i += 1
        k = i
        while k < size - 2 and along[k + 1] < v:
            k += 1
        if k == i:
            continue
        tu = (u - along[i]) / max(along[i + 1] - along[i], 1e-9)
        tv = (v - along[k]) / max(along[k + 1] - along[k], 1e-9)
        for j in range(n):
            a[j] = points[i, j] + tu * (points[i + 1, j] - points[i, j])
            b[j] = points[k, j] + tv * (points[k + 1, j] - points[k, j])
        if v - u - distance(a, b) < 0.01 * total:
            continue
        if edge_free(scene, a, b, resolution, scratch):
            removed = k - i
            if removed >= 2:
                for t in range(k + 1, size):
                    copy_row(points[t], points[t + 2 - removed])
            else:
                for t in range(size - 1, k, -1):
                    copy_row(points[t], points[t + 1])
            copy_row(a, points[i + 1])
            copy_row(b, points[i + 2])
            size += 2 - removed
            idle = 0
    out = np.empty((size, n), np.float32)
    for i in range(size):
        copy_row(points[i], out[i])
    return out
