"""How fast to carry: a motion accelerates what is held by no more than its grip bears."""

from __future__ import annotations

import numpy as np

from armwright.assets.export import link_inertia
from armwright.control.protocols import Trajectory
from armwright.core.pose import Array
from armwright.skills.context import SkillContext
from armwright.skills.grip import GRAVITY_M_S2, grip_force, held_force_per_load

# What friction could hold, against what acceleration and weight ask of it together.
MARGIN = 2.5
# Even what is held at the end of a long lever is carried with this much.
GENTLEST_M_S2 = 4.0
# The arm smooths what is shorter than this.
SMOOTHED_S = 0.02


def speed_share(ctx: SkillContext, trajectory: Trajectory) -> float:
    """Return the share of a trajectory's speed at which the grip bears what is held; 1 with an empty hand."""
    if ctx.held is None:
        return 1.0
    peak = peak_acceleration(ctx, trajectory)
    return min(1.0, float(np.sqrt(bearable_m_s2(ctx) / max(peak, 1e-6))))


def bearable_m_s2(ctx: SkillContext) -> float:
    """Return by how much what is held may be accelerated, besides its weight."""
    held = ctx.held
    assert held is not None
    pads = held.candidate.pose_object_pads
    asked = grip_force(ctx, held.object_id, pads)
    force_n = ctx.gripper.force_n if asked is None else asked
    mass_kg = ctx.scene.mass_kg(held.object_id)
    whole = force_n / (MARGIN * mass_kg * held_force_per_load(ctx, held.object_id, pads))
    return max(whole - GRAVITY_M_S2, GENTLEST_M_S2)


def peak_acceleration(ctx: SkillContext, trajectory: Trajectory) -> float:
    """Return the largest acceleration of the held object's mass centre on a trajectory [m/s²]."""
    held = ctx.held
    assert held is not None
    time_s = trajectory.time_s
    if len(time_s) < 3:
        return 0.0
    center = held.pose_tool_object.transform(np.asarray(link_inertia(ctx.scene.model(held.object_id).root)[0]))
    tools = ctx.planner.fk(trajectory.position_rad)
    points: Array = tools[:, :3, :3] @ center + tools[:, :3, 3]
    steps = max(1, round(SMOOTHED_S / float(np.median(np.diff(time_s)))))
    points, time_s = points[::steps], time_s[::steps]
    if len(time_s) < 3:
        return 0.0
    speed = np.diff(points, axis=0) / np.diff(time_s)[:, None]
    middle = 0.5 * (time_s[1:] + time_s[:-1])
    return float(np.linalg.norm(np.diff(speed, axis=0) / np.diff(middle)[:, None], axis=1).max())
