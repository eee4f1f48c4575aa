"""Scenes with drawers, doors and lids: which start open, what they sweep, whether the arm can follow their arcs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from armwright.assets.articulation import at_joints, joint_motion, swept_vertices
from armwright.assets.footprint import Footprint
from armwright.assets.model import LinkModel, ObjectModel
from armwright.assets.parts import loose_lids, part_id, part_model, without
from armwright.assets.scene import ObjectSpec, ParsedTask, PoseSpec
from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for
from armwright.core.task import Primitive
from armwright.planning.types import Obstacle
from armwright.tasks.articulation import meant

Follow = Callable[[Sequence[Sequence[Array]], Sequence[Obstacle] | None], bool]
"""Arcs, each of tool poses (4, 4) in the arm's base frame, in order, and what must not be touched at them besides the
table (None: nothing is looked at) -> whether the arm can go through one of them on one branch."""

# What is to be closed starts open by a share of its travel in this range.
START_SHARE = (0.45, 0.85)
# What something is put into or taken out of stands open, if the task does not open it first, by a share in this range.
WIDE_SHARE = (0.85, 0.95)
# The arm must follow the arc to beyond what counts as open.
ARC_SHARE = 0.70
ARC_POSES = 7
# Ways of turning the hand about the handle's bar that a scene is judged by [rad].
TILTS_RAD = (0.0, 0.3, -0.3, 0.6, -0.6)


def swinging(parsed: ParsedTask, object_id: str, models: Mapping[str, ObjectModel]) -> list[Primitive]:
    """Return the primitives that open or close a drawer or door of an object, in order."""
    steps = [p for p in parsed.primitives if p.object == object_id and p.name in ("open", "close")]
    return [p for p in steps if meant(models[object_id], p.spot)]


def with_lids_off(parsed: ParsedTask, models: Mapping[str, ObjectModel]) -> tuple[ParsedTask, dict[str, ObjectModel]]:
    """Return the task and its models with what it begins by putting on as a thing of its own, which is moved.

    Args:
        parsed: The sentence's meaning.
        models: Geometry by object id.
    """
    nodes: list[ObjectSpec] = []
    found = dict(models)
    for node in parsed.scene.objects:
        steps = [p.name for p in parsed.primitives if p.object == node.id and p.name in ("open", "close")]
        lids = loose_lids(models[node.id]) if steps[:1] == ["close"] and not node.parts else ()
        if not lids:
            nodes.append(node)
            continue
        others = any(p.object == node.id and p.name not in ("open", "close") for p in parsed.primitives)
        nodes.append(node.model_copy(update={"manipulated": node.manipulated and others}))
        found[node.id] = without(models[node.id], {link.name for link in lids})
        for link in lids:
            lid = part_id(node.id, link.name)
            found[lid] = part_model(models[node.id], link.name)
            nodes.append(ObjectSpec(id=lid, category=node.category, manipulated=True))
    return parsed.model_copy(update={"scene": parsed.scene.model_copy(update={"objects": tuple(nodes)})}), found


def parts_off(object_id: str, poses: Mapping[str, Pose]) -> dict[str, PoseSpec]:
    """Return where the lids of an object were laid, by link name, among poses by id."""
    prefix = part_id(object_id, "")
    return {key.removeprefix(prefix): PoseSpec.from_pose(p) for key, p in poses.items() if key.startswith(prefix)}


def start_joints(parsed: ParsedTask, models: Mapping[str, ObjectModel], seed: int) -> dict[str, dict[str, float]]:
    """Return joint values by object and link for what stands open at the start; the rest starts shut.

    That is what the task begins by closing, and what it puts things into or takes them out of before it opens it.
    """
    found: dict[str, dict[str, float]] = {}
    for node in parsed.scene.objects:
        if node.joints:
            continue
        steps = swinging(parsed, node.id, models)
        used = used_shut(parsed, node.id)
        if not used and (not steps or steps[0].name != "close"):
            continue
        rng = rng_for(seed, "open at the start", node.id)
        links = meant(models[node.id], steps[0].spot if steps else None)
        if not links:
            continue
        link = links[int(rng.integers(len(links)))]
        assert link.joint is not None
        low, high = link.joint.range
        found[node.id] = {link.name: low + float(rng.uniform(*(WIDE_SHARE if used else START_SHARE))) * (high - low)}
    return found


def used_shut(parsed: ParsedTask, object_id: str) -> bool:
    """Tell whether something is put into an object, or taken out of it, before the task opens it."""
    inside = {r.subject for r in parsed.scene.relations if (r.relation, r.object) == ("in", object_id)}
    for step in parsed.primitives:
        if step.object == object_id and step.name == "open":
            return False
        if step.relation == "in" and step.target == object_id:
            return True
        if step.name == "pick" and step.object in inside:
            return True
    return False


def swept_footprint(
    model: ObjectModel, pose_world_object: Pose, steps: Sequence[Primitive], joints: Mapping[str, float]
) -> Footprint:
    """Outline an object as it stands, with all that its leaves sweep when they are opened and closed."""
    if not steps:
        return Footprint.from_model(at_joints(model, joints), pose_world_object)
    ranges = {link.name: link.joint.range for p in steps for link in meant(model, p.spot) if link.joint is not None}
    return Footprint.from_points(pose_world_object.transform(swept_vertices(model, ranges)))


def can_swing(
    model: ObjectModel, pose_base_object: Pose, steps: Sequence[Primitive], joints: Mapping[str, float], follow: Follow
) -> bool:
    """Tell whether the arm can follow the arc of some handle for every step.

    Args:
        model: The object.
        pose_base_object: Where it stands.
        steps: What is to be opened and closed.
        joints: Joint values at the start.
        follow: Asks the arm.
    """
    for step in steps:
        links = [link for link in meant(model, step.spot) if step.name == "open" or not joints or link.name in joints]
        # What is shut is pushed with closed fingers; what is opened must have room for a hand around its handle.
        clear = step.name == "open"
        if not any(_follows(model, link, pose_base_object, joints, follow, clear=clear) for link in links):
            return False
    return True


def _follows(
    model: ObjectModel,
    link: LinkModel,
    pose: Pose,
    joints: Mapping[str, float],
    follow: Follow,
    *,
    clear: bool,
) -> bool:
    assert link.joint is not None
    start = joints.get(link.name)
    obstacles = _rest(model, link, pose, joints) or None if clear else None
    low, high = link.joint.range
    end = start if start is not None else low + ARC_SHARE * (high - low)
    values = np.linspace(low, end, ARC_POSES)
    motions = [pose @ joint_motion(link.joint, float(v)) for v in values]
    return follow([[(m @ tool).matrix() for m in motions] for tool in handle_frames(model, link)], obstacles)


def _rest(model: ObjectModel, leaf: LinkModel, pose: Pose, joints: Mapping[str, float]) -> list[Obstacle]:
    """Return the other links of a leaf's object, where they stand at the start."""
    found = []
    for link in model.links:
        if link is leaf or not link.hulls:
            continue
        moved = Pose() if link.joint is None else joint_motion(link.joint, joints.get(link.name, link.joint.range[0]))
        found.append(Obstacle(link.name, pose @ moved, link.hulls))
    return found


def handle_frames(model: ObjectModel, link: LinkModel) -> list[Pose]:
    """Return tool frames in the object's frame that hold a shut leaf's handle across its bar."""
    joint = link.joint
    assert joint is not None
    parts = set(model.regions.get("Openable Handle", ()))
    faces = link.faces[np.isin(link.face_part, [k for k, name in enumerate(link.part_names) if name in parts])]
    points = link.vertices_m[faces].reshape(-1, 3)
    center = 0.5 * (points.min(0) + points.max(0))
    axis = np.asarray(joint.axis, float)
    out = axis if joint.kind == "slide" else np.cross(axis, center - np.asarray(joint.anchor_m, float))
    out = out / np.linalg.norm(out)
    bar = np.linalg.eigh(np.cov((points - center).T))[1][:, 2]
    bar = bar - (bar @ out) * out
    bar /= np.linalg.norm(bar)
    side = np.cross(bar, out)
    grip = center + 0.3 * float(((points - center) @ out).max()) * out
    frames = []
    for tilt in TILTS_RAD:
        z = -np.cos(tilt) * out + np.sin(tilt) * side
        for x in (bar, -bar):
            frames.append(Pose.from_rotation(np.stack([x, np.cross(z, x), z], axis=1), grip))
    return frames
