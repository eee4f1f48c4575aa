"""Does the open gripper, anywhere on its straight approach, touch the table or other things?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.grasping.options import GraspOptions
from armwright.robots.spec import GripperSpec


def table_plane(pose_world_object: Pose, *, table_z_m: float = 0.0) -> Array:
    """Return (4,) plane n, d in the object's frame with n·p + d >= 0 above a table at ``table_z_m``."""
    normal = pose_world_object.rotation.T @ np.array([0.0, 0.0, 1.0])
    return np.append(normal, pose_world_object.position_m[2] - table_z_m)


def gripper_boxes(opening_m: Array, gripper: GripperSpec, options: GraspOptions) -> tuple[Array, Array]:
    """Return centres and half extents (c, 3, 3) of finger, finger and palm in the pads' frame.

    All three reach back along the approach by the sweep, so that a free box means a free approach.
    """
    count = len(opening_m)
    thick = gripper.finger_thickness_m
    back = gripper.palm_depth_m + options.sweep_m
    length = back + gripper.finger_depth_m
    middle = 0.5 * (gripper.finger_depth_m - back)
    centre = np.zeros((count, 3, 3))
    half = np.zeros((count, 3, 3))
    for k, sign in enumerate((1.0, -1.0)):
        centre[:, k, 1] = sign * (0.5 * opening_m + 0.5 * thick)
        centre[:, k, 2] = middle
        half[:, k] = (0.5 * gripper.pad_size_m[0], 0.5 * thick, 0.5 * length)
    palm = options.sweep_m + options.palm_length_m
    centre[:, 2, 2] = -gripper.palm_depth_m - 0.5 * palm
    half[:, 2] = (*options.palm_half_m, 0.5 * palm)
    return centre, half


def clear_of_hulls(
    positions_m: Array,
    rotations: Array,
    boxes: tuple[Array, Array],
    hulls: Sequence[Array],
    *,
    margin_m: float,
) -> NDArray[np.bool_]:
    """Return (c,) whether no box comes within ``margin_m`` of a hull; never misses a contact.

    Separating axes: the gripper's three, and the hull's face normals for hulls that those do not clear. Edge pairs are
    left out, so a few free candidates count as blocked.

    Args:
        positions_m, rotations: (c, 3) and (c, 3, 3) pad frames in the frame of the hulls.
        boxes: From `gripper_boxes`.
        hulls: Convex hulls, (k, 3) vertices each.
        margin_m: Distance that counts as contact.
    """
    centre, half = boxes
    free = np.ones(len(positions_m), bool)
    for hull in hulls:
        rows = np.flatnonzero(free)
        if len(rows) == 0:
            break
        middle = 0.5 * (hull.min(0) + hull.max(0))
        radius = float(np.linalg.norm(hull - middle, axis=1).max())
        near = np.linalg.norm(positions_m[rows] - middle, axis=1) < radius + 0.4
        rows = rows[near]
        if len(rows) == 0:
            continue
        local = np.einsum("ckj,cji->cki", hull[None] - positions_m[rows][:, None], rotations[rows])
        low, high = local.min(1)[:, None] - margin_m, local.max(1)[:, None] + margin_m
        apart = ((low > centre[rows] + half[rows]) | (high < centre[rows] - half[rows])).any(2)
        doubtful = ~apart.all(1)
        if not doubtful.any():
            continue
        rows, apart = rows[doubtful], apart[doubtful]
        equations = faces(hull)
        direction = np.einsum("fj,cji->cfi", equations[:, :3], rotations[rows])
        value = (positions_m[rows] @ equations[:, :3].T + equations[:, 3])[:, None]
        value = value + np.einsum("cbi,cfi->cbf", centre[rows], direction)
        value = value - np.einsum("cbi,cfi->cbf", half[rows], np.abs(direction))
        apart |= (value > margin_m).any(2)
        free[rows] = apart.all(1)
    return free


def faces(hull: Array) -> Array:
    """Return (f, 4) outward face planes; those of the bounding box where the points span no volume."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.unique(np.round(np.asarray(ConvexHull(hull).equations), 9), axis=0)
    except QhullError:
        low, high = hull.min(0), hull.max(0)
        eye = np.eye(3)
        return np.concatenate([np.column_stack([eye, -high]), np.column_stack([-eye, low])])
