"""RRT-Connect from a set of starts to a set of goals (Kuffner and LaValle 2000)."""

from __future__ import annotations

import math

import numpy as np

from armwright.planning._arrays import Scene
from armwright.planning._jit import F32, I32, U64, kernel, pure_kernel
from armwright.planning.kernels_check import is_free, new_scratch
from armwright.planning.kernels_edges import edge_free, path_free, shortcut
from armwright.planning.kernels_frames import copy_row
from armwright.planning.kernels_random import uniform

# How far one tree grows towards a sample [rad]; longer edges fail more often, shorter ones need more of them.
STEP_RAD = 1.0
# Straight lines tried before any tree is grown.
DIRECT_TRIES = 8
# Share of samples from the box around starts and goals instead of the whole joint range, and that box's margin. Joints
# with a range of two turns would otherwise waste most samples.
NEAR_SHARE = 0.95
NEAR_MARGIN_RAD = 1.2


@pure_kernel
def _nearest(nodes: F32, count: int, q: F32) -> tuple[int, float]:
    best = np.float32(1e30)
    index = 0
    for i in range(count):
        total = np.float32(0.0)
        for j in range(q.shape[0]):
            d = nodes[i, j] - q[j]
            total += d * d
        if total < best:
            best = total
            index = i
    return index, math.sqrt(best)


@kernel
def _join(nodes: F32, parent: I32, tree_from: int, node_from: int, node_to: int) -> tuple[F32, int, int]:
    """Return the path from start to goal through a meeting point, and the two roots' indices."""
    tree_to = 1 - tree_from
    before = 0
    node = node_from
    root_from = node
    while node >= 0:
        before += 1
        root_from = node
        node = parent[tree_from, node]
    after = 0
    node = node_to
    root_to = node
    while node >= 0:
        after += 1
        root_to = node
        node = parent[tree_to, node]
    # The meeting point is in both trees.
    path = np.empty((before + after - 1, nodes.shape[2]), np.float32)
    node = node_from
    k = before - 1
    while node >= 0:
        copy_row(nodes[tree_from, node], path[k])
        k -= 1
        node = parent[tree_from, node]
    node = parent[tree_to, node_to]
    k = before
    while node >= 0:
        copy_row(nodes[tree_to, node], path[k])
        k += 1
        node = parent[tree_to, node]
    if tree_from == 1:
        back = np.empty_like(path)
        for i in range(path.shape[0]):
            copy_row(path[i], back[path.shape[0] - 1 - i])
        return back, root_to, root_from
    return path, root_from, root_to


@kernel
def connect_sets(
    scene: Scene,
    starts: F32,
    goals: F32,
    resolution: float,
    max_iterations: int,
    state: U64,
) -> tuple[F32, int, int]:
    """Return a path (w, n) from any of starts (s, n) to any of goals (g, n), the goal's index, and iterations.

    Goals are tried in their order, so put the nearest first. The path is empty when none was found; then the index is
    -1 (no path), -2 (no start is free) or -3 (no goal is free).
    """
    n = starts.shape[1]
    scratch = new_scratch(n)
    nothing = np.empty((0, n), np.float32)
    roots = max(starts.shape[0], goals.shape[0])
    capacity = roots + 64 + max_iterations * 6
    nodes = np.empty((2, capacity, n), np.float32)
    parent = np.empty((2, capacity), np.int32)
    count = np.empty(2, np.int64)
    count[0] = 0
    count[1] = 0
    which = np.empty((2, roots), np.int32)
    for tree in range(2):
        given = starts if tree == 0 else goals
        for i in range(given.shape[0]):
            if is_free(scene, given[i], scratch):
                copy_row(given[i], nodes[tree, count[tree]])
                parent[tree, count[tree]] = -1
                which[tree, count[tree]] = i
                count[tree] += 1
    if count[0] == 0:
        return nothing, -2, 0
    if count[1] == 0:
        return nothing, -3, 0
    tries = 0
    for j in range(count[1]):
        for i in range(count[0]):
            tries += 1
            if tries <= DIRECT_TRIES and edge_free(scene, nodes[0, i], nodes[1, j], resolution, scratch):
                path = np.empty((2, n), np.float32)
                copy_row(nodes[0, i], path[0])
                copy_row(nodes[1, j], path[1])
                return path, which[1, j], 0
    low = np.empty(n, np.float32)
    high = np.empty(n, np.float32)
    for j in range(n):
        low[j] = nodes[0, 0, j]
        high[j] = low[j]
        for tree in range(2):
            for i in range(count[tree]):
                low[j] = min(low[j], nodes[tree, i, j])
                high[j] = max(high[j], nodes[tree, i, j])
        low[j] = max(scene.robot.limit[0, j], low[j] - np.float32(NEAR_MARGIN_RAD))
        high[j] = min(scene.robot.limit[1, j], high[j] + np.float32(NEAR_MARGIN_RAD))
    sample = np.empty(n, np.float32)
    grown = np.empty(n, np.float32)
    for iteration in range(max_iterations):
        if max(count[0], count[1]) >= capacity - 64:
            break
        tree = 0 if count[0] <= count[1] else 1
        other = 1 - tree
        near = uniform(state) < NEAR_SHARE
        for j in range(n):
            lo = low[j] if near else scene.robot.limit[0, j]
            hi = high[j] if near else scene.robot.limit[1, j]
            sample[j] = lo + np.float32(uniform(state)) * (hi - lo)
        base, gap = _nearest(nodes[tree], count[tree], sample)
        part = np.float32(min(1.0, STEP_RAD / max(gap, 1e-6)))
        for j in range(n):
            grown[j] = nodes[tree, base, j] + part * (sample[j] - nodes[tree, base, j])
        if not edge_free(scene, nodes[tree, base], grown, resolution, scratch):
            continue
        tip = count[tree]
        copy_row(grown, nodes[tree, tip])
        parent[tree, tip] = base
        count[tree] += 1
        root, gap = _nearest(nodes[other], count[other], grown)
        pieces = max(1, math.ceil(gap / STEP_RAD))
        last = root
        met = True
        for k in range(1, pieces + 1):
            part = np.float32(k) / np.float32(pieces)
            for j in range(n):
                sample[j] = nodes[other, root, j] + part * (grown[j] - nodes[other, root, j])
            if k == pieces:
                copy_row(grown, sample)
            if count[other] >= capacity or not edge_free(scene, nodes[other, last], sample, resolution, scratch):
                met = False
                break
            copy_row(sample, nodes[other, count[other]])
            parent[other, count[other]] = last
            last = count[other]
            count[other] += 1
        if met:
            path, _, goal = _join(nodes, parent, tree, tip, last)
            return path, which[1, goal], iteration + 1
    return nothing, -1, max_iterations


@kernel
def plan_path(
    scene: Scene,
    starts: F32,
    goals: F32,
    resolution: float,
    fine: float,
    max_iterations: int,
    tries: int,
    state: U64,
) -> tuple[F32, int, int]:
    """Plan, shorten at resolution ``fine`` [rad], and check the result at that; plan at ``fine`` too if it fails.

    Returns what `connect_sets` does. A cut's ends lie between the samples of checked edges, hence the last check.
    """
    path, goal, iterations = connect_sets(scene, starts, goals, resolution, max_iterations, state)
    if goal < 0:
        return path, goal, iterations
    short = shortcut(scene, path, fine, tries, state)
    if path_free(scene, short, fine):
        return short, goal, iterations
    if path_free(scene, path, fine):
        return path, goal, iterations
    path, goal, more = connect_sets(scene, starts, goals, fine, max(max_iterations - iterations, 50), state)
    if goal >= 0:
        short = shortcut(scene, path, fine, tries, state)
        if path_free(scene, short, fine):
            path = short
    return path, goal, iterations + more
