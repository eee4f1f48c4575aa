"""Pour: bring the source's lip over the receiver's opening, tilt about the lip, wait, come back upright."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.protocol import AffordanceMask, ObjectCloud, part_of
from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery
from armwright.skills.context import SkillContext
from armwright.skills.grip import grip_force
from armwright.skills.held import SLIPPED_M, look_again, slipped_m
from armwright.skills.motion import follow_path, go_to_one
from armwright.skills.rank import Usable, attach
from armwright.skills.trace import trace_poses
from armwright.skills.verifying import STRAIGHT_STEP_RAD, verify

# The wall must slope outwards by this in the end: grains slide down a smooth wall at half of it.
DRAIN_SLOPE_RAD = np.deg2rad(32.0)
# In the corner between the two walls of a beak they slide down less easily.
BEAK_SLOPE_RAD = np.deg2rad(8.0)
# A wall's slope is known to lie in this range, whatever a cloud makes of handles and shoulders.
WALL_SLOPE_RAD = (np.deg2rad(60.0), np.deg2rad(95.0))
TILTS = 12
# Index of the tilts from which on the lip is as low as it gets.
LOW = 4
# Indices of tilts at which a source that no grip bears is looked at again: on the way down, and before anything flows.
LOOKS = (2, 4, 6, 8)
# A stream no wider than this share of the opening's diameter goes in.
STREAM_SHARE = 0.6
# Height of the rim, below its lowest point when it is tilted, over which contents come out at once.
STREAM_DEPTH_M = 0.006
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
# Where the hand would touch a wide receiver, such as one that holds the source from above, the lip goes so much higher.
HIGHER_M = 0.07
WIDE_M = 0.055
# Free height under the lowest point of the source on the way.
CLEARANCE_M = 0.012
# What leaves the lip flies a little on: the lip stays this share of the opening's radius behind its middle.
BEHIND_SHARE = 0.35
HEADINGS = 16
LIP_DIRECTIONS = 12
# A region that is seen in this share of all directions around the axis runs all the way around.
RING_SHARE = 0.7
DRAIN_S = 1.0
# The upright source is so much higher than while it flows: what sags in the hand does not come to rest on the receiver.
RISE_M = 0.05
# Tilts traced before the search is given up, and tilts offered to the planner.
TRACES = 48
OFFERED = 4
# Tilts shown to the verifier before the search is given up.
VERIFIED = 12


@dataclass(frozen=True, eq=False)
class Opening:
    """Where the receiver takes in: the middle of its rim in the world [m] and the rim's inner radius [m]."""

    center_world_m: Array
    radius_m: float


@dataclass(frozen=True, eq=False)
class Lip:
    """A place that the source can pour over: a point and the horizontal way out, in the source's frame.

    ``width_m`` is how wide the contents come over it; ``beak`` says that two walls meet there.
    """

    point_m: Array
    outward: Array
    width_m: float = 0.0
    beak: bool = False


@dataclass(frozen=True, eq=False)
class Ways:
    """Alternative pouring motions of a source: poses (w, t, 4, 4) in the world, from upright to full tilt; how fast."""

    poses_world_source: Array
    tilt_rad: float
    rate_rad_s: float
    low: int
    """The first so many are as low as can be; the others are tried where none of them is free."""


@dataclass(frozen=True, eq=False)
class Tilt:
    """A pouring motion: which way, its joint configurations from upright to full tilt, (w, n) [rad], how it is held."""

    index: int
    path_rad: Array
    pose_tool_source: Pose


def opening_of(cloud: ObjectCloud, mask: AffordanceMask, pose_world_object: Pose) -> Opening | None:
    """Find the receiver's opening from the region that takes in ("Pour In").

    Args:
        cloud: Points of the receiver in its frame.
        mask: The queried region on it.
        pose_world_object: Where the receiver stands.

    Returns:
        The opening, or None where the mask is empty.
    """
    points = pose_world_object.transform(cloud.points_m[mask.mask])
    if len(points) < 8:
        return None
    rim_m = float(np.quantile(points[:, 2], 0.98))
    near = points[points[:, 2] > rim_m - 0.01]
    low, high = near[:, :2].min(0), near[:, :2].max(0)
    center = 0.5 * (low + high)
    return Opening(np.array([*center, rim_m]), float(np.median(np.linalg.norm(near[:, :2] - center, axis=1))))


def lips_of(cloud: ObjectCloud, mask: AffordanceMask, up_object: Array) -> list[Lip]:
    """Find where a source can be poured from: one lip for a spout, many around a rim.

    Args:
        cloud: Points of the source in its frame.
        mask: The queried region on it ("Pour Out").
        up_object: (3,) the world's up in the source's frame while it stands.
    """
    region = cloud.points_m[mask.mask]
    if len(region) < 8:
        return []
    x, y = _across(up_object)
    middle = 0.5 * (region.min(0) + region.max(0))
    flat = np.stack([(region - middle) @ x, (region - middle) @ y], axis=1)
    # The median point of the whole surface lies within a vessel whatever sticks out of it.
    body = np.median(cloud.points_m, axis=0)
    turn = np.arctan2((region - body) @ y, (region - body) @ x)
    bins = np.floor((turn + np.pi) / (2 * np.pi) * LIP_DIRECTIONS).astype(int) % LIP_DIRECTIONS
    if len(np.unique(bins)) < RING_SHARE * LIP_DIRECTIONS:
        return [_spout(region, cloud.points_m, x, y, up_object)]
    lips = []
    height = region @ up_object
    for k in range(LIP_DIRECTIONS):
        angle = 2 * np.pi * k / LIP_DIRECTIONS
        along = flat @ np.array([np.cos(angle), np.sin(angle)])
        across = np.abs(flat @ np.array([-np.sin(angle), np.cos(angle)]))
        side = (along > 0) & (across < 0.3 * along + 0.002)
        if not side.any():
            continue
        top = side & (height > height[side].max() - 0.003)
        outward = np.cos(angle) * x + np.sin(angle) * y
        reach = float(np.quantile(along[top], 0.8))
        point = middle + reach * outward
        point = point + (float(height[side].max()) - float(point @ up_object)) * up_object
        upper = height > height[side].max() - 0.006
        spread = flat[upper & (along > along[upper].max() - STREAM_DEPTH_M)]
        lips.append(Lip(point, outward, float(np.ptp(spread @ np.array([-np.sin(angle), np.cos(angle)])))))
    return lips


def _spout(region: Array, points: Array, x: Array, y: Array, up: Array) -> Lip:
    """The far upper end of a region that lies on one side of the object."""
    offset = np.median(region, axis=0) - np.median(points, axis=0)
    outward = (offset @ x) * x + (offset @ y) * y
    outward = outward / max(float(np.linalg.norm(outward)), 1e-9)
    along = region @ outward
    tip = region[along > np.quantile(along, 0.9)]
    return Lip(tip[np.argmax(tip @ up)], outward, beak=True)


def full_tilt(points_m: Array, lip: Lip, up_object: Array) -> float:
    """Return the tilt [rad] at which everything slides out: the wall's slope and the angle of a smooth slide.

    The slope is taken beside the lip, on the side that sticks out less: handles and spouts stick out more.

    Args:
        points_m: (n, 3) points of the source in its frame.
        lip: Where it is poured over.
        up_object: (3,) the world's up in the source's frame while it stands.
    """
    across = np.cross(up_object, lip.outward)
    height, reach = points_m @ up_object, (points_m - lip.point_m) @ across
    top = float(lip.point_m @ up_object)
    low = float(height.min()) + 0.25 * (top - float(height.min()))
    slopes = []
    for sign in (1.0, -1.0):
        upper = np.abs(height - top) < 0.15 * (top - low)
        lower = np.abs(height - low) < 0.15 * (top - low)
        if upper.any() and lower.any():
            widens = float((sign * reach[upper]).max() - (sign * reach[lower]).max())
            slopes.append((float((sign * reach[upper]).max()), float(np.arctan2(top - low, widens))))
    slope = min(slopes)[1] if slopes else np.pi / 2
    drain = DRAIN_SLOPE_RAD + (BEAK_SLOPE_RAD if lip.beak else 0.0)
    return float(np.clip(slope, *WALL_SLOPE_RAD)) + float(drain)


def ways_to_tilt(lips: Sequence[Lip], opening: Opening, up_object: Array, points_m: Array) -> Ways:
    """Return the source's poses in the world while it is tilted about its lip, for every lip and heading.

    The lip stays over the opening; it is as low as the source's lowest point allows.

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
    turns = np.stack([_about_y(angle) for angle in np.linspace(0.0, tilt, TILTS)])
    risen = np.clip(1.0 - np.arange(TILTS) / LOW, 0.0, 1.0)
    found = np.tile(np.eye(4), (len(lips), HEADINGS, TILTS, 1, 1))
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
    poses = found.reshape(-1, TILTS, 4, 4)
    low = len(poses)
    if opening.radius_m > WIDE_M:
        higher = poses.copy()
        higher[:, :, 2, 3] += HIGHER_M
        poses = np.concatenate([poses, higher])
    return Ways(poses, tilt, rate, low)


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
    tilt = tilts[chosen]
    rate, guard = ways.rate_rad_s, None
    if portions > 1:
        rate, guard = float(PORTION_RAD_S), _until_poured(ctx, source.object, portions)
    tilted, path = _tilt(ctx, ways, tilt, name=name, guard=guard, rate_rad_s=rate)
    if not tilted.ok:
        return StageReport(name, False, tilted.status, tilted.detail)
    if tilted.status != "guard":
        ctx.clock.sleep(DRAIN_S)
    back = follow_path(ctx, _way_back(path, ctx.arm.state().target_rad), name=name, fine=True)
    if back.status == "verify_collision":  # it has sagged since; nothing has moved
        raised = _raised_way_back(ctx, ways, tilt)
        back = back if raised is None else follow_path(ctx, raised, name=name, fine=True)
    if not back.ok:
        return StageReport(name, False, back.status, back.detail)
    if slipped_m(ctx) > SLIPPED_M:
        return StageReport(name, False, "dropped", "it slipped in the gripper")
    return StageReport(name, True, "done", f"tilted by {np.rad2deg(ways.tilt_rad):.0f} deg", {"ways": len(tilts)})


def _verified(ctx: SkillContext, ways: Ways) -> tuple[list[Tilt], str]:
    """Return tilting motions that the verifier has found free, and what speaks against the others."""
    held = ctx.held
    assert held is not None
    good: list[Tilt] = []
    against = "no way of tilting it over the receiver can be reached"
    for tilt in _tilts(ctx, ways, held.pose_tool_object, wanted=VERIFIED):
        seen = verify(ctx, tilt.path_rad, step_rad=STRAIGHT_STEP_RAD)
        if seen.ok:
            good.append(tilt)
        else:
            against = f"while it is tilted {seen.detail}"
        if len(good) >= OFFERED:
            break
    return good, against


def _tilt(
    ctx: SkillContext, ways: Ways, tilt: Tilt, *, name: str, guard: Guard | None, rate_rad_s: float
) -> tuple[StageReport, Array]:
    """Tilt the source; what hangs too heavy on a handle sags as it turns, and is looked at now and then.

    Returns:
        The report, and the way points (w, n) that were followed.
    """
    poses = ctx.pose_base(Pose()).matrix() @ ways.poses_world_source[tilt.index]
    done = [ctx.arm.state().target_rad[None]]
    report = StageReport(name, True, "done")
    held = ctx.held
    assert held is not None
    looks = LOOKS if grip_force(ctx, held.object_id, held.candidate.pose_object_pads) is None else ()
    for first, last in pairwise((0, *looks, len(poses) - 1)):
        part = _part(ctx, list(poses[first if look_again(ctx) else first + 1 : last + 1]), before=tilt.pose_tool_source)
        if part is None:  # then as it was meant to be before it sagged
            part, last = _way_back(tilt.path_rad[::-1], ctx.arm.state().target_rad), len(poses) - 1
        turn_rad = ways.tilt_rad * (last - first) / (len(poses) - 1)
        report = follow_path(ctx, part, name=name, guard=guard, fine=True, at_least_s=turn_rad / rate_rad_s)
        done.append(part[1:])
        if not report.ok or report.status == "guard" or last == len(poses) - 1:
            break
    return report, np.concatenate(done)


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
        found = next(_tilts(ctx, ways, pose_tool_object, wanted=1), None)
        ctx.planner.detach()
        return found is not None

    return usable


def _seen(ctx: SkillContext, source: AffordanceQuery, receiver: AffordanceQuery) -> Ways | str:
    """Return the ways to tilt the source over the receiver, or which region is missing."""
    # What came off it, such as a kettle's stand, is not poured from.
    whole = ctx.scene.cloud(source.object)
    assert whole.link is not None
    own = ~np.isin(whole.link, list(ctx.scene.model(source.object).left_behind))
    cloud, mask = part_of(whole, ctx.affordance.predict(whole, source), own)
    up_object = ctx.scene.pose_world(source.object).inverse().rotate([0.0, 0.0, 1.0])
    if ctx.held is not None and ctx.held.object_id == source.object:
        up_object = ctx.held.stand_pose_world.inverse().rotate([0.0, 0.0, 1.0])
    lips = lips_of(cloud, mask, up_object)
    if not lips:
        return f"{source.object} has no {source.region!r}"
    other = ctx.scene.cloud(receiver.object)
    opening = opening_of(other, ctx.affordance.predict(other, receiver), ctx.scene.pose_world(receiver.object))
    if opening is None:
        return f"{receiver.object} has no {receiver.region!r}"
    return ways_to_tilt(lips, opening, up_object, cloud.points_m[:: max(1, len(cloud.points_m) // 512)])


def _tilts(ctx: SkillContext, ways: Ways, pose_tool_object: Pose, *, wanted: int) -> Iterator[Tilt]:
    """Yield free tilting motions, low ones, else higher ones, and those near the arm's configuration first."""
    found = 0
    for rows in (np.arange(ways.low), np.arange(ways.low, len(ways.poses_world_source))):
        if found == 0 and len(rows):
            for tilt in _tilts_of(ctx, ways, rows, pose_tool_object, wanted=wanted):
                found += 1
                yield tilt


def _tilts_of(
    ctx: SkillContext, ways: Ways, rows: NDArray[np.int64], pose_tool_object: Pose, *, wanted: int
) -> Iterator[Tilt]:
    base = ctx.pose_base(Pose()).matrix()
    poses = base @ ways.poses_world_source[rows] @ pose_tool_object.inverse().matrix()
    start = ctx.arm.state().target_rad
    # The full tilt is the hard end: what cannot be reached and free there is not begun.
    tilted = ctx.planner.ik(poses[:, -1], seeds=start[None], n_seeds=8, max_solutions=2)
    upright = ctx.planner.ik(poses[:, 0], seeds=start[None], n_seeds=8, max_solutions=4)
    ends = np.array([(i, k) for i, n in enumerate(tilted.count) for k in range(int(n))], int).reshape(-1, 2)
    if len(ends) == 0:
        return
    able = set(ends[ctx.planner.check(tilted.q_rad[ends[:, 0], ends[:, 1]]), 0].tolist())
    begins = np.array([(i, k) for i in sorted(able) for k in range(int(upright.count[i]))], int).reshape(-1, 2)
    if len(begins) == 0:
        return
    first = upright.q_rad[begins[:, 0], begins[:, 1]]
    free = ctx.planner.check(first)
    order = np.argsort(np.linalg.norm(first - start, axis=1) + 1e3 * ~free, kind="stable")[: int(free.sum())]
    found = 0
    for row in order[:TRACES]:
        path = trace_poses(ctx.planner, first[row], list(poses[begins[row, 0], 1:]))
        if path is not None:
            yield Tilt(int(rows[begins[row, 0]]), path, pose_tool_object)
            found += 1
            if found >= wanted:
                return


def _across(up: Array) -> tuple[Array, Array]:
    helper = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = helper - (helper @ up) * up
    x /= np.linalg.norm(x)
    return x, np.cross(up, x)


def _about_y(angle_rad: float) -> Array:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
