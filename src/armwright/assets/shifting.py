"""Where a push or pull should bring an object: so far in a direction, or up to another object."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armwright.assets.footprint import Footprint, outline_gap
from armwright.assets.model import ObjectModel
from armwright.core.pose import Array, Pose
from armwright.core.task import Primitive

SHIFT_M = 0.10
"""How far, where a sentence does not say."""
BESIDE_M = 0.05
"""Gap left to what an object is pushed up to: a hand's error less than the tolerance of a push, and some room."""
_STEP_M = 0.005
_FARTHEST_M = 0.6


def shift_direction(primitive: Primitive, pose_world_base: Pose) -> Array:
    """Return the direction (2,) of a push or pull without a target, as the arm's base sees it."""
    forward, left = pose_world_base.rotation[:2, 0], pose_world_base.rotation[:2, 1]
    named = {"left_of": left, "right_of": -left, "behind": forward, "in_front_of": -forward}
    usual = -forward if primitive.name == "pull" else forward
    return np.asarray(named.get(primitive.relation or "", usual))


def shift_goal(
    primitive: Primitive,
    own: Footprint,
    target: Footprint | None,
    pose_world_base: Pose,
    *,
    center_m: Sequence[float] | Array | None = None,
) -> Array:
    """Return where the middle of an object's footprint should come to, (2,) in the world [m].

    Args:
        primitive: The push or pull.
        own: The object's footprint before.
        target: What it is pushed to or towards, if anything.
        pose_world_base: Where the arm stands; left is its +y, behind its +x.
        center_m: (2,) where the object starts from, if not where its footprint is.
    """
    start = np.asarray(own.center_m if center_m is None else center_m, float)
    if target is None:
        return np.asarray(start + (primitive.distance_m or SHIFT_M) * shift_direction(primitive, pose_world_base))
    if primitive.relation in ("left_of", "right_of", "behind", "in_front_of"):
        side = shift_direction(primitive, pose_world_base)
        return np.asarray(target.center_m + (_extent(own, -side) + _extent(target, side) + BESIDE_M) * side)
    way = target.center_m - start
    length = float(np.linalg.norm(way))
    if length < 1e-6:
        return start
    way = way / length
    if primitive.distance_m is not None:
        return np.asarray(start + primitive.distance_m * way)
    outline = own.outline_m - own.center_m
    gone = 0.0
    while gone < min(length, _FARTHEST_M):
        if outline_gap(outline + start + (gone + _STEP_M) * way, target.outline_m) < BESIDE_M:
            break
        gone += _STEP_M
    return np.asarray(start + gone * way)


def swept_shift(model: ObjectModel, pose_world_object: Pose, goal_m: Array) -> Footprint:
    """Outline what an object covers on its straight way to a goal (2,)."""
    own = Footprint.from_model(model, pose_world_object)
    corners = np.concatenate([own.outline_m, own.outline_m + (goal_m - own.center_m)])
    points = np.column_stack([corners, np.full(len(corners), own.z_m[0])])
    points = np.concatenate([points, points + np.array([0.0, 0.0, own.z_m[1] - own.z_m[0]])])
    return Footprint.from_points(points)


def _extent(print_: Footprint, direction: Array) -> float:
    """How far an outline reaches from its middle along a direction (2,)."""
    return float(((print_.outline_m - print_.center_m) @ direction).max())
