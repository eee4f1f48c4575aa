"""Where a known solid is in new views: point-to-plane ICP without the least trusted pairs (Chen and Medioni 1992).

The paper leaves this to FoundationPose; `armwright.shelf.target_adapters` offers that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.shelf.target_solids import Solid

REACH_M = 0.02
"""Observed points farther from the solid than this are someone else's, once the pose is nearly right."""
TRIM = 0.9
"""Share of the pairs kept, nearest first."""
ITERATIONS = 30
_STILL_M, _STILL_RAD = 2e-5, 1e-4
# Keeps what the cloud does not tell, such as the turn of a can, where it was.
_DAMPING = 1e-3
_MOST = 2000
_FACING = 0.3


@dataclass(frozen=True, eq=False)
class Registration:
    """A pose found by registration.

    Attributes:
        pose_world_solid: Where the solid is.
        rms_m: Of the distances to the solid's surface, over the kept pairs [m].
        share: Share of the observed points that lie within ``REACH_M`` of it.
        iterations: Rounds used.
    """

    pose_world_solid: Pose
    rms_m: float
    share: float
    iterations: int


def register(
    solid: Solid, points_world_m: Array, normals_world: Array, start: Pose, *, upright: bool = True
) -> Registration:
    """Move a solid so that it fits what was observed.

    Args:
        solid: What it is.
        points_world_m, normals_world: (n, 3) surface seen, with outward normals.
        start: About where it is, to a few centimetres and 20 degrees.
        upright: It stands as in its own frame: only x, y, z and the turn about z are sought.

    Raises:
        UsageError: Fewer than 20 points.
    """
    from scipy.spatial import cKDTree

    points, normals = np.asarray(points_world_m, float), np.asarray(normals_world, float)
    if len(points) < 20 or points.shape != normals.shape:
        raise UsageError(f"registration needs 20 observed points with normals, got {points.shape} and {normals.shape}.")
    step = max(1, len(points) // _MOST)
    points, normals = points[::step], normals[::step]
    tree = cKDTree(solid.points_m)
    pose, far, used = start, 3 * REACH_M, 0
    while used < ITERATIONS:
        used += 1
        local, facing = pose.inverse().transform(points), pose.inverse().rotate(normals)
        away, index = tree.query(local)
        plane = solid.normals[index]
        kept = (away < far) & (np.einsum("ij,ij->i", plane, facing) > _FACING)
        if kept.sum() < 10:
            break
        gap = np.einsum("ij,ij->i", local - solid.points_m[index], plane)
        kept &= np.abs(gap) <= np.quantile(np.abs(gap[kept]), TRIM)
        turn = np.cross(local, plane)
        rows = np.column_stack([turn[:, 2:] if upright else turn, plane])[kept]
        normal = rows.T @ rows
        normal += _DAMPING * np.diag(np.diag(normal) + 1e-9 * len(rows))
        move = np.linalg.solve(normal, rows.T @ gap[kept])
        spin = np.array([0.0, 0.0, move[0]]) if upright else move[:3]
        shift = move[-3:]
        # The cloud is to be moved by the opposite of what moves the solid.
        pose = pose @ Pose(shift, _small(spin))
        far = max(REACH_M, 0.7 * far)
        if np.linalg.norm(shift) < _STILL_M and np.linalg.norm(spin) < _STILL_RAD:
            break
    away, signed = surface_gaps(solid, pose, points)
    near = away < REACH_M
    rms = float(np.sqrt((signed[near] ** 2).mean())) if near.any() else float("inf")
    return Registration(pose, rms, float(near.mean()), used)


def surface_gaps(solid: Solid, pose_world_solid: Pose, points_world_m: Array) -> tuple[Array, Array]:
    """Return how far points are from a solid's samples, and from its surface, positive outside (n,), (n,) [m]."""
    from scipy.spatial import cKDTree

    local = pose_world_solid.inverse().transform(points_world_m)
    away, index = cKDTree(solid.points_m).query(local)
    gap = np.einsum("ij,ij->i", local - solid.points_m[index], solid.normals[index])
    # Far beside a small face its plane says nothing.
    return away, np.where(away < 0.006, gap, np.copysign(away, gap))


def _small(turn_rad: Array) -> Array:
    angle = float(np.linalg.norm(turn_rad))
    axis = turn_rad / angle if angle > 1e-12 else np.zeros(3)
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
