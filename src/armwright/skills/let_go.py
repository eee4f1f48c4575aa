"""Let go of an object where it stands: how far to open, and which way to leave, without touching anything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armwright.core.pose import Array, Pose
from armwright.planning.planner import LINE_STEP_M
from armwright.planning.types import WorldSpec
from armwright.skills.context import SkillContext
from armwright.skills.verifying import STRAIGHT_STEP_RAD, clear_share, verify

# Gaps added to the gripper's opening on release, widest first: the fingers leave without dragging the object.
RELEASES_M = (0.016, 0.010, 0.006)
# Room that remains between an opened finger and anything else.
FINGER_ROOM_M = 0.004
# Shares of the way back that is free; less leaves the hand at the object.
FAR_ENOUGH = 0.5


@dataclass(frozen=True, eq=False)
class Release:
    """How to let go.

    Attributes:
        extra_m: Added to the opening.
        direction_base: Unit vector (3,) along which the hand leaves.
        share: Share of the way back that is free.
    """

    extra_m: float
    direction_base: Array
    share: float


def plan_release(ctx: SkillContext, q_rad: Array) -> Release | None:
    """Find a release of the held object at a configuration (n,), or None where a finger would touch something else.

    The widest opening that leaves room comes first. The hand leaves against its approach, or upwards, or in between.
    """
    opening_m, widest = ctx.arm.state().opening_m, ctx.gripper.opening_m[1]
    extra = release_extra(ctx, q_rad, opening_m=opening_m)
    if extra is None:
        return None
    best: Release | None = None
    for direction in ways_back(ctx, q_rad):
        path = straight(ctx, q_rad, ctx.options.retreat_m * direction)
        report = verify(
            ctx, path, opening_m=min(opening_m + extra, widest), empty_hand=True, step_rad=STRAIGHT_STEP_RAD
        )
        found = Release(extra, direction, clear_share(path, report) if len(path) > 1 else 0.0)
        if best is None or found.share > best.share:
            best = found
        if best.share >= 1.0:
            break
    return best if best is not None and best.share >= FAR_ENOUGH else None


def release_extra(
    ctx: SkillContext,
    q_rad: Array,
    *,
    opening_m: float | None = None,
    world: WorldSpec | None = None,
    object_id: str | None = None,
) -> float | None:
    """Return by how much the fingers can be opened at a configuration (n,) without touching anything else, or None.

    Args:
        ctx: Arm and scene.
        q_rad: Where the object is let go.
        opening_m: Gap while it is held; the planner's where None.
        world: As for `verify`.
        object_id: What is let go, where it is not in the hand yet.
    """
    held_m = ctx.planner.opening_m if opening_m is None else opening_m
    own = () if object_id is None else (object_id,)
    for extra in RELEASES_M:
        gap = min(held_m + extra + FINGER_ROOM_M, ctx.gripper.opening_m[1])
        if verify(ctx, q_rad[None], world=world, touchable=own, opening_m=gap, empty_hand=True).ok:
            return extra
    return None


def ways_back(ctx: SkillContext, q_rad: Array) -> Sequence[Array]:
    """Return unit vectors (3,) in the base frame along which a hand may leave, the usual one first."""
    back = -ctx.planner.fk(q_rad[None])[0, :3, 2]
    up = np.array([0.0, 0.0, 1.0])
    between = back + up
    size = float(np.linalg.norm(between))
    ways = [back]
    if back @ up < 0.97:
        ways += [between / size, up] if size > 0.3 else [up]
    return ways


def straight(ctx: SkillContext, q_rad: Array, offset_base_m: Array, *, step_m: float = LINE_STEP_M) -> Array:
    """Return the way points (w, n) of a straight tool motion from a configuration, as far as the arm can follow."""
    pose = Pose.from_matrix(ctx.planner.fk(q_rad[None])[0])
    goal = Pose(pose.position_m + offset_base_m, pose.quat_wxyz)
    return np.asarray(ctx.planner.linear(q_rad, goal.matrix(), step_m=step_m, check=False).path_rad)
