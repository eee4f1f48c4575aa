"""Is the arm free all along a short motion? Bounds on how far each link travels prove it from one configuration.

Conservative advancement (Mirtich 1996; Schwarzer, Saha and Latombe 2005) by links: what is farther from everything than
it can travel needs no more looks, so that a long edge through open space costs a few checks, most of them of the hand.
"""

from __future__ import annotations

import math

import numpy as np

from armwright.planning._arrays import LARGEST, RobotArrays, Scene, Scratch
from armwright.planning._jit import F32, inner_kernel, pure_kernel
from armwright.planning.kernels_check import ARM, HELD, place_ball, touches, touches_link
from armwright.planning.kernels_frames import link_frames

# Bits of a mask of what is not proven free yet: link k is bit k, then the held object, then what it and links touch.
ONE = np.uint64(1)
NONE = np.uint64(0)
LAST_BIT = 63


@pure_kernel
def bit(index: int) -> np.uint64:
    """Return the mask of one item; items past the last bit share it."""
    return ONE << np.uint64(min(index, LAST_BIT))


@pure_kernel
def all_bits(count: int) -> np.uint64:
    """Return the mask of the first ``count`` items."""
    return ~NONE if count > LAST_BIT else bit(count) - ONE


@pure_kernel
def travel_bounds(robot: RobotArrays, a: F32, b: F32, travel: F32) -> None:
    """Fill travel (2, n + 2) for the motion from ``a`` to ``b`` (n,): how far any point of each body can come.

    Row 0 is the distance [m] along the whole motion, row 1 the largest second derivative [m] by the share of it. The
    last column is the held object.
    """
    n = a.shape[0]
    for body in range(n + 2):
        first = np.float32(0.0)
        second = np.float32(0.0)
        turned = np.float32(0.0)
        for j in range(min(body, n)):
            step = abs(b[j] - a[j])
            part = step * robot.reach[j, body]
            first += part
            # Joint j turns with all before it, and what it moves turns with it.
            second += part * (step + np.float32(2.0) * turned)
            turned += step
        travel[0, body] = first
        travel[1, body] = second


@inner_kernel
def _link_speeds(scratch: Scratch, a: F32, b: F32) -> None:
    """Fill scratch.speed (n + 1, 6): velocity of each link's origin and angular velocity, per share of the motion."""
    frame = scratch.frame
    speed = scratch.speed
    for i in range(6):
        speed[0, i] = np.float32(0.0)
    for k in range(a.shape[0]):
        step = b[k] - a[k]
        dx = frame[k + 1, 0, 3] - frame[k, 0, 3]
        dy = frame[k + 1, 1, 3] - frame[k, 1, 3]
        dz = frame[k + 1, 2, 3] - frame[k, 2, 3]
        wx = speed[k, 3]
        wy = speed[k, 4]
        wz = speed[k, 5]
        speed[k + 1, 0] = speed[k, 0] + wy * dz - wz * dy
        speed[k + 1, 1] = speed[k, 1] + wz * dx - wx * dz
        speed[k + 1, 2] = speed[k, 2] + wx * dy - wy * dx
        speed[k + 1, 3] = wx + step * frame[k + 1, 0, 2]
        speed[k + 1, 4] = wy + step * frame[k + 1, 1, 2]
        speed[k + 1, 5] = wz + step * frame[k + 1, 2, 2]


@inner_kernel
def _travel(scratch: Scratch, link: int, x: float, y: float, z: float, radius: float, half: np.float32) -> np.float32:
    """Return how far points of ``link`` within ``radius`` of a point can come within ``half`` of the motion [m]."""
    frame = scratch.frame
    speed = scratch.speed
    dx = x - frame[link, 0, 3]
    dy = y - frame[link, 1, 3]
    dz = z - frame[link, 2, 3]
    wx = speed[link, 3]
    wy = speed[link, 4]
    wz = speed[link, 5]
    vx = speed[link, 0] + wy * dz - wz * dy
    vy = speed[link, 1] + wz * dx - wx * dz
    vz = speed[link, 2] + wx * dy - wy * dx
    turn = math.sqrt(wx * wx + wy * wy + wz * wz)
    here = math.sqrt(vx * vx + vy * vy + vz * vz) + turn * radius
    far = min(here + np.float32(0.5) * half * scratch.travel[1, link], scratch.travel[0, link])
    return np.float32(half * far)


@inner_kernel
def _pair_state(scene: Scene, scratch: Scratch, a: int, b: int, pad: np.float32) -> int:
    """Return 0 if two links stay apart while they come ``pad`` [m] nearer, 1 if they are only apart now, 2 if not."""
    robot = scene.robot
    root = scratch.root
    ball = robot.ball
    i = robot.first[a]
    last = robot.first[a + 1]
    if i == last or robot.first[b] == robot.first[b + 1]:
        return 0
    slack = robot.slack[a, b]
    reach = ball[i, 3] + ball[robot.first[b], 3] - slack + pad
    dx = root[a, 0] - root[b, 0]
    dy = root[a, 1] - root[b, 1]
    dz = root[a, 2] - root[b, 2]
    if dx * dx + dy * dy + dz * dz >= reach * reach:
        return 0
    state = 0
    while i < last:
        x, y, z = place_ball(scratch.frame, a, ball, i)
        after = robot.skip[i]
        if not touches_link(scene, scratch, b, x, y, z, ball[i, 3] - slack + pad):
            i = after
        elif after != i + 1:
            i += 1
        elif state == 1:
            return 2
        else:
            state = 1
            pad = np.float32(0.0)
    return state


@inner_kernel
def _link_state(scene: Scene, scratch: Scratch, link: int, half: np.float32) -> int:
    """Return whether a link meets the world within ``half`` of the motion, coded as in `_pair_state`."""
    robot = scene.robot
    ball = robot.ball
    largest = scene.world.frame[LARGEST]
    i = robot.first[link]
    last = robot.first[link + 1]
    if i == last:
        return 0
    pad = _travel(scratch, link, scratch.root[link, 0], scratch.root[link, 1], scratch.root[link, 2], ball[i, 3], half)
    state = 0
    while i < last:
        x, y, z = place_ball(scratch.frame, link, ball, i)
        after = robot.skip[i]
        leaf = after == i + 1
        radius = ball[i, 3] + pad
        if not touches(scene, ARM, x, y, z, radius, leaf and radius <= largest):
            i = after
        elif not leaf:
            i += 1
        elif state == 1:
            return 2
        else:
            # One ball that may meet something leaves the link open: from here on only what touches now counts.
            state = 1
            pad = np.float32(0.0)
    return state


@inner_kernel
def _held_state(scene: Scene, scratch: Scratch, half: np.float32, links: bool) -> int:
    """Return whether the held object meets the world, or with ``links`` the arm, coded as in `_pair_state`."""
    robot = scene.robot
    n = robot.offset.shape[0]
    largest = scene.world.frame[LARGEST]
    travel = half * scratch.travel[0, n + 1]
    state = 0
    for i in range(robot.held.shape[0]):
        x, y, z = place_ball(scratch.frame, n, robot.held, i)
        radius = robot.held[i, 3]
        pad = travel if state == 0 else np.float32(0.0)
        if links:
            for t in range(robot.held_link.shape[0]):
                if touches_link(scene, scratch, robot.held_link[t], x, y, z, radius + pad):
                    if touches_link(scene, scratch, robot.held_link[t], x, y, z, radius):
                        return 2
                    state = 1
                    pad = np.float32(0.0)
        elif touches(scene, HELD, x, y, z, radius + pad, radius + pad <= largest):
            if touches(scene, HELD, x, y, z, radius, True):
                return 2
            state = 1
    return state


@inner_kernel
def sweep(
    scene: Scene, a: F32, b: F32, half: np.float32, bodies: np.uint64, pairs: np.uint64, scratch: Scratch
) -> tuple[bool, np.uint64, np.uint64]:
    """Check scratch.q, on the motion from ``a`` to ``b`` (n,), and prove what it can within ``half`` of the motion.

    Args:
        scene: Robot and world.
        a: Where the motion begins.
        b: Where it ends.
        half: Share of the motion on either side.
        bodies: Links, and the held object, that are to be checked against the world.
        pairs: Pairs of links that are to be checked against each other.
        scratch: With ``travel`` of this motion.

    Returns:
        Whether the configuration is free, and the masks of what may touch something elsewhere in the stretch.
    """
    robot = scene.robot
    n = a.shape[0]
    frame = scratch.frame
    root = scratch.root
    link_frames(robot.offset, scratch.q, frame)
    _link_speeds(scratch, a, b)
    for link in range(n + 1):
        i = robot.first[link]
        if i < robot.first[link + 1]:
            root[link, 0], root[link, 1], root[link, 2] = place_ball(frame, link, robot.ball, i)
    open_bodies = NONE
    open_pairs = NONE
    # The hand is at work among the obstacles: it fails first, so it is asked first.
    for link in range(n, 0, -1):
        if bodies & bit(link) != NONE:
            state = _link_state(scene, scratch, link, half)
            if state == 2:
                return False, open_bodies, open_pairs
            if state == 1:
                open_bodies |= bit(link)
    for t in range(robot.pair.shape[0]):
        if pairs & bit(t) != NONE:
            first = robot.pair[t, 0]
            second = robot.pair[t, 1]
            pad = np.float32(0.0)
            for j in range(first, second):
                pad += abs(b[j] - a[j]) * robot.reach[j, second]
            state = _pair_state(scene, scratch, first, second, np.float32(half * pad))
            if state == 2:
                return False, open_bodies, open_pairs
            if state == 1:
                open_pairs |= bit(t)
    for item in range(2 if robot.held.shape[0] else 0):
        if bodies & bit(n + 1 + item) != NONE:
            state = _held_state(scene, scratch, half, item == 1)
            if state == 2:
                return False, open_bodies, open_pairs
            if state == 1:
                open_bodies |= bit(n + 1 + item)
    return True, open_bodies, open_pairs
