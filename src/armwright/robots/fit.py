"""Read an arm's kinematics out of its baked model and fit the collision spheres that the planner uses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.robots._fit_gripper import settle_gripper
from armwright.robots._fit_groups import Group, SphereBudget
from armwright.robots._fit_self import sample_self_contact, self_slack
from armwright.robots.kinematics import Kinematics, SphereSet
from armwright.robots.spec import RobotSpec

if TYPE_CHECKING:
    import mujoco

__all__ = ["OPENINGS", "SPHERES", "fit_kinematics", "settle_gripper"]

OPENINGS = 5
# A check goes down trees of spheres, so that twice as many cost it a fifth more time.
SPHERES = 800


def fit_kinematics(xml_path: Path, spec: RobotSpec, *, seed: int = 0) -> Kinematics:
    """Fit chain constants and collision spheres to a baked robot.

    The spheres cover every collision geom, coarser on the upper arm than at the fingers, as finely as their number
    allows. How far two links' spheres may overlap before the links touch is measured.

    Args:
        xml_path: ``robot.xml``, with root body ``base``, site ``tool`` and the spec's joints and gripper.
        spec: The arm, with its gripper's table measured.
        seed: Seeds the poses that decide which link pairs can touch.

    Returns:
        Kinematics whose spheres contain every collision geom, at five gaps between the pads, gap falling.

    Raises:
        UsageError: The model lacks something that the spec names.
    """
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(xml_path))
    joints = [_id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in spec.joints]
    low, high = spec.gripper.opening_m
    openings = [float(v) for v in np.linspace(high, low, OPENINGS)]
    settled = [settle_gripper(model, spec.gripper, opening) for opening in openings]
    limits = np.asarray(spec.limits_rad, float)

    frames, tool = _zero_frames(model, settled[0], joints)
    offset = np.stack([np.linalg.inv(frames[k]) @ frames[k + 1] for k in range(len(joints))])
    contact = sample_self_contact(model, joints, limits, [settled[0], settled[-1]], seed)
    groups = SphereBudget(model, spec, joints, settled[0]).share_out(SPHERES)
    spheres = {gap: _sphere_set(model, qpos, frames, groups) for gap, qpos in zip(openings, settled, strict=True)}
    ends = [spheres[openings[0]], spheres[openings[-1]]]
    return Kinematics(
        name=spec.name,
        offset=offset,
        tool=tool,
        lower_rad=limits[:, 0],
        upper_rad=limits[:, 1],
        velocity_rad_s=np.asarray(spec.velocity_rad_s, float),
        acceleration_rad_s2=np.asarray(spec.acceleration_rad_s2, float),
        home_rad=np.asarray(spec.home_rad, float),
        spheres=spheres,
        self_pairs=contact.pairs,
        self_slack_m=self_slack(offset, ends, contact),
    )


def _zero_frames(model: mujoco.MjModel, qpos: Array, joints: list[int]) -> tuple[list[Array], Array]:
    """Return the base frame and one frame per joint (z along its axis) at joint value 0, and the tool in the last."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    data.qpos[model.jnt_qposadr[joints]] = 0.0
    mujoco.mj_kinematics(model, data)
    base = _id(model, mujoco.mjtObj.mjOBJ_BODY, "base")
    frames = [_frame(data.xmat[base], data.xpos[base])]
    for joint in joints:
        z = data.xaxis[joint] / np.linalg.norm(data.xaxis[joint])
        helper = np.array([0.0, 1.0, 0.0]) if abs(z[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
        x = np.cross(helper, z)
        x /= np.linalg.norm(x)
        frames.append(_frame(np.stack([x, np.cross(z, x), z], axis=1), data.xanchor[joint]))
    site = _id(model, mujoco.mjtObj.mjOBJ_SITE, "tool")
    return frames, np.linalg.inv(frames[-1]) @ _frame(data.site_xmat[site], data.site_xpos[site])


def _sphere_set(model: mujoco.MjModel, qpos: Array, frames: list[Array], groups: list[Group]) -> SphereSet:
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    centers, radii, links, fingers = [], [], [], []
    for group in groups:
        to_link = np.linalg.inv(frames[group.link]) @ _frame(data.xmat[group.body], data.xpos[group.body])
        centers.append(group.center_m @ to_link[:3, :3].T + to_link[:3, 3])
        radii.append(group.radius_m)
        links.append(np.full(len(group.radius_m), group.link, np.int32))
        fingers.append(np.full(len(group.radius_m), group.finger, np.bool_))
    return SphereSet(np.concatenate(centers), np.concatenate(radii), np.concatenate(links), np.concatenate(fingers))


def _id(model: mujoco.MjModel, kind: int, name: str) -> int:
    import mujoco

    found = int(mujoco.mj_name2id(model, kind, name))
    if found < 0:
        raise UsageError(f"the robot's model has no {mujoco.mjtObj(kind).name[6:].lower()} {name!r}.")
    return found


def _frame(rotation: Array, origin: Array) -> Array:
    transform = np.eye(4)
    transform[:3, :3] = np.asarray(rotation, float).reshape(3, 3)
    transform[:3, 3] = origin
    return transform
