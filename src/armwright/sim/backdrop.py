"""What stands behind the foreground: a texture seen by direction, or a Gaussian field under the same camera."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from armwright.assets.randomise import BackgroundLook, SurfaceLook
from armwright.core.camera import CameraModel
from armwright.core.pose import Array, Pose
from armwright.sim.textures import texture_image

if TYPE_CHECKING:
    from armwright.sim.gaussians import GaussianField

_PANORAMA_PX = 1024
# How often a texture goes round the horizon.
_TURNS = 2
_KEPT_VIEWS = 4

Image = NDArray[np.uint8]


class Backdrop(Protocol):
    """Something that fills what the foreground leaves free."""

    def draw(self, camera: CameraModel, hidden: NDArray[np.bool_]) -> Image:
        """Return the colours (k, 3) of the k pixels that are set in ``hidden`` (H, W), row by row."""
        ...


def open_backdrop(look: BackgroundLook, pose_world_base: Pose) -> Backdrop:
    """Return the backdrop that looks ask for.

    Raises:
        UsageError: A file is gone, has changed, or is damaged.
    """
    if look.field is not None:
        from armwright.sim.splat_files import load_checked

        field = load_checked(look.field)
        return FieldBackdrop(anchored(field, look, pose_world_base))
    assert look.texture is not None
    return PanoramaBackdrop(look.texture)


def anchored(field: GaussianField, look: BackgroundLook, pose_world_base: Pose) -> GaussianField:
    """Return a field in the world's frame: scaled, moved to the base, and turned against the orbit (Appendix Q)."""
    turned = Pose.from_yaw((0.0, 0.0, 0.0), -np.deg2rad(look.orbit_deg))
    offset = Pose(np.asarray(look.offset_m, float))
    return field.transformed(pose_world_base @ turned @ offset, scale=look.scale)


class PanoramaBackdrop:
    """A texture at infinity, so that all cameras see the same surroundings and a moving one sees them move."""

    def __init__(self, look: SurfaceLook) -> None:
        self._image = texture_image(look, _PANORAMA_PX)

    def draw(self, camera: CameraModel, hidden: NDArray[np.bool_]) -> Image:
        """Return (k, 3)."""
        rays = camera.pose_world_camera.rotate(camera.rays()[hidden])
        n = _PANORAMA_PX
        flat = np.hypot(rays[:, 0], rays[:, 1])
        column = _TURNS * n * (0.5 + np.arctan2(rays[:, 1], rays[:, 0]) / (2 * np.pi))
        row = n * (0.5 - np.arctan2(rays[:, 2], flat) / np.pi)
        return _bilinear(self._image, column - 0.5, row - 0.5)


class FieldBackdrop:
    """A Gaussian field in the world's frame, drawn with the camera of the picture; still cameras' views are kept."""

    def __init__(self, field: GaussianField) -> None:
        self._field = field
        self._views: OrderedDict[tuple[object, ...], Image] = OrderedDict()

    def draw(self, camera: CameraModel, hidden: NDArray[np.bool_]) -> Image:
        """Return (k, 3)."""
        pose = camera.pose_world_camera
        key = (camera.width, camera.height, camera.fx, camera.fy, camera.cx, camera.cy, *pose.to_list())
        view = self._views.pop(key, None)
        if view is None:
            from armwright.sim.splats import render_field

            view = render_field(self._field, camera).rgb
        self._views[key] = view
        while len(self._views) > _KEPT_VIEWS:
            self._views.popitem(last=False)
        return np.asarray(view[hidden])


def _bilinear(image: Image, column: Array, row: Array) -> Image:
    """Sample an image that repeats sideways and ends at its upper and lower edge."""
    h, w = image.shape[:2]
    left, top = np.floor(column).astype(int), np.floor(row).astype(int)
    s, t = (column - left)[:, None].astype(np.float32), (row - top)[:, None].astype(np.float32)
    x0, x1 = left % w, (left + 1) % w
    y0, y1 = np.clip(top, 0, h - 1), np.clip(top + 1, 0, h - 1)
    upper = image[y0, x0] * (1 - s) + image[y0, x1] * s
    lower = image[y1, x0] * (1 - s) + image[y1, x1] * s
    return np.asarray((upper * (1 - t) + lower * t + 0.5).astype(np.uint8))
