"""Inverse kinematics: Levenberg-Marquardt from many seeds, inside the joint limits, and tracking along a line."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from armwright.planning._jit import F64, I64, U64, kernel, pure_kernel
from armwright.planning.kernels_frames import copy_row, link_frames
from armwright.planning.kernels_random import uniform

# A solution is accepted at these errors; LM roughly squares the error at each step, so most end far below.
POSITION_TOLERANCE_M = 2e-4
ROTATION_TOLERANCE_RAD = 2e-3
MAX_STEPS = 40
# Give a seed up when this many steps have not quartered its squared error.
STALL_STEPS = 8
# Solutions nearer than this to one another in every joint [rad] are one.
SAME_RAD = 0.02
# Longest step of any joint [rad]: beyond it the linear model of the pose means nothing.
STEP_CAP_RAD = 1.0


class ArmChain(NamedTuple):
    """The chain in double precision: offset (n, 4, 4), tool (4, 4), limits (n,)."""

    offset: F64
    tool: F64
    lower: F64
    upper: F64


class IkScratch(NamedTuple):
    """Memory that a solve overwrites; ``residual`` is left holding the last error twist (6,)."""

    frame: F64
    jacobian: F64
    residual: F64
    hessian: F64
    gradient: F64


@kernel
def new_ik_scratch(n: int) -> IkScratch:
    """Return scratch for a chain of ``n`` joints."""
    return IkScratch(np.empty((n + 1, 3, 4)), np.empty((6, n)), np.empty(6), np.empty((n, n)), np.empty(n))


@pure_kernel
def _solve_in_place(h: F64, g: F64) -> None:
    """Solve ``h x = g`` for symmetric positive h (lower triangle) by Cholesky; both are overwritten, g with x."""
    n = g.shape[0]
    for i in range(n):
        for j in range(i):
            s = h[i, j]
            for k in range(j):
                s -= h[i, k] * h[j, k]
            h[i, j] = s / h[j, j]
        s = h[i, i]
        for k in range(i):
            s -= h[i, k] * h[i, k]
        h[i, i] = math.sqrt(max(s, 1e-12))
    for i in range(n):
        s = g[i]
        for k in range(i):
            s -= h[i, k] * g[k]
        g[i] = s / h[i, i]
    for i in range(n - 1, -1, -1):
        s = g[i]
        for k in range(i + 1, n):
            s -= h[k, i] * g[k]
        g[i] = s / h[i, i]


@pure_kernel
def _pose_error(chain: ArmChain, target: F64, q: F64, scratch: IkScratch) -> tuple[float, float]:
    """Write the twist from the tool to ``target`` into the residual; return its distance [m] and angle [rad]."""
    n = q.shape[0]
    frame = scratch.frame
    residual = scratch.residual
    tool = chain.tool
    link_frames(chain.offset, q, frame)
    cosine = -1.0
    vx = 0.0
    vy = 0.0
    vz = 0.0
    for i in range(3):
        r0, r1, r2 = frame[n, i, 0], frame[n, i, 1], frame[n, i, 2]
        residual[i] = target[i, 3] - (frame[n, i, 3] + r0 * tool[0, 3] + r1 * tool[1, 3] + r2 * tool[2, 3])
    for k in range(3):
        # Column k of the tool's rotation; the sum over columns gives target * tool^T.
        cx = frame[n, 0, 0] * tool[0, k] + frame[n, 0, 1] * tool[1, k] + frame[n, 0, 2] * tool[2, k]
        cy = frame[n, 1, 0] * tool[0, k] + frame[n, 1, 1] * tool[1, k] + frame[n, 1, 2] * tool[2, k]
        cz = frame[n, 2, 0] * tool[0, k] + frame[n, 2, 1] * tool[1, k] + frame[n, 2, 2] * tool[2, k]
        tx, ty, tz = target[0, k], target[1, k], target[2, k]
        cosine += tx * cx + ty * cy + tz * cz
        vx += cy * tz - cz * ty
        vy += cz * tx - cx * tz
        vz += cx * ty - cy * tx
    sine = 0.5 * math.sqrt(vx * vx + vy * vy + vz * vz)
    angle = math.atan2(sine, 0.5 * cosine)
    if sine > 1e-9:
        factor = 0.5 * angle / sine
    elif cosine < 0.0:
        # Half a turn: every axis is as good; any one leads away from the saddle.
        vx, vy, vz, factor = 1.0, 0.0, 0.0, angle
    else:
        factor = 0.5
    residual[3] = factor * vx
    residual[4] = factor * vy
    residual[5] = factor * vz
    return math.sqrt(residual[0] ** 2 + residual[1] ** 2 + residual[2] ** 2), angle


@pure_kernel
def solve_pose(chain: ArmChain, target: F64, q: F64, max_steps: int, scratch: IkScratch) -> tuple[bool, float, float]:
    """Move ``q`` (n,) in place until the tool is at ``target`` (4, 4); return ok, distance [m] and angle [rad] left."""
    n = q.shape[0]
    frame = scratch.frame
    jacobian = scratch.jacobian
    residual = scratch.residual
    h = scratch.hessian
    g = scratch.gradient
    mark = 1e30
    for step in range(max_steps + 1):
        gap, angle = _pose_error(chain, target, q, scratch)
        if gap < POSITION_TOLERANCE_M and angle < ROTATION_TOLERANCE_RAD:
            return True, gap, angle
        squared = gap * gap + angle * angle
        if step % STALL_STEPS == 0:
            if squared > 0.25 * mark:
                return False, gap, angle
            mark = squared
        if step == max_steps:
            return False, gap, angle
        tx = target[0, 3] - residual[0]
        ty = target[1, 3] - residual[1]
        tz = target[2, 3] - residual[2]
        for k in range(n):
            zx, zy, zz = frame[k + 1, 0, 2], frame[k + 1, 1, 2], frame[k + 1, 2, 2]
            dx, dy, dz = tx - frame[k + 1, 0, 3], ty - frame[k + 1, 1, 3], tz - frame[k + 1, 2, 3]
            jacobian[0, k] = zy * dz - zz * dy
            jacobian[1, k] = zz * dx - zx * dz
            jacobian[2, k] = zx * dy - zy * dx
            jacobian[3, k] = zx
            jacobian[4, k] = zy
            jacobian[5, k] = zz
        damping = 0.05 * squared + 1e-6
        for i in range(n):
            s = 0.0
            for k in range(6):
                s += jacobian[k, i] * residual[k]
            g[i] = s
            for j in range(i + 1):
                s = 0.0
                for k in range(6):
                    s += jacobian[k, i] * jacobian[k, j]
                h[i, j] = s
            h[i, i] += damping
        # A joint at a limit that wants to go beyond it takes no part in this step, or the others would count on it.
        for i in range(n):
            if (q[i] <= chain.lower[i] and g[i] < 0.0) or (q[i] >= chain.upper[i] and g[i] > 0.0):
                g[i] = 0.0
                for j in range(n):
                    if j < i:
                        h[i, j] = 0.0
                    elif j > i:
                        h[j, i] = 0.0
        _solve_in_place(h, g)
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(g[i]))
        factor = 1.0 if largest < STEP_CAP_RAD else STEP_CAP_RAD / largest
        for i in range(n):
            q[i] = min(max(q[i] + factor * g[i], chain.lower[i]), chain.upper[i])
    return False, 1e9, 1e9


@pure_kernel
def largest_change(a: F64, b: F64) -> float:
    """Return the largest difference of any joint [rad]."""
    largest = 0.0
    for j in range(a.shape[0]):
        largest = max(largest, abs(a[j] - b[j]))
    return largest


@kernel
def solve_many(
    chain: ArmChain,
    target: F64,
    given: F64,
    random_seeds: int,
    near: F64,
    out: F64,
    best: F64,
    error: F64,
    state: U64,
    scratch: IkScratch,
) -> int:
    """Collect distinct solutions for one target (4, 4) into out (want, n), nearest to ``near`` (n,) first.

    Seeds are the rows of given (s, n), then random ones. ``best`` (n,) and ``error`` (2,) receive the nearest miss (or
    hit), which says what would be reachable. Returns the number of solutions.
    """
    n = out.shape[1]
    want = out.shape[0]
    q = np.empty(n)
    count = 0
    error[0] = 1e9
    error[1] = 1e9
    for s in range(given.shape[0] + random_seeds):
        for j in range(n):
            if s < given.shape[0]:
                q[j] = min(max(given[s, j], chain.lower[j]), chain.upper[j])
            else:
                q[j] = chain.lower[j] + uniform(state) * (chain.upper[j] - chain.lower[j])
        solved, gap, angle = solve_pose(chain, target, q, MAX_STEPS, scratch)
        if gap + 0.1 * angle < error[0] + 0.1 * error[1]:
            error[0] = gap
            error[1] = angle
            copy_row(q, best)
        if not solved:
            continue
        # A joint that can turn more than once is brought to the turn nearest to where it should be.
        for j in range(n):
            while q[j] - near[j] > math.pi and q[j] - 2.0 * math.pi >= chain.lower[j]:
                q[j] -= 2.0 * math.pi
            while near[j] - q[j] > math.pi and q[j] + 2.0 * math.pi <= chain.upper[j]:
                q[j] += 2.0 * math.pi
        known = False
        for i in range(count):
            if largest_change(out[i], q) < SAME_RAD:
                known = True
                break
        if known:
            continue
        cost = 0.0
        for j in range(n):
            cost += (q[j] - near[j]) ** 2
        slot = count
        while slot > 0:
            other = 0.0
            for j in range(n):
                other += (out[slot - 1, j] - near[j]) ** 2
            if other <= cost:
                break
            copy_row(out[slot - 1], out[slot])
            slot -= 1
        copy_row(q, out[slot])
        count += 1
        if count >= want:
            break
    return count


@kernel
def solve_batch(
    chain: ArmChain,
    targets: F64,
    given: F64,
    random_seeds: int,
    out: F64,
    count: I64,
    best: F64,
    error: F64,
    state: U64,
) -> None:
    """Run `solve_many` for targets (b, 4, 4); the first row of ``given`` is what solutions should be near to."""
    scratch = new_ik_scratch(given.shape[1])
    for b in range(targets.shape[0]):
        count[b] = solve_many(
            chain, targets[b], given, random_seeds, given[0], out[b], best[b], error[b], state, scratch
        )


@kernel
def track_line(
    chain: ArmChain, start: F64, goal: F64, max_joint_step: float, out: F64, scratch: IkScratch
) -> tuple[int, float]:
    """Follow the straight tool motion from the pose at ``start`` (n,) to ``goal`` (4, 4) in out.shape[0] - 1 steps.

    Position is interpolated linearly, orientation about one fixed axis. Fills out (w, n); stops where a step cannot be
    solved or would move a joint by more than ``max_joint_step`` [rad] (a jump to another branch). Returns the number
    of way points reached, the start included, and how far the last failed step would have jumped [rad].
    """
    n = start.shape[0]
    q = np.empty(n)
    copy_row(start, q)
    steps = out.shape[0] - 1
    copy_row(start, out[0])
    # Twist from the tool at start to the goal, and the start pose itself.
    _pose_error(chain, goal, q, scratch)
    twist = np.empty(6)
    copy_row(scratch.residual, twist)
    angle = math.sqrt(twist[3] ** 2 + twist[4] ** 2 + twist[5] ** 2)
    axis = np.empty(3)
    for i in range(3):
        axis[i] = twist[3 + i] / max(angle, 1e-12)
    origin = np.empty(3)
    turned = np.empty((3, 3))
    for i in range(3):
        origin[i] = goal[i, 3] - twist[i]
        for j in range(3):
            turned[i, j] = 0.0
            for k in range(3):
                turned[i, j] += scratch.frame[n, i, k] * chain.tool[k, j]
    target = np.empty((3, 4))
    for step in range(1, steps + 1):
        part = step / steps
        s = math.sin(part * angle)
        c = 1.0 - math.cos(part * angle)
        for i in range(3):
            target[i, 3] = origin[i] + part * twist[i]
        for j in range(3):
            x, y, z = turned[0, j], turned[1, j], turned[2, j]
            along = axis[0] * x + axis[1] * y + axis[2] * z
            # Rodrigues' rotation of column j about the axis.
            target[0, j] = x + s * (axis[1] * z - axis[2] * y) + c * (axis[0] * along - x)
            target[1, j] = y + s * (axis[2] * x - axis[0] * z) + c * (axis[1] * along - y)
            target[2, j] = z + s * (axis[0] * y - axis[1] * x) + c * (axis[2] * along - z)
        solved, _, _ = solve_pose(chain, target, q, MAX_STEPS, scratch)
        jump = largest_change(q, out[step - 1])
        if not solved or jump > max_joint_step:
            return step, jump
        copy_row(q, out[step])
    return steps + 1, 0.0
