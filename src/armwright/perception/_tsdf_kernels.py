"""Compiled loops of the fusion: which blocks a depth image touches, and what each of their voxels learns from it."""

from __future__ import annotations

import math

import numpy as np

from armwright.perception._jit import F32, I32, U8, kernel

EDGE = 8
"""Voxels along a block's edge."""
CUBE = EDGE**3
# Elements of a camera: intrinsics, then world to camera row by row.
FX, FY, CX, CY, TURN, SHIFT = 0, 1, 2, 3, 4, 13


@kernel
def owner_windows(owner: I32, count: int) -> I32:
    """Return (count, 4) first and past-the-last row and column of each owner 0..count-1 in (H, W), zeros if absent."""
    out = np.zeros((count, 4), np.int32)
    for v in range(owner.shape[0]):
        for u in range(owner.shape[1]):
            k = owner[v, u]
            if 0 <= k < count:
                if out[k, 1] == 0:
                    out[k, 0], out[k, 2] = v, u
                out[k, 1] = v + 1
                out[k, 2] = min(out[k, 2], u)
                out[k, 3] = max(out[k, 3], u + 1)
    return out


@kernel
def touched_blocks(
    depth: F32,
    owner: I32,
    me: int,
    window: I32,
    camera: F32,
    far: np.float32,
    reach: np.float32,
    block: np.float32,
    step: int,
) -> I32:
    """Return (n, 3) keys of the blocks within ``reach`` [m] of what the camera saw; neighbours repeat.

    Args:
        depth: (H, W) [m], 0 or NaN where there is no reading.
        owner: (H, W) whose each pixel is; one of size 0 counts every pixel.
        me: Which owner counts.
        window: (4,) first and past-the-last row and column to look at.
        camera: (16,) see `TURN`.
        far: Readings beyond are left out [m].
        reach: Length of the ray before and behind a reading [m].
        block: A block's edge [m].
        step: Every how many pixels.
    """
    room = ((window[1] - window[0]) // step + 1) * ((window[3] - window[2]) // step + 1) * 3
    out = np.empty((room, 3), np.int32)
    count = 0
    whole = owner.size == 0
    per = 1.0 / block
    tx, ty, tz = camera[SHIFT], camera[SHIFT + 1], camera[SHIFT + 2]
    lx, ly, lz = np.int32(2**30), np.int32(0), np.int32(0)
    for v in range(window[0], window[1], step):
        for u in range(window[2], window[3], step):
            d = depth[v, u]
            if not (d > 0.0 and d < far) or not (whole or owner[v, u] == me):
                continue
            for s in range(-1, 2):
                z = d + s * reach
                x = (u + 0.5 - camera[CX]) / camera[FX] * z - tx
                y = (v + 0.5 - camera[CY]) / camera[FY] * z - ty
                z = z - tz
                # Camera to world: the turn's transpose.
                bx = np.int32(math.floor((camera[4] * x + camera[7] * y + camera[10] * z) * per))
                by = np.int32(math.floor((camera[5] * x + camera[8] * y + camera[11] * z) * per))
                bz = np.int32(math.floor((camera[6] * x + camera[9] * y + camera[12] * z) * per))
                if bx != lx or by != ly or bz != lz:
                    lx, ly, lz = bx, by, bz
                    out[count, 0], out[count, 1], out[count, 2] = bx, by, bz
                    count += 1
    return out[:count]


@kernel
def key_range(keys: I32) -> I32:
    """Return (2, 3) the lowest and highest of keys (n >= 1, 3) along each axis."""
    out = np.empty((2, 3), np.int32)
    for a in range(3):
        out[0, a] = out[1, a] = keys[0, a]
    for n in range(1, len(keys)):
        for a in range(3):
            out[0, a] = min(out[0, a], keys[n, a])
            out[1, a] = max(out[1, a], keys[n, a])
    return out


@kernel
def missing_blocks(wanted: I32, table: I32, low: I32, first: int) -> I32:
    """Enter wanted blocks (n, 3) that are not in the table yet under numbers from ``first``; return their keys.

    Args:
        wanted: Keys, all inside the table; may repeat.
        table: (x, y, z) number of each block, -1 where there is none.
        low: (3,) key of the table's first entry.
        first: How many blocks there are.
    """
    out = np.empty((len(wanted), 3), np.int32)
    count = 0
    for n in range(len(wanted)):
        i, j, k = wanted[n, 0] - low[0], wanted[n, 1] - low[1], wanted[n, 2] - low[2]
        if table[i, j, k] < 0:
            table[i, j, k] = first + count
            out[count] = wanted[n]
            count += 1
    return out[:count]


@kernel
def farthest_in_tiles(depth: F32, tile: int) -> F32:
    """Return (ceil(H / tile), ceil(W / tile)) the largest depth of each tile [m]; a hole counts as 0."""
    height, width = depth.shape
    rows, columns = (height + tile - 1) // tile, (width + tile - 1) // tile
    out = np.zeros((rows, columns), np.float32)
    for i in range(rows):
        for v in range(i * tile, min(i * tile + tile, height)):
            for j in range(columns):
                best = out[i, j]
                for u in range(j * tile, min(j * tile + tile, width)):
                    d = depth[v, u]
                    best = d if d > best else best
                out[i, j] = best
    return out


@kernel
def fuse(
    cells: F32,
    colours: F32,
    keys: I32,
    depth: F32,
    rgb: U8,
    owner: I32,
    me: int,
    camera: F32,
    tiles: F32,
    tile: int,
    voxel: np.float32,
    truncation: np.float32,
    far: np.float32,
    most: np.float32,
) -> int:
    """Average one depth image into the voxels in view; return how many blocks were looked at.

    Args:
        cells: (n, 512, 2) distance [m] and weight.
        colours: (n, 512, 3), negative where not seen; or of no blocks.
        keys: (n, 3) of the blocks.
        depth: (H, W) [m].
        rgb: (H, W, 3).
        owner: (H, W), or of size 0; a pixel that is not mine only says which voxels are free.
        me: Which owner is mine.
        camera: (16,) see `TURN`.
        tiles: The largest depth of each ``tile`` of pixels.
        tile: Its edge [px].
        voxel: A voxel's edge [m].
        truncation: Distances are cut off here [m]; voxels deeper behind the surface learn nothing.
        far: Readings beyond are left out [m].
        most: The largest weight.
    """
    height, width = depth.shape
    whole = owner.size == 0
    coloured = colours.shape[0] > 0
    fx, fy, cx, cy = camera[FX], camera[FY], camera[CX], camera[CY]
    ax, ay, az = camera[4] * voxel, camera[7] * voxel, camera[10] * voxel
    bx, by, bz = camera[5] * voxel, camera[8] * voxel, camera[11] * voxel
    dx, dy, dz = camera[6] * voxel, camera[9] * voxel, camera[12] * voxel
    middle = np.float32(EDGE * 0.5 - 0.5)
    radius = np.float32(EDGE * 0.5 * math.sqrt(3.0)) * voxel
    last_u, last_v = np.float32(width), np.float32(height)
    margin, zero = np.float32(0.01), np.float32(0.0)
    flat, owners, seen = depth.reshape(-1), owner.reshape(-1), rgb.reshape(-1, 3)
    pixel = np.empty(EDGE, np.int32)
    away = np.empty(EDGE, np.float32)
    looked = 0
    for n in range(len(keys)):
        wx = np.float32(keys[n, 0] * EDGE + 0.5) * voxel
        wy = np.float32(keys[n, 1] * EDGE + 0.5) * voxel
        wz = np.float32(keys[n, 2] * EDGE + 0.5) * voxel
        px = camera[4] * wx + camera[5] * wy + camera[6] * wz + camera[SHIFT]
        py = camera[7] * wx + camera[8] * wy + camera[9] * wz + camera[SHIFT + 1]
        pz = camera[10] * wx + camera[11] * wy + camera[12] * wz + camera[SHIFT + 2]
        zc = pz + middle * (az + bz + dz)
        if zc + radius <= 0.01:
            continue
        near = zc - radius
        if near > 0.05:
            xc, yc = px + middle * (ax + bx + dx), py + middle * (ay + by + dy)
            # The sphere's corners at its near and far end bound every pixel that it covers.
            end = zc + radius
            u0 = fx * min((xc - radius) / near, (xc - radius) / end) + cx
            u1 = fx * max((xc + radius) / near, (xc + radius) / end) + cx
            v0 = fy * min((yc - radius) / near, (yc - radius) / end) + cy
            v1 = fy * max((yc + radius) / near, (yc + radius) / end) + cy
            if u1 < 0 or v1 < 0 or u0 >= width or v0 >= height:
                continue
            left, right = int(max(u0, 0.0)) // tile, int(min(u1, width - 1.0)) // tile
            top, bottom = int(max(v0, 0.0)) // tile, int(min(v1, height - 1.0)) // tile
            hidden = near - truncation
            visible = False
            for v in range(top, bottom + 1):
                for u in range(left, right + 1):
                    if tiles[v, u] >= hidden:
                        visible = True
            if not visible:
                continue
        looked += 1
        at = 0
        for i in range(EDGE):
            for j in range(EDGE):
                x = px + np.float32(i) * ax + np.float32(j) * bx
                y = py + np.float32(i) * ay + np.float32(j) * by
                z = pz + np.float32(i) * az + np.float32(j) * bz
                # First where the row's voxels fall, without branches, then what they learn.
                for k in range(EDGE):
                    zk = z + np.float32(k) * dz
                    inverse = np.float32(1.0) / zk
                    uf = fx * (x + np.float32(k) * dx) * inverse + cx
                    vf = fy * (y + np.float32(k) * dy) * inverse + cy
                    inside = (zk > margin) & (uf >= zero) & (vf >= zero) & (uf < last_u) & (vf < last_v)
                    pixel[k] = np.int32(vf) * np.int32(width) + np.int32(uf) if inside else np.int32(-1)
                    away[k] = zk
                for k in range(EDGE):
                    p = pixel[k]
                    if p < 0:
                        at += 1
                        continue
                    d = flat[p]
                    s = d - away[k]
                    if d > 0.0 and d < far and s >= -truncation:
                        mine = whole or owners[p] == me
                        if mine or s >= truncation:
                            w = cells[n, at, 1]
                            part = np.float32(1.0) / (w + np.float32(1.0))
                            old = cells[n, at, 0]
                            cells[n, at, 0] = old + (min(s, truncation) - old) * part
                            cells[n, at, 1] = min(w + np.float32(1.0), most)
                            if coloured and mine and s < truncation:
                                if colours[n, at, 0] < 0:
                                    part = np.float32(1.0)
                                for c in range(3):
                                    old = colours[n, at, c]
                                    colours[n, at, c] = old + (np.float32(seen[p, c]) - old) * part
                    at += 1
    return looked


@kernel
def absorb(cells: F32, colours: F32, number: I32, other_cells: F32, other_colours: F32, most: np.float32) -> None:
    """Add the evidence of other blocks to the blocks of the same place, weight by weight.

    Args:
        cells: (n, 512, 2) to change.
        colours: (n, 512, 3) to change, or of no blocks.
        number: (m,) which of them each other block falls on.
        other_cells, other_colours: (m, 512, 2 and 3).
        most: The largest weight.
    """
    coloured = colours.shape[0] > 0 and other_colours.shape[0] > 0
    for m in range(len(number)):
        n = number[m]
        for at in range(CUBE):
            w, more = cells[n, at, 1], other_cells[m, at, 1]
            if more <= 0:
                continue
            part = more / (w + more)
            cells[n, at, 0] += (other_cells[m, at, 0] - cells[n, at, 0]) * part
            cells[n, at, 1] = min(w + more, most)
            if coloured and other_colours[m, at, 0] >= 0:
                share = np.float32(1.0) if colours[n, at, 0] < 0 else part
                for c in range(3):
                    colours[n, at, c] += (other_colours[m, at, c] - colours[n, at, c]) * share
