"""Whether what was grasped is still where it was grasped."""

from __future__ import annotations

import numpy as np

from armwright.skills.context import SkillContext

# A held object may turn or creep a little between the pads; one that has moved by this was lost.
SLIPPED_M = 0.03
# Fingers that stopped at a force stay where they were when the object is gone; then they feel less than this.
LOST_N = 0.5


def slipped_m(ctx: SkillContext) -> float:
    """Return how far the held object has moved against the tool since it was lifted [m]; 0 with an empty hand.

    The gap between the fingers does not tell: a cup's wall is thinner than any tolerance of a closed gripper.
    """
    held = ctx.held
    if held is None:
        return 0.0
    now = ctx.arm.state().pose_base_tool.inverse() @ ctx.pose_base(ctx.scene.pose_world(held.object_id))
    return float(np.linalg.norm(now.position_m - held.pose_tool_object.position_m))


def lost(ctx: SkillContext) -> bool:
    """Tell whether the fingers hold nothing: they are shut, or feel nothing between them."""
    state = ctx.arm.state()
    return state.opening_m < ctx.options.min_hold_m or state.grip_force_n < LOST_N
