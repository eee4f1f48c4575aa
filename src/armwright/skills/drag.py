"""Pull: grasp an object, drag it straight along what it stands on, let go; what no hand spans is pushed from behind."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from armwright.control.protocols import ArmState, Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery
from armwright.skills.context import GraspTrace, SkillContext
from armwright.skills.grip import grip_force
from armwright.skills.motion import follow_path, retreat
from armwright.skills.pick import APPROACH_GUARD_N, REFUSED, find_grasps
from armwright.skills.push import EXTRA_M, JAM_N, JAM_S, NEAR_M, outline_of, push, slides
from armwright.skills.rank import WHOLLY_ON_REGION, evaluate, known_opening, tool_pose

GRASPS = 40
RELEASE_M = 0.016


@dataclass(frozen=True, eq=False)
class _Drag:
    """A grasp from which the object can be dragged to its goal; ``force_n`` None is all that the gripper has."""

    index: int
    opening_m: float
    force_n: float | None
    transit_rad: Array
    approach_rad: Array
    pose_base_end: Pose


def drag(ctx: SkillContext, query: AffordanceQuery, goal_m: Array, *, name: str) -> StageReport:
    """Pull an object along its support until the middle of its footprint is at a goal.

    Args:
        ctx: Arm, planner, scene.
        query: The object and the region to hold it by.
        goal_m: (2,) in the world.
        name: What the report is called.
    """
    if ctx.held is not None:
        return StageReport(name, False, "hand_full", f"the hand still holds {ctx.held.object_id}; place it first")
    tried: list[str] = []
    for _ in range(ctx.options.max_attempts):
        way = np.asarray(goal_m) - outline_of(ctx, query.object).center_m
        left = float(np.linalg.norm(way))
        if left < NEAR_M:
            return StageReport(name, True, "done", f"{100 * left:.1f} cm from the goal", {"attempts": len(tried)})
        found = _find(ctx, query, way)
        if found is None:
            break
        report = _do(ctx, query.object, found, np.asarray(goal_m), way / left)
        tried.append(f"{report.status}: {report.detail}")
    use = AffordanceQuery(object=query.object, region=query.region, role="use")
    pushed = push(ctx, use, goal_m, name=name)
    detail = "; ".join([*tried, pushed.detail])
    return StageReport(name, pushed.ok, pushed.status, detail, pushed.data | {"attempts": len(tried)})


def _find(ctx: SkillContext, query: AffordanceQuery, way_m: Array) -> _Drag | None:
    """Choose the grasp of the best score from which the whole way is free."""
    trace = find_grasps(ctx, query)
    ctx.traces.append(trace)
    if not trace.grasps.candidates:
        return None
    stand = ctx.scene.pose_world(query.object)
    trace.evaluation = evaluate(ctx, trace, stand)
    started = time.perf_counter()
    found = next((d for d in (_from(ctx, trace, i, stand, way_m) for i in _order(trace)) if d is not None), None)
    ctx.add_time("plan drag", time.perf_counter() - started)
    if found is not None:
        trace.chosen = found.index
    return found


def _order(trace: GraspTrace) -> list[int]:
    evaluation, candidates = trace.evaluation, trace.grasps.candidates
    assert evaluation is not None
    rows = [int(i) for i in np.flatnonzero(evaluation.score > 0)]
    rows.sort(key=lambda i: (candidates[i].region_share < WHOLLY_ON_REGION, -float(evaluation.score[i])))
    return rows[:GRASPS]


def _from(ctx: SkillContext, trace: GraspTrace, i: int, stand: Pose, way_m: Array) -> _Drag | None:
    evaluation, candidate = trace.evaluation, trace.grasps.candidates[i]
    assert evaluation is not None
    pose = ctx.pose_base(stand) @ tool_pose(ctx, candidate)
    along = ctx.arm.pose_world_base.inverse().rotate([*way_m, 0.0])
    farther = 1.0 + EXTRA_M / float(np.linalg.norm(way_m))
    end = Pose(pose.position_m + farther * along, pose.quat_wxyz)
    ctx.planner.set_opening(known_opening(candidate.width_m, ctx.gripper.opening_m[1]))
    if slides(ctx, trace.query.object, trace.cloud, evaluation.q_grasp_rad[i], pose, end) < 1.0:
        return None
    force_n = grip_force(ctx, trace.query.object, candidate.pose_object_pads)
    return _Drag(i, candidate.opening_m, force_n, evaluation.path_rad[i], evaluation.approach_rad[i], end)


def _do(ctx: SkillContext, object_id: str, way: _Drag, goal_m: Array, u: Array) -> StageReport:
    """Grasp, drag until the object is there, let go, leave."""
    ctx.planner.detach()
    ctx.planner.set_opening(known_opening(way.opening_m, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(ctx.scene.world_spec(targets=(object_id,)))
    ctx.arm.grip(width_m=way.opening_m)
    moved = follow_path(ctx, way.transit_rad, name="transit")
    if not moved.ok:
        return moved
    moved = follow_path(ctx, way.approach_rad, name="approach", guard=Guard(contact_n=APPROACH_GUARD_N), fine=True)
    if moved.ok and moved.status == "guard":
        moved = StageReport("approach", False, "blocked", moved.detail)
    if moved.ok:
        closed = ctx.arm.grip(width_m=0.0, force_n=way.force_n)
        if closed.holding and closed.opening_m >= ctx.options.min_hold_m:

            def there(state: ArmState) -> bool:
                return float((goal_m - outline_of(ctx, object_id).center_m) @ u) <= 0.0

            guard = Guard(contact_n=JAM_N, contact_s=JAM_S, predicate=there, predicate_name="the object is there")
            slid = ctx.arm.move_linear(way.pose_base_end, guard, speed_m_s=ctx.options.fine_speed_m_s)
            ok = slid.ok or slid.status == "not_reached"
            moved = StageReport("slide", ok, slid.status, slid.detail)
        else:
            moved = StageReport("close", False, "missed", f"the gripper closed to {closed.opening_m * 1000:.0f} mm")
    if moved.status not in REFUSED:
        _let_go(ctx, object_id)
    return moved


def _let_go(ctx: SkillContext, object_id: str) -> None:
    state = ctx.arm.state()
    opening = min(state.opening_m + RELEASE_M, ctx.gripper.opening_m[1])
    ctx.arm.grip(width_m=opening)
    ctx.planner.set_opening(known_opening(opening, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(ctx.scene.world_spec(targets=(object_id,)))
    retreat(ctx, ctx.options.retreat_m, direction_base=-state.pose_base_tool.rotation[:, 2], released=object_id)
