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
    ROTATION,
    SCALE,
    SHAPE,
    SLACK,
    Scene,
    Scratch,
    WorldArrays,
)
from armwright.planning._jit import F32, I64, Flags, kernel
from armwright.planning.kernels_frames import link_frames

NO_BITS = np.uint64(0)
ARM, HELD = 0, 1


@kernel
def part_distance(world: WorldArrays, index: int, x: float, y: float, z: float) -> np.float32:
    """Return the distance [m] from a point to one part: exact for boxes, never too large outside a local grid."""
    part = world.part[index]
    dx = x - part[POSITION]
    dy = y - part[POSITION + 1]
    dz = z - part[POSITION + 2]
    u = part[ROTATION] * dx + part[ROTATION + 1] * dy + part[ROTATION + 2] * dz
    v = part[ROTATION + 3] * dx + part[ROTATION + 4] * dy + part[ROTATION + 5] * dz
    w = part[ROTATION + 6] * dx + part[ROTATION + 7] * dy + part[ROTATION + 8] * dz
    hx = part[HALF]
    hy = part[HALF + 1]
    hz = part[HALF + 2]
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
    scale = part[SCALE]
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
        return np.float32(max(math.sqrt(outside * outside + value * value), outside + part[PAD]))
    return np.float32(value)


@kernel
def touches(scene: Scene, layer: int, x: float, y: float, z: float, radius: float, exact: bool) -> bool:
    """Tell whether a sphere may touch (``exact``: does touch) an active part.

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
    if not exact:
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


@kernel
def _sphere_touches_link(scene: Scene, scratch: Scratch, link: int, x: float, y: float, z: float, r: float) -> bool:
    """Tell whether a sphere in the base frame touches any sphere of ``link``."""
    robot = scene.robot
    frame = scratch.frame
    bound = scratch.bound
    reach = r + robot.bound[link, 3]
    dx = x - bound[link, 0]
    dy = y - bound[link, 1]
    dz = z - bound[link, 2]
    if dx * dx + dy * dy + dz * dz >= reach * reach:
        return False
    # Turn the point into the link's frame once instead of every sphere out of it.
    dx = x - frame[link, 0, 3]
    dy = y - frame[link, 1, 3]
    dz = z - frame[link, 2, 3]
    u = frame[link, 0, 0] * dx + frame[link, 1, 0] * dy + frame[link, 2, 0] * dz
    v = frame[link, 0, 1] * dx + frame[link, 1, 1] * dy + frame[link, 2, 1] * dz
    w = frame[link, 0, 2] * dx + frame[link, 1, 2] * dy + frame[link, 2, 2] * dz
    group = robot.group
    sphere = robot.sphere
    for g in range(robot.first_group[link], robot.first_group[link + 1]):
        dx = u - group[g, 0]
        dy = v - group[g, 1]
        dz = w - group[g, 2]
        reach = r + group[g, 3]
        if dx * dx + dy * dy + dz * dz >= reach * reach:
            continue
        for s in range(robot.first_sphere[g], robot.first_sphere[g + 1]):
            dx = u - sphere[s, 0]
            dy = v - sphere[s, 1]
            dz = w - sphere[s, 2]
            reach = r + sphere[s, 3]
            if dx * dx + dy * dy + dz * dz < reach * reach:
                return True
    return False


@kernel
def _links_touch(scene: Scene, scratch: Scratch, a: int, b: int) -> bool:
    """Tell whether any sphere of link ``a`` touches any of link ``b``."""
    robot = scene.robot
    frame = scratch.frame
    bound = scratch.bound
    reach = robot.bound[a, 3] + robot.bound[b, 3]
    dx = bound[a, 0] - bound[b, 0]
    dy = bound[a, 1] - bound[b, 1]
    dz = bound[a, 2] - bound[b, 2]
    if dx * dx + dy * dy + dz * dz >= reach * reach:
        return False
    # The other link's bound in this link's frame.
    dx = bound[b, 0] - frame[a, 0, 3]
    dy = bound[b, 1] - frame[a, 1, 3]
    dz = bound[b, 2] - frame[a, 2, 3]
    u = frame[a, 0, 0] * dx + frame[a, 1, 0] * dy + frame[a, 2, 0] * dz
    v = frame[a, 0, 1] * dx + frame[a, 1, 1] * dy + frame[a, 2, 1] * dz
    w = frame[a, 0, 2] * dx + frame[a, 1, 2] * dy + frame[a, 2, 2] * dz
    group = robot.group
    sphere = robot.sphere
    for g in range(robot.first_group[a], robot.first_group[a + 1]):
        dx = u - group[g, 0]
        dy = v - group[g, 1]
        dz = w - group[g, 2]
        reach = robot.bound[b, 3] + group[g, 3]
        if dx * dx + dy * dy + dz * dz >= reach * reach:
            continue
        for s in range(robot.first_sphere[g], robot.first_sphere[g + 1]):
            dx = u - sphere[s, 0]
            dy = v - sphere[s, 1]
            dz = w - sphere[s, 2]
            reach = robot.bound[b, 3] + sphere[s, 3]
            if dx * dx + dy * dy + dz * dz >= reach * reach:
                continue
            cx, cy, cz = sphere[s, 0], sphere[s, 1], sphere[s, 2]
            x = frame[a, 0, 3] + frame[a, 0, 0] * cx + frame[a, 0, 1] * cy + frame[a, 0, 2] * cz
            y = frame[a, 1, 3] + frame[a, 1, 0] * cx + frame[a, 1, 1] * cy + frame[a, 1, 2] * cz
            z = frame[a, 2, 3] + frame[a, 2, 0] * cx + frame[a, 2, 1] * cy + frame[a, 2, 2] * cz
            if _sphere_touches_link(scene, scratch, b, x, y, z, sphere[s, 3]):
                return True
    return False


@kernel
def is_free(scene: Scene, q: F32, scratch: Scratch) -> bool:
    """Tell whether ``q`` (n,) touches neither the world nor the arm itself.

    Link 0 is bolted to the world and is only checked against other links.
    """
    robot = scene.robot
    frame = scratch.frame
    bound = scratch.bound
    n = q.shape[0]
    link_frames(robot.offset, q, frame)
    # The hand is at work among the obstacles: it fails first, so it is asked first.
    for step in range(n + 1):
        link = n - step
        own = frame[link]
        # Level 0 is the link's bound, then come its groups, each followed by its spheres.
        cx, cy, cz = robot.bound[link, 0], robot.bound[link, 1], robot.bound[link, 2]
        x = own[0, 3] + own[0, 0] * cx + own[0, 1] * cy + own[0, 2] * cz
        y = own[1, 3] + own[1, 0] * cx + own[1, 1] * cy + own[1, 2] * cz
        z = own[2, 3] + own[2, 0] * cx + own[2, 1] * cy + own[2, 2] * cz
        bound[link, 0] = x
        bound[link, 1] = y
        bound[link, 2] = z
        if link == 0 or not touches(scene, ARM, x, y, z, robot.bound[link, 3], False):
            continue
        for g in range(robot.first_group[link], robot.first_group[link + 1]):
            s = -1
            last = robot.first_sphere[g + 1] - 1
            while s <= last:
                ball = robot.group[g] if s < 0 else robot.sphere[s]
                cx, cy, cz = ball[0], ball[1], ball[2]
                x = own[0, 3] + own[0, 0] * cx + own[0, 1] * cy + own[0, 2] * cz
                y = own[1, 3] + own[1, 0] * cx + own[1, 1] * cy + own[1, 2] * cz
                z = own[2, 3] + own[2, 0] * cx + own[2, 1] * cy + own[2, 2] * cz
                hit = touches(scene, ARM, x, y, z, ball[3], s >= 0)
                if s < 0:
                    if not hit:
                        break
                    s = robot.first_sphere[g]
                elif hit:
                    return False
                else:
                    s += 1
    for t in range(robot.pair.shape[0]):
        if _links_touch(scene, scratch, robot.pair[t, 0], robot.pair[t, 1]):
            return False
    own = frame[n]
    for s in range(robot.held.shape[0]):
        cx, cy, cz = robot.held[s, 0], robot.held[s, 1], robot.held[s, 2]
        x = own[0, 3] + own[0, 0] * cx + own[0, 1] * cy + own[0, 2] * cz
        y = own[1, 3] + own[1, 0] * cx + own[1, 1] * cy + own[1, 2] * cz
        z = own[2, 3] + own[2, 0] * cx + own[2, 1] * cy + own[2, 2] * cz
        if touches(scene, HELD, x, y, z, robot.held[s, 3], True):
            return False
        for t in range(robot.held_link.shape[0]):
            if _sphere_touches_link(scene, scratch, robot.held_link[t], x, y, z, robot.held[s, 3]):
                return False
    return True


@kernel
def new_scratch(n: int) -> Scratch:
    """Return scratch for an arm of ``n`` joints."""
    return Scratch(np.empty((n + 1, 3, 4), np.float32), np.empty((n + 1, 3), np.float32), np.empty(n, np.float32))


@kernel
def check_batch(scene: Scene, q: F32, out: Flags) -> None:
    """Fill out (b,): True where q (b, n) is free."""
    scratch = new_scratch(q.shape[1])
    for b in range(q.shape[0]):
        out[b] = is_free(scene, q[b], scratch)


@kernel
def nearest_pair(scene: Scene, q: F32, pair: I64) -> np.float32:
    """Return the smallest clearance [m] at ``q`` and write whose it is; for messages, not for planning.

    Fills pair (2,): a link (n + 1 is the held object), then a part, or another link as -1 - link.
    """
    robot = scene.robot
    n = q.shape[0]
    frame = new_scratch(n).frame
    link_frames(robot.offset, q, frame)
    arm = robot.sphere.shape[0]
    count = arm + robot.held.shape[0]
    place = np.empty((count, 4), np.float32)
    owner = np.empty(count, np.int64)
    for link in range(n + 1):
        for g in range(robot.first_group[link], robot.first_group[link + 1]):
            for s in range(robot.first_sphere[g], robot.first_sphere[g + 1]):
                owner[s] = link
    for s in range(count):
        if s >= arm:
            owner[s] = n + 1
        link = min(owner[s], n)
        ball = robot.sphere[s] if s < arm else robot.held[s - arm]
        place[s, 3] = ball[3]
        for i in range(3):
            place[s, i] = frame[link, i, 3] + (
                frame[link, i, 0] * ball[0] + frame[link, i, 1] * ball[1] + frame[link, i, 2] * ball[2]
            )
    best = np.float32(1e9)
    pair[0] = 0
    pair[1] = -1
    for s in range(count):
        if owner[s] == 0:
            continue
        layer = ARM if s < arm else HELD
        for part in range(scene.active.shape[1]):
            if not scene.active[layer, part]:
                continue
            gap = part_distance(scene.world, part, place[s, 0], place[s, 1], place[s, 2]) - place[s, 3]
            if gap < best:
                best = gap
                pair[0] = owner[s]
                pair[1] = part
    for a in range(count):
        for b in range(arm):
            tested = False
            if owner[a] <= n:
                for t in range(robot.pair.shape[0]):
                    tested = tested or (robot.pair[t, 0] == owner[a] and robot.pair[t, 1] == owner[b])
            else:
                for t in range(robot.held_link.shape[0]):
                    tested = tested or robot.held_link[t] == owner[b]
            if not tested:
                continue
            dx = place[a, 0] - place[b, 0]
            dy = place[a, 1] - place[b, 1]
            dz = place[a, 2] - place[b, 2]
            gap = np.float32(math.sqrt(dx * dx + dy * dy + dz * dz) - place[a, 3] - place[b, 3])
            if gap < best:
                best = gap
                pair[0] = owner[a]
                pair[1] = -1 - owner[b]
    return best
