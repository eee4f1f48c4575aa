"""Pour: bring the source's lip over the receiver's opening, tilt about the lip, wait, come back upright."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.protocol import part_of
from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery
from armwright.skills.context import SkillContext
from armwright.skills.grip import grip_force
from armwright.skills.held import SLIPPED_M, look_again, slipped_m
from armwright.skills.lips import Lip, Opening, full_tilt, lips_of, opening_of
from armwright.skills.motion import back_away, follow_path, go_to_one
from armwright.skills.rank import Usable, attach
from armwright.skills.trace import trace_poses
from armwright.skills.verifying import STRAIGHT_STEP_RAD, verify

TILTS = 12
# How much farther it is turned where something stays in it after the full tilt, and in how many steps.
FURTHER, FURTHER_RAD = 4, np.deg2rad(8.0)
# Index of the tilts from which on the lip is as low as it gets.
LOW = 4
# Indices of tilts at which a source that no grip bears is looked at again: on the way down, and before anything flows.
LOOKS = (2, 4, 6, 8)
# A stream no wider than this share of the opening's diameter goes in.
STREAM_SHARE = 0.6
# The lip's height over the receiver's rim: room for what heaps up, too little to splash out.
LIP_HEIGHT_M = 0.025
# Over an opening of this radius the source turns no faster than this, over a wider one in proportion: what comes all
# at once flies wide.
NARROW_M = 0.035
TILT_RAD_S = np.deg2rad(25.0)
# One that is to be left with something turns slower, or everything is out before it has turned back.
PORTION_RAD_S = np.deg2rad(10.0)
# Of what is poured in several portions this share less than its portion has left when the source turns back: more
# follows until it is upright.
FOLLOWS_SHARE = 0.5
# Where the hand would touch the receiver, such as one that holds the source from above, the lip goes so much higher:
# into a wide one, and into one that what falls from high up may miss.
HIGHER_M, LITTLE_HIGHER_M = 0.07, 0.025
WIDE_M = 0.055
# Free height under the lowest point of the source on the way.
CLEARANCE_M = 0.012
# What leaves the lip flies a little on: the lip stays this share of the opening's radius behind its middle.
BEHIND_SHARE = 0.35
HEADINGS = 16
# Nothing more comes once the source has held as much for so long; the wait ends in any case.
STILL_S, DRAIN_S, LOOK_S = 0.6, 4.0, 0.1
# A source that holds no more than this share of what it held is empty.
EMPTY_SHARE = 0.04
# An upright source that still holds more than this share is poured again while that helps, so often in all.
STAYED_SHARE, POURS = 0.15, 3
# The upright source is so much higher than while it flows: what sags in the hand does not come to rest on the receiver.
RISE_M = 0.05
# How far, and how often, it is raised where it sagged too near to something to be tilted on.
RAISE_M, RAISES = 0.03, 2
# Branches of the arm sought per way; tilts traced before the search is given up, and tilts offered to the planner.
BRANCHES = 4
TRACES = 48
OFFERED = 4
# Tilts shown to the verifier before the search is given up.
VERIFIED = 12


@dataclass(frozen=True, eq=False)
class Ways:
    """Alternative pouring motions of a source.

    Attributes:
        poses_world_source: (w, `TILTS` + `FURTHER`, 4, 4) in the world, from upright over full tilt to beyond it.
        tilt_rad: The full tilt.
        rate_rad_s: How fast it may turn.
        tier: (w,) which are tried first: those of a higher tier where none of the lower ones is free.
    """

    poses_world_source: Array
    tilt_rad: float
    rate_rad_s: float
    tier: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tilt:
    """A pouring motion: which way, its joint configurations from upright to full tilt, (w, n) [rad], how it is held."""

    index: int
    path_rad: Array
    pose_tool_source: Pose


def ways_to_tilt(lips: Sequence[Lip], opening: Opening, up_object: Array, points_m: Array) -> Ways:
    """Return the source's poses in the world while it is tilted about its lip, for every lip and heading.

    The lip stays over the opening; it is as low as the source's lowest point allows. Where that is not free, the lip is
    brought over the very middle, and then higher.

    Args:
        lips: Where it can be poured from; those whose stream is narrow enough for the opening are used, if any is.
        opening: What it is poured into.
        up_object: (3,) the world's up in the source's frame while it stands.
        points_m: (n, 3) points of the source in its frame.
    """
    fitting = [lip for lip in lips if lip.width_m <= 2 * STREAM_SHARE * opening.radius_m]
    lips = fitting or [min(lips, key=lambda lip: lip.width_m)]
    headings = np.arange(HEADINGS) * 2 * np.pi / HEADINGS
    up = np.array([0.0, 0.0, 1.0])
    toward = np.stack([np.cos(headings), np.sin(headings), np.zeros(HEADINGS)], axis=1)
    frames = np.stack([toward, np.cross(up, toward), np.tile(up, (HEADINGS, 1))], axis=2)
    tilt = max(full_tilt(points_m, lip, up_object) for lip in lips)
    angles = np.concatenate([np.linspace(0.0, tilt, TILTS), tilt + FURTHER_RAD * np.arange(1, FURTHER + 1)])
    turns = np.stack([_about_y(angle) for angle in angles])
    risen = np.clip(1.0 - np.arange(len(angles)) / LOW, 0.0, 1.0)
    found = np.tile(np.eye(4), (len(lips), HEADINGS, len(angles), 1, 1))
    for k, lip in enumerate(lips):
        source = np.stack([lip.outward, np.cross(up_object, lip.outward), up_object], axis=1)
        # In the frame of the heading the tilt is a turn about y, and the lowest point does not depend on the heading.
        hang_m = -((points_m - lip.point_m) @ source @ turns[:, 2].T).min(axis=0)
        height = np.maximum(LIP_HEIGHT_M, CLEARANCE_M + hang_m) + RISE_M * risen
        behind = opening.center_world_m - BEHIND_SHARE * opening.radius_m * toward
        lip_world = behind[:, None] + height[None, :, None] * up
        rotation = frames[:, None] @ turns[None] @ source.T
        found[k, :, :, :3, :3] = rotation
        found[k, :, :, :3, 3] = lip_world - rotation @ lip.point_m
    rate = float(TILT_RAD_S) * max(1.0, opening.radius_m / NARROW_M)
    tiers = [found]
    onward = found.copy()
    onward[..., :3, 3] += BEHIND_SHARE * opening.radius_m * toward[None, :, None]
    tiers.append(onward)
    for way in (found, onward):
        higher = way.copy()
        higher[..., 2, 3] += HIGHER_M if opening.radius_m > WIDE_M else LITTLE_HIGHER_M
        tiers.append(higher)
    poses = np.stack(tiers).reshape(-1, len(angles), 4, 4)
    return Ways(poses, tilt, rate, np.repeat(np.arange(len(tiers)), len(lips) * HEADINGS))


def pour(ctx: SkillContext, source: AffordanceQuery, receiver: AffordanceQuery, *, portions: int = 1) -> StageReport:
    """Pour what the held source holds into the receiver, and bring the source back upright.

    Args:
        ctx: Arm, planner, scene.
        source: The region of the held object that it is poured over, such as "Pour Out".
        receiver: The region that takes in, such as "Pour In".
        portions: Receivers that are still to get something of it, this one included.
    """
    held = ctx.held
    name = f"pour {source.object} into {receiver.object}"
    if held is None or held.object_id != source.object:
        return StageReport(name, False, "nothing_held", f"{source.object} is not held")
    ways = _seen(ctx, source, receiver)
    if isinstance(ways, str):
        return StageReport(name, False, "no_region", ways)
    if slipped_m(ctx) > SLIPPED_M:
        return StageReport(name, False, "dropped", "it slipped in the gripper")
    ctx.planner.set_world(ctx.scene.world_spec(exclude=(held.object_id,)))
    look_again(ctx)
    attach(ctx, held.object_id, held.pose_tool_object)
    started = time.perf_counter()
    tilts, against = _verified(ctx, ways)
    ctx.add_time("plan pour", time.perf_counter() - started)
    if not tilts:
        return StageReport(name, False, "no_tilt", against)
    moved, chosen = go_to_one(ctx, [tilt.path_rad[0] for tilt in tilts], name=name)
    if chosen < 0:
        return moved
    for _ in range(POURS if portions == 1 else 1):
        before = ctx.scene.fill_share(source.object)
        report = _pour_once(ctx, ways, tilts[chosen], portions, name=name)
        left = ctx.scene.fill_share(source.object)
        if not report.ok:
            return report
        # What lay on a hand over the mouth falls back in when the source comes upright.
        if left <= STAYED_SHARE or left >= before:
            break
    return StageReport(name, True, "done", f"tilted by {np.rad2deg(ways.tilt_rad):.0f} deg", {"ways": len(tilts)})


def _pour_once(ctx: SkillContext, ways: Ways, tilt: Tilt, portions: int, *, name: str) -> StageReport:
    """Tilt the source from upright, let it drain, and bring it back upright."""
    held = ctx.held
    assert held is not None
    rate, guard = ways.rate_rad_s, None
    if portions > 1:
        rate, guard = float(PORTION_RAD_S), _until_poured(ctx, held.object_id, portions)
    tilted, path, raised_m = _tilt(ctx, ways, tilt, name=name, guard=guard, rate_rad_s=rate)
    if not tilted.ok:
        return StageReport(name, False, tilted.status, f"while it is tilted: {tilted.detail}")
    if tilted.status != "guard":
        path = _drain(ctx, ways, tilt, path, raised_m, name=name)
    back = follow_path(ctx, _way_back(path, ctx.arm.state().target_rad), name=name, fine=True)
    if back.status == "verify_collision":  # it has sagged since; nothing has moved
        raised = _raised_way_back(ctx, ways, tilt)
        back = back if raised is None else follow_path(ctx, raised, name=name, fine=True)
    if not back.ok:
        return StageReport(name, False, back.status, f"on the way back: {back.detail}")
    if slipped_m(ctx) > SLIPPED_M:
        return StageReport(name, False, "dropped", "it slipped in the gripper")
    return back


def _verified(ctx: SkillContext, ways: Ways) -> tuple[list[Tilt], str]:
    """Return tilting motions that the verifier has found free, and what speaks against the others."""
    held = ctx.held
    assert held is not None
    good: list[Tilt] = []
    against = "no way of tilting it over the receiver can be reached"
    for rows in _tiers(ways):
        for tilt in _tilts(ctx, ways, rows, held.pose_tool_object, wanted=VERIFIED):
            seen = verify(ctx, tilt.path_rad, step_rad=STRAIGHT_STEP_RAD)
            if seen.ok:
                good.append(tilt)
            else:
                against = f"while it is tilted {seen.detail}"
            if len(good) >= OFFERED:
                break
        if good:
            break
    return good, against


def _tiers(ways: Ways) -> list[NDArray[np.int64]]:
    return [np.flatnonzero(ways.tier == tier) for tier in np.unique(ways.tier)]


def _tilt(
    ctx: SkillContext, ways: Ways, tilt: Tilt, *, name: str, guard: Guard | None, rate_rad_s: float
) -> tuple[StageReport, Array, float]:
    """Tilt the source; what hangs too heavy on a handle sags as it turns, and is looked at now and then.

    Returns:
        The report, the way points (w, n) that were followed, and by how much it was raised on the way [m].
    """
    poses = ctx.pose_base(Pose()).matrix() @ ways.poses_world_source[tilt.index, :TILTS]
    done, raised_m = [ctx.arm.state().target_rad[None]], 0.0
    report = StageReport(name, True, "done")
    held = ctx.held
    assert held is not None
    looks = LOOKS if grip_force(ctx, held.object_id, held.candidate.pose_object_pads) is None else ()
    for first, last in pairwise((0, *looks, len(poses) - 1)):
        for _ in range(RAISES + 1):
            rest = poses[first if look_again(ctx) else first + 1 : last + 1]
            part, end = _part(ctx, list(rest), before=tilt.pose_tool_source), last
            if part is None:  # then as it was meant to be before it sagged
                part, end = _way_back(tilt.path_rad[::-1], ctx.arm.state().target_rad), len(poses) - 1
            turn_rad = ways.tilt_rad * (end - first) / (len(poses) - 1)
            report = follow_path(ctx, part, name=name, guard=guard, fine=True, at_least_s=turn_rad / rate_rad_s)
            if report.status != "verify_collision":
                done.append(part[1:])
                break
            gone_m = _raise(ctx)  # nothing has moved
            poses[:, 2, 3] += gone_m
            raised_m += gone_m
            done.append(ctx.arm.state().target_rad[None])
        if not report.ok or report.status == "guard" or end == len(poses) - 1:
            break
    return report, np.concatenate(done), raised_m


def _raise(ctx: SkillContext) -> float:
    """Raise what is held, and came too near to something as it sagged; return by how much [m]."""
    before_m = ctx.arm.state().pose_base_tool.position_m[2]
    back_away(ctx, RAISE_M, direction_base=np.array([0.0, 0.0, 1.0]), name="raise")
    return float(ctx.arm.state().pose_base_tool.position_m[2] - before_m)


def _drain(ctx: SkillContext, ways: Ways, tilt: Tilt, path_rad: Array, raised_m: float, *, name: str) -> Array:
    """Wait until nothing more comes; turn on, in steps, while something stays and the arm can.

    Returns:
        The way points (w, n) that were followed, with those before.
    """
    held = ctx.held
    assert held is not None
    poses = ctx.pose_base(Pose()).matrix() @ ways.poses_world_source[tilt.index, TILTS:]
    poses[:, 2, 3] += raised_m
    for pose in poses:
        if _wait(ctx, held.object_id) <= EMPTY_SHARE:
            return path_rad
        look_again(ctx)
        part = _part(ctx, [pose], before=tilt.pose_tool_source)
        if part is None:
            return path_rad
        turned = follow_path(ctx, part, name=name, fine=True, at_least_s=FURTHER_RAD / ways.rate_rad_s)
        if not turned.ok:
            return path_rad
        path_rad = np.concatenate([path_rad, part[1:]])
    _wait(ctx, held.object_id)
    return path_rad


def _wait(ctx: SkillContext, object_id: str) -> float:
    """Wait until what is in a vessel has stopped becoming less; return the share that is left of what it held."""
    least, since_s, waited_s = ctx.scene.fill_share(object_id), 0.0, 0.0
    while since_s < STILL_S and waited_s < DRAIN_S:
        ctx.clock.sleep(LOOK_S)
        waited_s += LOOK_S
        left = ctx.scene.fill_share(object_id)
        since_s = since_s + LOOK_S if left >= least else 0.0
        least = min(least, left)
    return least


def _part(ctx: SkillContext, poses_base_source: list[Array], *, before: Pose) -> Array | None:
    """Return way points (w, n) through poses of the source (4, 4) as it is held now, or else as it was held before."""
    held = ctx.held
    assert held is not None
    attach(ctx, held.object_id, held.pose_tool_object)
    for pose_tool_source in (held.pose_tool_object, before):
        back = pose_tool_source.inverse().matrix()
        path = trace_poses(ctx.planner, ctx.arm.state().target_rad, [pose @ back for pose in poses_base_source])
        if path is not None:
            return path
    return None


def _until_poured(ctx: SkillContext, object_id: str, portions: int) -> Guard:
    """Return a guard that stops when this portion, less what follows on the way back, has left the source."""
    enough = ctx.scene.fill_share(object_id) * (1.0 - FOLLOWS_SHARE / portions)
    return Guard(predicate=lambda _: ctx.scene.fill_share(object_id) <= enough, predicate_name="portion")


def _way_back(path_rad: Array, here_rad: Array) -> Array:
    """Return the part of a path (w, n) behind a configuration on it, backwards from there."""
    length = np.linalg.norm(np.diff(path_rad, axis=0), axis=1)
    beside = np.linalg.norm(path_rad[:-1] - here_rad, axis=1) + np.linalg.norm(path_rad[1:] - here_rad, axis=1)
    return np.concatenate([here_rad[None], path_rad[int(np.argmin(beside - length)) :: -1]])


def _raised_way_back(ctx: SkillContext, ways: Ways, tilt: Tilt) -> Array | None:
    """Return way points (w, n) from here to upright for the source as it is held now, rising, or None."""
    held = ctx.held
    assert held is not None
    look_again(ctx)
    attach(ctx, held.object_id, held.pose_tool_object)
    state = ctx.arm.state()
    poses = ctx.pose_base(Pose()).matrix() @ ways.poses_world_source[tilt.index]
    poses = poses @ held.pose_tool_object.inverse().matrix()
    turn = np.einsum("kij,ij->k", poses[:, :3, :3], state.pose_base_tool.rotation)
    back = poses[int(np.argmax(turn)) :: -1].copy()
    back[:, 2, 3] += np.minimum(RISE_M, RISE_M * np.arange(1, len(back) + 1) / LOW)
    return trace_poses(ctx.planner, state.target_rad, list(back))


def usable_for_pour(ctx: SkillContext, source: AffordanceQuery, receiver: AffordanceQuery) -> Usable | None:
    """Return a test of grasps: can the source, held so, be tilted over the receiver?"""
    ways = _seen(ctx, source, receiver)
    if isinstance(ways, str):
        return None
    spec = ctx.scene.world_spec(exclude=(source.object,))

    def usable(pose_tool_object: Pose) -> bool:
        ctx.planner.set_world(spec)
        attach(ctx, source.object, pose_tool_object)
        found = any(next(_tilts(ctx, ways, rows, pose_tool_object, wanted=1), None) for rows in _tiers(ways))
        ctx.planner.detach()
        return found

    return usable


def _seen(ctx: SkillContext, source: AffordanceQuery, receiver: AffordanceQuery) -> Ways | str:
    """Return the ways to tilt the source over the receiver, or which region is missing."""
    # The region is sought on the whole as it was made; what came off it since, such as a stand, is not poured from.
    whole, model = ctx.scene.canonical(source.object), ctx.scene.model(source.object)
    assert whole.link is not None
    own = np.isin(whole.link, [link.name for link in model.links if link.name not in model.left_behind])
    cloud, mask = part_of(whole, ctx.affordance.predict(whole, source), own)
    up_object = ctx.scene.pose_world(source.object).inverse().rotate([0.0, 0.0, 1.0])
    if ctx.held is not None and ctx.held.object_id == source.object:
        up_object = ctx.held.stand_pose_world.inverse().rotate([0.0, 0.0, 1.0])
    grip = AffordanceQuery(object=source.object, region="Graspable Handle", role="grasp")
    handle = ctx.affordance.predict(whole, grip).mask[own]
    lips = lips_of(cloud, mask, up_object, handle=handle)
    if not lips:
        return f"{source.object} has no {source.region!r}"
    other = ctx.scene.cloud(receiver.object)
    opening = opening_of(other, ctx.affordance.predict(other, receiver), ctx.scene.pose_world(receiver.object))
    if opening is None:
        return f"{receiver.object} has no {receiver.region!r}"
    return ways_to_tilt(lips, opening, up_object, cloud.points_m[:: max(1, len(cloud.points_m) // 512)])


def _tilts(
    ctx: SkillContext, ways: Ways, rows: NDArray[np.int64], pose_tool_object: Pose, *, wanted: int
) -> Iterator[Tilt]:
    """Yield free tilting motions among some of the ways, those near the arm's configuration first.

    The full tilt is the hard end: the arm's branches are sought there, and followed back to upright.
    """
    base = ctx.pose_base(Pose()).matrix()
    poses = base @ ways.poses_world_source[rows, :TILTS] @ pose_tool_object.inverse().matrix()
    start = ctx.arm.state().target_rad
    tilted = ctx.planner.ik(poses[:, -1], seeds=start[None], n_seeds=16, max_solutions=BRANCHES)
    ends = np.array([(i, k) for i, n in enumerate(tilted.count) for k in range(int(n))], int).reshape(-1, 2)
    if len(ends) == 0:
        return
    last = tilted.q_rad[ends[:, 0], ends[:, 1]]
    free = ctx.planner.check(last)
    order = np.argsort(np.linalg.norm(last - start, axis=1) + 1e3 * ~free, kind="stable")[: int(free.sum())]
    found = 0
    for end in order[:TRACES]:
        path = trace_poses(ctx.planner, last[end], list(poses[ends[end, 0], -2::-1]))
        if path is not None:
            yield Tilt(int(rows[ends[end, 0]]), path[::-1], pose_tool_object)
            found += 1
            if found >= wanted:
                return


def _about_y(angle_rad: float) -> Array:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
