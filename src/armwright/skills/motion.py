"""Motions that skills share: a planned path, a straight line, a planned move to one of several poses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from armwright.control.protocols import Guard, MotionReport, StageReport
from armwright.core.pose import Array, Pose
from armwright.planning.timing import time_path
from armwright.skills.context import SkillContext

# A heavy object pulls the tool down by up to this; more means that something is in the way.
REACHED_M = 0.012
# Contact beyond what a held object weighs that stops a motion which feels its way.
FEEL_N = 12.0
# Step of the fastest joint between configurations that the verifier looks at.
VERIFY_STEP_RAD = 0.01
# Plans tried, each to the goals left over, when the verifier refuses one.
PLANS = 4
# Branches of inverse kinematics offered to the planner per wanted pose.
BRANCHES = 4


def _stage(name: str, report: MotionReport) -> StageReport:
    if report.ok or (report.status == "not_reached" and report.error_m < REACHED_M):
        return StageReport(name, True, "guard" if report.status == "guard" else "done", report.detail)
    return StageReport(name, False, report.status, report.detail)


def follow_path(
    ctx: SkillContext, path_rad: Array, *, name: str, guard: Guard | None = None, fine: bool = False
) -> StageReport:
    """Time a path and follow it; ``fine`` goes slowly, and may touch what is about to be grasped."""
    if len(path_rad) < 2:
        return StageReport(name, True, "done")
    started = time.perf_counter()
    timed = time_path(
        path_rad,
        ctx.planner.kinematics,
        velocity_scale=ctx.options.fine_speed if fine else ctx.options.transit_speed,
        first_collision=partial(ctx.planner.first_collision, without_targets=fine),
    )
    ctx.add_time("timing", time.perf_counter() - started)
    if not timed.ok or timed.trajectory is None:
        return StageReport(name, False, timed.status, timed.detail)
    refused = _verified(ctx, timed.trajectory.position_rad, near_target=fine)
    if refused:
        return StageReport(name, False, "verify_collision", refused)
    return _stage(name, ctx.arm.follow(timed.trajectory, guard))


def _verified(ctx: SkillContext, path_rad: Array, *, near_target: bool) -> str:
    """Ask the independent verifier about a timed path; return what it objects to, or nothing."""
    if ctx.verifier is None:
        return ""
    started = time.perf_counter()
    world = ctx.planner.world
    ignore = world.targets if near_target else frozenset()
    held = None
    if ctx.held is not None:
        own = ctx.held.object_id
        held = [ctx.held.pose_tool_object.transform(hull) for hull in ctx.scene.model(own).root.hulls]
        # The world as it was before the pick: the verifier keeps its model of that.
        world = ctx.scene.world_spec()
        ignore |= {o.name for o in world.obstacles if o.name.partition("/")[0] == own}
    verifier = ctx.verifier(world, ctx.planner.opening_m)
    report = verifier.check_path(path_rad, ignore=ignore, attached=held, step_rad=VERIFY_STEP_RAD)
    ctx.add_time("verify", time.perf_counter() - started)
    return "" if report.ok else report.detail


def move_straight(
    ctx: SkillContext,
    offset_m: Sequence[float],
    *,
    in_tool: bool = False,
    guard: Guard | None = None,
    speed_m_s: float | None = None,
) -> StageReport:
    """Move the tool in a straight line by an offset in the base frame, or in the tool frame."""
    pose = ctx.arm.state().pose_base_tool
    step = np.asarray(offset_m, float)
    shift = pose.rotate(step) if in_tool else step
    goal = Pose(pose.position_m + shift, pose.quat_wxyz)
    report = ctx.arm.move_linear(goal, guard, speed_m_s=speed_m_s or ctx.options.speed_m_s)
    return _stage("straight", report)


def back_away(ctx: SkillContext, distance_m: float, *, direction_base: Array, name: str) -> StageReport:
    """Move the tool straight, as far as the planner finds it free, up to a distance along a unit vector.

    The planner's targets may be touched: they are what was just grasped or let go. Where the hand starts so close to
    something that the planner's spheres already overlap it, the way is felt instead: slowly, and stopped by contact.
    """
    state = ctx.arm.state()
    pose = state.pose_base_tool
    goal = Pose(pose.position_m + distance_m * direction_base, pose.quat_wxyz)
    line = ctx.planner.linear(state.target_rad, goal.matrix(), check=True, without_targets=True)
    if len(line.path_rad) < 2:
        guard = Guard(contact_n=FEEL_N)
        return _stage(name, ctx.arm.move_linear(goal, guard, speed_m_s=ctx.options.fine_speed_m_s))
    reached = ctx.planner.fk(line.path_rad[-1:])[0, :3, 3]
    gone = float(np.linalg.norm(reached - pose.position_m))
    end = Pose(pose.position_m + gone * direction_base, pose.quat_wxyz)
    return _stage(name, ctx.arm.move_linear(end, speed_m_s=ctx.options.speed_m_s))


def move_to_any(ctx: SkillContext, poses_base_tool: Sequence[Pose], *, name: str) -> tuple[StageReport, int]:
    """Plan to whichever of several tool poses is reached first, and go there.

    Returns:
        The report, and which pose was reached (-1 if none).
    """
    started = time.perf_counter()
    matrices = np.stack([pose.matrix() for pose in poses_base_tool])
    start = ctx.arm.state().target_rad
    found = ctx.planner.ik(matrices, seeds=start[None], n_seeds=16, max_solutions=BRANCHES)
    goals, owner = [], []
    for i, count in enumerate(found.count):
        for k in range(int(count)):
            goals.append(found.q_rad[i, k])
            owner.append(i)
    if not goals:
        return StageReport(name, False, "ik_fail", f"none of {len(poses_base_tool)} poses can be reached"), -1
    ctx.add_time("plan", time.perf_counter() - started)
    goal_array = np.array(goals)
    free = ctx.planner.check(goal_array)
    if not free.any():
        pair = ctx.planner.colliding_pair(goal_array[0])
        detail = f"all {len(goals)} configurations collide" + (f", e.g. {pair[0]} with {pair[1]}" if pair else "")
        return StageReport(name, False, "goal_collision", detail), -1
    left = [int(i) for i in np.flatnonzero(free)]
    report = StageReport(name, False, "no_path", "no goal is left")
    for _ in range(PLANS):
        if not left:
            break
        started = time.perf_counter()
        plan = ctx.planner.plan(start, goal_array[left])
        ctx.add_time("plan", time.perf_counter() - started)
        if not plan.ok:
            pair = plan.colliding
            detail = plan.detail + (f" ({pair[0]} with {pair[1]})" if pair else "")
            return StageReport(name, False, plan.status, detail), -1
        chosen = left.pop(plan.goal)
        report = follow_path(ctx, plan.path_rad, name=name)
        # The verifier refuses before anything moves, so another goal can be tried from here.
        if report.ok or report.status != "verify_collision":
            return report, owner[chosen]
    return report, -1
