"""Kernels of the Gaussian rasteriser: projection with colours, binning into tiles, blending front to back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

TILE = 16
# A Gaussian fainter than this at a pixel is left out there; a pixel is full when less than this light gets through.
ALPHA_MIN, ALPHA_MAX, LIGHT_MIN = 1.0 / 255.0, 0.99, 1e-4
# Added to the projected covariance [px^2], so that no Gaussian is thinner than a pixel.
BLUR_PX2 = 0.3
# The projection is linearised no further out than this many half images.
_GUARD = 1.3


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def basis(x: float, y: float, z: float, degree: int, out: Any) -> None:
    """Write the real spherical harmonics of a unit direction, up to a degree of 3, in the order of 3DGS files."""
    out[0] = 0.28209479177387814
    if degree < 1:
        return
    out[1], out[2], out[3] = -0.4886025119029199 * y, 0.4886025119029199 * z, -0.4886025119029199 * x
    if degree < 2:
        return
    xx, yy, zz = x * x, y * y, z * z
    out[4] = 1.0925484305920792 * x * y
    out[5] = -1.0925484305920792 * y * z
    out[6] = 0.31539156525252005 * (2.0 * zz - xx - yy)
    out[7] = -1.0925484305920792 * x * z
    out[8] = 0.5462742152960396 * (xx - yy)
    if degree < 3:
        return
    out[9] = -0.5900435899266435 * y * (3.0 * xx - yy)
    out[10] = 2.890611442640554 * x * y * z
    out[11] = -0.4570457994644658 * y * (4.0 * zz - xx - yy)
    out[12] = 0.3731763325901154 * z * (2.0 * zz - 3.0 * xx - 3.0 * yy)
    out[13] = -0.4570457994644658 * x * (4.0 * zz - xx - yy)
    out[14] = 1.445305721320277 * z * (xx - yy)
    out[15] = -0.5900435899266435 * x * (xx - 3.0 * yy)


@njit(cache=True, nogil=True, fastmath={"contract", "arcp"})  # type: ignore[untyped-decorator]
def project(
    mean: Any,
    scale: Any,
    quat: Any,
    opacity: Any,
    sh: Any,
    rotation_sh: Any,
    rotation: Any,
    origin: Any,
    pinhole: Any,
    width: int,
    height: int,
    near_m: float,
) -> Any:
    """Project all Gaussians (EWA) and return what is drawn of those that may be seen.

    Args:
        mean, scale, quat, opacity, sh: The field.
        rotation_sh: (3, 3) from the field's frame to that of its coefficients.
        rotation, origin: (3, 3) camera from world, and the camera's place in the world.
        pinhole: (fx, fy, cx, cy).
        width, height: Image size [px].
        near_m: What is nearer is left out.

    Returns:
        Depth (m,), pixel, inverse covariance, opacity and colour (m, 9) as u, v, a, b, c, o, r, g, b, and bounds
        (m, 4) of pixels as first and last column, first and last row.
    """
    n, degree = len(mean), int(math.sqrt(sh.shape[1])) - 1
    depth = np.empty(n, np.float32)
    drawn = np.empty((n, 9), np.float32)
    bounds = np.empty((n, 4), np.int32)
    harmonics = np.zeros(16)
    fx, fy, cx, cy = pinhole[0], pinhole[1], pinhole[2], pinhole[3]
    left, right = _GUARD * (cx / fx), _GUARD * ((width - cx) / fx)
    top, bottom = _GUARD * (cy / fy), _GUARD * ((height - cy) / fy)
    m = 0
    for i in range(n):
        if opacity[i] < ALPHA_MIN:
            continue
        dx, dy, dz = mean[i, 0] - origin[0], mean[i, 1] - origin[1], mean[i, 2] - origin[2]
        z = rotation[2, 0] * dx + rotation[2, 1] * dy + rotation[2, 2] * dz
        if z < near_m:
            continue
        x = rotation[0, 0] * dx + rotation[0, 1] * dy + rotation[0, 2] * dz
        y = rotation[1, 0] * dx + rotation[1, 1] * dy + rotation[1, 2] * dz
        u, v = fx * x / z + cx, fy * y / z + cy
        # J R S as two rows: the Jacobian of the projection times the Gaussian's axes in the camera's frame.
        tx = min(max(x / z, -left), right)
        ty = min(max(y / z, -top), bottom)
        w, qx, qy, qz = quat[i, 0], quat[i, 1], quat[i, 2], quat[i, 3]
        a = b = c = 0.0
        for k in range(3):
            if k == 0:
                ax, ay, az = 1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy + w * qz), 2 * (qx * qz - w * qy)
            elif k == 1:
                ax, ay, az = 2 * (qx * qy - w * qz), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz + w * qx)
            else:
                ax, ay, az = 2 * (qx * qz + w * qy), 2 * (qy * qz - w * qx), 1 - 2 * (qx * qx + qy * qy)
            s = scale[i, k]
            px = s * (rotation[0, 0] * ax + rotation[0, 1] * ay + rotation[0, 2] * az)
            py = s * (rotation[1, 0] * ax + rotation[1, 1] * ay + rotation[1, 2] * az)
            pz = s * (rotation[2, 0] * ax + rotation[2, 1] * ay + rotation[2, 2] * az)
            gu = fx / z * (px - tx * pz)
            gv = fy / z * (py - ty * pz)
            a += gu * gu
            b += gu * gv
            c += gv * gv
        a += BLUR_PX2
        c += BLUR_PX2
        reach = math.sqrt(2.0 * math.log(opacity[i] / ALPHA_MIN))
        ru, rv = reach * math.sqrt(a), reach * math.sqrt(c)
        if u + ru < 0 or u - ru > width or v + rv < 0 or v - rv > height:
            continue
        determinant = a * c - b * b
        if determinant <= 0.0:
            continue
        depth[m] = z
        bounds[m, 0] = max(0, math.floor(u - ru))
        bounds[m, 1] = min(width - 1, math.floor(u + ru))
        bounds[m, 2] = max(0, math.floor(v - rv))
        bounds[m, 3] = min(height - 1, math.floor(v + rv))
        drawn[m, 0], drawn[m, 1] = u, v
        drawn[m, 2], drawn[m, 3], drawn[m, 4] = c / determinant, -b / determinant, a / determinant
        drawn[m, 5] = opacity[i]
        far = math.sqrt(dx * dx + dy * dy + dz * dz)
        hx = (rotation_sh[0, 0] * dx + rotation_sh[0, 1] * dy + rotation_sh[0, 2] * dz) / far
        hy = (rotation_sh[1, 0] * dx + rotation_sh[1, 1] * dy + rotation_sh[1, 2] * dz) / far
        hz = (rotation_sh[2, 0] * dx + rotation_sh[2, 1] * dy + rotation_sh[2, 2] * dz) / far
        basis(hx, hy, hz, degree, harmonics)
        for channel in range(3):
            colour = 0.5
            for k in range(sh.shape[1]):
                colour += harmonics[k] * sh[i, k, channel]
            drawn[m, 6 + channel] = max(colour, 0.0)
        m += 1
    return depth[:m], drawn[:m], bounds[:m]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def bin_tiles(order: Any, bounds: Any, width: int, height: int) -> Any:
    """Return which Gaussians touch each tile, nearest first: (t + 1,) offsets and their indices."""
    across, down = (width + TILE - 1) // TILE, (height + TILE - 1) // TILE
    start = np.zeros(across * down + 1, np.int64)
    for i in order:
        for ty in range(bounds[i, 2] // TILE, bounds[i, 3] // TILE + 1):
            for tx in range(bounds[i, 0] // TILE, bounds[i, 1] // TILE + 1):
                start[ty * across + tx + 1] += 1
    for t in range(across * down):
        start[t + 1] += start[t]
    fill = start[:-1].copy()
    index = np.empty(start[-1], np.int32)
    for i in order:
        for ty in range(bounds[i, 2] // TILE, bounds[i, 3] // TILE + 1):
            for tx in range(bounds[i, 0] // TILE, bounds[i, 1] // TILE + 1):
                tile = ty * across + tx
                index[fill[tile]] = i
                fill[tile] += 1
    return start, index


@njit(cache=True, nogil=True, fastmath={"contract", "arcp"})  # type: ignore[untyped-decorator]
def blend(start: Any, index: Any, drawn: Any, bounds: Any, rgb: Any, light: Any) -> None:
    """Blend each tile front to back into ``rgb`` (H, W, 3), and leave in ``light`` (H, W) what gets through."""
    height, width = light.shape
    across = (width + TILE - 1) // TILE
    for tile in range(len(start) - 1):
        u0, v0 = (tile % across) * TILE, (tile // across) * TILE
        u1, v1 = min(u0 + TILE, width) - 1, min(v0 + TILE, height) - 1
        open_px = (u1 - u0 + 1) * (v1 - v0 + 1)
        for k in range(start[tile], start[tile + 1]):
            if open_px == 0:
                break
            i = index[k]
            mu, mv, a, b, c, o = drawn[i, 0], drawn[i, 1], drawn[i, 2], drawn[i, 3], drawn[i, 4], drawn[i, 5]
            farthest = 2.0 * math.log(o / ALPHA_MIN)
            for row in range(max(v0, bounds[i, 2]), min(v1, bounds[i, 3]) + 1):
                dv = row + np.float32(0.5) - mv
                for column in range(max(u0, bounds[i, 0]), min(u1, bounds[i, 1]) + 1):
                    through = light[row, column]
                    if through < 0.0:
                        continue
                    du = column + np.float32(0.5) - mu
                    square = a * du * du + np.float32(2.0) * b * du * dv + c * dv * dv
                    if square > farthest:
                        continue
                    alpha = min(np.float32(ALPHA_MAX), o * math.exp(np.float32(-0.5) * square))
                    after = through * (np.float32(1.0) - alpha)
                    if after < LIGHT_MIN:
                        # Full: marked by the sign, so that what got through is kept.
                        light[row, column] = -through
                        open_px -= 1
                        continue
                    share = through * alpha
                    rgb[row, column, 0] += share * drawn[i, 6]
                    rgb[row, column, 1] += share * drawn[i, 7]
                    rgb[row, column, 2] += share * drawn[i, 8]
                    light[row, column] = after
    for row in range(height):
        for column in range(width):
            light[row, column] = abs(light[row, column])
