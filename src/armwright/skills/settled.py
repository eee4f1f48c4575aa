"""Keep those places at which a thing that is let go comes to lie inside, or flat, as far as can be foreseen."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from armwright.assets.export import link_inertia
from armwright.assets.model import ObjectModel
from armwright.assets.placement import REST_M, Placement
from armwright.assets.rolling import tilted_rad
from armwright.core.pose import Array, Pose
from armwright.planning.settling import Settling
from armwright.skills.context import SkillContext

# Below the rim by less than this it lies on the rim.
DEEP_M = 0.012
# So well centred it lies inside though it is let go a little beside where it was to be; with fewer such, all will do.
SURE = 0.85
ENOUGH = 4
# What tilts by less than this when it is let go lies as it was meant to.
FLAT_RAD = np.deg2rad(6.0)


def settled_inside(
    ctx: SkillContext, object_id: str, target: str, found: Sequence[Placement], *, most: int, within: Sequence[str] = ()
) -> list[Placement]:
    """Return the placements from which the object comes to rest in the target's cavity, the best centred first.

    Those where it stands at once count as well. Where none does, or the target has moving parts, all are returned.

    Args:
        ctx: The scene.
        object_id: What is let go.
        target: The container.
        found: Where it might be let go.
        most: How many to return.
        within: What lies in the container already.
    """
    other = ctx.scene.model(target)
    if len(other.links) > 1 or all(placement.kind != "drop" for placement in found):
        return list(found[:most])
    started = time.perf_counter()
    model, pose_world_other = ctx.scene.model(object_id), ctx.scene.pose_world(target)
    around = [(other, pose_world_other), *((ctx.scene.model(o), ctx.scene.pose_world(o)) for o in within)]
    settling = Settling(model, around)
    rows = []
    for placement in found:
        rest = placement.pose_world_object
        if placement.kind == "drop":
            rest = settling.rest(rest)
        rows.append((off_centre(model, rest, other, pose_world_other), placement))
    ctx.add_time("foresee", time.perf_counter() - started)
    inside = sorted((row for row in rows if row[0] < 1.0), key=lambda row: row[0])
    sure = [row for row in inside if row[0] < SURE]
    if len(sure) >= ENOUGH:
        inside = sure
    return [placement for _, placement in inside[:most]] or list(found[:most])


def settled_flat(
    ctx: SkillContext, object_id: str, target: str, poses: Sequence[Pose], *, most: int, within: Sequence[str] = ()
) -> list[Pose]:
    """Return the poses in the world from which an object comes to lie as it was put, on what it is put on, in order.

    Where there are few of those, the ones that tilt least follow.

    Args:
        ctx: The scene.
        object_id: What is let go.
        target: What it is put on.
        poses: Where, best first.
        most: How many to return.
        within: What lies there already.
    """
    started = time.perf_counter()
    model = ctx.scene.model(object_id)
    around = [(ctx.scene.model(o), ctx.scene.pose_world(o)) for o in (target, *within)]
    settling = Settling(model, around)
    flat, leaning = [], []
    for pose in poses:
        tilt = tilted_rad(model, settling.rest(pose), pose.inverse().rotate([0.0, 0.0, 1.0]))
        if tilt < FLAT_RAD:
            flat.append(pose)
        else:
            leaning.append((tilt, pose))
        if len(flat) == most:
            break
    leaning.sort(key=lambda row: row[0])
    ctx.add_time("foresee", time.perf_counter() - started)
    return [*flat, *(pose for _, pose in leaning[: max(0, ENOUGH - len(flat))])]


def rights_itself(ctx: SkillContext, object_id: str, pose_world: Pose, *, meant: Pose) -> bool:
    """Tell whether an object that is let go askew on a level floor comes to lie as it was meant to.

    Args:
        ctx: The scene.
        object_id: What is let go.
        pose_world: How.
        meant: A pose of it in which it lies as it should.
    """
    model = ctx.scene.model(object_id)
    low = float(pose_world.transform(model.root.vertices_m)[:, 2].min())
    rest = Settling(model, [], ground_z_m=low - REST_M).rest(pose_world)
    return bool(tilted_rad(model, rest, meant.inverse().rotate([0.0, 0.0, 1.0])) < FLAT_RAD)


def off_centre(model: ObjectModel, pose_world_object: Pose, target: ObjectModel, pose_world_target: Pose) -> float:
    """Return where the middle of an object's mass lies in a target's cavity: 0 in the middle, 1 at the edge.

    Infinite where the object reaches into none.
    """
    pose_target_object = pose_world_target.inverse() @ pose_world_object
    middle: Array = pose_target_object.transform(link_inertia(model.root)[0])
    low = float(pose_target_object.transform(model.root.vertices_m)[:, 2].min())
    return min(
        (
            float((np.abs(middle - cavity.center_m)[:2] / np.asarray(cavity.half_extents_m)).max())
            for cavity in target.containers
            if low < cavity.rim_z_m - DEEP_M
        ),
        default=np.inf,
    )
