"""Push: put both fingers low behind an object, slide it straight, look again, correct until it is near its goal."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from armwright.affordance.protocol import ObjectCloud
from armwright.assets.footprint import Footprint
from armwright.assets.shifting import shift_goal
from armwright.control.protocols import ArmState, Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import TABLE, AffordanceQuery, Primitive
from armwright.planning.types import WorldSpec
from armwright.skills.context import SkillContext
from armwright.skills.frames import covering_spheres
from armwright.skills.motion import back_away, follow_path
from armwright.skills.pick import REFUSED
from armwright.skills.pusher import broad_pushers
from armwright.skills.rank import known_opening
from armwright.skills.verifying import STRAIGHT_STEP_RAD, verify

# Near enough: well within what a push is judged by; nearer than that the fingers' own error leads.
NEAR_M = 0.012
PUSHES = 6
# Contact heights tried, and the share of an object's half depth above which a push may tip it.
HEIGHTS_M = (0.012, 0.020, 0.030, 0.045, 0.06)
TIP_SHARE = 0.8
TILTS_RAD = (0.5, 0.9, 1.2, np.pi / 2)
# Two fingers this share of the object's width apart push it straight.
STRADDLE = 0.45
WIDEST_GAP_M = 0.05
STANDOFF_M = 0.006
# The stroke may go this much farther: the object is watched, and what is pushed yields a little.
EXTRA_M = 0.01
APPROACH_M = 0.08
BACK_M = 0.05
UP_M = 0.08
# What slides resists with its weight's friction; this much means that it is jammed.
JAM_N = 40.0
TOUCH_N = 15.0
FACING = 0.6
LINES = 24


@dataclass(frozen=True, eq=False)
class _Stroke:
    """One straight push with its way there."""

    gap_m: float
    transit_rad: Array
    approach_rad: Array
    pose_base_end: Pose


def goal_of(ctx: SkillContext, primitive: Primitive) -> Array:
    """Return where the middle of the object's footprint should come to, (2,) in the world [m]."""
    own = _outline(ctx, primitive.object)
    target = _outline(ctx, primitive.target) if primitive.target in ctx.scene.objects() else None
    return shift_goal(primitive, own, target, ctx.arm.pose_world_base)


def push(ctx: SkillContext, query: AffordanceQuery, goal_m: Array, *, name: str) -> StageReport:
    """Slide an object on its support until the middle of its footprint is at a goal.

    Args:
        ctx: Arm, planner, scene.
        query: The object and the region to push at, such as "Pushable Surface".
        goal_m: (2,) in the world.
        name: What the report is called.
    """
    if ctx.held is not None:
        return StageReport(name, False, "hand_full", f"the hand still holds {ctx.held.object_id}; place it first")
    tried: list[str] = []
    for _ in range(PUSHES):
        way = np.asarray(goal_m) - _outline(ctx, query.object).center_m
        left = float(np.linalg.norm(way))
        if left < NEAR_M:
            detail = f"{100 * left:.1f} cm from the goal after {len(tried)} pushes"
            return StageReport(name, True, "done", detail, {"pushes": len(tried)})
        stroke = _find_stroke(ctx, query, way)
        if isinstance(stroke, str):
            return StageReport(name, False, "no_push", "; ".join([*tried, stroke]))
        report = _do(ctx, query.object, stroke, np.asarray(goal_m), way / left)
        tried.append(f"{report.status}: {report.detail}")
        if not report.ok:
            break
    left = float(np.linalg.norm(np.asarray(goal_m) - _outline(ctx, query.object).center_m))
    if left < 2 * NEAR_M:
        return StageReport(name, True, "done", f"{100 * left:.1f} cm from the goal", {"pushes": len(tried)})
    return StageReport(name, False, "push_failed", f"{100 * left:.1f} cm from the goal; {'; '.join(tried)}")


def _outline(ctx: SkillContext, object_id: str | None) -> Footprint:
    assert object_id is not None
    return Footprint.from_model(ctx.scene.model(object_id), ctx.scene.pose_world(object_id))


def _find_stroke(ctx: SkillContext, query: AffordanceQuery, way_m: Array) -> _Stroke | str:
    """Choose a contact low behind the object, a hand that can go there, and check the whole slide."""
    started = time.perf_counter()
    cloud = ctx.scene.cloud(query.object)
    mask = ctx.affordance.predict(cloud, query)
    if not mask.mask.any():
        return f"{query.object} has no {query.region!r}"
    stand = ctx.scene.pose_world(query.object)
    points, normals = stand.transform(cloud.points_m[mask.mask]), stand.rotate(cloud.normals[mask.mask])
    length = float(np.linalg.norm(way_m))
    u = np.array([*(way_m / length), 0.0])
    contacts = _contacts(points, normals, stand.transform(cloud.points_m), _outline(ctx, query.object), u)
    if not contacts:
        return f"no {query.region!r} of {query.object} faces against the push"
    across = np.array([-u[1], u[0], 0.0])
    width = float(np.ptp(points @ across))
    gap = min(STRADDLE * width, WIDEST_GAP_M, ctx.gripper.opening_m[1])
    base = ctx.arm.pose_world_base.inverse()
    direction = base.rotate(u)
    poses = [
        p.pose(base.transform(contact - STANDOFF_M * u))
        for contact in contacts
        for p in broad_pushers(
            ctx.planner.kinematics, direction, np.array([0.0, 0.0, 1.0]), gap_m=gap, tilts_rad=TILTS_RAD
        )
    ]
    ctx.planner.detach()
    ctx.planner.set_opening(known_opening(gap, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(ctx.scene.world_spec(targets=(query.object,)))
    start = ctx.arm.state().target_rad
    seen = ctx.planner.evaluate_grasps(start, np.stack([p.matrix() for p in poses]), pregrasp_m=APPROACH_M)
    found: _Stroke | None = None
    free = np.flatnonzero(seen.score > 0)
    for i in sorted(map(int, free), key=lambda i: -float(seen.score[i]))[:LINES]:
        end = Pose(poses[i].position_m + (length + STANDOFF_M + EXTRA_M) * direction, poses[i].quat_wxyz)
        if not _slides(ctx, query.object, cloud, seen.q_grasp_rad[i], poses[i], end):
            continue
        # The planner lets all of the object be touched; the way to the contact must not.
        if not verify(ctx, seen.approach_rad[i], step_rad=STRAIGHT_STEP_RAD).ok:
            continue
        found = _Stroke(gap, seen.path_rad[i], seen.approach_rad[i], end)
        break
    ctx.planner.detach()
    ctx.add_time("plan push", time.perf_counter() - started)
    return found or f"{len(poses)} ways to push, {len(free)} reached, none can slide it all the way"


def _contacts(points: Array, normals: Array, body: Array, outline: Footprint, u: Array) -> list[Array]:
    """Return points on the back of the object on the line through its middle, low first, in the world."""
    back = points[(normals @ u) < -FACING]
    if len(back) == 0:
        return []
    ground = float(body[:, 2].min())
    depth = float(np.ptp(outline.outline_m @ u[:2]))
    height = float(np.ptp(body[:, 2]))
    middle = np.array([*outline.center_m, 0.0])
    found = []
    for above in HEIGHTS_M:
        if above > max(HEIGHTS_M[1], TIP_SHARE * 0.5 * depth) or above > 0.9 * height:
            continue
        level = np.abs(back[:, 2] - ground - above) < max(0.008, 0.1 * height)
        if not level.any():
            continue
        behind = float(((back[level] - middle) @ u).min())
        found.append(np.array([*(middle + behind * u)[:2], ground + above]))
    return found


def _slides(
    ctx: SkillContext, object_id: str, cloud: ObjectCloud, q_rad: Array, pose_base_tool: Pose, pose_base_end: Pose
) -> bool:
    """Check the straight slide with the object going along with the hand; it may graze what it stands on."""
    world = ctx.planner.world
    obstacles = ctx.scene.world_spec().obstacles
    own = next((o.name for o in obstacles if o.name == object_id), None)
    grazed = {TABLE} & {o.name for o in obstacles}
    ctx.planner.set_world(WorldSpec(obstacles, frozenset(grazed)))
    pose_tool_object = pose_base_tool.inverse() @ ctx.pose_base(ctx.scene.pose_world(object_id))
    center, radius = covering_spheres(cloud.points_m, cloud.normals)
    ctx.planner.attach(pose_tool_object.transform(center), radius, name=own)
    line = ctx.planner.linear(q_rad, pose_base_end.matrix(), check=True, without_targets=True)
    ctx.planner.detach()
    ctx.planner.set_world(world)
    return line.ok


def _do(ctx: SkillContext, object_id: str, stroke: _Stroke, goal_m: Array, u: Array) -> StageReport:
    """Go there, slide until the object is there, leave backwards and up."""
    ctx.planner.detach()
    ctx.planner.set_opening(known_opening(stroke.gap_m, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(ctx.scene.world_spec(targets=(object_id,)))
    ctx.arm.grip(width_m=stroke.gap_m)
    moved = follow_path(ctx, stroke.transit_rad, name="transit")
    if not moved.ok:
        return moved
    moved = follow_path(ctx, stroke.approach_rad, name="approach", guard=Guard(contact_n=TOUCH_N), fine=True)
    if moved.ok:

        def there(state: ArmState) -> bool:
            return float((goal_m - _outline(ctx, object_id).center_m) @ u) <= 0.0

        guard = Guard(contact_n=JAM_N, predicate=there, predicate_name="the object is there")
        slid = ctx.arm.move_linear(stroke.pose_base_end, guard, speed_m_s=ctx.options.fine_speed_m_s)
        ok = slid.ok or slid.status == "not_reached"
        moved = StageReport("slide", ok, slid.status, slid.detail)
    if moved.status not in REFUSED:
        direction = ctx.arm.pose_world_base.inverse().rotate([*u, 0.0])
        ctx.planner.set_world(ctx.scene.world_spec(targets=(object_id,)))
        back_away(ctx, BACK_M, direction_base=-direction, name="retreat")
        back_away(ctx, UP_M, direction_base=np.array([0.0, 0.0, 1.0]), name="rise")
    return moved
