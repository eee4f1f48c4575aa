"""Scenes with drawers and doors: which start open, what room they sweep, whether the arm can follow their arcs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from armwright.assets.articulation import joint_motion, swept_vertices
from armwright.assets.footprint import Footprint
from armwright.assets.model import LinkModel, ObjectModel
from armwright.assets.scene import ParsedTask
from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for
from armwright.core.task import Primitive
from armwright.planning.types import Obstacle
from armwright.tasks.articulation import meant

Follow = Callable[[Sequence[Sequence[Array]], Sequence[Obstacle]], bool]
"""Arcs, each of tool poses (4, 4) in the arm's base frame, in order, and what must not be touched at them -> whether
the arm can go through one of them on one branch."""

# What is to be closed starts open by a share of its travel in this range.
START_SHARE = (0.45, 0.85)
# The arm must follow the arc to beyond what counts as open.
ARC_SHARE = 0.70
ARC_POSES = 7
# Ways of turning the hand about the handle's bar that a scene is judged by [rad].
TILTS_RAD = (0.0, 0.3, -0.3, 0.6, -0.6)


def swinging(parsed: ParsedTask, object_id: str) -> list[Primitive]:
    """Return the primitives that open or close an object, in order."""
    return [p for p in parsed.primitives if p.object == object_id and p.name in ("open", "close")]


def start_joints(parsed: ParsedTask, models: Mapping[str, ObjectModel], seed: int) -> dict[str, dict[str, float]]:
    """Return joint values by object and link for what the task begins by closing; the rest starts shut."""
    found: dict[str, dict[str, float]] = {}
    for node in parsed.scene.objects:
        steps = swinging(parsed, node.id)
        if not steps or steps[0].name != "close" or node.joints:
            continue
        rng = rng_for(seed, "open at the start", node.id)
        links = meant(models[node.id], steps[0].spot)
        if not links:
            continue
        link = links[int(rng.integers(len(links)))]
        assert link.joint is not None
        low, high = link.joint.range
        found[node.id] = {link.name: low + float(rng.uniform(*START_SHARE)) * (high - low)}
    return found


def swept_footprint(model: ObjectModel, pose_world_object: Pose, steps: Sequence[Primitive]) -> Footprint:
    """Outline an object with all that its leaves sweep when they are opened and closed."""
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
        beside = () if step.name == "close" else None
        if not any(_follows(model, link, pose_base_object, joints, follow, beside) for link in links):
            return False
    return True


def _follows(
    model: ObjectModel,
    link: LinkModel,
    pose: Pose,
    joints: Mapping[str, float],
    follow: Follow,
    beside: Sequence[Obstacle] | None,
) -> bool:
    assert link.joint is not None
    start = joints.get(link.name)
    obstacles = _rest(model, link, pose, joints) if beside is None else beside
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
