"""Push: put both fingers low behind an object, slide it straight, look again, correct until it is near its goal."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import product

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
from armwright.skills.motion import back_away, follow_path, retreat
from armwright.skills.pick import REFUSED
from armwright.skills.pusher import broad_pushers
from armwright.skills.rank import known_opening
from armwright.skills.verifying import STRAIGHT_STEP_RAD, verify

# Near enough: well within what a push is judged by; nearer than that the fingers' own error leads.
NEAR_M = 0.012
# Good enough where nothing brings it nearer.
GOOD_M = 2 * NEAR_M
PUSHES = 6
# Where the arm cannot get behind an object, it is pushed askew first, by as much as that brings it on.
DETOURS_RAD = (0.0, 0.7, -0.7)
# Contact heights tried, and the share of an object's half depth above which a push may tip it.
HEIGHTS_M = (0.008, 0.013, 0.020, 0.030, 0.045)
TIP_SHARE = 0.7
TILTS_RAD = (0.5, 0.9, 1.2, np.pi / 2, 1.9)
# Turns of the hand about the direction of the push, tried where the usual hands cannot get behind the object.
SIDES_RAD = ((0.0,), (-0.5, 0.5, -0.9, 0.9))
# Two fingers this share of the object's width apart push it straight.
STRADDLE = 0.45
WIDEST_GAP_M = 0.05
STANDOFF_M = 0.006
# A stroke that ends early is worth it from here; the next one starts from where the object is then.
SHORTEST_M = 0.05
# The stroke may go this much farther: the object is watched, and what is pushed yields a little.
EXTRA_M = 0.01
APPROACH_M = 0.08
BACK_M = 0.05
UP_M = 0.08
# What slides resists with its weight's friction; this much means that it is jammed.
JAM_N, JAM_S = 40.0, 0.05
TOUCH_N = 15.0
# A yielding arm presses down what it pushes, which jams; a stroke that rises by this slope, and so far at most, cannot.
RISE, HIGHEST_M = 0.03, 0.004
# Met at full speed even a light thing hits back like a jam.
TOUCH_M_S = 0.02
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
    own = outline_of(ctx, primitive.object)
    target = outline_of(ctx, primitive.target) if primitive.target in ctx.scene.objects() else None
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
        way = np.asarray(goal_m) - outline_of(ctx, query.object).center_m
        left = float(np.linalg.norm(way))
        if left < NEAR_M:
            detail = f"{100 * left:.1f} cm from the goal after {len(tried)} pushes"
            return StageReport(name, True, "done", detail, {"pushes": len(tried)})
        stroke: _Stroke | str = ""
        for turn, sides in product(DETOURS_RAD, SIDES_RAD):
            leg = np.cos(turn) * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ way
            found = _find_stroke(ctx, query, leg, sides)
            stroke = stroke if isinstance(stroke, str) and stroke and isinstance(found, str) else found
            if isinstance(stroke, _Stroke):
                break
        if isinstance(stroke, str):
            if tried and left < GOOD_M:  # the last correction is not worth giving up for
                break
            return StageReport(name, False, "no_push", "; ".join([*tried, stroke]))
        end = outline_of(ctx, query.object).center_m + leg
        report = _do(ctx, query.object, stroke, end, leg / np.linalg.norm(leg))
        tried.append(f"{report.status}: {report.detail}")
        if not report.ok:
            break
    left = float(np.linalg.norm(np.asarray(goal_m) - outline_of(ctx, query.object).center_m))
    if left < GOOD_M:
        return StageReport(name, True, "done", f"{100 * left:.1f} cm from the goal", {"pushes": len(tried)})
    return StageReport(name, False, "push_failed", f"{100 * left:.1f} cm from the goal; {'; '.join(tried)}")


def outline_of(ctx: SkillContext, object_id: str | None) -> Footprint:
    """Return an object's outline where it stands now."""
    assert object_id is not None
    return Footprint.from_model(ctx.scene.model(object_id), ctx.scene.pose_world(object_id))


def _find_stroke(
    ctx: SkillContext, query: AffordanceQuery, way_m: Array, sides_rad: tuple[float, ...]
) -> _Stroke | str:
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
    contacts = _contacts(points, normals, stand.transform(cloud.points_m), outline_of(ctx, query.object), u)
    if not contacts:
        return f"no {query.region!r} of {query.object} faces against the push"
    across = np.array([-u[1], u[0], 0.0])
    width, top = float(np.ptp(points @ across)), float(points[:, 2].max())
    gap = min(STRADDLE * width, WIDEST_GAP_M, ctx.gripper.opening_m[1])
    base = ctx.arm.pose_world_base.inverse()
    direction = base.rotate(u)
    ways = [
        (float(contact[2]), p.pose(base.transform(contact - STANDOFF_M * u)))
        for contact in contacts
        for p in broad_pushers(
            ctx.planner.kinematics,
            direction,
            np.array([0.0, 0.0, 1.0]),
            gap_m=gap,
            tilts_rad=TILTS_RAD,
            top_m=top - float(contact[2]),
            sides_rad=sides_rad,
        )
    ]
    poses = [pose for _, pose in ways]
    if not poses:
        return f"no hand can push {query.object} without its palm"
    ctx.planner.detach()
    ctx.planner.set_opening(known_opening(gap, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(ctx.scene.world_spec(targets=(query.object,)))
    start = ctx.arm.state().target_rad
    seen = ctx.planner.evaluate_grasps(start, np.stack([p.matrix() for p in poses]), pregrasp_m=APPROACH_M)
    found: _Stroke | None = None
    best = 0.0
    free = np.flatnonzero(seen.score > 0)
    # Touched high up, a thing tips against the fingers, which then press it down until it jams.
    for i in sorted(map(int, free), key=lambda i: (ways[i][0], -float(seen.score[i])))[:LINES]:
        far = length + STANDOFF_M + EXTRA_M
        stroke_m = far * direction + min(RISE * far, HIGHEST_M) * np.array([0.0, 0.0, 1.0])
        end = Pose(poses[i].position_m + stroke_m, poses[i].quat_wxyz)
        share = slides(ctx, query.object, cloud, seen.q_grasp_rad[i], poses[i], end)
        if share <= best or share * length < min(SHORTEST_M, 0.9 * length):
            continue
        # The planner lets all of the object be touched; the way to the contact must not.
        if not verify(ctx, seen.approach_rad[i], step_rad=STRAIGHT_STEP_RAD).ok:
            continue
        end = Pose(poses[i].position_m + share * (end.position_m - poses[i].position_m), end.quat_wxyz)
        found, best = _Stroke(gap, seen.path_rad[i], seen.approach_rad[i], end), share
        if share >= 1.0:
            break
    ctx.planner.detach()
    ctx.add_time("plan push", time.perf_counter() - started)
    counts = ", ".join(f"{count} {status}" for status, count in Counter(seen.status).most_common() if status != "ok")
    return found or f"{len(poses)} ways to push, {len(free)} reached, none can slide it all the way; {counts}"


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
        if above > max(HEIGHTS_M[2], TIP_SHARE * 0.5 * depth) or above > 0.9 * height:
            continue
        level = np.abs(back[:, 2] - ground - above) < max(0.008, 0.1 * height)
        if not level.any():
            continue
        behind = float(((back[level] - middle) @ u).min())
        found.append(np.array([*(middle + behind * u)[:2], ground + above]))
    return found


def slides(
    ctx: SkillContext, object_id: str, cloud: ObjectCloud, q_rad: Array, pose_base_tool: Pose, pose_base_end: Pose
) -> float:
    """Return the share of a straight slide that is free, the object going along; it may graze what it stands on."""
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
    if line.ok:
        return 1.0
    if len(line.path_rad) < 2:
        return 0.0
    reached = ctx.planner.fk(line.path_rad[-1:])[0, :3, 3]
    whole = float(np.linalg.norm(pose_base_end.position_m - pose_base_tool.position_m))
    return float(np.linalg.norm(reached - pose_base_tool.position_m)) / whole


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
            return float((goal_m - outline_of(ctx, object_id).center_m) @ u) <= 0.0

        guard = Guard(contact_n=JAM_N, contact_s=JAM_S, predicate=there, predicate_name="the object is there")
        here = ctx.arm.state().pose_base_tool
        direction = ctx.arm.pose_world_base.inverse().rotate([*u, 0.0])
        touch = Pose(here.position_m + (STANDOFF_M + 0.002) * direction, here.quat_wxyz)
        slid = ctx.arm.move_linear(touch, guard, speed_m_s=TOUCH_M_S)
        if slid.status in ("done", "not_reached"):
            slid = ctx.arm.move_linear(stroke.pose_base_end, guard, speed_m_s=ctx.options.fine_speed_m_s)
        ok = slid.ok or slid.status == "not_reached"
        moved = StageReport("slide", ok, slid.status, slid.detail)
    if moved.status not in REFUSED:
        direction = ctx.arm.pose_world_base.inverse().rotate([*u, 0.0])
        ctx.planner.set_world(ctx.scene.world_spec(targets=(object_id,)))
        back_away(ctx, BACK_M, direction_base=-direction, name="retreat")
        retreat(ctx, UP_M, direction_base=np.array([0.0, 0.0, 1.0]), released=object_id, name="rise")
    return moved
