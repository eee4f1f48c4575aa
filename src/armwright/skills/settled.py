"""Keep those places in a container at which a thing that is let go comes to lie inside, as far as can be foreseen."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from armwright.assets.export import link_inertia
from armwright.assets.model import ObjectModel
from armwright.assets.placement import Placement
from armwright.core.pose import Array, Pose
from armwright.planning.settling import Settling
from armwright.skills.context import SkillContext

# Below the rim by less than this it lies on the rim.
DEEP_M = 0.012
# So well centred it lies inside though it is let go a little beside where it was to be; with fewer such, all will do.
SURE = 0.85
ENOUGH = 4


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
