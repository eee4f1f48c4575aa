"""Move a drawer or door with the hand: trace the joint's arc, check it with the link carried along, follow it."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from armwright.affordance.protocol import ObjectCloud
from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.planning.timing import time_path
from armwright.skills.context import SkillContext
from armwright.skills.frames import covering_spheres
from armwright.skills.leaves import Leaf, rest_of, world_to_swing, world_with_target
from armwright.skills.rank import known_opening

# The link moves by this much between the poses that are traced.
STEP_M = 0.02
STEP_RAD = np.deg2rad(5.0)
# Share of the joint acceleration limits: a heavy drawer hits back when it is set going at once.
GENTLE = 0.15
# The fingers are off the leaf once they have gone back this far.
LEAVE_M = 0.06


def carry(ctx: SkillContext, leaf: Leaf, cloud: ObjectCloud, pose_base_tool: Pose) -> None:
    """Let the planner carry the link with the tool, from where both are now."""
    ctx.planner.set_world(world_to_swing(ctx, leaf))
    pose_tool_object = pose_base_tool.inverse() @ ctx.pose_base(ctx.scene.pose_world(leaf.object_id))
    points, normals = cloud.points_m[leaf.own], cloud.normals[leaf.own]
    center, radius = covering_spheres(points, normals)
    ctx.planner.attach(pose_tool_object.transform(center), radius, name=leaf.name)


def arc_path(ctx: SkillContext, leaf: Leaf, start_rad: Array, pose_base_tool: Pose, goal: float) -> tuple[Array, Array]:
    """Trace the hand along the joint's arc as far as that is free; the link must be carried.

    Args:
        ctx: Arm, planner, scene.
        leaf: What moves.
        start_rad: (n,) configuration that holds or touches it.
        pose_base_tool: The tool's pose then.
        goal: Joint value to come to [m or rad].

    Returns:
        (w, n) way points from the start, and the joint value (w,) at each.
    """
    pose_base_object = ctx.pose_base(ctx.scene.pose_world(leaf.object_id))
    pose_object_tool = pose_base_object.inverse() @ pose_base_tool
    step = STEP_M if leaf.joint.kind == "slide" else STEP_RAD
    count = max(1, int(np.ceil(abs(goal - leaf.value) / step)))
    path, values, reached = [np.asarray(start_rad, float)[None]], [np.array([leaf.value])], leaf.value
    for value in np.linspace(leaf.value, goal, count + 1)[1:]:
        pose = pose_base_object @ leaf.moved(float(value)) @ pose_object_tool
        part = ctx.planner.linear(path[-1][-1], pose.matrix(), check=True, without_targets=True)
        if not part.ok:
            break
        path.append(part.path_rad[1:])
        values.append(np.linspace(reached, float(value), len(part.path_rad))[1:])
        reached = float(value)
    return np.concatenate(path), np.concatenate(values)


def can_leave(ctx: SkillContext, leaf: Leaf, q_rad: Array, gap_m: float) -> bool:
    """Tell whether the hand, its pads ``gap_m`` apart, can back off straight from a configuration (n,)."""
    ctx.planner.detach()
    ctx.planner.set_world(world_with_target(ctx, leaf))
    ctx.planner.set_opening(known_opening(gap_m, ctx.gripper.opening_m[1]))
    pose = Pose.from_matrix(ctx.planner.fk(q_rad[None])[0])
    back = Pose(pose.position_m - LEAVE_M * pose.rotation[:, 2], pose.quat_wxyz)
    return ctx.planner.linear(q_rad, back.matrix(), check=True, without_targets=True).ok


def follow_arc(
    ctx: SkillContext,
    leaf: Leaf,
    path_rad: Array,
    pose_base_tool: Pose,
    *,
    name: str,
    guard: Guard,
    speed: float | None = None,
) -> StageReport:
    """Time, verify and follow an arc with the link carried along.

    Args:
        ctx: Arm, planner, scene.
        leaf: What moves; it is where the scene has it.
        path_rad: (w, n) way points.
        pose_base_tool: The tool's pose at the first of them.
        name: What the report is called.
        guard: What ends the motion.
        speed: Share of the joint speed limits; None takes that of fine motions.
    """
    if len(path_rad) < 2:
        return StageReport(name, True, "done")
    started = time.perf_counter()
    timed = time_path(
        path_rad,
        ctx.planner.kinematics,
        velocity_scale=speed or ctx.options.fine_speed,
        acceleration_scale=GENTLE,
        first_collision=partial(ctx.planner.first_collision, without_targets=True),
    )
    ctx.add_time("timing", time.perf_counter() - started)
    if not timed.ok or timed.trajectory is None:
        return StageReport(name, False, timed.status, timed.detail)
    refused = _refused(ctx, leaf, timed.trajectory.position_rad, pose_base_tool)
    if refused:
        return StageReport(name, False, "verify_collision", refused)
    report = ctx.arm.follow(timed.trajectory, guard)
    # A tool that lags behind because it pulls is judged by how far the link came.
    ok = report.ok or report.status == "not_reached"
    return StageReport(name, ok, report.status, report.detail)


def _refused(ctx: SkillContext, leaf: Leaf, path_rad: Array, pose_base_tool: Pose) -> str:
    if ctx.verifier is None:
        return ""
    started = time.perf_counter()
    pose_base_link = ctx.pose_base(ctx.scene.pose_world_link(leaf.object_id, leaf.link.name))
    world = ctx.scene.world_spec()
    verifier = ctx.verifier(world, ctx.planner.opening_m)
    report = verifier.check_path(
        path_rad,
        ignore=frozenset({leaf.name}),
        held_ignore=rest_of(leaf, world),
        attached=leaf.link.hulls,
        pose_tool_attached=pose_base_tool.inverse() @ pose_base_link,
    )
    ctx.add_time("verify", time.perf_counter() - started)
    return "" if report.ok else report.detail
