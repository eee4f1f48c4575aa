"""Open and close: pull a drawer or door open by its handle along the joint's arc; push it shut with closed fingers."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from armwright.affordance.protocol import ObjectCloud
from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery, SpotName
from armwright.skills.context import GraspTrace, SkillContext
from armwright.skills.leaves import Leaf, in_order, leaves_of, world_with_target
from armwright.skills.motion import follow_path, retreat
from armwright.skills.pick import APPROACH_GUARD_N, REFUSED, grasp_request
from armwright.skills.rank import evaluate, known_opening, reached_in_order
from armwright.skills.swing import arc_path, can_leave, carry, follow_arc

# Shares of the travel: what opening aims at, what it must be able to reach to begin, and what it must have done.
OPEN_AIM = 0.8
OPEN_ENOUGH = 0.68
OPENED = 0.62
SHUT_ENOUGH = 0.01
# Grasps whose arcs are traced before the search ends; the widest of the first few that work is taken.
ARCS = 60
ARCS_KEPT = 4
# A stuck door is felt well above what a free one resists with.
JAM_N = 45.0
# Around a handle, points are wanted this far: a hand and its approach.
LOOK_M = 0.2
# Gap added on release, so that the fingers leave without moving the handle.
RELEASE_M = 0.016


def _corners(points_m: Array) -> Array:
    return np.stack([points_m.min(0), points_m.max(0)])


@dataclass(frozen=True, eq=False)
class _Pull:
    """A grasp of the handle with its way there and its arc."""

    index: int
    opening_m: float
    transit_rad: Array
    approach_rad: Array
    arc_rad: Array
    reached: float


@dataclass(frozen=True)
class _Aims:
    """Joint values that an arc should lead to, and that it must at least lead to."""

    goal: float
    enough: float


def open_part(ctx: SkillContext, query: AffordanceQuery, *, which: SpotName | None = None) -> StageReport:
    """Pull a drawer or door open by its handle.

    Args:
        ctx: Arm, planner, scene.
        query: The object and the region to hold, such as "Openable Handle".
        which: Which of several; see `leaves.in_order`.
    """
    name = f"open {query.object}"
    if ctx.held is not None:
        return StageReport(name, False, "hand_full", f"the hand still holds {ctx.held.object_id}; place it first")
    tried: list[str] = []
    for _ in range(ctx.options.max_attempts):
        cloud, _, leaves = leaves_of(ctx, query)
        if not leaves:
            return StageReport(name, False, "no_region", f"nothing of {query.object} opens by a {query.region!r}")
        chosen = in_order(leaves, cloud, opening=True, which=which)
        if not chosen:
            return StageReport(name, True, "done", "it is open already")
        why = ""
        for leaf in chosen:
            found = _find_pull(ctx, query, leaf, cloud, _Aims(leaf.value_at(OPEN_AIM), leaf.value_at(OPEN_ENOUGH)))
            if isinstance(found, str):
                why = why or f"{leaf.link.name}: {found}"
                continue
            report = _pull(ctx, leaf, cloud, found)
            share = (ctx.scene.joint(leaf.object_id, leaf.link.name) - leaf.joint.range[0]) / (
                leaf.joint.range[1] - leaf.joint.range[0]
            )
            if report.ok and share >= OPENED:
                detail = f"{leaf.link.name} open by {100 * share:.0f} % of its travel"
                return StageReport(name, True, "done", detail, {"link": leaf.link.name, "attempts": len(tried) + 1})
            tried.append(f"{report.status}: {report.detail or f'{leaf.link.name} at {100 * share:.0f} %'}")
            break
        else:
            return StageReport(name, False, "no_arc", "; ".join([*tried, why]))
    return StageReport(name, False, "open_failed", "; ".join(tried))


def swing_by_handle(ctx: SkillContext, query: AffordanceQuery, leaf: Leaf, cloud: ObjectCloud) -> StageReport | str:
    """Swing a leaf shut with its handle in the hand; or say why no grasp lets that be done."""
    aims = _Aims(leaf.joint.range[0], leaf.value_at(SHUT_ENOUGH))
    found = _find_pull(ctx, query, leaf, cloud, aims)
    return found if isinstance(found, str) else _pull(ctx, leaf, cloud, found)


def _find_pull(ctx: SkillContext, query: AffordanceQuery, leaf: Leaf, cloud: ObjectCloud, aims: _Aims) -> _Pull | str:
    """Choose a grasp of the handle from which the arm can follow the whole arc; or say why there is none."""
    stand = ctx.scene.pose_world(leaf.object_id)
    bounds_m = _corners(cloud.points_m[np.asarray(cloud.link) == leaf.link.name])
    center_m, radius_m = cloud.points_m[leaf.region].mean(0), LOOK_M
    if ctx.grasp_source.needs.whole:
        corners_m = _corners(cloud.points_m)
        center_m, radius_m = corners_m.mean(0), float(np.linalg.norm(np.ptp(corners_m, axis=0)))
    close = ctx.scene.close_up(leaf.object_id, center_m, radius_m)
    mask = ctx.affordance.predict(close, query)
    region = mask.mask & (np.asarray(close.link) == leaf.link.name)
    why = ""
    for thorough in (False, True):
        started = time.perf_counter()
        request = grasp_request(ctx, close, mask, stand, thorough=thorough, region=region, bounds_m=bounds_m)
        grasps = ctx.grasp_source.sample(request)
        ctx.add_time("sample grasps", time.perf_counter() - started)
        trace = GraspTrace(query=query, cloud=close, mask=mask, grasps=grasps)
        ctx.planner.detach()
        trace.evaluation = evaluate(ctx, trace, stand, world=world_with_target(ctx, leaf))
        ctx.traces.append(trace)
        started = time.perf_counter()
        best, traced = _farthest(ctx, trace, leaf, cloud, aims)
        ctx.add_time("trace arcs", time.perf_counter() - started)
        if best is not None:
            trace.chosen = best.index
            return best
        count = len(grasps.candidates)
        why = f"{count} grasps of the handle, {traced} reached, none of their arcs is free and long enough"
    return why


def _farthest(
    ctx: SkillContext, trace: GraspTrace, leaf: Leaf, cloud: ObjectCloud, aims: _Aims
) -> tuple[_Pull | None, int]:
    evaluation = trace.evaluation
    assert evaluation is not None
    reached = reached_in_order(trace)
    found: list[_Pull] = []
    if trace.grasps.order == "motion":  # an arc that is long enough is worth more than all of the pads on the handle
        reached.sort(key=lambda i: -float(evaluation.score[i]))
    for i in reached[:ARCS]:
        candidate = trace.grasps.candidates[i]
        q = evaluation.q_grasp_rad[i]
        pose_base_tool = Pose.from_matrix(ctx.planner.fk(q[None])[0])
        ctx.planner.set_opening(known_opening(candidate.width_m, ctx.gripper.opening_m[1]))
        carry(ctx, leaf, cloud, pose_base_tool)
        path, values = arc_path(ctx, leaf, q, pose_base_tool, aims.goal)
        value = float(values[-1])
        short = abs(value - aims.goal) > abs(aims.enough - aims.goal) + 1e-9
        if short or not can_leave(ctx, leaf, path[-1], candidate.width_m + RELEASE_M):
            continue
        found.append(_Pull(i, candidate.opening_m, evaluation.path_rad[i], evaluation.approach_rad[i], path, value))
        if len(found) >= ARCS_KEPT or abs(value - aims.goal) < 1e-6:
            break
    ctx.planner.detach()
    return min(found, key=lambda p: abs(p.reached - aims.goal), default=None), len(reached)


def _pull(ctx: SkillContext, leaf: Leaf, cloud: ObjectCloud, pull: _Pull) -> StageReport:
    """Grasp the handle, follow the arc, let go and leave."""
    ctx.planner.detach()
    ctx.planner.set_world(world_with_target(ctx, leaf))
    ctx.planner.set_opening(known_opening(pull.opening_m, ctx.gripper.opening_m[1]))
    ctx.arm.grip(width_m=pull.opening_m)
    moved = follow_path(ctx, pull.transit_rad, name="transit")
    if not moved.ok:
        return moved
    moved = follow_path(ctx, pull.approach_rad, name="approach", guard=Guard(contact_n=APPROACH_GUARD_N), fine=True)
    if moved.ok and moved.status == "guard":
        moved = StageReport("approach", False, "blocked", moved.detail)
    if moved.ok:
        # All that the gripper has, unless the options say otherwise: a handle is not crushed, and furniture that stands
        # fast asks for what its joint resists with, which its weight does not tell.
        closed = ctx.arm.grip(width_m=0.0, force_n=ctx.options.grip_force_n)
        if not closed.holding or closed.opening_m < ctx.options.min_hold_m:
            moved = StageReport("close", False, "missed", f"the gripper closed to {closed.opening_m * 1000:.0f} mm")
        else:
            state = ctx.arm.state()
            ctx.planner.set_opening(known_opening(state.opening_m, ctx.gripper.opening_m[1]))
            pose = Pose.from_matrix(ctx.planner.fk(pull.arc_rad[:1])[0])
            carry(ctx, leaf, cloud, pose)
            moved = follow_arc(ctx, leaf, pull.arc_rad, pose, name="pull", guard=Guard(contact_n=JAM_N))
    if moved.status not in REFUSED or moved.name == "pull":
        leave(ctx, leaf)
    return moved


def leave(ctx: SkillContext, leaf: Leaf) -> None:
    """Open a little and back off straight along the approach."""
    ctx.planner.detach()
    state = ctx.arm.state()
    opening = min(state.opening_m + RELEASE_M, ctx.gripper.opening_m[1])
    ctx.arm.grip(width_m=opening)
    ctx.planner.set_opening(known_opening(opening, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(world_with_target(ctx, leaf))
    approach = state.pose_base_tool.rotation[:, 2]
    retreat(ctx, ctx.options.retreat_m, direction_base=-approach, released=leaf.object_id)
