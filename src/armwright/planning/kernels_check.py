"""Is a configuration free? Spheres under bounds under bounds: against the world's parts, then the arm itself."""

from __future__ import annotations

import math

import numpy as np

from armwright.planning._arrays import (
    CELLS_PER_M,
    FIRST_NODE,
    HALF,
    PAD,
    POSITION,
    QUEUE,
    ROTATION,
    SCALE,
    SHAPE,
    SLACK,
    Scene,
    Scratch,
    WorldArrays,
)
from armwright.planning._jit import F32, I64, Flags, kernel, pure_kernel
from armwright.planning.kernels_frames import link_frames

NO_BITS = np.uint64(0)
ARM, HELD = 0, 1


@pure_kernel
def part_distance(world: WorldArrays, index: int, x: float, y: float, z: float) -> np.float32:
    """Return the distance [m] from a point to one part: exact for boxes, never too large outside a local grid."""
    part = world.part
    dx = x - part[index, POSITION]
    dy = y - part[index, POSITION + 1]
    dz = z - part[index, POSITION + 2]
    u = part[index, ROTATION] * dx + part[index, ROTATION + 1] * dy + part[index, ROTATION + 2] * dz
    v = part[index, ROTATION + 3] * dx + part[index, ROTATION + 4] * dy + part[index, ROTATION + 5] * dz
    w = part[index, ROTATION + 6] * dx + part[index, ROTATION + 7] * dy + part[index, ROTATION + 8] * dz
    hx = part[index, HALF]
    hy = part[index, HALF + 1]
    hz = part[index, HALF + 2]
    ex = abs(u) - hx
    ey = abs(v) - hy
    ez = abs(w) - hz
    zero = np.float32(0.0)
    ox = max(ex, zero)
    oy = max(ey, zero)
    oz = max(ez, zero)
    outside = math.sqrt(ox * ox + oy * oy + oz * oz)
    first = world.grid[index, FIRST_NODE]
    if first < 0:
        return np.float32(outside + min(max(ex, max(ey, ez)), zero))
    ny = world.grid[index, SHAPE + 1]
    nz = world.grid[index, SHAPE + 2]
    scale = part[index, SCALE]
    gx = (min(max(u, -hx), hx) + hx) * scale
    gy = (min(max(v, -hy), hy) + hy) * scale
    gz = (min(max(w, -hz), hz) + hz) * scale
    i = min(int(gx), world.grid[index, SHAPE] - 2)
    j = min(int(gy), ny - 2)
    k = min(int(gz), nz - 2)
    fx = np.float32(gx - i)
    fy = np.float32(gy - j)
    fz = np.float32(gz - k)
    node = world.node
    at = first + (i * ny + j) * nz + k
    one = np.float32(1.0)
    value = zero
    for side in range(2):
        near_y = (one - fz) * node[at] + fz * node[at + 1]
        far_y = (one - fz) * node[at + nz] + fz * node[at + nz + 1]
        value += (fx if side == 1 else one - fx) * ((one - fy) * near_y + fy * far_y)
        at += ny * nz
    if outside > zero:
        # Two lower bounds: the shape lies in a convex box whose nearest point is the clamped one, and it keeps `pad`
        # away from that box's faces.
        return np.float32(max(math.sqrt(outside * outside + value * value), outside + part[index, PAD]))
    return np.float32(value)


@pure_kernel
def touches(scene: Scene, layer: int, x: float, y: float, z: float, radius: float, leaf: bool) -> bool:
    """Tell whether a sphere touches an active part; for a ball that is no leaf, whether it may.

    Points outside the coarse grid fall into its border cells.
    """
    world = scene.world
    frame = world.frame
    scale = frame[CELLS_PER_M]
    i = min(max(int((x - frame[0]) * scale), 0), world.coarse.shape[0] - 1)
    j = min(max(int((y - frame[1]) * scale), 0), world.coarse.shape[1] - 1)
    k = min(max(int((z - frame[2]) * scale), 0), world.coarse.shape[2] - 1)
    if world.coarse[i, j, k] - frame[SLACK] > radius:
        return False
    if not leaf:
        return True
    near = world.near[i, j, k] & scene.active_bits[layer]
    if near == NO_BITS:
        return False
    for part in range(world.bit.shape[0]):
        if (
            near & world.bit[part] != NO_BITS
            and scene.active[layer, part]
            and part_distance(world, part, x, y, z) < radius
        ):
            return True
    return False


@pure_kernel
def place_ball(frame: F32, link: int, ball: F32, i: int) -> tuple[float, float, float]:
    """Return the centre of ball i of ``link`` in the base frame."""
    cx = ball[i, 0]
    cy = ball[i, 1]
    cz = ball[i, 2]
    x = frame[link, 0, 3] + frame[link, 0, 0] * cx + frame[link, 0, 1] * cy + frame[link, 0, 2] * cz
    y = frame[link, 1, 3] + frame[link, 1, 0] * cx + frame[link, 1, 1] * cy + frame[link, 1, 2] * cz
    z = frame[link, 2, 3] + frame[link, 2, 0] * cx + frame[link, 2, 1] * cy + frame[link, 2, 2] * cz
    return x, y, z


@pure_kernel
def touches_link(scene: Scene, scratch: Scratch, link: int, x: float, y: float, z: float, radius: float) -> bool:
    """Tell whether a sphere in the base frame touches any sphere of ``link``."""
    robot = scene.robot
    frame = scratch.frame
    ball = robot.ball
    # Turn the point into the link's frame once instead of every sphere out of it.
    dx = x - frame[link, 0, 3]
    dy = y - frame[link, 1, 3]
    dz = z - frame[link, 2, 3]
    u = frame[link, 0, 0] * dx + frame[link, 1, 0] * dy + frame[link, 2, 0] * dz
    v = frame[link, 0, 1] * dx + frame[link, 1, 1] * dy + frame[link, 2, 1] * dz
    w = frame[link, 0, 2] * dx + frame[link, 1, 2] * dy + frame[link, 2, 2] * dz
    i = robot.first[link]
    last = robot.first[link + 1]
    while i < last:
        dx = u - ball[i, 0]
        dy = v - ball[i, 1]
        dz = w - ball[i, 2]
        reach = radius + ball[i, 3]
        after = robot.skip[i]
        if dx * dx + dy * dy + dz * dz >= reach * reach:
            i = after
        elif after == i + 1:
            return True
        else:
            i += 1
    return False


@pure_kernel
def _links_touch(scene: Scene, scratch: Scratch, a: int, b: int) -> bool:
    """Tell whether any sphere of link ``a`` touches any of link ``b``."""
    robot = scene.robot
    root = scratch.root
    i = robot.first[a]
    last = robot.first[a + 1]
    if i == last or robot.first[b] == robot.first[b + 1]:
        return False
    slack = robot.slack[a, b]
    reach = robot.ball[i, 3] + robot.ball[robot.first[b], 3] - slack
    dx = root[a, 0] - root[b, 0]
    dy = root[a, 1] - root[b, 1]
    dz = root[a, 2] - root[b, 2]
    if dx * dx + dy * dy + dz * dz >= reach * reach:
        return False
    frame = scratch.frame
    ball = robot.ball
    while i < last:
        x, y, z = place_ball(frame, a, ball, i)
        after = robot.skip[i]
        if not touches_link(scene, scratch, b, x, y, z, ball[i, 3] - slack):
            i = after
        elif after == i + 1:
            return True
        else:
            i += 1
    return False


@pure_kernel
def is_free(scene: Scene, q: F32, scratch: Scratch) -> bool:
    """Tell whether ``q`` (n,) touches neither the world nor the arm itself.

    Link 0 is bolted to the world and is only checked against other links.
    """
    robot = scene.robot
    frame = scratch.frame
    root = scratch.root
    ball = robot.ball
    n = q.shape[0]
    link_frames(robot.offset, q, frame)
    # The hand is at work among the obstacles: it fails first, so it is asked first.
    for link in range(n, -1, -1):
        i = robot.first[link]
        last = robot.first[link + 1]
        if i < last:
            root[link, 0], root[link, 1], root[link, 2] = place_ball(frame, link, ball, i)
        if link == 0:
            break
        while i < last:
            x, y, z = place_ball(frame, link, ball, i)
            after = robot.skip[i]
            if not touches(scene, ARM, x, y, z, ball[i, 3], after == i + 1):
                i = after
            elif after == i + 1:
                return False
            else:
                i += 1
    for t in range(robot.pair.shape[0]):
        if _links_touch(scene, scratch, robot.pair[t, 0], robot.pair[t, 1]):
            return False
    for i in range(robot.held.shape[0]):
        x, y, z = place_ball(frame, n, robot.held, i)
        if touches(scene, HELD, x, y, z, robot.held[i, 3], True):
            return False
        for t in range(robot.held_link.shape[0]):
            if touches_link(scene, scratch, robot.held_link[t], x, y, z, robot.held[i, 3]):
                return False
    return True


@kernel
def new_scratch(n: int) -> Scratch:
    """Return scratch for an arm of ``n`` joints."""
    return Scratch(
        np.empty((n + 1, 3, 4), np.float32),
        np.empty((n + 1, 3), np.float32),
        np.empty(n, np.float32),
        np.empty((n + 1, 6), np.float32),
        np.empty((2, n + 2), np.float32),
        np.empty((QUEUE, 2), np.int32),
        np.empty((QUEUE, 2), np.uint64),
    )


@kernel
def check_batch(scene: Scene, q: F32, out: Flags) -> None:
    """Fill out (b,): True where q (b, n) is free."""
    scratch = new_scratch(q.shape[1])
    for b in range(q.shape[0]):
        out[b] = is_free(scene, q[b], scratch)


@pure_kernel
def nearest_pair(scene: Scene, q: F32, frame: F32, place: F32, pair: I64) -> np.float32:
    """Return the smallest clearance [m] at ``q`` and write whose it is; for messages, not for planning.

    Fills pair (2,): a link (n + 1 is the held object), then a part, or another link as -1 - link. Scratch: frame
    (n + 1, 3, 4), and place (m + k, 3) for the tree's balls and the held spheres.
    """
    robot = scene.robot
    ball = robot.ball
    n = q.shape[0]
    link_frames(robot.offset, q, frame)
    best = np.float32(1e9)
    pair[0] = 0
    pair[1] = -1
    first_held = ball.shape[0]
    for body in range(n + 2):
        held = body > n
        link = min(body, n)
        begin = 0 if held else robot.first[link]
        last = robot.held.shape[0] if held else robot.first[link + 1]
        for i in range(begin, last):
            at = first_held + i if held else i
            x, y, z = place_ball(frame, link, robot.held if held else ball, i)
            place[at, 0] = x
            place[at, 1] = y
            place[at, 2] = z
            if body == 0 or (not held and robot.skip[i] != i + 1):
                continue
            radius = robot.held[i, 3] if held else ball[i, 3]
            for part in range(scene.active.shape[1]):
                if not scene.active[HELD if held else ARM, part]:
                    continue
                gap = part_distance(scene.world, part, x, y, z) - radius
                if gap < best:
                    best = gap
                    pair[0] = body
                    pair[1] = part
    for t in range(robot.pair.shape[0] + robot.held_link.shape[0]):
        held = t >= robot.pair.shape[0]
        a = n + 1 if held else robot.pair[t, 0]
        b = robot.held_link[t - robot.pair.shape[0]] if held else robot.pair[t, 1]
        begin = first_held if held else robot.first[a]
        last = first_held + robot.held.shape[0] if held else robot.first[a + 1]
        for i in range(begin, last):
            if not held and robot.skip[i] != i + 1:
                continue
            radius = robot.held[i - first_held, 3] if held else ball[i, 3] - robot.slack[a, b]
            j = robot.first[b]
            while j < robot.first[b + 1]:
                dx = place[i, 0] - place[j, 0]
                dy = place[i, 1] - place[j, 1]
                dz = place[i, 2] - place[j, 2]
                gap = np.float32(math.sqrt(dx * dx + dy * dy + dz * dz) - radius - ball[j, 3])
                if gap >= best:
                    j = robot.skip[j]
                    continue
                if robot.skip[j] == j + 1:
                    best = gap
                    pair[0] = a
                    pair[1] = -1 - b
                j += 1
    return best
