"""Where the links of an articulated object are at given joint values, and the object as one shape then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from armwright.assets.model import Container, JointModel, LinkModel, ObjectModel
from armwright.core.pose import Array, Pose


def joint_motion(joint: JointModel, value: float) -> Pose:
    """Return how a joint's link has moved against where it is at 0, in the object's frame.

    Args:
        joint: The joint.
        value: Its value [m or rad].
    """
    axis = np.asarray(joint.axis, float)
    if joint.kind == "slide":
        return Pose(value * axis)
    half = 0.5 * value
    turn = Pose(np.zeros(3), np.array([np.cos(half), *(np.sin(half) * axis)]))
    anchor = np.asarray(joint.anchor_m, float)
    return Pose(anchor - turn.rotate(anchor), turn.quat_wxyz)


def pose_object_links(model: ObjectModel, joints: Mapping[str, float]) -> dict[str, Pose]:
    """Return every link's pose in the object's frame at joint values by link name; missing ones are 0."""
    poses: dict[str, Pose] = {}
    for link in model.links:
        parent = poses[link.parent] if link.parent is not None else Pose()
        moved = joint_motion(link.joint, joints.get(link.name, 0.0)) if link.joint is not None else Pose()
        poses[link.name] = parent @ moved
    return poses


def at_joints(model: ObjectModel, joints: Mapping[str, float]) -> ObjectModel:
    """Return the object with its links, cavities and surfaces where they are at joint values; itself if all are 0."""
    if not any(abs(joints.get(link.name, 0.0)) > 0 for link in model.links):
        return model
    poses = pose_object_links(model, joints)
    root = model.root.name

    def pose(link: str) -> Pose:
        return poses.get(link, poses[root])

    return replace(
        model,
        links=tuple(_moved(link, poses[link.name]) for link in model.links),
        containers=tuple(_lifted(c, pose(c.link)) for c in model.containers),
        supports=tuple(replace(s, pose_object_surface=pose(s.link) @ s.pose_object_surface) for s in model.supports),
    )


def swept_vertices(model: ObjectModel, ranges: Mapping[str, tuple[float, float]], *, steps: int = 6) -> Array:
    """Return (n, 3) vertices of all links in the object's frame, those of moving links all along their ranges.

    Args:
        model: The object.
        ranges: Lowest and highest joint value by link name; missing links are at 0.
        steps: Joint values between the ends that are looked at.
    """
    rows = [link.vertices_m for link in model.links]
    for name, (low, high) in ranges.items():
        link = next(link for link in model.links if link.name == name)
        for value in np.linspace(low, high, steps):
            rows.append(pose_object_links(model, {name: float(value)})[name].transform(link.vertices_m))
    return np.concatenate(rows)


def _moved(link: LinkModel, pose: Pose) -> LinkModel:
    return replace(
        link, vertices_m=pose.transform(link.vertices_m), hulls=tuple(pose.transform(hull) for hull in link.hulls)
    )


def _lifted(container: Container, pose: Pose) -> Container:
    center = pose.transform(container.center_m)
    rise = float(center[2] - container.center_m[2])
    return replace(container, center_m=center, floor_z_m=container.floor_z_m + rise, rim_z_m=container.rim_z_m + rise)
