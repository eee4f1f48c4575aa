"""Hang: bring the hole of the held object over the tip of a peg and along it, lower, let go, leave."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from armwright.affordance.holes import hole_of
from armwright.affordance.pegs import pegs_of
from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery
from armwright.skills.context import SkillContext
from armwright.skills.held import SLIPPED_M, look_again, slipped_m
from armwright.skills.hooking import Hooking, ways_to_hook
from armwright.skills.let_go import Release, plan_release, release_extra, straight
from armwright.skills.motion import follow_path, go_to_one, move_straight
from armwright.skills.place import release
from armwright.skills.rank import Usable, attach
from armwright.skills.trace import trace_poses
from armwright.skills.verifying import STRAIGHT_STEP_RAD, verify

# Beyond the computed depth: the guard ends the descent when the peg carries.
OVERTRAVEL_M = 0.006
# The spheres of what is held grow by this, or pegs would slip between them.
GROW_M = 0.0025
# Ways traced before the search is given up, and ways offered to the planner.
TRACES = 40
OFFERED = 6
BRANCHES = 3
# What one radian of swing after the release is worth in radians of joint travel.
SWING_COST = 2.0
# Times that the ways are looked for anew, after the object turned out to be held otherwise than it was.
APPROACHES = 3
_TURNED = StageReport("hang", False, "slipped", "it turned in the gripper and does not fit over the peg any more")
REFUSED = frozenset({"slipped", "verify_collision", "timing_fail", "verify_limits"})


@dataclass(frozen=True, eq=False)
class Way:
    """A traced way: joint configurations (w, n) from before the tip to over the peg, and what comes then."""

    index: int
    path_rad: Array
    drop_m: float
    release: Release | None = None


def hang(ctx: SkillContext, handle: AffordanceQuery, hook: AffordanceQuery) -> StageReport:
    """Hang the held object by a region that encloses a hole on a peg of another object's region.

    Args:
        ctx: Arm, planner, scene.
        handle: The region of the held object, such as "Hanging Handle".
        hook: The region that takes it, such as "Hook".
    """
    held = ctx.held
    name = f"hang {handle.object} on {hook.object}"
    if held is None or held.object_id != handle.object:
        return StageReport(name, False, "nothing_held", f"{handle.object} is not held")
    if slipped_m(ctx) > SLIPPED_M:
        return StageReport(name, False, "dropped", "it slipped in the gripper")
    hooking = _seen(ctx, handle, hook)
    if isinstance(hooking, str):
        return StageReport(name, False, "no_region", hooking)
    ctx.planner.set_world(ctx.scene.world_spec(exclude=(held.object_id,), targets=(hook.object,)))
    _look_again(ctx)
    for _ in range(APPROACHES):
        started = time.perf_counter()
        ways, against = _complete_ways(ctx, hooking, hook.object)
        ctx.add_time("plan hang", time.perf_counter() - started)
        if not ways:
            return StageReport(name, False, "no_way", against)
        moved, chosen = go_to_one(ctx, [way.path_rad[0] for way in ways], name=name)
        if chosen < 0:
            return moved
        way = ways[chosen]
        path = _corrected(ctx, hooking, way) if _look_again(ctx) else way.path_rad
        entered = _TURNED if path is None else follow_path(ctx, path, name=name, fine=True)
        if entered.ok or entered.status not in REFUSED:  # else nothing has moved, and another way may do
            break
    if way is None or not entered.ok:
        return StageReport(name, False, entered.status, entered.detail)
    if slipped_m(ctx) > SLIPPED_M:
        return StageReport(name, False, "dropped", "it slipped in the gripper")
    down = (0.0, 0.0, -(way.drop_m + OVERTRAVEL_M))
    guard = Guard(contact_n=ctx.options.contact_n)
    lowered = move_straight(ctx, down, guard=guard, speed_m_s=ctx.options.fine_speed_m_s)
    if not lowered.ok and lowered.status != "not_reached":
        return StageReport(name, False, lowered.status, lowered.detail)
    release(ctx, way.release)
    swing = np.rad2deg(hooking.swing_rad[way.index])
    return StageReport(name, True, "done", f"way {way.index} of {len(hooking.drop_m)}, may swing by {swing:.0f} deg")


def usable_for_hang(ctx: SkillContext, handle: AffordanceQuery, hook: AffordanceQuery) -> Usable | None:
    """Return a test of grasps: can the object, held so, be brought over a peg and let go there?"""
    hooking = _seen(ctx, handle, hook)
    if isinstance(hooking, str):
        return None
    spec = ctx.scene.world_spec(exclude=(handle.object,), targets=(hook.object,))
    whole = ctx.scene.world_spec()

    def roomy(way: Way) -> bool:
        seen = verify(ctx, way.path_rad, world=whole, touchable=(handle.object,), step_rad=STRAIGHT_STEP_RAD)
        return seen.ok and release_extra(ctx, way.path_rad[-1], world=whole, object_id=handle.object) is not None

    def usable(pose_tool_object: Pose) -> float:
        ctx.planner.set_world(spec)
        attach(ctx, handle.object, pose_tool_object, grow_m=GROW_M, by_name=True)
        found = list(_traced(ctx, hooking, pose_tool_object, wanted=2))
        ctx.planner.detach()
        return float(any(roomy(way) for way in found))

    return usable


def _seen(ctx: SkillContext, handle: AffordanceQuery, hook: AffordanceQuery) -> Hooking | str:
    """Return the ways to hang the object, or what is missing for it."""
    started = time.perf_counter()
    cloud = ctx.scene.cloud(handle.object)
    hole = hole_of(cloud, ctx.affordance.predict(cloud, handle))
    if hole is None:
        return f"{handle.object} has no {handle.region!r} that encloses a hole"
    rough = ctx.scene.cloud(hook.object)
    region = rough.points_m[ctx.affordance.predict(rough, hook).mask]
    if len(region) == 0:
        return f"{hook.object} has no {hook.region!r}"
    middle = 0.5 * (region.min(0) + region.max(0))
    radius = float(np.linalg.norm(region - middle, axis=1).max()) + 0.02
    near = ctx.scene.close_up(hook.object, middle, radius)
    pegs = pegs_of(near, ctx.affordance.predict(near, hook))
    if not pegs:
        return f"{hook.object} has no {hook.region!r} that sticks out"
    stand = ctx.scene.pose_world(hook.object)
    hooking = ways_to_hook(hole, [peg.at(stand) for peg in pegs], cloud.points_m, stand.transform(rough.points_m))
    ctx.add_time("see hooks", time.perf_counter() - started)
    if len(hooking.drop_m) == 0:
        return f"{handle.object} fits over none of the {len(pegs)} pegs of {hook.object}"
    return hooking


def _traced(ctx: SkillContext, hooking: Hooking, pose_tool_object: Pose, *, wanted: int) -> Iterator[Way]:
    """Yield ways that arm and planner can follow, the carrier of the pegs aside; short and calm ones first."""
    base = ctx.pose_base(Pose()).matrix()
    poses = base @ hooking.poses_world_object @ pose_tool_object.inverse().matrix()
    start = ctx.arm.state().target_rad
    found = ctx.planner.ik(poses[:, -1], seeds=start[None], n_seeds=8, max_solutions=BRANCHES)
    ends = np.array([(i, k) for i, n in enumerate(found.count) for k in range(int(n))], int).reshape(-1, 2)
    if len(ends) == 0:
        return
    q = found.q_rad[ends[:, 0], ends[:, 1]]
    free = ctx.planner.check(q, without_targets=True)
    cost = np.linalg.norm(q - start, axis=1) + SWING_COST * hooking.swing_rad[ends[:, 0]]
    yielded = 0
    for row in np.argsort(cost + 1e3 * ~free, kind="stable")[: min(int(free.sum()), TRACES)]:
        index = int(ends[row, 0])
        back = trace_poses(ctx.planner, q[row], list(poses[index, -2::-1]), without_targets=True)
        if back is None or not ctx.planner.check(back[-1:])[0]:
            continue
        yield Way(index, back[::-1], float(hooking.drop_m[index]))
        yielded += 1
        if yielded >= wanted:
            return


def _complete_ways(ctx: SkillContext, hooking: Hooking, carrier: str) -> tuple[list[Way], str]:
    """Return ways whose entry, descent and release have all been found free, and what speaks against the others."""
    held = ctx.held
    assert held is not None
    good: list[Way] = []
    against = "no way over a peg can be reached"
    for way in _traced(ctx, hooking, held.pose_tool_object, wanted=TRACES):
        seen = verify(ctx, way.path_rad, step_rad=STRAIGHT_STEP_RAD)
        if not seen.ok:
            against = f"on the way over the peg {seen.detail}"
            continue
        down = straight(ctx, way.path_rad[-1], np.array([0.0, 0.0, -way.drop_m]))
        seen = verify(ctx, down, resting=(carrier,), step_rad=STRAIGHT_STEP_RAD)
        if len(down) == 0 or not seen.ok:
            against = f"on the way down {seen.detail}"
            continue
        how = plan_release(ctx, down[-1])
        if how is None:
            against = "a finger would touch something else on release"
            continue
        good.append(Way(way.index, way.path_rad, way.drop_m, how))
        if len(good) >= OFFERED:
            break
    return good, against


def _look_again(ctx: SkillContext) -> bool:
    """Let the planner carry the held object as it is seen in the hand now; say whether that is news."""
    held = ctx.held
    assert held is not None
    news = look_again(ctx)
    attach(ctx, held.object_id, held.pose_tool_object, grow_m=GROW_M, by_name=True)
    return news


def _corrected(ctx: SkillContext, hooking: Hooking, way: Way) -> Array | None:
    """Return the way over the peg from here for the object as it is held now, or None where that is not free."""
    held = ctx.held
    assert held is not None
    back = held.pose_tool_object.inverse().matrix()
    poses = ctx.pose_base(Pose()).matrix() @ hooking.poses_world_object[way.index] @ back
    return trace_poses(ctx.planner, ctx.arm.state().target_rad, list(poses), without_targets=True)
