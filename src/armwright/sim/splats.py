"""Draw a field of 3D Gaussians on the CPU, with any pinhole camera, and the paper's cameras to draw it with.

EWA projection, sorting by depth, and blending tile by tile from front to back, as in 3D Gaussian splatting (Kerbl et
al. 2023): the same blur of 0.3 px^2, the same thresholds, spherical harmonics up to degree 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.assets.randomise import ORBIT_DEG
from armwright.core.camera import CameraModel
from armwright.core.pose import Pose
from armwright.robots.station import looking_at
from armwright.sim.gaussians import GaussianField

NEAR_M = 0.05
# The camera of the paper's background renders, in the arm's base frame (Appendix Q).
PAPER_WIDTH, PAPER_HEIGHT, PAPER_F, PAPER_CX, PAPER_CY = 2048, 1536, 1334.65, 1024.0, 768.0
PAPER_EYE_M = (0.8517, 0.7678, 0.7521)
# The paper gives the camera's place but not what it looks at, nor the orbit's axis: the middle of the work area, and
# the vertical through the base.
PAPER_TARGET_M = (0.35, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class FieldImage:
    """A drawn field.

    Attributes:
        rgb: (H, W, 3) uint8 over the backdrop's colour.
        alpha: (H, W) float32, how much of the backdrop is covered.
    """

    rgb: NDArray[np.uint8]
    alpha: NDArray[np.float32]


def render_field(
    field: GaussianField,
    camera: CameraModel,
    *,
    behind_rgb: tuple[float, float, float] = (0.0, 0.0, 0.0),
    near_m: float = NEAR_M,
) -> FieldImage:
    """Draw a field in the world's frame.

    Args:
        field: What to draw.
        camera: From where.
        behind_rgb: Colour in [0, 1] where the field does not cover.
        near_m: Gaussians nearer than this are left out.
    """
    color, light = blend_field(field, camera, near_m=near_m)
    over = color + light[..., None] * np.asarray(behind_rgb, np.float32)
    return FieldImage(np.asarray((255.0 * np.clip(over, 0.0, 1.0) + 0.5).astype(np.uint8)), 1.0 - light)


def blend_field(
    field: GaussianField, camera: CameraModel, *, near_m: float = NEAR_M
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the blended colours (H, W, 3), over black, and the share of light that gets through (H, W)."""
    from armwright.sim import _splat_kernels as kernels

    pose = camera.pose_world_camera
    turn = np.eye(3) if field.rotation_sh is None else field.rotation_sh
    depth, drawn, bounds = kernels.project(
        field.mean_m,
        field.scale_m,
        field.quat_wxyz,
        field.opacity,
        field.sh,
        np.ascontiguousarray(turn, np.float64),
        np.ascontiguousarray(pose.rotation.T),
        np.array(pose.position_m),
        np.array([camera.fx, camera.fy, camera.cx, camera.cy]),
        camera.width,
        camera.height,
        near_m,
    )
    start, index = kernels.bin_tiles(np.argsort(depth, kind="stable"), bounds, camera.width, camera.height)
    color = np.zeros((camera.height, camera.width, 3), np.float32)
    light = np.ones((camera.height, camera.width), np.float32)
    kernels.blend(start, index, drawn, bounds, color, light)
    return color, light


def orbit_cameras(
    pose_world_base: Pose,
    *,
    angles_deg: Sequence[float] = ORBIT_DEG,
    eye_m: tuple[float, float, float] = PAPER_EYE_M,
    target_m: tuple[float, float, float] = PAPER_TARGET_M,
    scale: float = 1.0,
) -> tuple[CameraModel, ...]:
    """Return the paper's cameras: its intrinsics and resolution, orbiting the base's vertical axis (Appendix Q).

    Args:
        pose_world_base: The arm's base.
        angles_deg: One camera for each.
        eye_m: Place of the camera at angle 0, in the base frame.
        target_m: What it looks at, in the base frame.
        scale: Of the image: 0.25 gives 512 by 384 pixels of the same view.
    """
    own = looking_at(eye_m, target_m)
    width, height = round(PAPER_WIDTH * scale), round(PAPER_HEIGHT * scale)
    f, cx, cy = PAPER_F * scale, PAPER_CX * scale, PAPER_CY * scale
    turns = [Pose.from_yaw((0.0, 0.0, 0.0), np.deg2rad(angle)) for angle in angles_deg]
    return tuple(CameraModel(width, height, f, f, cx, cy, pose_world_base @ turn @ own) for turn in turns)
