"""Place and hold: choose a resting pose that the arm can reach, go there, lower under guard, release, retreat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armwright.assets.footprint import Footprint
from armwright.assets.placement import placements, standing
from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Pose
from armwright.core.task import TABLE, RelationName
from armwright.skills.context import SkillContext
from armwright.skills.motion import back_away, move_straight, move_to_any
from armwright.skills.rank import Usable, attach, known_opening

# Candidate resting poses offered to the planner.
PLACEMENTS = 12
# Beyond the gap, where the arm reaches no deeper than the resting pose itself.
SHORT_DESCENT_M = 0.006
# Gap added to the gripper's opening on release, so that the fingers leave without dragging the object.
RELEASE_M = 0.016


def placement_poses(
    ctx: SkillContext, object_id: str, target: str | None, relation: RelationName, *, stand: Pose
) -> list[Pose]:
    """Return resting (or, for ``above`` and ``under``, hovering) poses of the object in the world, best first.

    Args:
        ctx: Arm and scene.
        object_id: What is placed.
        target: Reference object; the table or None with ``on``, None with a direction from where the object stood.
        relation: How it should stand to the target.
        stand: The object's pose before it was picked; it is put down as it stood, and upright if it leaned.
    """
    stand = standing(ctx.scene.model(object_id), stand)
    reference = None if target == TABLE else target
    others = [o for o in ctx.scene.objects() if o not in (object_id, reference)]
    if reference is not None:
        other, pose_world_other = ctx.scene.model(reference), ctx.scene.pose_world(reference)
    elif relation != "on":  # to the left of where it stood
        other, pose_world_other = ctx.scene.model(object_id), stand
    else:
        other, pose_world_other = None, None
    found = placements(
        ctx.scene.model(object_id),
        other,
        relation,
        rng=ctx.rng,
        n=PLACEMENTS,
        pose_world_held=stand,
        pose_world_target=pose_world_other,
        obstacles=[Footprint.from_model(ctx.scene.model(o), ctx.scene.pose_world(o)) for o in others],
        bounds=ctx.bounds,
    )
    return [p.pose_world_object for p in found]


def tool_goals(
    ctx: SkillContext, poses_world_object: Sequence[Pose], pose_tool_object: Pose, gap_m: float
) -> list[Pose]:
    """Return the tool poses in the base frame that put a held object ``gap_m`` above each pose."""
    lift = np.array([0.0, 0.0, gap_m])
    back = pose_tool_object.inverse()
    return [ctx.pose_base(Pose(p.position_m + lift, p.quat_wxyz)) @ back for p in poses_world_object]


def usable_for(
    ctx: SkillContext, object_id: str, target: str | None, relation: RelationName, *, gap_m: float
) -> Usable | None:
    """Return a test of grasps: can the object, held so, be brought to any of its placements?

    The world is taken without the object at its old place, and with it in the hand. Where there is no placement at
    all no grasp is better than another: None, and the placing itself says what is missing.
    """
    poses = placement_poses(ctx, object_id, target, relation, stand=ctx.scene.pose_world(object_id))
    if not poses:
        return None
    spec = ctx.scene.world_spec(exclude=(object_id,))

    def usable(pose_tool_object: Pose) -> bool:
        ctx.planner.set_world(spec)
        attach(ctx, object_id, pose_tool_object)
        matrices = np.stack([p.matrix() for p in tool_goals(ctx, poses, pose_tool_object, gap_m)])
        found = ctx.planner.ik(matrices, seeds=ctx.arm.state().target_rad[None], n_seeds=8, max_solutions=2)
        goals = [found.q_rad[i, k] for i, count in enumerate(found.count) for k in range(int(count))]
        ok = bool(goals) and bool(ctx.planner.check(np.array(goals)).any())
        ctx.planner.detach()
        return ok

    return usable


def place(ctx: SkillContext, target: str | None, relation: RelationName) -> StageReport:
    """Put the held object down so that it stands in ``relation`` to ``target``."""
    held = ctx.held
    if held is None:
        return StageReport("place", False, "nothing_held", "no object is held")
    where = target or (TABLE if relation == "on" else "where it stood")
    name = f"place {held.object_id} {relation} {where}"
    poses = placement_poses(ctx, held.object_id, target, relation, stand=held.stand_pose_world)
    if not poses:
        return StageReport(name, False, "no_place", f"there is no free place {relation} {where}")
    ctx.planner.set_world(ctx.scene.world_spec(exclude=(held.object_id,)))
    attach(ctx, held.object_id, held.pose_tool_object)
    goals = tool_goals(ctx, poses, held.pose_tool_object, ctx.options.place_gap_m)
    moved, chosen = move_to_any(ctx, goals, name=name)
    if not moved.ok:
        return StageReport(name, False, moved.status, moved.detail)
    if ctx.arm.state().opening_m < ctx.options.min_hold_m:
        return StageReport(name, False, "dropped", "it was lost on the way")
    for depth_m in (ctx.options.descend_m, ctx.options.place_gap_m + SHORT_DESCENT_M):
        lowered = move_straight(
            ctx,
            (0.0, 0.0, -depth_m),
            guard=Guard(contact_n=ctx.options.contact_n),
            speed_m_s=ctx.options.fine_speed_m_s,
        )
        if lowered.status != "no_ik":
            break
    if not lowered.ok and lowered.status != "not_reached":
        return StageReport(name, False, lowered.status, lowered.detail)
    release(ctx)
    return StageReport(name, True, "done", f"placement {chosen} of {len(poses)}", {"pose": poses[chosen].to_list()})


def release(ctx: SkillContext) -> None:
    """Open, back off straight along the approach, forget what was held."""
    state = ctx.arm.state()
    opening = min(state.opening_m + RELEASE_M, ctx.gripper.opening_m[1])
    ctx.arm.grip(width_m=opening)
    ctx.planner.detach()
    released = ctx.held.object_id if ctx.held is not None else None
    ctx.held = None
    ctx.planner.set_opening(known_opening(opening, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(ctx.scene.world_spec(targets=(released,) if released else ()))
    back_away(ctx, ctx.options.retreat_m, direction_base=-state.pose_base_tool.rotation[:, 2], name="retreat")


def hold(ctx: SkillContext, target: str | None, relation: RelationName | None) -> StageReport:
    """Keep the held object in ``relation`` to ``target`` (or where it is) for a while."""
    held = ctx.held
    if held is None:
        return StageReport("hold", False, "nothing_held", "no object is held")
    name = f"hold {held.object_id}" + (f" {relation} {target}" if target and relation else "")
    if target is not None and relation is not None:
        poses = placement_poses(ctx, held.object_id, target, relation, stand=held.stand_pose_world)
        if not poses:
            return StageReport(name, False, "no_place", f"there is no free place {relation} {target}")
        ctx.planner.set_world(ctx.scene.world_spec(exclude=(held.object_id,)))
        attach(ctx, held.object_id, held.pose_tool_object)
        moved, _ = move_to_any(ctx, tool_goals(ctx, poses, held.pose_tool_object, 0.0), name=name)
        if not moved.ok:
            return StageReport(name, False, moved.status, moved.detail)
    ctx.clock.sleep(ctx.options.hold_s)
    if ctx.arm.state().opening_m < ctx.options.min_hold_m:
        return StageReport(name, False, "dropped", "it slipped out of the gripper")
    return StageReport(name, True, "done", f"held for {ctx.options.hold_s:.1f} s")
