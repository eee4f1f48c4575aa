"""Compiled search: for every gripper frame the best depth and pad interval on the object's own cloud."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

OK, TOO_WIDE, NO_CONTACT, MISALIGNED, FINGER, PALM, SUPPORT = range(7)
REASONS = (
    "ok",
    "too_wide",
    "no_opposing_surfaces",
    "misaligned",
    "finger_collision",
    "palm_collision",
    "support_collision",
)
# How far a candidate got before it failed: the furthest reason over all depths is the one that is counted.
_RANK = np.array([9, 1, 0, 4, 3, 5, 2])

QUALITY, DEPTH, CENTRE, WIDTH, OPENING, ON_REGION = range(6)

COUNT, NX, NY, NZ, SUM_X, SUM_Z, NEAR, NEAR_MASKED = range(8)

_BIN = 0.001
_GAP_BINS = 4
_FACING = 0.35
_START = 0.0015
_PATCH_SLACK = 0.0012
_NEAR_PATCH = 0.003
_NEAR_EDGE = 0.002
# Least sine of an approach's fall at which the support, not the palm, decides how deep the pads go.
_DOWNWARD = 0.5
# Kept under the tips there, besides the margin: an arm stops this far from where it was sent.
_LOW_TIPS = 0.002


@njit(cache=True, fastmath=True)
def _intervals(sy, sny, sz, count, depth, pad_half, reach, exit_hi, entry_lo, out):  # type: ignore[no-untyped-def]
    """Write [lo, hi] of the piece at y = 0 and of everything between the fingers; return how many there are."""
    bins = int(2 * reach / _BIN) + 1
    for b in range(bins):
        exit_hi[b] = -1e9
        entry_lo[b] = 1e9
    all_hi = -1e9
    all_lo = 1e9
    for i in range(count):
        if abs(sz[i] - depth) > pad_half or abs(sy[i]) >= reach:
            continue
        b = int((sy[i] + reach) / _BIN)
        if sny[i] > _FACING:
            exit_hi[b] = max(exit_hi[b], sy[i])
            all_hi = max(all_hi, sy[i])
        elif sny[i] < -_FACING:
            entry_lo[b] = min(entry_lo[b], sy[i])
            all_lo = min(all_lo, sy[i])
    if all_hi < -1e8 or all_lo > 1e8 or all_hi <= all_lo:
        return 0
    hi = -1e9
    quiet = 0
    for b in range(int((reach - _START) / _BIN), bins):
        if exit_hi[b] > -1e8:
            hi = exit_hi[b]
            quiet = 0
        elif hi > -1e8:
            quiet += 1
            if quiet > _GAP_BINS:
                break
    lo = 1e9
    quiet = 0
    for b in range(int((reach + _START) / _BIN), -1, -1):
        if entry_lo[b] < 1e8:
            lo = entry_lo[b]
            quiet = 0
        elif lo < 1e8:
            quiet += 1
            if quiet > _GAP_BINS:
                break
    n = 0
    if hi > -1e8 and lo < 1e8 and hi > lo:
        out[n, 0] = lo
        out[n, 1] = hi
        n += 1
    if n == 0 or abs(all_hi - hi) > 0.002 or abs(all_lo - lo) > 0.002:
        out[n, 0] = all_lo
        out[n, 1] = all_hi
        n += 1
    return n


@njit(cache=True, fastmath=True)
def _beside_palm(points, o, r, palm_x, wy, wz):  # type: ignore[no-untyped-def]
    """Write closing-axis and approach coordinates of the points within the palm's width; return how many."""
    wide = 0
    for i in range(len(points)):
        dx = points[i, 0] - o[0]
        dy = points[i, 1] - o[1]
        dz = points[i, 2] - o[2]
        if abs(dx * r[0, 0] + dy * r[1, 0] + dz * r[2, 0]) <= palm_x:
            wy[wide] = dx * r[0, 1] + dy * r[1, 1] + dz * r[2, 1]
            wz[wide] = dx * r[0, 2] + dy * r[1, 2] + dz * r[2, 2]
            wide += 1
    return wide


@njit(cache=True, fastmath=True)
def search_frames(  # type: ignore[no-untyped-def]
    points,
    normals,
    mask,
    origins,
    rotations,
    depths,
    centroid,
    pad_x,
    pad_z,
    finger_depth,
    finger_thickness,
    palm_depth,
    max_opening,
    clearance,
    min_clearance,
    margin,
    palm_x,
    palm_y,
    cos_cone,
    per_pad,
    plane,
    sweep,
    palm_length,
):
    """Search depth and pad interval for each frame.

    Args:
        points, normals: (n, 3) cloud and outward normals in the object's frame.
        mask: (n,) bool, the region.
        origins: (f, 3) contact point per frame.
        rotations: (f, 3, 3) columns: finger width, closing axis, approach.
        depths: (d,) offsets of the pads' middle from the contact along the approach; where the support is in the way
            of all of them, the deepest that it allows is tried too.
        centroid: (3,) stands in for the centre of mass.
        pad_x, pad_z: Pad extents; the other lengths are the gripper's, in metres.
        cos_cone: Least cosine between a patch's mean normal and the closing axis.
        per_pad: Points that a fully covered pad would touch.
        plane: (4,) n, d with n·p + d >= 0 above the support; zeros for none.
        sweep, palm_length: How far the straight approach and the palm reach back [m].

    Returns:
        ``best`` (f, 2, 6) quality, depth, centre along the closing axis, width, opening, share of the touched surface
        that is in the region, for the thin and the wide interval; quality 0 means none. ``reason`` (f,) int, how far
        the frame got.
    """
    f_count = len(origins)
    n = len(points)
    best = np.zeros((f_count, 2, 6))
    reason = np.full(f_count, NO_CONTACT, np.int64)
    px = points[:, 0].copy()
    py = points[:, 1].copy()
    pz = points[:, 2].copy()
    across = np.empty(n)
    sx = np.empty(n)
    sy = np.empty(n)
    sz = np.empty(n)
    snx = np.empty(n)
    sny = np.empty(n)
    snz = np.empty(n)
    sm = np.empty(n)
    wy = np.empty(n)
    wz = np.empty(n)
    reach = max_opening + 0.01
    bins = int(2 * reach / _BIN) + 2
    exit_hi = np.empty(bins)
    entry_lo = np.empty(bins)
    spans = np.empty((2, 2))
    patch = np.zeros((2, 8))
    half_x = 0.5 * pad_x
    half_z = 0.5 * pad_z
    finger_x = half_x + margin
    near_x = max(finger_x, half_x + _NEAR_EDGE)
    deepest = depths.max() + max(finger_depth + margin, half_z + _NEAR_PATCH)
    shallowest = depths.min()
    has_plane = plane[0] ** 2 + plane[1] ** 2 + plane[2] ** 2 > 0.5
    for f in range(f_count):
        r = rotations[f]
        o = origins[f]
        count = 0
        wide = -1
        shift = o[0] * r[0, 0] + o[1] * r[1, 0] + o[2] * r[2, 0]
        for i in range(n):
            across[i] = px[i] * r[0, 0] + py[i] * r[1, 0] + pz[i] * r[2, 0] - shift
        for i in range(n):
            if abs(across[i]) > near_x:
                continue
            dx = px[i] - o[0]
            dy = py[i] - o[1]
            dz = pz[i] - o[2]
            z = dx * r[0, 2] + dy * r[1, 2] + dz * r[2, 2]
            if z > deepest:
                continue
            sx[count] = across[i]
            sy[count] = dx * r[0, 1] + dy * r[1, 1] + dz * r[2, 1]
            sz[count] = z
            snx[count] = normals[i, 0] * r[0, 0] + normals[i, 1] * r[1, 0] + normals[i, 2] * r[2, 0]
            sny[count] = normals[i, 0] * r[0, 1] + normals[i, 1] * r[1, 1] + normals[i, 2] * r[2, 1]
            snz[count] = normals[i, 0] * r[0, 2] + normals[i, 1] * r[1, 2] + normals[i, 2] * r[2, 2]
            sm[count] = 1.0 if mask[i] else 0.0
            count += 1
        cx = centroid[0] - o[0]
        cy = centroid[1] - o[1]
        cz = centroid[2] - o[2]
        com_x = cx * r[0, 0] + cy * r[1, 0] + cz * r[2, 0]
        com_z = cx * r[0, 2] + cy * r[1, 2] + cz * r[2, 2]
        up_x = abs(plane[0] * r[0, 0] + plane[1] * r[1, 0] + plane[2] * r[2, 0])
        up_y = plane[0] * r[0, 1] + plane[1] * r[1, 1] + plane[2] * r[2, 1]
        up_z = plane[0] * r[0, 2] + plane[1] * r[1, 2] + plane[2] * r[2, 2]
        height = plane[0] * o[0] + plane[1] * o[1] + plane[2] * o[2] + plane[3]
        finger_low = min(up_z * finger_depth, -up_z * (palm_depth + sweep)) - up_x * half_x
        palm_low = min(-up_z * palm_depth, -up_z * (palm_depth + sweep + palm_length))
        palm_low -= up_x * palm_x + abs(up_y) * palm_y
        finger_side = abs(up_y) * (clearance + finger_thickness + margin)
        for k in range(len(depths) + 1):
            if k < len(depths):
                depth = depths[k]
            else:
                # What is flatter than a finger's end is held as low as the support lets the tips go.
                if not has_plane or up_z > -_DOWNWARD:
                    continue
                depth = (height + finger_low - finger_side - margin - _LOW_TIPS) / -up_z
                if depth >= shallowest or depth < -half_z:
                    continue
            found = _intervals(sy, sny, sz, count, depth, half_z, reach, exit_hi, entry_lo, spans)
            for s in range(found):
                lo = spans[s, 0]
                hi = spans[s, 1]
                width = hi - lo
                centre = 0.5 * (lo + hi)
                code = OK
                if width > max_opening - 2 * min_clearance:
                    if _RANK[TOO_WIDE] > _RANK[reason[f]]:
                        reason[f] = TOO_WIDE
                    continue
                opening = min(width + 2 * clearance, max_opening)
                inner = 0.5 * width + margin
                outer = 0.5 * opening + finger_thickness + margin
                if has_plane:
                    base = height + depth * up_z + centre * up_y - margin
                    if base + min(palm_low, finger_low - abs(up_y) * (outer - margin)) < 0.0:
                        if _RANK[SUPPORT] > _RANK[reason[f]]:
                            reason[f] = SUPPORT
                        continue
                patch[:] = 0.0
                for i in range(count):
                    z = sz[i] - depth
                    if z > finger_depth + margin:
                        continue
                    y = sy[i] - centre
                    ay = abs(y)
                    beside = abs(sx[i])
                    if ay > inner and ay < outer and beside <= finger_x:
                        code = FINGER
                        break
                    if abs(z) > half_z + _NEAR_EDGE or ay < 0.5 * width - _NEAR_PATCH:
                        continue
                    side = 1 if y > 0 else 0
                    sign = 1.0 if y > 0 else -1.0
                    # The far side of a thin wall is near too, but no pad touches it.
                    if sign * sny[i] > -_FACING:
                        # What stands out farthest is touched most: the wide end of a cone, not all of its side.
                        touched = 1.0 - max(0.5 * width - ay, 0.0) / _NEAR_PATCH
                        patch[side, NEAR] += touched
                        patch[side, NEAR_MASKED] += touched * sm[i]
                    if beside > half_x or abs(z) > half_z:
                        continue
                    if ay >= 0.5 * width - _PATCH_SLACK and sign * sny[i] > 0.0:
                        patch[side, COUNT] += 1.0
                        patch[side, NX] += snx[i]
                        patch[side, NY] += sign * sny[i]
                        patch[side, NZ] += snz[i]
                        patch[side, SUM_X] += sx[i]
                        patch[side, SUM_Z] += z
                if code == OK and min(patch[0, COUNT], patch[1, COUNT]) < 2.0:
                    code = NO_CONTACT
                align = 1.0
                off_x = 0.0
                off_z = 0.0
                on_region = 1.0
                if code == OK:
                    for side in range(2):
                        a = patch[side]
                        size = math.sqrt(a[NX] ** 2 + a[NY] ** 2 + a[NZ] ** 2)
                        align = min(align, a[NY] / max(size, 1e-12))
                        off_x = max(off_x, abs(a[SUM_X] / a[COUNT]) / half_x)
                        off_z = max(off_z, abs(a[SUM_Z] / a[COUNT]) / half_z)
                        on_region = min(on_region, a[NEAR_MASKED] / max(a[NEAR], 1e-9))
                    if align < cos_cone:
                        code = MISALIGNED
                if code == OK and wide < 0:
                    wide = _beside_palm(points, o, r, palm_x, wy, wz)
                if code == OK:
                    for i in range(wide):
                        if wz[i] - depth < -palm_depth + margin and abs(wy[i] - centre) < palm_y:
                            code = PALM
                            break
                if code == OK:
                    cover = min(1.0, min(patch[0, COUNT], patch[1, COUNT]) / (0.3 * per_pad))
                    arm = math.sqrt(com_x**2 + (com_z - depth) ** 2)
                    quality = align * align * (0.2 + 0.8 * cover) * (0.2 + 0.8 * on_region)
                    quality *= (1.0 - 0.4 * min(1.0, off_z)) * (1.0 - 0.4 * min(1.0, off_x))
                    quality /= 1.0 + (arm / 0.15) ** 2
                    if opening < width + 2 * clearance:
                        quality *= 0.8
                    reason[f] = OK
                    slot = 0 if s == 0 else 1
                    if quality > best[f, slot, 0]:
                        best[f, slot, 0] = quality
                        best[f, slot, 1] = depth
                        best[f, slot, 2] = centre
                        best[f, slot, 3] = width
                        best[f, slot, 4] = opening
                        best[f, slot, 5] = on_region
                elif _RANK[code] > _RANK[reason[f]]:
                    reason[f] = code
    return best, reason
