"""Close: push a drawer or door shut with closed fingers, along the joint's arc, until its stop is felt."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.protocol import ObjectCloud
from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery, SpotName
from armwright.skills.articulated import swing_by_handle
from armwright.skills.context import SkillContext
from armwright.skills.leaves import SHUT_SHARE, Leaf, in_order, leaves_of, meant_of, world_with_target
from armwright.skills.motion import follow_path, retreat
from armwright.skills.pick import REFUSED
from armwright.skills.pusher import pushers
from armwright.skills.swing import arc_path, can_leave, carry, follow_arc
from armwright.skills.verifying import STRAIGHT_STEP_RAD, verify

# Points of the panel that are tried, and ways of reaching them whose arcs are traced.
POINTS = 10
ARCS = 40
# The fingers stop this far before the panel; the push goes this far beyond the stop, until it is felt.
STANDOFF_M = 0.004
PRESS_M = 0.006
APPROACH_M = 0.08
# The leaf is pushed until near its stop, and then slowly until the stop is felt.
SLOW_M = 0.03
PUSH_SPEED, STOP_SPEED = 0.2, 0.08
# A jam is felt well above what it takes to set a heavy drawer going; the stop well above what keeps it going.
JAM_N = 45.0
STOP_N = 18.0
# A panel is pushed where it faces against the push.
FACING = 0.85


@dataclass(frozen=True, eq=False)
class _Press:
    """A contact with its way there and its arc, as far as near the stop and from there on."""

    transit_rad: Array
    approach_rad: Array
    arc_rad: Array
    stop_rad: Array


def close_part(ctx: SkillContext, query: AffordanceQuery, *, which: SpotName | None = None) -> StageReport:
    """Push whatever is open of an object shut.

    Args:
        ctx: Arm, planner, scene.
        query: The object and the region that its leaves are known by, such as "Openable Handle"; they are pushed
            there or at their "Pushable Surface".
        which: Which of several; see `leaves.in_order`.
    """
    name = f"close {query.object}"
    if ctx.held is not None:
        return StageReport(name, False, "hand_full", f"the hand still holds {ctx.held.object_id}; place it first")
    tried: list[str] = []
    cloud, mask, leaves = leaves_of(ctx, query)
    if not leaves:
        return StageReport(name, False, "no_region", f"nothing of {query.object} closes by a {query.region!r}")
    # Which are meant is settled now: a mask that loses one of them later must not make it another.
    meant = [leaf.link.name for leaf in meant_of(leaves, cloud, which)]
    attempts = dict.fromkeys(meant, 0)
    while True:
        seen = [leaf for leaf in leaves if leaf.link.name in meant]
        left = in_order(seen, cloud, opening=False)
        unseen = _open_but_unseen(ctx, query.object, meant, seen)
        if not left and not unseen:
            return StageReport(name, True, "done", "it is shut", {"attempts": len(tried)})
        leaf = next((one for one in left if attempts[one.link.name] < ctx.options.max_attempts), None)
        if leaf is None and not left:
            lost = f"no {query.region!r} is seen any more on what is still open: {', '.join(unseen)}"
            return StageReport(name, False, "no_region", "; ".join([*tried, lost]))
        if leaf is None:
            return StageReport(name, False, "close_failed", "; ".join(tried))
        attempts[leaf.link.name] += 1
        panel = AffordanceQuery(object=query.object, region="Pushable Surface", role="use")
        where = mask.mask | ctx.affordance.predict(cloud, panel).mask
        press = _find_press(ctx, leaf, cloud, where & leaf.own)
        report: StageReport | str = press if isinstance(press, str) else _push(ctx, query, leaf, cloud, press)
        if isinstance(report, str):
            # A door that is wide open is out of the way of a push; its handle may not be.
            why, report = report, swing_by_handle(ctx, query, leaf, cloud)
            if isinstance(report, str):
                return StageReport(name, False, "no_arc", "; ".join([*tried, f"{leaf.link.name}: {why}; {report}"]))
        value = ctx.scene.joint(leaf.object_id, leaf.link.name)
        tried.append(f"{report.status}: {leaf.link.name} at {value:.3f} of {leaf.joint.range[1]:.3f}, {report.detail}")
        cloud, mask, leaves = leaves_of(ctx, query)


def _open_but_unseen(ctx: SkillContext, object_id: str, meant: Sequence[str], seen: Sequence[Leaf]) -> list[str]:
    """Return the links that are meant and not shut, but of which nothing is seen now."""
    found = {leaf.link.name for leaf in seen}
    joints = {link.name: link.joint for link in ctx.scene.model(object_id).links if link.joint is not None}
    unseen = []
    for link in meant:
        low, high = joints[link].range
        if link not in found and ctx.scene.joint(object_id, link) > low + SHUT_SHARE * (high - low):
            unseen.append(link)
    return unseen


def _contacts(ctx: SkillContext, leaf: Leaf, cloud: ObjectCloud, where: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return points to push at and the directions to push in, (k, 3) each, object's frame: long levers first."""
    points, normals = cloud.points_m[where], cloud.normals[where]
    if len(points) == 0:
        return points, points
    push = -leaf.opening_directions(points)
    facing = (normals * push).sum(1) < -FACING
    points, push = points[facing], push[facing]
    if len(points) == 0:
        return points, push
    lever = leaf.lever_m(points)
    # The outer half of a door is light to push; its rim is easily missed.
    good = np.flatnonzero(lever >= 0.5 * lever.max())
    order = ctx.rng.permutation(good)[: 4 * POINTS]
    middle = points[good].mean(0)
    order = order[np.argsort(np.linalg.norm(points[order] - middle, axis=1), kind="stable")]
    rows = order[:: max(1, len(order) // POINTS)][:POINTS]
    return points[rows], push[rows]


def _find_press(ctx: SkillContext, leaf: Leaf, cloud: ObjectCloud, where: NDArray[np.bool_]) -> _Press | str:
    started = time.perf_counter()
    pose_base_object = ctx.pose_base(ctx.scene.pose_world(leaf.object_id))
    points, pushes = _contacts(ctx, leaf, cloud, where)
    if len(points) == 0:
        return "no surface faces against the push"
    poses = []
    for point, push in zip(points, pushes, strict=True):
        direction = pose_base_object.rotate(push)
        contact = pose_base_object.transform(point) - STANDOFF_M * direction
        poses += [p.pose(contact) for p in pushers(ctx.planner.kinematics, direction, np.array([0.0, 0.0, 1.0]))]
    if not poses:
        return "the hand cannot point along the push"
    ctx.planner.detach()
    ctx.planner.set_world(world_with_target(ctx, leaf))
    ctx.planner.set_opening(0.0)
    start = ctx.arm.state().target_rad
    matrices = np.stack([p.matrix() for p in poses])
    seen = ctx.planner.evaluate_grasps(start, matrices, pregrasp_m=APPROACH_M)
    reached = np.flatnonzero(seen.score > 0)
    lever = float(np.median(leaf.lever_m(points)))
    goal = leaf.joint.range[0] - (STANDOFF_M + PRESS_M) / lever
    found: _Press | None = None
    for i in sorted(map(int, reached), key=lambda i: -float(seen.score[i]))[:ARCS]:
        carry(ctx, leaf, cloud, poses[i])
        path, values = arc_path(ctx, leaf, seen.q_grasp_rad[i], poses[i], goal)
        if values[-1] > goal + 1e-6 or not can_leave(ctx, leaf, path[-1], 0.0):
            continue
        # The planner lets all of the leaf be touched; the way to the contact must not.
        if not verify(ctx, seen.approach_rad[i], step_rad=STRAIGHT_STEP_RAD).ok:
            continue
        near = int(np.argmax(values <= leaf.joint.range[0] + SLOW_M / lever))
        found = _Press(seen.path_rad[i], seen.approach_rad[i], path[: near + 1], path[near:])
        break
    ctx.planner.detach()
    ctx.add_time("trace arcs", time.perf_counter() - started)
    return found or f"{len(poses)} ways to push, {len(reached)} reached, none of their arcs is free to the end"


def _push(ctx: SkillContext, query: AffordanceQuery, leaf: Leaf, cloud: ObjectCloud, press: _Press) -> StageReport:
    ctx.planner.set_world(world_with_target(ctx, leaf))
    ctx.planner.set_opening(0.0)
    ctx.arm.grip(width_m=0.0)
    moved = follow_path(ctx, press.transit_rad, name="transit")
    if not moved.ok:
        return moved
    moved = follow_path(ctx, press.approach_rad, name="approach", guard=Guard(contact_n=STOP_N), fine=True)
    if moved.ok and moved.status != "guard":
        pose = Pose.from_matrix(ctx.planner.fk(press.arc_rad[:1])[0])
        carry(ctx, leaf, cloud, pose)
        jam, stop = Guard(contact_n=JAM_N), Guard(contact_n=STOP_N)
        moved = follow_arc(ctx, leaf, press.arc_rad, pose, name="push", guard=jam, speed=PUSH_SPEED)
        if moved.ok and moved.status != "guard":
            there = Pose.from_matrix(ctx.planner.fk(press.stop_rad[:1])[0])
            ctx.planner.detach()
            now = next((x for x in leaves_of(ctx, query)[2] if x.link.name == leaf.link.name), None)
            if now is None:
                moved = StageReport("push", False, "no_region", f"no {query.region!r} is seen on it near its stop")
            else:
                carry(ctx, now, ctx.scene.cloud(leaf.object_id), there)
                moved = follow_arc(ctx, now, press.stop_rad, there, name="push", guard=stop, speed=STOP_SPEED)
        ctx.planner.detach()
    if moved.status not in REFUSED or moved.name == "push":
        ctx.planner.set_world(world_with_target(ctx, leaf))
        approach = ctx.arm.state().pose_base_tool.rotation[:, 2]
        retreat(ctx, ctx.options.retreat_m, direction_base=-approach, released=leaf.object_id)
    return moved
