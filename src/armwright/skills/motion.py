"""Motions that skills share: a planned path, a straight line, a planned move to one of several poses."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from armwright.control.protocols import Guard, MotionReport, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import TABLE
from armwright.planning.timing import time_path
from armwright.planning.types import TimedReport
from armwright.skills.carry import speed_share
from armwright.skills.context import SkillContext
from armwright.skills.escape import escape
from armwright.skills.grip import tighten
from armwright.skills.verifying import STRAIGHT_STEP_RAD, clear_share, verify

# A heavy object pulls the tool down by up to this; more means that something is in the way.
REACHED_M = 0.012
# Contact beyond what a held object weighs that stops a motion which feels its way.
FEEL_N = 12.0
# Share of the usual speed at which something is carried by the fingers' tips.
GENTLE = 0.4
# Plans tried, each to the goals left over, when the verifier refuses one.
PLANS = 4
# Goals offered to the planner at once, nearest first.
OFFERED = 8
# Branches of inverse kinematics offered to the planner per wanted pose.
BRANCHES = 4


def _stage(name: str, report: MotionReport) -> StageReport:
    if report.ok or (report.status == "not_reached" and report.error_m < REACHED_M):
        return StageReport(name, True, "guard" if report.status == "guard" else "done", report.detail)
    return StageReport(name, False, report.status, report.detail)


def follow_path(
    ctx: SkillContext,
    path_rad: Array,
    *,
    name: str,
    guard: Guard | None = None,
    fine: bool = False,
    at_least_s: float = 0.0,
) -> StageReport:
    """Time a path and follow it; ``fine`` goes slowly, and may touch what is about to be grasped.

    ``at_least_s`` is how long it takes where the arm could be faster [s].
    """
    if len(path_rad) < 2:
        return StageReport(name, True, "done")
    started = time.perf_counter()

    def timed_at(share: float) -> TimedReport:
        return time_path(
            path_rad,
            ctx.planner.kinematics,
            velocity_scale=share * (ctx.options.fine_speed if fine else ctx.options.transit_speed),
            acceleration_scale=share**2,
            first_collision=partial(ctx.planner.first_collision, without_targets=fine),
        )

    timed = timed_at(1.0)
    share = speed_share(ctx, timed.trajectory) if timed.trajectory is not None else 1.0
    if timed.trajectory is not None and at_least_s > timed.trajectory.duration_s:
        share = min(share, timed.trajectory.duration_s / at_least_s)
    if ctx.held is not None and ctx.held.by_the_tips:
        share = min(share, GENTLE)
    if share < 1.0:
        timed = timed_at(share)
    ctx.add_time("timing", time.perf_counter() - started)
    if not timed.ok or timed.trajectory is None:
        return StageReport(name, False, timed.status, timed.detail)
    touchable = _meant(ctx) if fine else frozenset()
    report = verify(ctx, timed.trajectory.position_rad, touchable=touchable)
    if not report.ok:
        return StageReport(name, False, "verify_collision", report.detail)
    tighten(ctx)
    return _stage(name, ctx.arm.follow(timed.trajectory, guard))


def _meant(ctx: SkillContext) -> frozenset[str]:
    """Return what may really be touched: the planner's targets, but the table only in the sense of its spheres."""
    return ctx.planner.world.targets - {TABLE}


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
    """Move the tool straight, as far as planner and verifier find it free, up to a distance along a unit vector.

    The planner's targets may be touched: they are what was just grasped or let go. Where the hand starts so close to
    something that it already overlaps it, the way is felt instead: slowly, and stopped by contact.
    """
    state = ctx.arm.state()
    pose = state.pose_base_tool
    goal = Pose(pose.position_m + distance_m * direction_base, pose.quat_wxyz)

    def end(path_rad: Array) -> Pose:
        reached = ctx.planner.fk(path_rad[-1:])[0, :3, 3]
        gone = float(np.linalg.norm(reached - pose.position_m))
        return Pose(pose.position_m + gone * direction_base, pose.quat_wxyz)

    path = ctx.planner.linear(state.target_rad, goal.matrix(), check=True, without_targets=True).path_rad
    seen = verify(ctx, path, touchable=_meant(ctx), step_rad=STRAIGHT_STEP_RAD)
    if len(path) < 2 or (not seen.ok and seen.index == 0):
        reach = ctx.planner.linear(state.target_rad, goal.matrix(), check=False).path_rad
        guard = Guard(contact_n=FEEL_N)
        return _stage(name, ctx.arm.move_linear(end(reach), guard, speed_m_s=ctx.options.fine_speed_m_s))
    last = round(clear_share(path, seen) * (len(path) - 1))
    return _stage(name, ctx.arm.move_linear(end(path[: last + 1]), speed_m_s=ctx.options.speed_m_s))


def retreat(
    ctx: SkillContext, distance_m: float, *, direction_base: Array, released: str, name: str = "retreat"
) -> StageReport:
    """Back away from what was let go, and on until a motion can be planned from there, with it in the way as well.

    Args:
        ctx: Arm and planner; the planner's world is that of `back_away`, and everything that stands there afterwards.
        distance_m: How far.
        direction_base: Unit vector (3,).
        released: The object.
        name: What the report is called.
    """
    gone = back_away(ctx, distance_m, direction_base=direction_base, name=name)
    ctx.planner.detach()
    ctx.planner.set_world(ctx.scene.world_spec())
    out = escape(ctx, touchable=(released,))
    return gone if out.ok else StageReport(name, False, out.status, out.detail)


def go_to_one(ctx: SkillContext, goals_rad: Sequence[Array], *, name: str) -> tuple[StageReport, int]:
    """Plan to whichever of several configurations is reached first, and go there; one that is refused is left out.

    Args:
        ctx: Arm and planner.
        goals_rad: (n,) joint configurations.
        name: What the report is called.

    Returns:
        The report, and which goal was reached (-1 if none).
    """
    out = escape(ctx)
    if not out.ok:
        return StageReport(name, False, out.status, out.detail), -1
    left = list(range(len(goals_rad)))
    report = StageReport(name, False, "no_path", "no way is left")
    while left:
        plan = ctx.planner.plan(ctx.arm.state().target_rad, np.array([goals_rad[i] for i in left]))
        if not plan.ok:
            return StageReport(name, False, plan.status, plan.detail), -1
        chosen = left.pop(plan.goal)
        report = follow_path(ctx, plan.path_rad, name=name)
        if report.ok:
            return report, chosen
        if report.status != "verify_collision":  # something has moved
            break
    return report, -1


def move_to_any(
    ctx: SkillContext,
    poses_base_tool: Sequence[Pose],
    *,
    name: str,
    objection: Callable[[Array, int], str] | None = None,
) -> tuple[StageReport, int]:
    """Plan to whichever of several tool poses is reached first, and go there.

    Args:
        ctx: Arm and planner.
        poses_base_tool: Where the tool may go, best first.
        name: What the report is called.
        objection: Says what speaks against ending at a configuration (n,) for a pose of that index, or nothing;
            asked before anything moves.

    Returns:
        The report, and which pose was reached (-1 if none).
    """
    out = escape(ctx)
    if not out.ok:
        return StageReport(name, False, out.status, out.detail), -1
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
    left = sorted(map(int, np.flatnonzero(free)), key=lambda i: float(np.linalg.norm(goal_array[i] - start)))
    report = StageReport(name, False, "no_path", "no goal is left")
    offered: list[int] = []
    for _ in range(PLANS):
        while left and len(offered) < OFFERED:
            i = left.pop(0)
            against = objection(goal_array[i], owner[i]) if objection is not None else ""
            if against:
                report = StageReport(name, False, "verify_collision", against)
            else:
                offered.append(i)
        if not offered:
            break
        started = time.perf_counter()
        plan = ctx.planner.plan(start, goal_array[offered])
        ctx.add_time("plan", time.perf_counter() - started)
        if not plan.ok:
            pair = plan.colliding
            detail = plan.detail + (f" ({pair[0]} with {pair[1]})" if pair else "")
            report = StageReport(name, False, plan.status, detail)
            if not left or plan.status == "start_collision":
                break
            offered = []
            continue
        chosen = offered.pop(plan.goal)
        report = follow_path(ctx, plan.path_rad, name=name)
        # The verifier refuses before anything moves, so another goal can be tried from here.
        if report.ok or report.status != "verify_collision":
            return report, owner[chosen]
    return report, -1
