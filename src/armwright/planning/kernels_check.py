"""Is a configuration free? Two-level spheres against the world's parts, then against the arm itself."""

from __future__ import annotations

import math

import numpy as np

from armwright.planning._arrays import Layers, RobotArrays, Scene, Scratch, WorldArrays
from armwright.planning._jit import F32, I64, Flags, kernel
from armwright.planning.kernels_frames import link_frames

ZERO_BITS = np.uint64(0)


@kernel
def part_distance(world: WorldArrays, part: int, x: float, y: float, z: float) -> np.float32:
    """Return the distance [m] from a point to one part: exact for boxes, never too large outside a local grid."""
    rotation = world.rotation
    position = world.position
    dx = x - position[part, 0]
    dy = y - position[part, 1]
    dz = z - position[part, 2]
    u = rotation[part, 0, 0] * dx + rotation[part, 0, 1] * dy + rotation[part, 0, 2] * dz
    v = rotation[part, 1, 0] * dx + rotation[part, 1, 1] * dy + rotation[part, 1, 2] * dz
    w = rotation[part, 2, 0] * dx + rotation[part, 2, 1] * dy + rotation[part, 2, 2] * dz
    hx = world.half[part, 0]
    hy = world.half[part, 1]
    hz = world.half[part, 2]
    ex = abs(u) - hx
    ey = abs(v) - hy
    ez = abs(w) - hz
    zero = np.float32(0.0)
    ox = max(ex, zero)
    oy = max(ey, zero)
    oz = max(ez, zero)
    outside = math.sqrt(ox * ox + oy * oy + oz * oz)
    base = world.grid[part]
    if base < 0:
        return np.float32(outside + min(max(ex, max(ey, ez)), zero))
    ny = world.shape[part, 1]
    nz = world.shape[part, 2]
    scale = world.nodes_per_m[part]
    gx = (min(max(u, -hx), hx) + hx) * scale
    gy = (min(max(v, -hy), hy) + hy) * scale
    gz = (min(max(w, -hz), hz) + hz) * scale
    i = min(int(gx), world.shape[part, 0] - 2)
    j = min(int(gy), ny - 2)
    k = min(int(gz), nz - 2)
    fx = np.float32(gx - i)
    fy = np.float32(gy - j)
    fz = np.float32(gz - k)
    nodes = world.nodes
    at = base + (i * ny + j) * nz + k
    right = at + ny * nz
    one = np.float32(1.0)
    near_y = (one - fz) * nodes[at] + fz * nodes[at + 1]
    far_y = (one - fz) * nodes[at + nz] + fz * nodes[at + nz + 1]
    left_value = (one - fy) * near_y + fy * far_y
    near_y = (one - fz) * nodes[right] + fz * nodes[right + 1]
    far_y = (one - fz) * nodes[right + nz] + fz * nodes[right + nz + 1]
    value = (one - fx) * left_value + fx * ((one - fy) * near_y + fy * far_y)
    if outside > zero:
        # Two lower bounds: the shape lies in a convex box whose nearest point is the clamped one, and it keeps `pad`
        # away from that box's faces.
        return np.float32(max(math.sqrt(outside * outside + value * value), outside + world.pad[part]))
    return np.float32(value)


@kernel
def cell_of(world: WorldArrays, x: float, y: float, z: float) -> tuple[int, int, int]:
    """Return the coarse cell of a point; points outside fall into the border cell."""
    shape = world.coarse.shape
    i = min(max(int((x - world.origin[0]) * world.scale), 0), shape[0] - 1)
    j = min(max(int((y - world.origin[1]) * world.scale), 0), shape[1] - 1)
    k = min(max(int((z - world.origin[2]) * world.scale), 0), shape[2] - 1)
    return i, j, k


@kernel
def sphere_hits(
    world: WorldArrays, active: Flags, bits: np.uint64, x: float, y: float, z: float, radius: float
) -> bool:
    """Tell whether a sphere touches an active part."""
    i, j, k = cell_of(world, x, y, z)
    if world.coarse[i, j, k] - world.slack > radius:
        return False
    near = world.near[i, j, k] & bits
    if near == ZERO_BITS:
        return False
    for part in range(active.shape[0]):
        if active[part] and near & world.bit[part] != ZERO_BITS and part_distance(world, part, x, y, z) < radius:
            return True
    return False


@kernel
def _links_hit(robot: RobotArrays, rotation: F32, position: F32, bound: F32, a: int, b: int) -> bool:
    """Tell whether any sphere of link ``a`` touches any of link ``b``; ``bound`` holds the bounds' places."""
    reach = robot.bound_radius[a] + robot.bound_radius[b]
    dx = bound[a, 0] - bound[b, 0]
    dy = bound[a, 1] - bound[b, 1]
    dz = bound[a, 2] - bound[b, 2]
    if dx * dx + dy * dy + dz * dz >= reach * reach:
        return False
    center = robot.center
    for s in range(robot.first[a], robot.first[a + 1]):
        x = position[a, 0] + (
            rotation[a, 0, 0] * center[s, 0] + rotation[a, 0, 1] * center[s, 1] + rotation[a, 0, 2] * center[s, 2]
        )
        y = position[a, 1] + (
            rotation[a, 1, 0] * center[s, 0] + rotation[a, 1, 1] * center[s, 1] + rotation[a, 1, 2] * center[s, 2]
        )
        z = position[a, 2] + (
            rotation[a, 2, 0] * center[s, 0] + rotation[a, 2, 1] * center[s, 1] + rotation[a, 2, 2] * center[s, 2]
        )
        if _sphere_hits_link(robot, rotation, position, bound, b, x, y, z, robot.radius[s]):
            return True
    return False


@kernel
def _sphere_hits_link(
    robot: RobotArrays,
    rotation: F32,
    position: F32,
    bound: F32,
    link: int,
    x: float,
    y: float,
    z: float,
    radius: float,
) -> bool:
    reach = radius + robot.bound_radius[link]
    dx = x - bound[link, 0]
    dy = y - bound[link, 1]
    dz = z - bound[link, 2]
    if dx * dx + dy * dy + dz * dz >= reach * reach:
        return False
    # Turn the point into the link's frame once instead of every sphere out of it.
    dx = x - position[link, 0]
    dy = y - position[link, 1]
    dz = z - position[link, 2]
    u = rotation[link, 0, 0] * dx + rotation[link, 1, 0] * dy + rotation[link, 2, 0] * dz
    v = rotation[link, 0, 1] * dx + rotation[link, 1, 1] * dy + rotation[link, 2, 1] * dz
    w = rotation[link, 0, 2] * dx + rotation[link, 1, 2] * dy + rotation[link, 2, 2] * dz
    for s in range(robot.first[link], robot.first[link + 1]):
        dx = u - robot.center[s, 0]
        dy = v - robot.center[s, 1]
        dz = w - robot.center[s, 2]
        reach = radius + robot.radius[s]
        if dx * dx + dy * dy + dz * dz < reach * reach:
            return True
    return False


@kernel
def is_free(scene: Scene, q: F32, scratch: Scratch) -> bool:
    """Tell whether ``q`` (n,) touches neither the world nor the arm itself.

    Link 0 is bolted to the world and is only checked against other links.
    """
    robot = scene.robot
    world = scene.world
    layers = scene.layers
    rotation = scratch.rotation
    position = scratch.position
    bound = scratch.bound
    n = q.shape[0]
    link_frames(robot.offset, q, rotation, position)
    center = robot.center
    for axis in range(3):
        bound[0, axis] = robot.bound_center[0, axis]
    for link in range(1, n + 1):
        if robot.first[link + 1] == robot.first[link]:
            continue
        r00, r01, r02 = rotation[link, 0, 0], rotation[link, 0, 1], rotation[link, 0, 2]
        r10, r11, r12 = rotation[link, 1, 0], rotation[link, 1, 1], rotation[link, 1, 2]
        r20, r21, r22 = rotation[link, 2, 0], rotation[link, 2, 1], rotation[link, 2, 2]
        px, py, pz = position[link, 0], position[link, 1], position[link, 2]
        cx, cy, cz = robot.bound_center[link, 0], robot.bound_center[link, 1], robot.bound_center[link, 2]
        x = px + r00 * cx + r01 * cy + r02 * cz
        y = py + r10 * cx + r11 * cy + r12 * cz
        z = pz + r20 * cx + r21 * cy + r22 * cz
        bound[link, 0] = x
        bound[link, 1] = y
        bound[link, 2] = z
        i, j, k = cell_of(world, x, y, z)
        if world.coarse[i, j, k] - world.slack > robot.bound_radius[link]:
            continue
        for s in range(robot.first[link], robot.first[link + 1]):
            cx, cy, cz = center[s, 0], center[s, 1], center[s, 2]
            x = px + r00 * cx + r01 * cy + r02 * cz
            y = py + r10 * cx + r11 * cy + r12 * cz
            z = pz + r20 * cx + r21 * cy + r22 * cz
            if sphere_hits(world, layers.arm, layers.arm_bits, x, y, z, robot.radius[s]):
                return False
    for t in range(robot.pairs.shape[0]):
        if _links_hit(robot, rotation, position, bound, robot.pairs[t, 0], robot.pairs[t, 1]):
            return False
    if robot.held_radius.shape[0] > 0:
        return _held_free(robot, world, layers, rotation, position, bound, n)
    return True


@kernel
def _held_free(
    robot: RobotArrays, world: WorldArrays, layers: Layers, rotation: F32, position: F32, bound: F32, last: int
) -> bool:
    for s in range(robot.held_radius.shape[0]):
        cx, cy, cz = robot.held_center[s, 0], robot.held_center[s, 1], robot.held_center[s, 2]
        x = position[last, 0] + rotation[last, 0, 0] * cx + rotation[last, 0, 1] * cy + rotation[last, 0, 2] * cz
        y = position[last, 1] + rotation[last, 1, 0] * cx + rotation[last, 1, 1] * cy + rotation[last, 1, 2] * cz
        z = position[last, 2] + rotation[last, 2, 0] * cx + rotation[last, 2, 1] * cy + rotation[last, 2, 2] * cz
        radius = robot.held_radius[s]
        if sphere_hits(world, layers.held, layers.held_bits, x, y, z, radius):
            return False
        for t in range(robot.held_links.shape[0]):
            if _sphere_hits_link(robot, rotation, position, bound, robot.held_links[t], x, y, z, radius):
                return False
    return True


@kernel
def new_scratch(n: int) -> Scratch:
    """Return scratch for an arm of ``n`` joints."""
    return Scratch(
        np.empty((n + 1, 3, 3), np.float32),
        np.empty((n + 1, 3), np.float32),
        np.empty((n + 1, 3), np.float32),
        np.empty(n, np.float32),
    )


@kernel
def check_batch(scene: Scene, q: F32, out: Flags) -> None:
    """Fill out (b,): True where q (b, n) is free."""
    scratch = new_scratch(q.shape[1])
    for b in range(q.shape[0]):
        out[b] = is_free(scene, q[b], scratch)


@kernel
def nearest_pair(scene: Scene, q: F32, pair: I64) -> np.float32:
    """Return the smallest clearance [m] at ``q`` and write whose it is; for messages, not for planning.

    Fills pair (2,): a link (n + 1 is the held object), then a link as -1 - link, or a part.
    """
    robot = scene.robot
    world = scene.world
    layers = scene.layers
    n = q.shape[0]
    rotation = np.empty((n + 1, 3, 3), np.float32)
    position = np.empty((n + 1, 3), np.float32)
    link_frames(robot.offset, q, rotation, position)
    arm = robot.radius.shape[0]
    count = arm + robot.held_radius.shape[0]
    place = np.empty((count, 3), np.float32)
    radius = np.empty(count, np.float32)
    owner = np.empty(count, np.int64)
    for link in range(n + 1):
        for s in range(robot.first[link], robot.first[link + 1]):
            owner[s] = link
    for s in range(count):
        if s >= arm:
            owner[s] = n + 1
        link = min(owner[s], n)
        radius[s] = robot.radius[s] if s < arm else robot.held_radius[s - arm]
        for i in range(3):
            value = position[link, i]
            for j in range(3):
                value += rotation[link, i, j] * (robot.center[s, j] if s < arm else robot.held_center[s - arm, j])
            place[s, i] = value
    best = np.float32(1e9)
    pair[0] = 0
    pair[1] = -1
    for s in range(count):
        if owner[s] == 0:
            continue
        active = layers.arm if s < arm else layers.held
        for part in range(active.shape[0]):
            if not active[part]:
                continue
            gap = part_distance(world, part, place[s, 0], place[s, 1], place[s, 2]) - radius[s]
            if gap < best:
                best = gap
                pair[0] = owner[s]
                pair[1] = part
    for a in range(count):
        for b in range(count):
            tested = False
            if owner[a] <= n and owner[b] <= n:
                for t in range(robot.pairs.shape[0]):
                    if robot.pairs[t, 0] == owner[a] and robot.pairs[t, 1] == owner[b]:
                        tested = True
            elif owner[a] == n + 1:
                for t in range(robot.held_links.shape[0]):
                    if robot.held_links[t] == owner[b]:
                        tested = True
            if not tested:
                continue
            dx = place[a, 0] - place[b, 0]
            dy = place[a, 1] - place[b, 1]
            dz = place[a, 2] - place[b, 2]
            gap = np.float32(math.sqrt(dx * dx + dy * dy + dz * dz) - radius[a] - radius[b])
            if gap < best:
                best = gap
                pair[0] = owner[a]
                pair[1] = -1 - owner[b]
    return best
