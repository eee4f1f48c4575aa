"""What the boundary network sees of a frame: colour, depth against its surroundings, normals, packed by fours.

The network works on a grid of a quarter of the image. Every cell holds its 4 x 4 colours and depths and its 2 x 2
normals, so that nothing of the full resolution is lost while the convolutions stay cheap.
"""

from __future__ import annotations

import numpy as np

from armwright.core.camera import CameraModel
from armwright.perception._jit import F32, U8, kernel

CELL = 4
CHANNELS = 48 + 16 + 4 + 12 + 1
MULTIPLE = 32
"""Images must have sides that are multiples of this [px]: three halvings below the quarter."""
_AROUND = 20
_BASE = 3
_LOCAL_M = 0.06
_SAME_SURFACE_M = 0.02


def pack(rgb: U8, depth_m: F32, camera: CameraModel) -> F32:
    """Return the network's input (CHANNELS, H / 4, W / 4).

    Args:
        rgb: (H, W, 3), with sides that are multiples of `MULTIPLE`.
        depth_m: (H, W), 0 where there is no reading.
        camera: Intrinsics of this image.
    """
    height, width = depth_m.shape
    half = np.empty((height // 2, width // 2), np.float32)
    around = np.empty_like(half)
    out = np.empty((CHANNELS, height // CELL, width // CELL), np.float32)
    _halve(np.ascontiguousarray(depth_m, dtype=np.float32), half)
    _surroundings(half, _AROUND, around)
    _colours(np.ascontiguousarray(rgb), out)
    _depths(np.ascontiguousarray(depth_m, dtype=np.float32), half, around, out)
    _normals(half, camera.fx / 2, camera.fy / 2, camera.cx / 2, camera.cy / 2, out)
    return out


@kernel
def _halve(depth: F32, half: F32) -> None:
    """Average each 2 x 2 over the nearest surface in it."""
    for y in range(half.shape[0]):
        for x in range(half.shape[1]):
            near = np.float32(1e9)
            for k in range(4):
                z = depth[2 * y + k // 2, 2 * x + k % 2]
                if z > 0 and z < near:
                    near = z
            total, count = np.float32(0), 0
            for k in range(4):
                z = depth[2 * y + k // 2, 2 * x + k % 2]
                if z > 0 and z < near + _SAME_SURFACE_M:
                    total += z
                    count += 1
            half[y, x] = total / count if count else np.float32(0)


@kernel
def _surroundings(half: F32, radius: int, out: F32) -> None:
    """Average the readings within a square around each pixel by running sums; 0 where there is none."""
    height, width = half.shape
    column_sum = np.zeros(width, np.float32)
    column_count = np.zeros(width, np.int32)
    for y in range(min(radius, height)):
        for x in range(width):
            if half[y, x] > 0:
                column_sum[x] += half[y, x]
                column_count[x] += 1
    for y in range(height):
        if y + radius < height:
            for x in range(width):
                if half[y + radius, x] > 0:
                    column_sum[x] += half[y + radius, x]
                    column_count[x] += 1
        if y - radius - 1 >= 0:
            for x in range(width):
                if half[y - radius - 1, x] > 0:
                    column_sum[x] -= half[y - radius - 1, x]
                    column_count[x] -= 1
        total, count = np.float32(0), 0
        for x in range(min(radius, width)):
            total += column_sum[x]
            count += column_count[x]
        for x in range(width):
            if x + radius < width:
                total += column_sum[x + radius]
                count += column_count[x + radius]
            if x - radius - 1 >= 0:
                total -= column_sum[x - radius - 1]
                count -= column_count[x - radius - 1]
            out[y, x] = total / count if count else np.float32(0)


@kernel
def _colours(rgb: U8, out: F32) -> None:
    scale = np.float32(2.0 / 255.0)
    for c in range(3):
        for k in range(16):
            plane = out[c * 16 + k]
            for y in range(plane.shape[0]):
                for x in range(plane.shape[1]):
                    plane[y, x] = rgb[4 * y + k // 4, 4 * x + k % 4, c] * scale - np.float32(1)


@kernel
def _depths(depth: F32, half: F32, around: F32, out: F32) -> None:
    per_m = np.float32(1.0 / _LOCAL_M)
    for k in range(16):
        plane = out[48 + k]
        dy, dx = k // 4, k % 4
        for y in range(plane.shape[0]):
            for x in range(plane.shape[1]):
                z = depth[4 * y + dy, 4 * x + dx]
                local = np.float32(0)
                if z > 0:
                    local = (z - around[2 * y + dy // 2, 2 * x + dx // 2]) * per_m
                    local = min(max(local, np.float32(-2)), np.float32(2))
                plane[y, x] = local
    for k in range(4):
        plane = out[64 + k]
        for y in range(plane.shape[0]):
            for x in range(plane.shape[1]):
                plane[y, x] = np.float32(1) if half[2 * y + k // 2, 2 * x + k % 2] > 0 else np.float32(0)
    plane = out[80]
    for y in range(plane.shape[0]):
        for x in range(plane.shape[1]):
            plane[y, x] = min(around[2 * y, 2 * x], np.float32(3)) - np.float32(1)


@kernel
def _normals(half: F32, fx: float, fy: float, cx: float, cy: float, out: F32) -> None:
    """Take normals from the readings a few pixels left and right, above and below; 0 where one is missing."""
    height, width = half.shape
    for y in range(height):
        for x in range(width):
            k = (y % 2) * 2 + x % 2
            ox, oy, oz = 0.0, 0.0, 0.0
            left, right = max(x - _BASE, 0), min(x + _BASE, width - 1)
            above, below = max(y - _BASE, 0), min(y + _BASE, height - 1)
            a, b, c, d = half[y, left], half[y, right], half[above, x], half[below, x]
            if a > 0 and b > 0 and c > 0 and d > 0:
                ux = (right + 0.5 - cx) / fx * b - (left + 0.5 - cx) / fx * a
                uy = (y + 0.5 - cy) / fy * (b - a)
                uz = b - a
                vx = (x + 0.5 - cx) / fx * (d - c)
                vy = (below + 0.5 - cy) / fy * d - (above + 0.5 - cy) / fy * c
                vz = d - c
                ox, oy, oz = vy * uz - vz * uy, vz * ux - vx * uz, vx * uy - vy * ux
                size = np.sqrt(ox * ox + oy * oy + oz * oz)
                if size > 1e-12:
                    ox, oy, oz = ox / size, oy / size, oz / size
            out[68 + k, y // 2, x // 2] = ox
            out[72 + k, y // 2, x // 2] = oy
            out[76 + k, y // 2, x // 2] = oz
