"""Where a thing may be put: resting poses that a relation allows, with room for what comes and for a finger beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from armwright.assets.footprint import Footprint
from armwright.assets.parts import owner_of, part_id, part_model, seat_poses
from armwright.assets.placement import MARGIN_M, REST_M, Placement, is_entered_from_front, placements, standing
from armwright.core.pose import Pose
from armwright.core.task import TABLE, RelationName
from armwright.skills.context import SkillContext
from armwright.skills.settled import settled_flat, settled_inside

# Candidate resting poses offered to the planner.
PLACEMENTS = 12
# Times as many are drawn where they are entered from the front: few of them suit the way that the hand comes in.
ROOFED = 3
# Times as many are drawn where something else must find room beside it.
ROOM_FOR_NEXT = 4
# Places looked at for each thing to come, of which the one nearest to what stands there is taken.
PACKED = 8
# Times as many are looked at where it is let go in a container and settles.
FORESEEN = 6
# Fewer than this are too few to find one again when its turn comes.
SPARE = 3


def placement_poses(
    ctx: SkillContext,
    object_id: str,
    target: str | None,
    relation: RelationName,
    *,
    stand: Pose,
    then: Sequence[str] = (),
    draw: int = 0,
) -> list[Pose]:
    """Return resting (or, for ``above`` and ``under``, hovering) poses of the object in the world, best first.

    Args:
        ctx: Arm and scene.
        object_id: What is placed.
        target: Reference object; the table or None with ``on``, None with a direction from where the object stood.
        relation: How it should stand to the target.
        stand: The object's pose before it was picked; it is put down as it stood, and upright if it leaned.
        then: What is to be put on the same target afterwards: only the poses that leave room for most of it count.
        draw: How many times the arm could do nothing with what was offered: less room is left beside things then.
    """
    stand = standing(ctx.scene.model(object_id), stand)
    reference = None if target == TABLE else target
    if relation == "on" and reference is not None and owner_of(object_id)[0] == reference:
        return _seats(ctx, object_id, reference)
    others = [o for o in ctx.scene.objects() if o not in (object_id, reference)]
    if reference is not None:
        other, pose_world_other = ctx.scene.model(reference), ctx.scene.pose_world(reference)
    elif relation != "on":  # to the left of where it stood
        other, pose_world_other = ctx.scene.model(object_id), stand
    else:
        other, pose_world_other = None, None
    around = _around(ctx, others, reference, relation) | _stays(ctx, object_id)
    roofed = relation == "in" and other is not None and is_entered_from_front(other)
    most = PLACEMENTS * (ROOFED if roofed else 1)
    joined = _lying_on(ctx, reference, around) if relation == "on" else []
    more = ROOM_FOR_NEXT if then or joined else FORESEEN if relation == "in" and not roofed else 1
    found: list[Placement] = []
    for margin_m in _margins(ctx)[draw:] if then or joined else (MARGIN_M,):
        found += placements(
            ctx.scene.model(object_id),
            other,
            relation,
            rng=ctx.rng,
            n=most * more - len(found),
            pose_world_held=stand,
            pose_world_target=pose_world_other,
            obstacles=list(around.values()),
            bounds=ctx.bounds,
            margin_m=margin_m,
            beside=around[joined[-1]] if joined else None,
        )
        if len(found) >= most:  # there is room for a finger beside it
            break
    if relation == "in" and reference is not None and not roofed:
        within = [o for o in others if o not in around]
        found = settled_inside(ctx, object_id, reference, found, most=2 * PLACEMENTS, within=within)
        return [p.pose_world_object for p in found]
    poses = [p.pose_world_object for p in found]
    if then and other is not None and reference is not None:
        taken = [footprint for o, footprint in around.items() if o not in then]
        poses = _with_room(ctx, object_id, poses, then, reference, taken, margins_m=_margins(ctx)[draw:])
    if joined and reference is not None:
        return settled_flat(ctx, object_id, reference, poses, most=PLACEMENTS, within=joined)
    return poses[: PLACEMENTS if then else most]


def _with_room(
    ctx: SkillContext,
    object_id: str,
    poses: Sequence[Pose],
    then: Sequence[str],
    target: str,
    taken: Sequence[Footprint],
    *,
    margins_m: Sequence[float],
) -> list[Pose]:
    """Return the poses that leave room for most of what is to be put on the same target, as far apart as may be.

    Those farthest from the arm come first: the hand reaches over what stands before them no more.
    """
    for margin_m in margins_m:
        roomy: list[int] = []
        for pose in poses:
            outlines = [*taken, _outline(ctx, object_id, pose)]
            roomy.append(room_left(ctx, then, target, "on", outlines, margin_m=margin_m))
            if roomy.count(len(then)) == 2 * PLACEMENTS:
                break
        if len(then) in roomy:
            break
    kept = [pose for pose, room in zip(poses, roomy, strict=False) if room == max(roomy, default=0)]
    return sorted(kept, key=lambda pose: -float(np.linalg.norm(ctx.pose_base(pose).position_m[:2])))


def room_left(
    ctx: SkillContext,
    then: Sequence[str],
    target: str,
    relation: RelationName,
    taken: Sequence[Footprint],
    *,
    margin_m: float = MARGIN_M,
) -> int:
    """Return for how many of the objects to come, in order and close to each other, there is room on a target.

    Args:
        ctx: The scene.
        then: Object ids.
        target: What they are put on.
        relation: How.
        taken: Outlines of what stands there already, what is put there now last.
        margin_m: Kept free between outlines.
    """
    taken = list(taken)
    for count, object_id in enumerate(then):
        found = placements(
            ctx.scene.model(object_id),
            ctx.scene.model(target),
            relation,
            rng=np.random.default_rng(count),
            n=PACKED,
            pose_world_held=standing(ctx.scene.model(object_id), ctx.scene.pose_world(object_id)),
            pose_world_target=ctx.scene.pose_world(target),
            obstacles=taken,
            margin_m=margin_m,
            beside=taken[-1],
        )
        if len(found) < SPARE:
            return count
        outlines = [_outline(ctx, object_id, p.pose_world_object) for p in found]
        last = taken[-1].center_m
        taken.append(min(outlines, key=lambda outline: float(np.linalg.norm(outline.center_m - last))))
    return len(then)


def _margins(ctx: SkillContext) -> tuple[float, ...]:
    """Return how much room to leave between things, most first: for a finger, half of one, the usual."""
    finger = ctx.gripper.finger_thickness_m
    return (MARGIN_M + finger, MARGIN_M + 0.5 * finger, MARGIN_M)


def _lying_on(ctx: SkillContext, reference: str | None, around: Mapping[str, Footprint]) -> list[str]:
    """Return what lies on something loose, seen from above."""
    if reference is None or ctx.scene.model(reference).static:
        return []
    low, high = Footprint.from_model(ctx.scene.model(reference), ctx.scene.pose_world(reference)).bounds_m
    return [o for o, outline in around.items() if ((outline.center_m > low) & (outline.center_m < high)).all()]


def _outline(ctx: SkillContext, object_id: str, pose_world: Pose) -> Footprint:
    return Footprint.from_model(ctx.scene.model(object_id), pose_world)


def _seats(ctx: SkillContext, lid: str, owner: str) -> list[Pose]:
    """Return the poses in the world in which a lid lies on what it belongs to, just above contact."""
    root = ctx.scene.pose_world(owner)
    raised = Pose(root.position_m + np.array([0.0, 0.0, REST_M]), root.quat_wxyz)
    return [raised @ pose for pose in seat_poses(ctx.scene.model(lid).root)]


def _stays(ctx: SkillContext, object_id: str) -> dict[str, Footprint]:
    """Outline what an object leaves behind when it is lifted, such as a kettle's stand."""
    model = ctx.scene.model(object_id)
    return {
        part_id(object_id, link): Footprint.from_model(
            part_model(model, link), ctx.scene.pose_world_link(object_id, link)
        )
        for link in sorted(model.left_behind)
    }


def _around(
    ctx: SkillContext, others: Sequence[str], reference: str | None, relation: RelationName
) -> dict[str, Footprint]:
    """Outline what must not be stood upon; what lies in the same container may be: things are let go over it."""
    prints = {o: Footprint.from_model(ctx.scene.model(o), ctx.scene.pose_world(o)) for o in others}
    if relation != "in" or reference is None:
        return prints
    low, high = Footprint.from_model(ctx.scene.model(reference), ctx.scene.pose_world(reference)).bounds_m
    return {o: p for o, p in prints.items() if not ((p.center_m > low) & (p.center_m < high)).all()}
