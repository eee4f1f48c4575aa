"""Whether what was grasped is still where it was grasped."""

from __future__ import annotations

import numpy as np

from armwright.core.pose import Pose
from armwright.skills.context import SkillContext
from armwright.skills.frames import pose_tool_pads
from armwright.skills.grip import LOST_N

# A held object may turn and creep a little between the pads; one that they hold so far from where they did was lost.
SLIPPED_M = 0.03
# A grip gives a little on the way; below this what was planned beforehand is as good.
GAVE_M, GAVE_RAD = 0.001, 0.01


def slipped_m(ctx: SkillContext) -> float:
    """Return how far the place that the pads hold has moved against them since it was lifted [m]; 0 with an empty hand.

    The gap between the fingers does not tell: a cup's wall is thinner than any tolerance of a closed gripper. Nor does
    the object's origin: what is held by a long handle sags about the pads, and is held none the less.
    """
    held = ctx.held
    if held is None:
        return 0.0
    state = ctx.arm.state()
    pads_m = pose_tool_pads(ctx.gripper, state.opening_m).position_m
    place_m = held.pose_tool_object.inverse().transform(pads_m)
    return float(np.linalg.norm(_seen_in_hand(ctx, held.object_id).transform(place_m) - pads_m))


def look_again(ctx: SkillContext) -> bool:
    """Take the held object to be in the hand as it is seen there now; say whether that is news."""
    held = ctx.held
    assert held is not None
    now = _seen_in_hand(ctx, held.object_id)
    news = now.distance_to(held.pose_tool_object) > GAVE_M or now.angle_to(held.pose_tool_object) > GAVE_RAD
    if news:
        held.pose_tool_object = now
    return news


def _seen_in_hand(ctx: SkillContext, object_id: str) -> Pose:
    return ctx.arm.state().pose_base_tool.inverse() @ ctx.pose_base(ctx.scene.pose_world(object_id))


def lost(ctx: SkillContext) -> bool:
    """Tell whether the fingers hold nothing: they are shut, or feel nothing between them.

    Fingers that stopped at a force stay where they were when the object is gone.
    """
    state = ctx.arm.state()
    return state.opening_m < ctx.options.min_hold_m or state.grip_force_n < LOST_N
