"""Pick: query → mask → candidates → ranked by the planner → approach, close, lift; the next grasp when one fails."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.protocol import AffordanceMask, ObjectCloud, part_of
from armwright.assets.parts import owner_of
from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery
from armwright.grasping.clearance import table_plane
from armwright.grasping.options import SHORT_SWEEP_M
from armwright.grasping.request import GraspRequest
from armwright.skills.context import GraspTrace, Held, SkillContext
from armwright.skills.escape import escape
from armwright.skills.grip import grip_force
from armwright.skills.held import lost
from armwright.skills.let_go import straight
from armwright.skills.motion import back_away, follow_path, move_straight, retreat
from armwright.skills.rank import RankedGrasp, Usable, attach, best_grasp, evaluate, is_firm, known_opening
from armwright.skills.verifying import STRAIGHT_STEP_RAD, clear_share, verify, verify_lift

# With fewer candidates the arm would take what it can get, good or bad: look longer first.
FEW = 9
# Obstacles whose origin is farther than this from the object cannot meet the hand.
NEAR_M = 0.6
# Ways for a motion to be refused before anything moves.
REFUSED = frozenset({"verify_collision", "timing_fail", "verify_limits"})
# An object that rises less was not lifted, whatever the hand did.
MIN_RISE_M = 0.02
# Under a roof the lift is short, and the arm gives way by some of it.
RISEN = 0.4
# Where the way up is not free to its end, an object is lifted by this much at least and at most, as far as the padded
# hand of the planner finds room, and drawn out the way that the hand came.
SHORT_LIFT_M = (0.01, 0.03)
DRAWN_M = 0.20
# A hand that came from above has no level way back.
LEAST_LEVEL = 0.2
# Closing on a free object pushes it by well under this; more means that a finger hit it on the way in.
APPROACH_GUARD_N = 25.0
# What is touched this far beyond the pads' middle is held by the tips.
BEYOND_M = 0.001
# How far down, and how slowly, the tips feel for the table beside what lies flat: an arm stops this far from its goal.
FEEL_M = 0.002
FEEL_M_S = 0.01


def find_grasps(
    ctx: SkillContext, query: AffordanceQuery, *, thorough: bool = False, short: bool = False
) -> GraspTrace:
    """Run Stage 1: mask of the queried region and grasp candidates inside it."""
    started = time.perf_counter()
    cloud, mask = _asked(ctx, query)
    ctx.add_time("affordance", time.perf_counter() - started)
    started = time.perf_counter()
    pose_world_object = ctx.scene.pose_world(query.object)
    request = grasp_request(ctx, cloud, mask, pose_world_object, thorough=thorough, short=short)
    grasps = ctx.grasp_source.sample(request)
    ctx.add_time("sample grasps", time.perf_counter() - started)
    return GraspTrace(query=query, cloud=cloud, mask=mask, grasps=grasps)


def _asked(ctx: SkillContext, query: AffordanceQuery) -> tuple[ObjectCloud, AffordanceMask]:
    """Return an object's cloud and the region in it. What is a lid shows on the whole that it belongs to."""
    _, link = owner_of(query.object)
    if not link:
        cloud = ctx.scene.cloud(query.object)
        return cloud, ctx.affordance.predict(cloud, query)
    whole = ctx.scene.canonical(query.object)
    assert whole.link is not None
    return part_of(whole, ctx.affordance.predict(whole, query), whole.link == link)


def grasp_request(
    ctx: SkillContext,
    cloud: ObjectCloud,
    mask: AffordanceMask,
    pose_world_object: Pose,
    *,
    thorough: bool,
    short: bool = False,
    region: NDArray[np.bool_] | None = None,
    bounds_m: Array | None = None,
) -> GraspRequest:
    """Put together what a grasp source is asked.

    Args:
        ctx: Arm, hand, scene.
        cloud: What the source sees of the object.
        mask: The predicted region.
        pose_world_object: Where the object stands.
        thorough: Ask for more candidates.
        short: Allow a short straight approach.
        region: (n,) bool, the part of the mask that counts; all of it where None.
        bounds_m: (2, 3) corners of the link that is to be moved; the cloud's where None.
    """
    return GraspRequest(
        cloud.points_m,
        cloud.normals,
        mask.mask if region is None else region,
        ctx.gripper,
        support_plane=table_plane(pose_world_object),
        obstacles=tuple(obstacles_near(ctx, cloud.object_id, pose_world_object)),
        thorough=thorough,
        short=short,
        category=cloud.category,
        region=mask.query.region,
        bounds_m=bounds_m,
        pose_world_object=pose_world_object,
        camera=ctx.camera,
        rng=ctx.rng.spawn(1)[0],
    )


def pick(ctx: SkillContext, query: AffordanceQuery, *, usable: Usable | None = None) -> StageReport:
    """Grasp an object at the queried region and lift it.

    Args:
        ctx: Arm, planner, scene.
        query: Which object and region.
        usable: Says whether the next step can use a grasp, given the object's pose in the tool frame; refused
            grasps are not tried.
    """
    name = f"pick {query.object}"
    if ctx.held is not None:
        return StageReport(name, False, "hand_full", f"the hand still holds {ctx.held.object_id}; place it first")
    trace = find_grasps(ctx, query)
    thorough = 0 < len(trace.grasps.candidates) < FEW
    if thorough:
        trace = find_grasps(ctx, query, thorough=True)
    ctx.traces.append(trace)
    if ctx.grasp_source.needs.region and not trace.mask.mask.any():
        return StageReport(name, False, "no_region", f"{query.object} has no {query.region!r}")
    tried: list[str] = []
    first = trace
    report = _try_grasps(ctx, trace, usable, tried, loose=thorough)
    if report is None and not tried and not thorough:
        ctx.traces[-1] = trace = find_grasps(ctx, query, thorough=True)
        report = _try_grasps(ctx, trace, usable, tried)
    if report is None and not tried and not thorough:
        ctx.traces[-1] = trace = first
        report = _try_grasps(ctx, trace, usable, tried)
    if report is None and not tried and _is_hemmed_in(trace):
        ctx.traces[-1] = trace = find_grasps(ctx, query, thorough=True, short=True)
        report = _try_grasps(ctx, trace, usable, tried, pregrasp_m=SHORT_SWEEP_M)
    if report is not None:
        chosen = trace.chosen
        score = trace.evaluation.score[chosen] if trace.evaluation is not None else 0.0
        detail = f"grasp {chosen} of {len(trace.grasps.candidates)}, score {score:.2f}"
        return StageReport(name, True, "done", detail, report.data | {"attempts": len(tried) + 1})
    if tried:
        return StageReport(name, False, "grasp_failed", "; ".join(tried))
    return StageReport(name, False, *_why_none(trace))


def _is_hemmed_in(trace: GraspTrace) -> bool:
    """Tell whether other things stood in the way of grasps that would have been good otherwise."""
    evaluation = trace.evaluation
    blocked = evaluation is not None and "approach_collision" in evaluation.status
    return blocked or trace.grasps.dropped.get("scene_collision", 0) > 0


def _try_grasps(
    ctx: SkillContext,
    trace: GraspTrace,
    usable: Usable | None,
    tried: list[str],
    *,
    pregrasp_m: float | None = None,
    loose: bool = True,
) -> StageReport | None:
    """Execute the best grasp; after a failure look again from where the arm and the object are then.

    ``loose`` allows grasps that are not firm.

    Returns:
        The report of the grasp that worked, or None; ``tried`` grows by one line per failure.
    """
    blocked: set[int] = set()
    gaps_m = {candidate.opening_m for candidate in trace.grasps.candidates}
    if not loose and trace.grasps.order != "source":
        blocked.update(i for i, candidate in enumerate(trace.grasps.candidates) if not is_firm(candidate))
    while trace.grasps.candidates and len(tried) < ctx.options.max_attempts:
        stand = ctx.scene.pose_world(trace.query.object)
        trace.evaluation = evaluate(ctx, trace, stand, pregrasp_m=pregrasp_m)
        if "start_collision" in trace.evaluation.status and escape(ctx, gaps_m=gaps_m).ok:
            trace.evaluation = evaluate(ctx, trace, stand, pregrasp_m=pregrasp_m)
        grasp = best_grasp(ctx, trace, usable, blocked=blocked)
        if grasp is None:
            return None
        blocked.add(grasp.index)
        trace.chosen = grasp.index
        report = _execute(ctx, trace, grasp, stand)
        if report.ok:
            return report
        tried.append(f"{report.status}: {report.detail}")
        if report.status not in REFUSED:  # nothing has moved then
            _back_off(ctx, trace.query.object, lifted=report.name == "lift")
    return None


def _execute(ctx: SkillContext, trace: GraspTrace, grasp: RankedGrasp, stand: Pose) -> StageReport:
    ctx.planner.detach()
    ctx.planner.set_opening(known_opening(grasp.opening_m, ctx.gripper.opening_m[1]))
    rise = straight(ctx, grasp.approach_rad[-1], np.array([0.0, 0.0, ctx.options.lift_m]))
    seen = verify_lift(
        ctx,
        rise,
        object_id=trace.query.object,
        pose_tool_object=grasp.pose_tool_object,
        opening_m=grasp.candidate.width_m,
    )
    if clear_share(rise, seen) * ctx.options.lift_m < MIN_RISE_M:
        return StageReport("lift", False, seen.status, seen.detail)
    ctx.arm.grip(width_m=grasp.opening_m)
    moved = follow_path(ctx, grasp.transit_rad, name="transit")
    if not moved.ok:
        return moved
    moved = follow_path(ctx, grasp.approach_rad, name="approach", guard=Guard(contact_n=APPROACH_GUARD_N), fine=True)
    if not moved.ok:
        return moved
    if moved.status == "guard":
        return StageReport("approach", False, "blocked", moved.detail)
    by_the_tips = grasp.candidate.beyond_m > BEYOND_M
    if by_the_tips:  # feel for the support, so that the pads get around more of it
        down = Guard(contact_n=ctx.options.contact_n)
        move_straight(ctx, (0.0, 0.0, -FEEL_M), guard=down, speed_m_s=FEEL_M_S)
    force_n = grip_force(ctx, trace.query.object, grasp.candidate.pose_object_pads)
    closed = ctx.arm.grip(width_m=0.0, force_n=force_n)
    if not closed.holding or closed.opening_m < ctx.options.min_hold_m:
        return StageReport("close", False, "missed", f"the gripper closed to {closed.opening_m * 1000:.0f} mm")
    closed_at = ctx.arm.state().stamp_s
    upwards, free_m = np.array([0.0, 0.0, 1.0]), clear_share(rise, seen) * ctx.options.lift_m
    # No motion can be planned from where the padded hand touches something.
    roofed = free_m < ctx.options.lift_m or not bool(ctx.planner.check(rise[-1:], without_targets=True)[0])
    height_m = min(free_m, _short_lift_m(ctx, rise)) if roofed else free_m
    lifted = back_away(ctx, height_m, direction_base=upwards, name="lift")
    if not lifted.ok:
        return lifted
    state = ctx.arm.state()
    if lost(ctx):
        return StageReport("lift", False, "dropped", "it slipped out while it was lifted")
    object_id = trace.query.object
    rise_m = float(ctx.scene.pose_world(object_id).position_m[2] - stand.position_m[2])
    if rise_m < min(MIN_RISE_M, RISEN * height_m):
        return StageReport("lift", False, "not_lifted", f"{object_id} rose by {1000 * rise_m:.0f} mm")
    pose_tool_object = state.pose_base_tool.inverse() @ ctx.pose_base(ctx.scene.pose_world(object_id))
    ctx.held = Held(object_id, pose_tool_object, grasp.candidate, trace.query, stand, by_the_tips)
    attach(ctx, object_id, pose_tool_object)
    if roofed:
        ctx.planner.set_world(ctx.scene.world_spec(exclude=(object_id,)))
        _draw_out(ctx)
    data: dict[str, object] = {"lift_from_s": closed_at, "lift_to_s": state.stamp_s, "grasp": grasp.index}
    return StageReport("lift", True, "done", data=data)


def _draw_out(ctx: SkillContext) -> None:
    """Move what is held out from under a roof, as the hand came or level, and lift it there as far as that is free."""
    state = ctx.arm.state()
    back = -state.pose_base_tool.rotation[:, 2]
    level = back * np.array([1.0, 1.0, 0.0])
    gone, best = 0.0, back
    for way in (back, back + level, level):
        size = float(np.linalg.norm(way))
        if size < LEAST_LEVEL:
            continue
        path = straight(ctx, state.target_rad, DRAWN_M * way / size)
        seen = verify(ctx, path, step_rad=STRAIGHT_STEP_RAD)
        free = np.flatnonzero(ctx.planner.check(path[: len(path) if seen.ok else max(seen.index, 1)]))
        share = float(free[-1]) / max(len(path) - 1, 1) if len(free) else 0.0
        if share * DRAWN_M > gone:
            gone, best = share * DRAWN_M, way / size
    if gone > 0:
        pose = state.pose_base_tool
        end = Pose(pose.position_m + gone * best, pose.quat_wxyz)
        ctx.arm.move_linear(end, speed_m_s=ctx.options.speed_m_s)
        back_away(ctx, ctx.options.lift_m, direction_base=np.array([0.0, 0.0, 1.0]), name="lift")


def _short_lift_m(ctx: SkillContext, rise_rad: Array) -> float:
    """Return how far to lift on a way up (w, n) that is not free to its end [m]."""
    least, most = SHORT_LIFT_M
    start = Pose.from_matrix(ctx.planner.fk(rise_rad[:1])[0])
    goal = Pose(start.position_m + np.array([0.0, 0.0, most]), start.quat_wxyz)
    free = ctx.planner.linear(rise_rad[0], goal.matrix(), check=True, without_targets=True).path_rad
    if len(free) < 2:
        return least
    gone = ctx.planner.fk(free[-1:])[0, 2, 3] - start.position_m[2]
    return float(np.clip(gone, least, most))


def _back_off(ctx: SkillContext, object_id: str, *, lifted: bool) -> None:
    """Let go, near the ground, and leave along the approach as far as that is free."""
    ctx.planner.detach()
    ctx.held = None
    if lifted:
        down = Guard(contact_n=ctx.options.contact_n)
        move_straight(ctx, (0.0, 0.0, -ctx.options.lift_m), guard=down, speed_m_s=ctx.options.fine_speed_m_s)
    widest = ctx.gripper.opening_m[1]
    ctx.arm.grip(width_m=widest)
    ctx.planner.set_opening(widest)
    approach = ctx.arm.state().pose_base_tool.rotation[:, 2]
    retreat(ctx, ctx.options.retreat_m, direction_base=-approach, released=object_id, name="back off")


def obstacles_near(ctx: SkillContext, object_id: str, pose_world_object: Pose) -> list[Array]:
    """Return the hulls of everything near the object but the table, in the object's frame."""
    pose_object_base = (ctx.pose_base(pose_world_object)).inverse()
    hulls: list[Array] = []
    for obstacle in ctx.scene.world_spec(exclude=(object_id, "table")).obstacles:
        frame = pose_object_base @ obstacle.pose_base_obstacle
        if np.linalg.norm(frame.position_m) < NEAR_M:
            hulls.extend(frame.transform(hull) for hull in obstacle.hulls)
    return hulls


def _counts(dropped: Mapping[str, int]) -> str:
    rows = sorted(dropped.items(), key=lambda row: -row[1])
    return ", ".join(f"{count} {reason}" for reason, count in rows) or "no candidates"


def _why_none(trace: GraspTrace) -> tuple[str, str]:
    evaluation = trace.evaluation
    if evaluation is None or not evaluation.status:
        return "no_grasp", _counts(trace.grasps.dropped)
    counts = Counter(evaluation.status)
    reached = counts.pop("ok", 0)
    shown = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    if reached:
        return "no_usable_grasp", f"{reached} grasps can be reached, none lets the next step be done; {shown}"
    status = counts.most_common(1)[0][0] if counts else "no_grasp"
    return status, f"of {len(evaluation.status)} candidates: {shown}"
