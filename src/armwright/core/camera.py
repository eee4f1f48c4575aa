"""Pinhole cameras and the frames they take (OpenCV axes: x right, y down, z forward)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose


@dataclass(frozen=True, eq=False)
class CameraModel:
    """Intrinsics [px] and the camera's pose in the world."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    pose_world_camera: Pose

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1 or self.fx <= 0 or self.fy <= 0:
            raise UsageError(
                f"a camera needs positive size and focal length, got {self.width}x{self.height}, "
                f"fx {self.fx}, fy {self.fy}."
            )

    @classmethod
    def from_fov(cls, *, width: int, height: int, fovy_deg: float, pose_world_camera: Pose) -> CameraModel:
        """Build a camera with square pixels from its vertical field of view [deg]."""
        f = 0.5 * height / np.tan(np.deg2rad(fovy_deg) / 2)
        return cls(width, height, float(f), float(f), width / 2, height / 2, pose_world_camera)

    def project(self, points_world: ArrayLike) -> tuple[Array, Array]:
        """Return pixels (n, 2) and depths (n,) [m] of (n, 3) world points; depth <= 0 is behind the camera."""
        p = self.pose_world_camera.inverse().transform(points_world)
        z = p[..., 2]
        safe = np.where(np.abs(z) < 1e-12, 1e-12, z)
        return np.stack([self.fx * p[..., 0] / safe + self.cx, self.fy * p[..., 1] / safe + self.cy], -1), z

    def deproject(self, columns: ArrayLike, rows: ArrayLike, depth_m: ArrayLike) -> Array:
        """Return (n, 3) world points [m] of pixels by column, row (their centres) and depth along z (n,) each."""
        z = np.asarray(depth_m, float)
        x = (np.asarray(columns) + 0.5 - self.cx) / self.fx * z
        y = (np.asarray(rows) + 0.5 - self.cy) / self.fy * z
        return self.pose_world_camera.transform(np.stack([x, y, z], -1))

    def rays(self) -> Array:
        """Return (H, W, 3) ray directions in the camera's frame with z = 1 (pixel centres)."""
        u, v = np.meshgrid(np.arange(self.width) + 0.5, np.arange(self.height) + 0.5)
        return np.stack([(u - self.cx) / self.fx, (v - self.cy) / self.fy, np.ones_like(u)], -1)


@dataclass(frozen=True, eq=False)
class RgbdFrame:
    """What a camera saw: rgb (H, W, 3) uint8, depth_m (H, W) float32 with 0 = no reading, stamp [s]."""

    rgb: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    camera: CameraModel
    stamp_s: float
