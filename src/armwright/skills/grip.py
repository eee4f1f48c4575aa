"""How hard to close on an object: as hard as its weight asks, never the full force on something light."""

from __future__ import annotations

import numpy as np

from armwright.assets.export import link_inertia
from armwright.core.pose import Array, Pose
from armwright.skills.context import SkillContext

# Holds anything light through fast transits; more squeezes a conical cup of 35 g out of the hand when it is tilted.
LIGHT_N = 20.0
# What friction could hold, against what the weight at rest asks of it: a fast transit accelerates and turns what it
# holds by more than gravity does. With 2, a ur5e lost seven of forty soup cans on the way.
SAFETY = 6.0
# A grip that has kept no more than this share of its force is closed again; one that feels less than so much holds
# nothing.
SLACK = 0.8
LOST_N = 0.5
TIGHTEN_S = 0.5
GRAVITY_M_S2 = 9.81
# Mean distance of a square's points from its middle, in sides: the lever at which a pad's friction resists a turn.
PAD_LEVER = 0.38


def grip_force(ctx: SkillContext, object_id: str, pose_object_pads: Pose) -> float | None:
    """Return the force per pad [N] to close on an object with; None for all that the gripper has.

    Friction of two pads carries the weight, and the moment of a mass centre that lies off the line through the pads,
    at whatever angle the hand is turned to later.

    Args:
        ctx: The gripper, the scene, and a force that the options may ask for instead.
        object_id: What is grasped.
        pose_object_pads: The pads' middle in the object's frame, closing along y.
    """
    if ctx.options.grip_force_n is not None:
        return ctx.options.grip_force_n
    weight_n = ctx.scene.mass_kg(object_id) * GRAVITY_M_S2
    force_n = max(LIGHT_N, SAFETY * weight_n * held_force_per_load(ctx, object_id, pose_object_pads))
    return force_n if force_n < ctx.gripper.force_n else None


def tighten(ctx: SkillContext) -> None:
    """Close on what is held as hard as it asks again, where it has given way between the pads since."""
    held = ctx.held
    if held is None:
        return
    force_n = grip_force(ctx, held.object_id, held.candidate.pose_object_pads)
    felt_n = ctx.arm.state().grip_force_n
    if force_n is not None and LOST_N < felt_n < SLACK * force_n:
        ctx.arm.grip(width_m=0.0, force_n=force_n, timeout_s=TIGHTEN_S)


def held_force_per_load(ctx: SkillContext, object_id: str, pose_object_pads: Pose) -> float:
    """Return the force per pad that friction needs to bear a load of one newton at an object's mass centre.

    Args:
        ctx, object_id, pose_object_pads: As in `grip_force`.
    """
    model = ctx.scene.model(object_id)
    lever_m = _off_line_m(np.asarray(link_inertia(model.root)[0]), pose_object_pads)
    pad_m = PAD_LEVER * float(np.sqrt(np.prod(ctx.gripper.pad_size_m)))
    return (1.0 + lever_m / pad_m) / (2.0 * model.friction)


def _off_line_m(point_m: Array, pose_object_pads: Pose) -> float:
    """Return the distance [m] of a point (3,) from the line along which the pads close."""
    offset, axis = point_m - pose_object_pads.position_m, pose_object_pads.rotation[:, 1]
    return float(np.linalg.norm(offset - (offset @ axis) * axis))
