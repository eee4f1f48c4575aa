"""Read an arm's kinematics out of its baked model and fit the collision spheres that the planner uses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.robots._fit_cover import Hull, cover, hull_of_geom
from armwright.robots._fit_gripper import finger_joints, settle_gripper
from armwright.robots._fit_self import blocking_spheres, link_of_body, self_contact
from armwright.robots.kinematics import Kinematics, SphereSet
from armwright.robots.spec import RobotSpec

if TYPE_CHECKING:
    import mujoco

OPENINGS = 5
_TIGHTEN_ROUNDS = 0
_SELF_BLOCKED = 0.02
_TIGHTER = 0.5
_FINEST_OVERHANG_M = 0.003
_BASE_OVERHANG_M = 0.025
_ARM_OVERHANG_M = 0.016
_WRIST_OVERHANG_M = 0.011
_PALM_OVERHANG_M = 0.008
_FINGER_OVERHANG_M = 0.003


@dataclass(frozen=True, eq=False)
class _Group:
    """Bodies welded together, and the spheres that cover them in the frame of the first of these bodies.

    Attributes:
        link: Chain link that the group moves with.
        finger: The gripper's joints move it.
        body: The first of the bodies.
        hulls: Its collision geoms.
        tight: Balls in which the cover must be tighter, see ``cover``.
        center_m, radius_m: The spheres.
    """

    link: int
    finger: bool
    body: int
    hulls: list[Hull]
    tight: tuple[tuple[Array, float, float], ...]
    center_m: Array
    radius_m: Array


def fit_kinematics(xml_path: Path, spec: RobotSpec, *, seed: int = 0) -> Kinematics:
    """Fit chain constants and collision spheres to a baked robot.

    The spheres cover every collision geom, coarser on the upper arm than at the fingers. Where that makes links block
    poses in which the exact geometry is free, the spheres with the largest part in it are tightened.

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
    self_pairs, free = self_contact(model, joints, limits, [settled[0], settled[-1]], seed)
    groups = _groups(model, joints, set(finger_joints(model, spec.gripper)))
    for _ in range(_TIGHTEN_ROUNDS):
        worst = blocking_spheres(
            offset, _sphere_set(model, settled[0], frames, groups), self_pairs, free, allowed=_SELF_BLOCKED
        )
        if len(worst) == 0:
            break
        groups = _tighten(groups, worst, len(joints))
    spheres = {gap: _sphere_set(model, qpos, frames, groups) for gap, qpos in zip(openings, settled, strict=True)}
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
        self_pairs=self_pairs,
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


def _groups(model: mujoco.MjModel, joints: list[int], fingers: set[int]) -> list[_Group]:
    members: dict[int, list[int]] = {}
    for geom in range(model.ngeom):
        if model.geom_contype[geom] or model.geom_conaffinity[geom]:
            members.setdefault(int(model.body_weldid[model.geom_bodyid[geom]]), []).append(geom)
    groups = []
    for weld, geoms in sorted(members.items()):
        link = link_of_body(model, joints, weld)
        finger = any(int(model.body_jntadr[weld]) + k in fingers for k in range(int(model.body_jntnum[weld])))
        hulls = [_in_weld_frame(model, geom, weld) for geom in geoms]
        centers, radii = cover(hulls, _overhang(link, len(joints), finger))
        groups.append(_Group(link, finger, weld, hulls, (), centers, radii))
    return sorted(groups, key=lambda group: (group.link, group.body))


def _tighten(groups: list[_Group], spheres: NDArray[np.int64], dof: int) -> list[_Group]:
    """Cover again, with less overhang around some spheres, numbered through all groups."""
    first = 0
    result = []
    for group in groups:
        last = first + len(group.radius_m)
        own = spheres[(spheres >= first) & (spheres < last)] - first
        first = last
        if len(own):
            overhang = _overhang(group.link, dof, group.finger)
            balls = list(group.tight)
            for k in own:
                center = group.center_m[k]
                now = min([overhang, *(b[2] for b in balls if np.linalg.norm(center - b[0]) < b[1])])
                balls.append((center, float(group.radius_m[k]), max(_TIGHTER * now, _FINEST_OVERHANG_M)))
            centers, radii = cover(group.hulls, overhang, balls)
            group = replace(group, tight=tuple(balls), center_m=centers, radius_m=radii)
        result.append(group)
    return result


def _overhang(link: int, dof: int, finger: bool) -> float:
    if link == 0:
        return _BASE_OVERHANG_M
    if finger:
        return _FINGER_OVERHANG_M
    if link == dof:
        return _PALM_OVERHANG_M
    return _WRIST_OVERHANG_M if link >= dof - 2 else _ARM_OVERHANG_M


def _in_weld_frame(model: mujoco.MjModel, geom: int, weld: int) -> Hull:
    """Return the geom's hull in the frame of the first body of its welded group."""
    hull = hull_of_geom(model, geom)
    transform = np.eye(4)
    body = int(model.geom_bodyid[geom])
    while body != weld:
        transform = _frame(_rotation(model.body_quat[body]), model.body_pos[body]) @ transform
        body = int(model.body_parentid[body])
    rotation, origin = transform[:3, :3], transform[:3, 3]
    normal = hull.normal @ rotation.T
    sphere = None if hull.sphere is None else (rotation @ hull.sphere[0] + origin, hull.sphere[1])
    return Hull(
        hull.vertices_m @ rotation.T + origin,
        hull.faces,
        normal,
        hull.offset_m + normal @ origin,
        rotation @ hull.frame,
        sphere,
    )


def _sphere_set(model: mujoco.MjModel, qpos: Array, frames: list[Array], groups: list[_Group]) -> SphereSet:
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


def _rotation(quat_wxyz: Array) -> Array:
    from armwright.core.pose import quat_to_matrix

    return quat_to_matrix(quat_wxyz)
