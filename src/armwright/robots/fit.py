"""Read an arm's kinematics out of its baked model and fit the collision spheres that the planner uses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.core.seeds import rng_for
from armwright.robots._fit_cover import Hull, cover, hull_of_geom
from armwright.robots._fit_gripper import finger_joints, settle_gripper
from armwright.robots.kinematics import Ints, Kinematics, SphereSet
from armwright.robots.spec import RobotSpec

if TYPE_CHECKING:
    import mujoco

OPENINGS = 5
_PAIR_POSES = 12_000
_PAIR_MARGIN_M = 0.004
_ARM_OVERHANG_M = 0.008
_WRIST_OVERHANG_M = 0.006
_PALM_OVERHANG_M = 0.004
_FINGER_OVERHANG_M = 0.0025


@dataclass(frozen=True, eq=False)
class _Group:
    """Bodies welded together: their link, whether they are fingers, the weld body, and covering spheres in its frame."""

    link: int
    finger: bool
    body: int
    center_m: Array
    radius_m: Array


def fit_kinematics(xml_path: Path, spec: RobotSpec, *, seed: int = 0) -> Kinematics:
    """Fit chain constants and collision spheres to a baked robot.

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

    frames, tool = _zero_frames(model, settled[0], joints)
    groups = _groups(model, joints, set(finger_joints(model, spec.gripper)))
    spheres = {
        opening: _sphere_set(model, qpos, frames, groups) for opening, qpos in zip(openings, settled, strict=True)
    }
    limits = np.asarray(spec.limits_rad, float)
    return Kinematics(
        name=spec.name,
        offset=np.stack([np.linalg.inv(frames[k]) @ frames[k + 1] for k in range(len(joints))]),
        tool=tool,
        lower_rad=limits[:, 0],
        upper_rad=limits[:, 1],
        velocity_rad_s=np.asarray(spec.velocity_rad_s, float),
        acceleration_rad_s2=np.asarray(spec.acceleration_rad_s2, float),
        home_rad=np.asarray(spec.home_rad, float),
        spheres=spheres,
        self_pairs=_self_pairs(model, joints, limits, [settled[0], settled[-1]], seed),
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
        groups.append(_Group(link, finger, weld, centers, radii))
    return sorted(groups, key=lambda group: (group.link, group.body))


def _overhang(link: int, dof: int, finger: bool) -> float:
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


def _self_pairs(
    model: mujoco.MjModel, joints: list[int], limits: NDArray[np.float64], settled: list[Array], seed: int
) -> Ints:
    """Return the link pairs that MuJoCo sees touch, or come within a few millimetres, somewhere within the limits."""
    import mujoco

    margins = model.geom_margin.copy()
    model.geom_margin[:] = _PAIR_MARGIN_M
    link = np.array([link_of_body(model, joints, int(model.geom_bodyid[g])) for g in range(model.ngeom)])
    addresses = model.jnt_qposadr[joints]
    rng = rng_for(seed, "robots.fit", "pairs")
    touching = np.zeros((len(joints) + 1, len(joints) + 1), bool)
    data = mujoco.MjData(model)
    for qpos in settled:
        data.qpos[:] = qpos
        for q in rng.uniform(limits[:, 0], limits[:, 1], (_PAIR_POSES // len(settled), len(joints))):
            data.qpos[addresses] = q
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_collision(model, data)
            pairs = link[data.contact.geom]
            touching[pairs[:, 0], pairs[:, 1]] = True
    model.geom_margin[:] = margins
    touching |= touching.T
    return np.argwhere(np.triu(touching, 1)).astype(np.int32)


def link_of_body(model: mujoco.MjModel, joints: list[int], body: int) -> int:
    """Return the chain link that a body moves with: 0 for the base, k behind joint k."""
    while body > 0:
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        for joint in range(first, first + count):
            if joint in joints:
                return joints.index(joint) + 1
        body = int(model.body_parentid[body])
    return 0


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
