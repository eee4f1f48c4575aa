"""A region of a cloud as a camera sees it: its 2D mask, hidden parts left out by a z-buffer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel
from armwright.core.pose import Array, Pose
from armwright.grasping.clearance import faces
from armwright.grasping.meanshift import spacing_m

# Points nearer to each other than this along a ray are one surface: a hidden one is not shown through it.
_SAME_DEPTH_M = 0.004
# A closed mask has no holes smaller than this between the projections of neighbouring points.
_WIDEST_SPLAT_PX = 25


def visible_mask(
    points_m: Array,
    region: NDArray[np.bool_],
    camera: CameraModel,
    *,
    pose_world_points: Pose,
    hulls: Sequence[Array] = (),
) -> NDArray[np.bool_]:
    """Return (h, w) where the camera sees the region.

    Every point is drawn as a square as large as the gap to its neighbours; the nearest one decides what a pixel shows.

    Args:
        points_m: (n, 3) float, the object's cloud.
        region: (n,) bool.
        camera: The camera.
        pose_world_points: The cloud's frame.
        hulls: Convex hulls of other things that may stand before it, (k, 3) vertices each, in the cloud's frame.
    """
    pixels, depth = camera.project(pose_world_points.transform(points_m))
    near, shown = _draw(points_m, region, camera, pixels, depth)
    mask = np.asarray(np.isfinite(shown) & (shown <= near + _SAME_DEPTH_M))
    if mask.any() and len(hulls):
        at = np.nonzero(mask)
        rays = camera.rays()[at]
        pose_points_camera = pose_world_points.inverse() @ camera.pose_world_camera
        hidden = _behind(pose_points_camera.position_m, pose_points_camera.rotate(rays), shown[at], hulls)
        mask[at] = ~hidden
    return mask


def visible_points(points_m: Array, camera: CameraModel, *, pose_world_points: Pose) -> NDArray[np.bool_]:
    """Return (n,) which points of a cloud the camera sees, those in the image that none of its own hides."""
    pixels, depth = camera.project(pose_world_points.transform(points_m))
    nearest = _draw(points_m, np.ones(len(points_m), bool), camera, pixels, depth)[0]
    column, row = (np.floor(pixels[:, axis]).astype(int) for axis in (0, 1))
    ok = (depth > 1e-3) & (row >= 0) & (row < camera.height) & (column >= 0) & (column < camera.width)
    ok[ok] = depth[ok] <= nearest[row[ok], column[ok]] + _SAME_DEPTH_M
    return np.asarray(ok)


def inside(
    mask: NDArray[np.bool_], points_m: Array, camera: CameraModel, *, pose_world_points: Pose
) -> NDArray[np.bool_]:
    """Return (n,) bool, whether points project into the mask, seen or not."""
    pixels, depth = camera.project(pose_world_points.transform(points_m))
    column, row = (np.floor(pixels[:, axis]).astype(int) for axis in (0, 1))
    ok = (depth > 1e-3) & (row >= 0) & (row < mask.shape[0]) & (column >= 0) & (column < mask.shape[1])
    ok[ok] = mask[row[ok], column[ok]]
    return np.asarray(ok)


def _draw(
    points_m: Array, region: NDArray[np.bool_], camera: CameraModel, pixels: Array, depth: Array
) -> tuple[Array, Array]:
    """Return (h, w) depths of the nearest point and of the nearest one of the region, infinite for none."""
    shape = (camera.height, camera.width)
    near = np.full(shape, np.inf)
    shown = np.full(shape, np.inf)
    ahead = depth > 1e-3
    size = 0.5 * spacing_m(points_m) * camera.fx / np.maximum(depth, 1e-3)
    reach = np.clip(np.ceil(size), 0, _WIDEST_SPLAT_PX).astype(int)
    column, row = (np.floor(pixels[:, axis]).astype(int) for axis in (0, 1))
    widest = int(reach[ahead].max(initial=0))
    for dr in range(-widest, widest + 1):
        for dc in range(-widest, widest + 1):
            r, c = row + dr, column + dc
            use = ahead & (reach >= max(abs(dr), abs(dc))) & (r >= 0) & (r < shape[0]) & (c >= 0) & (c < shape[1])
            np.minimum.at(near, (r[use], c[use]), depth[use])
            use &= region
            np.minimum.at(shown, (r[use], c[use]), depth[use])
    return near, shown


def _behind(eye_m: Array, rays: Array, depth: Array, hulls: Sequence[Array]) -> NDArray[np.bool_]:
    """Return (p,) whether a convex hull lies on the ray (with unit z in the camera's frame) before that depth."""
    hidden = np.zeros(len(rays), bool)
    for hull in hulls:
        planes = faces(hull)
        speed = rays @ planes[:, :3].T
        start = planes[:, :3] @ eye_m + planes[:, 3]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = -start / speed
        enter = np.where(speed < -1e-12, t, -np.inf).max(1)
        leave = np.where(speed > 1e-12, t, np.inf).min(1)
        misses = ((np.abs(speed) <= 1e-12) & (start > 0)).any(1)
        hidden |= ~misses & (enter < leave) & (enter > 0) & (enter < depth - _SAME_DEPTH_M)
    return hidden
