"""Place and hold: choose a resting pose that the arm can reach, go there, lower under guard, release, retreat."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from armwright.assets.placement import is_entered_from_front
from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import TABLE, RelationName
from armwright.skills.context import Held, SkillContext
from armwright.skills.held import lost
from armwright.skills.let_go import FINGER_ROOM_M, RELEASES_M, Release, plan_release, release_extra, straight
from armwright.skills.motion import move_straight, move_to_any, retreat
from armwright.skills.places import PLACEMENTS, placement_poses
from armwright.skills.rank import Usable, attach, known_opening, tool_pose
from armwright.skills.settled import rights_itself
from armwright.skills.verifying import STRAIGHT_STEP_RAD, clear_share, verify

# A grasp with which fewer resting poses can be reached is worth less: the object turns a little in the hand.
ENOUGH = 4
# What has turned by more than this since it was chosen is put down as it hangs only if it rights itself.
TURNED_RAD = np.deg2rad(15.0)
# Times that other resting poses are drawn where the arm could do nothing with the first.
DRAWS = 3
# Beyond the gap, where the arm reaches no deeper than the resting pose itself.
SHORT_DESCENT_M = 0.006
# What is tried last of a way down that ends where the arm's reach does: it hovers a little beside where it was planned.
SHORTER = 0.85
# Not even this far down is no descent.
SHALLOW_M = 0.001
# From this near to its resting pose a thing is let go, not dropped.
RESTS_M = 0.001
# Rows of the way down, and how far beyond the resting pose it goes at least: the held pose is known this well.
DEPTH_STEP_M = 0.003
REST_SLACK_M = 0.002
# Heights above the resting pose from which a thing is let go into a container, the lowest that the hand reaches.
DROPS_M = (0.02, 0.06, 0.10)
# Nothing has moved after these, so that another height may be tried.
NO_WAY = ("ik_fail", "goal_collision", "verify_collision", "no_path")
# Configurations at which a grasp is looked at for room around the fingers, and what one without room is worth.
LOOKED_AT = 8
TIGHT = 0.5


def tool_goals(
    ctx: SkillContext, poses_world_object: Sequence[Pose], pose_tool_object: Pose, gap_m: float
) -> list[Pose]:
    """Return the tool poses in the base frame that put a held object ``gap_m`` above each pose."""
    lift = np.array([0.0, 0.0, gap_m])
    back = pose_tool_object.inverse()
    return [ctx.pose_base(Pose(p.position_m + lift, p.quat_wxyz)) @ back for p in poses_world_object]


def usable_for(
    ctx: SkillContext,
    object_id: str,
    target: str | None,
    relation: RelationName,
    *,
    gap_m: float,
    then: Sequence[str] = (),
) -> Usable | None:
    """Return a test of grasps: can the object, held so, be brought to any of its placements?

    The world is taken without the object at its old place, and with it in the hand. Where there is no placement at
    all no grasp is better than another: None, and the placing itself says what is missing. A grasp with which the
    fingers would touch something else while they put the object down or let it go is worth less than one without.
    """
    poses = placement_poses(ctx, object_id, target, relation, stand=ctx.scene.pose_world(object_id), then=then)
    if not poses:
        return None
    spec = ctx.scene.world_spec(exclude=(object_id,))
    whole = ctx.scene.world_spec()
    foreseen = ctx.foreseen[object_id, target, relation] = {}
    sparse = min(ENOUGH, len(poses)) if len(poses) > PLACEMENTS else 1

    def roomy(q_rad: Array, gap_m: float) -> bool:
        down = straight(ctx, q_rad, np.array([0.0, 0.0, -gap_m])) if gap_m > 0 else q_rad[None]
        return (
            len(down) > 0
            and verify(ctx, down, world=whole, touchable=(object_id,), step_rad=STRAIGHT_STEP_RAD).ok
            and release_extra(ctx, down[-1], world=whole, object_id=object_id) is not None
        )

    def hovering(pose_tool_object: Pose, gap_m: float) -> Array:
        matrices = np.stack([p.matrix() for p in tool_goals(ctx, poses, pose_tool_object, gap_m)])
        found = ctx.planner.ik(matrices, seeds=ctx.arm.state().target_rad[None], n_seeds=8, max_solutions=2)
        rows = [(i, k) for i, count in enumerate(found.count) for k in range(int(count))]
        goals = np.array([found.q_rad[i, k] for i, k in rows])
        if len(goals) == 0:
            return goals
        free = ctx.planner.check(goals)
        within = dict.fromkeys(i for (i, _), ok in zip(rows, free, strict=True) if ok)
        foreseen[grasp_key(pose_tool_object)] = tuple(poses[i] for i in within)
        return goals[free]

    def usable(pose_tool_object: Pose) -> float:
        foreseen.pop(grasp_key(pose_tool_object), None)
        ctx.planner.set_world(spec)
        attach(ctx, object_id, pose_tool_object)
        for height_m in drop_heights(relation, gap_m):
            free = hovering(pose_tool_object, height_m)
            if len(free):
                break
        ctx.planner.detach()
        if len(free) == 0:
            return 0.0
        worth = 1.0 if any(roomy(q, height_m) for q in free[:: max(1, len(free) // LOOKED_AT)]) else TIGHT
        return worth * min(1.0, len(foreseen[grasp_key(pose_tool_object)]) / sparse)

    return usable


def grasp_key(pose_tool_object: Pose) -> bytes:
    """Return what a grasp's resting poses are kept by: the object's pose in the tool frame, to the micrometre."""
    return (np.round(pose_tool_object.matrix(), 6) + 0.0).tobytes()  # -0 is 0


def foreseen_poses(ctx: SkillContext, held: Held, target: str | None, relation: RelationName) -> tuple[Pose, ...]:
    """Return, and forget, the resting poses that the grasp by which an object is held was tested with."""
    tested = tool_pose(ctx, held.candidate).inverse()
    return ctx.foreseen.pop((held.object_id, target, relation), {}).get(grasp_key(tested), ())


def _as_it_hangs(ctx: SkillContext, held: Held, poses: Sequence[Pose]) -> list[Pose]:
    """Return poses in the world in which the hand is as it was meant to be, with the object as it hangs in it now.

    Where there is room for a hand in few ways only, an object that turned a little when the fingers closed is let go
    as it hangs, and settles.
    """
    meant = tool_pose(ctx, held.candidate)
    turned = held.pose_tool_object.angle_to(meant.inverse())
    vertices = ctx.scene.model(held.object_id).root.vertices_m
    found: list[Pose] = []
    for pose in poses:
        hanging = pose @ meant @ held.pose_tool_object
        if not found and turned >= TURNED_RAD and not rights_itself(ctx, held.object_id, hanging, meant=pose):
            break
        rise = pose.transform(vertices)[:, 2].min() - hanging.transform(vertices)[:, 2].min()
        found.append(Pose(hanging.position_m + np.array([0.0, 0.0, rise]), hanging.quat_wxyz))
    return found


def drop_heights(relation: RelationName, gap_m: float) -> tuple[float, ...]:
    """Return the heights above its resting pose from which to put an object down, in order of preference [m]."""
    return (gap_m, *(height for height in DROPS_M if height > gap_m)) if relation == "in" and gap_m > 0 else (gap_m,)


def place(ctx: SkillContext, target: str | None, relation: RelationName, *, then: Sequence[str] = ()) -> StageReport:
    """Put the held object down so that it stands in ``relation`` to ``target``.

    Args:
        ctx: Arm, planner, scene.
        target: Reference object.
        relation: How it should stand to it.
        then: What is to be put on the same target afterwards, in order.
    """
    held = ctx.held
    if held is None:
        return StageReport("place", False, "nothing_held", "no object is held")
    where = target or (TABLE if relation == "on" else "where it stood")
    name = f"place {held.object_id} {relation} {where}"
    # Few places under a roof, or beside other things, can be reached: those that the grasp was chosen for are offered
    # each time.
    seen_before = foreseen_poses(ctx, held, target, relation)
    roofed = target is not None and target != TABLE and is_entered_from_front(ctx.scene.model(target))
    hanging = _as_it_hangs(ctx, held, seen_before) if roofed else []
    ctx.planner.set_world(ctx.scene.world_spec(exclude=(held.object_id,)))
    attach(ctx, held.object_id, held.pose_tool_object)
    resting = (TABLE, *(() if target is None else (target,)))
    moved = StageReport(name, False, "no_place", f"there is no free place {relation} {where}")
    for draw, height_m in product(range(DRAWS), drop_heights(relation, ctx.options.place_gap_m)):
        stand = held.stand_pose_world
        poses = placement_poses(ctx, held.object_id, target, relation, stand=stand, then=then, draw=draw)
        poses = [*seen_before, *hanging, *poses]
        if not poses:
            continue
        way = _WayDown(ctx, resting, drop=relation == "in")
        goals = tool_goals(ctx, poses, held.pose_tool_object, height_m)
        moved, chosen = move_to_any(ctx, goals, name=name, objection=way.objection)
        if moved.status == "verify_collision":  # nothing has moved
            way.needs_room = False
            moved, chosen = move_to_any(ctx, goals, name=name, objection=way.objection)
        if moved.status not in NO_WAY:
            break
    if not moved.ok:
        return StageReport(name, False, moved.status, moved.detail)
    if lost(ctx):
        return StageReport(name, False, "dropped", "it was lost on the way")
    deep_m = max(way.depth_m(chosen), SHALLOW_M)
    for depth_m in (deep_m, min(deep_m, ctx.options.place_gap_m + SHORT_DESCENT_M), SHORTER * deep_m):
        lowered = move_straight(
            ctx,
            (0.0, 0.0, -depth_m),
            guard=Guard(contact_n=ctx.options.contact_n),
            speed_m_s=ctx.options.fine_speed_m_s,
        )
        if lowered.status != "no_ik":
            break
    # At the end of its reach the arm lets go from where it hovers what may fall.
    shallow = deep_m <= SHALLOW_M or relation == "in"
    if not lowered.ok and lowered.status != "not_reached" and not (lowered.status == "no_ik" and shallow):
        return StageReport(name, False, lowered.status, lowered.detail)
    left = release(ctx, way.release(chosen))
    detail = f"placement {chosen} of {len(poses)}" + ("" if left.ok else f"; {left.detail}")
    return StageReport(name, True, "done", detail, {"pose": poses[chosen].to_list()})


class _WayDown:
    """What speaks against putting the held object down from a hovering configuration; remembers how to let go there.

    ``needs_room`` asks for a release that touches nothing but the object; without it the best that there is will do.
    """

    def __init__(self, ctx: SkillContext, resting: Sequence[str], *, drop: bool) -> None:
        self._ctx = ctx
        self._drop = drop
        self._resting = resting
        self.needs_room = True
        self._releases: dict[int, Release | None] = {}
        self._depths_m: dict[int, float] = {}

    def release(self, index: int) -> Release | None:
        """Return how to let go at the pose of an index, as far as that was found."""
        return self._releases.get(index)

    def depth_m(self, index: int) -> float:
        """Return how far down the hand may feel its way at the pose of an index before a finger meets something."""
        return self._depths_m.get(index, self._ctx.options.descend_m)

    def objection(self, q_rad: Array, index: int) -> str:
        """Return what is wrong with the way down from a configuration (n,), or nothing."""
        ctx = self._ctx
        path = straight(ctx, q_rad, np.array([0.0, 0.0, -ctx.options.place_gap_m]))
        if not self._drop and sunk_m(ctx, path) < ctx.options.place_gap_m - RESTS_M:
            return "on the way down the arm's reach ends"
        seen = verify(ctx, path, resting=self._resting, step_rad=STRAIGHT_STEP_RAD)
        if len(path) == 0 or (not seen.ok and (self.needs_room or not self._drop or seen.index < 1)):
            return f"on the way down {seen.detail}"
        if not seen.ok:  # let go above the resting pose, as deep as the hand gets
            self._depths_m.setdefault(index, clear_share(path, seen) * ctx.options.place_gap_m)
            path = path[: seen.index]
        how = plan_release(ctx, path[-1])
        if how is None and self.needs_room:
            return "a finger would touch something else on release"
        if index not in self._releases:
            self._releases[index] = how
            self._depths_m.setdefault(index, self._free_depth_m(q_rad))
        return ""

    def _free_depth_m(self, q_rad: Array) -> float:
        """Return how deep the opened hand can go, at most the guarded descent.

        As far as the arm reaches, that is never short of the resting pose.
        """
        ctx, most = self._ctx, self._ctx.options.descend_m
        path = straight(ctx, q_rad, np.array([0.0, 0.0, -most]), step_m=DEPTH_STEP_M)
        gap = min(ctx.arm.state().opening_m + FINGER_ROOM_M, ctx.gripper.opening_m[1])
        seen = verify(ctx, path, opening_m=gap, empty_hand=True, step_rad=STRAIGHT_STEP_RAD)
        reach = sunk_m(ctx, path)
        least = min(ctx.options.place_gap_m + REST_SLACK_M, reach)
        return reach if seen.ok else max(clear_share(path, seen) * reach, least)


def sunk_m(ctx: SkillContext, path_rad: Array) -> float:
    """Return how far down the tool comes on a path (w, n) [m]."""
    if len(path_rad) < 2:
        return 0.0
    ends = ctx.planner.fk(path_rad[[0, -1]])
    return float(ends[0, 2, 3] - ends[1, 2, 3])


def release(ctx: SkillContext, how: Release | None = None) -> StageReport:
    """Open, back off straight, forget what was held; against the approach and as little open as may be by default.

    The report says what the hand still touches where it found no way off it.
    """
    state = ctx.arm.state()
    opening = min(state.opening_m + (RELEASES_M[-1] if how is None else how.extra_m), ctx.gripper.opening_m[1])
    ctx.arm.grip(width_m=opening)
    ctx.planner.detach()
    released = ctx.held.object_id if ctx.held is not None else None
    ctx.held = None
    ctx.planner.set_opening(known_opening(opening, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(ctx.scene.world_spec(targets=(released,) if released else ()))
    direction = -state.pose_base_tool.rotation[:, 2] if how is None else how.direction_base
    return retreat(ctx, ctx.options.retreat_m, direction_base=direction, released=released or TABLE)


def hold(ctx: SkillContext, target: str | None, relation: RelationName | None) -> StageReport:
    """Keep the held object in ``relation`` to ``target`` (or where it is) for a while."""
    held = ctx.held
    if held is None:
        return StageReport("hold", False, "nothing_held", "no object is held")
    name = f"hold {held.object_id}" + (f" {relation} {target}" if target and relation else "")
    if target is not None and relation is not None:
        poses = placement_poses(ctx, held.object_id, target, relation, stand=held.stand_pose_world)
        if not poses:
            return StageReport(name, False, "no_place", f"there is no free place {relation} {target}")
        ctx.planner.set_world(ctx.scene.world_spec(exclude=(held.object_id,)))
        attach(ctx, held.object_id, held.pose_tool_object)
        moved, _ = move_to_any(ctx, tool_goals(ctx, poses, held.pose_tool_object, 0.0), name=name)
        if not moved.ok:
            return StageReport(name, False, moved.status, moved.detail)
    ctx.clock.sleep(ctx.options.hold_s)
    if lost(ctx):
        return StageReport(name, False, "dropped", "it slipped out of the gripper")
    return StageReport(name, True, "done", f"held for {ctx.options.hold_s:.1f} s")
