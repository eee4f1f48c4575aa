"""Whether what was grasped is still where it was grasped."""

from __future__ import annotations

import numpy as np

from armwright.skills.context import SkillContext

# A held object may turn or creep a little between the pads; one that has moved by this was lost.
SLIPPED_M = 0.03


def slipped_m(ctx: SkillContext) -> float:
    """Return how far the held object has moved against the tool since it was lifted [m]; 0 with an empty hand.

    The gap between the fingers does not tell: a cup's wall is thinner than any tolerance of a closed gripper.
    """
    held = ctx.held
    if held is None:
        return 0.0
    now = ctx.arm.state().pose_base_tool.inverse() @ ctx.pose_base(ctx.scene.pose_world(held.object_id))
    return float(np.linalg.norm(now.position_m - held.pose_tool_object.position_m))
