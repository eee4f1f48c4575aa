"""Candidates through every stage: IK, filter, straight approach, plan, shortcut (AffordSim §3.2, stage 2)."""

from __future__ import annotations

import numpy as np

from armwright.planning._arrays import Scene, Scratch
from armwright.planning._jit import F32, F64, I64, U64, kernel
from armwright.planning.kernels_check import is_free, new_scratch
from armwright.planning.kernels_edges import edge_free, path_length
from armwright.planning.kernels_frames import copy_row
from armwright.planning.kernels_ik import ArmChain, IkScratch, new_ik_scratch, solve_many, track_line
from armwright.planning.kernels_tree import plan_path

# How far a candidate got; the furthest of its branches counts.
STAGE_IK = 0
STAGE_GOAL = 1
STAGE_LINE = 2
STAGE_APPROACH = 3
STAGE_PREGRASP = 4
STAGE_PATH = 5
# Solutions of inverse kinematics that are looked at per target.
MAX_BRANCHES = 8
SEED_STRIDE = 7919


@kernel
def line_free(scene: Scene, line: F64, count: int, resolution: float, scratch: Scratch) -> int:
    """Return the first way point of line (w, n), up to ``count``, whose edge from the one before touches; -1 if none.

    The first way point is taken to be free.
    """
    n = line.shape[1]
    a = np.empty(n, np.float32)
    b = np.empty(n, np.float32)
    copy_row(line[0], b)
    for i in range(1, count):
        copy_row(b, a)
        copy_row(line[i], b)
        if not edge_free(scene, a, b, resolution, scratch):
            return i
    return -1


@kernel
def approach_branches(
    chain: ArmChain,
    contact: Scene,
    clear: Scene,
    target: F64,
    retreat: F64,
    given: F64,
    random_seeds: int,
    resolution: float,
    max_joint_step: float,
    solutions: F64,
    best: F64,
    error: F64,
    lines: F64,
    state: U64,
    scratch: Scratch,
    ik_scratch: IkScratch,
) -> tuple[int, int]:
    """Find configurations at target (4, 4) that can be reached along a straight line from target + retreat (3,) [m].

    The end and the line are checked in ``contact`` (targets ignored), the line's far end in ``clear``. Fills
    lines (k, w, n), each from the far end to the target, nearest to given[0] first. Returns their number and the stage
    that the best branch reached; ``solutions`` (s, n), ``best`` (n,) and ``error`` (2,) are as in `solve_many`.
    """
    n = given.shape[1]
    count = solve_many(chain, target, given, random_seeds, given[0], solutions, best, error, state, ik_scratch)
    stage = STAGE_IK
    found = 0
    q = np.empty(n, np.float32)
    far = np.empty((3, 4))
    for i in range(3):
        copy_row(target[i], far[i])
        far[i, 3] += retreat[i]
    steps = lines.shape[1]
    line = np.empty((steps, n))
    for s in range(count):
        copy_row(solutions[s], q)
        if not is_free(contact, q, scratch):
            if stage < STAGE_GOAL:
                stage = STAGE_GOAL
                copy_row(solutions[s], best)
            continue
        reached, _ = track_line(chain, solutions[s], far, max_joint_step, line, ik_scratch)
        if reached < steps:
            stage = max(stage, STAGE_LINE)
            continue
        copy_row(line[steps - 1], q)
        if not is_free(clear, q, scratch):
            if stage < STAGE_PREGRASP:
                stage = STAGE_PREGRASP
                copy_row(line[steps - 1], best)
            continue
        blocked = line_free(contact, line, steps, resolution, scratch)
        if blocked >= 0:
            if stage < STAGE_APPROACH:
                stage = STAGE_APPROACH
                copy_row(line[blocked], best)
            continue
        for i in range(steps):
            copy_row(line[steps - 1 - i], lines[found, i])
        found += 1
        stage = STAGE_PATH
        if found == lines.shape[0]:
            break
    return found, stage


@kernel
def approach_batch(
    chain: ArmChain,
    contact: Scene,
    clear: Scene,
    given: F64,
    targets: F64,
    retreats: F64,
    random_seeds: int,
    resolution: float,
    max_joint_step: float,
    seed: int,
    lines: F64,
    count: I64,
    stage: I64,
    best: F64,
    error: F64,
) -> None:
    """Run `approach_branches` for targets (c, 4, 4) and retreats (c, 3) into lines (c, k, w, n), count and stage (c,).

    Every candidate has its own random numbers, so its outcome does not depend on its neighbours.
    """
    n = given.shape[1]
    scratch = new_scratch(n)
    ik_scratch = new_ik_scratch(n)
    solutions = np.empty((MAX_BRANCHES, n))
    state = np.empty(1, np.uint64)
    for c in range(targets.shape[0]):
        state[0] = np.uint64(seed + c * SEED_STRIDE)
        count[c], stage[c] = approach_branches(
            chain,
            contact,
            clear,
            targets[c],
            retreats[c],
            given,
            random_seeds,
            resolution,
            max_joint_step,
            solutions,
            best[c],
            error[c],
            lines[c],
            state,
            scratch,
            ik_scratch,
        )


@kernel
def plan_batch(
    clear: Scene,
    start: F32,
    lines: F64,
    count: I64,
    resolution: float,
    fine: float,
    max_iterations: int,
    tries: int,
    seed: int,
    paths: F32,
    path_count: I64,
    length: F64,
    chosen: I64,
) -> None:
    """Plan from start (n,) to the far ends of each candidate's lines (c, k, w, n), of which the first count[c] exist.

    Fills paths (c, p, n), path_count (c,) way points (0: none found, or more than p), length (c,) [rad] and chosen
    (c,), the line that the path leads to.
    """
    n = start.shape[0]
    starts = np.empty((1, n), np.float32)
    copy_row(start, starts[0])
    goals = np.empty((lines.shape[1], n), np.float32)
    state = np.empty(1, np.uint64)
    for c in range(lines.shape[0]):
        path_count[c] = 0
        length[c] = 0.0
        chosen[c] = -1
        if count[c] == 0:
            continue
        for i in range(count[c]):
            copy_row(lines[c, i, 0], goals[i])
        state[0] = np.uint64(seed + c * SEED_STRIDE)
        path, goal, _ = plan_path(clear, starts, goals[: count[c]], resolution, fine, max_iterations, tries, state)
        if goal < 0 or path.shape[0] > paths.shape[1]:
            continue
        length[c] = path_length(path)
        path_count[c] = path.shape[0]
        chosen[c] = goal
        for i in range(path.shape[0]):
            copy_row(path[i], paths[c, i])
