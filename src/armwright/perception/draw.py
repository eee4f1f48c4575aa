"""Pictures of meshes: a z-buffer with shading, for reports and for comparing a map with what a camera saw."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel
from armwright.perception._jit import F32, I32, kernel
from armwright.perception.surface import Surface

BACKGROUND = (255, 255, 255)
# A light over the camera's left shoulder, in its own frame (y down), and how bright what faces away from it is.
_LIGHT = np.array([-0.35, -0.55, -0.76])
_AMBIENT = 0.35
_NEAR_M = 0.02


@kernel
def _paint(pixels: F32, faces: I32, shades: F32, depth: F32, colour: F32) -> None:
    """Draw triangles into depth (H, W) [m] and colour (H, W, 3), the nearest on top.

    Args:
        pixels: (n, 3) column, row and depth [m] of each vertex.
        faces: (f, 3).
        shades: (n, 3) colour of each vertex.
        depth: Zeros where nothing is; changed.
        colour: Changed.
    """
    height, width = depth.shape
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        za, zb, zc = pixels[a, 2], pixels[b, 2], pixels[c, 2]
        if za <= 0 or zb <= 0 or zc <= 0:
            continue
        ax, ay, bx, by, cx, cy = (
            pixels[a, 0],
            pixels[a, 1],
            pixels[b, 0],
            pixels[b, 1],
            pixels[c, 0],
            pixels[c, 1],
        )
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        # Faces run counter-clockwise seen from outside; rows count downwards, so that turns the sign.
        if area >= 0:
            continue
        left = int(max(0.0, math.ceil(min(ax, min(bx, cx)) - 0.5)))
        right = int(min(width - 1.0, math.floor(max(ax, max(bx, cx)) - 0.5)))
        top = int(max(0.0, math.ceil(min(ay, min(by, cy)) - 0.5)))
        bottom = int(min(height - 1.0, math.floor(max(ay, max(by, cy)) - 0.5)))
        for v in range(top, bottom + 1):
            for u in range(left, right + 1):
                x, y = u + 0.5, v + 0.5
                wa = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                wb = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                wc = 1.0 - wa - wb
                if wa < -1e-6 or wb < -1e-6 or wc < -1e-6:
                    continue
                # Inverse depth is what runs straight across the picture.
                wa, wb, wc = wa / za, wb / zb, wc / zc
                z = 1.0 / (wa + wb + wc)
                if depth[v, u] == 0 or z < depth[v, u]:
                    depth[v, u] = z
                    for k in range(3):
                        colour[v, u, k] = (wa * shades[a, k] + wb * shades[b, k] + wc * shades[c, k]) * z


def draw(mesh: Surface, camera: CameraModel, *, shaded: bool = True) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return what a camera would see of a mesh: (H, W, 3) uint8 on white, and (H, W) float32 depth [m], 0 for nothing.

    Faces show their front only: a room seen from outside is open towards the camera. Triangles that reach behind the
    camera are left out.

    Args:
        mesh: In the world.
        camera: From where.
        shaded: Whether a light over the camera's shoulder darkens what faces away; else the colours as they are.
    """
    pixels = np.empty((len(mesh.points_m), 3), np.float32)
    pixels[:, :2], pixels[:, 2] = camera.project(mesh.points_m)
    pixels[pixels[:, 2] < _NEAR_M, 2] = 0
    shades = mesh.rgb.astype(np.float32)
    if shaded:
        towards = mesh.normals @ camera.pose_world_camera.rotate(_LIGHT)
        shades = shades * (_AMBIENT + (1 - _AMBIENT) * (1 + towards) / 2).astype(np.float32)[:, None]
    depth = np.zeros((camera.height, camera.width), np.float32)
    colour = np.full((camera.height, camera.width, 3), BACKGROUND, np.float32)
    _paint(pixels, mesh.faces, shades, depth, colour)
    return np.clip(np.rint(colour), 0, 255).astype(np.uint8), depth
