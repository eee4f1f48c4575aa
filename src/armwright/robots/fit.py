"""Read an arm's kinematics out of its baked model and fit the collision spheres that the planner uses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.robots._fit_cover import Hull, Spheres, area_m2, cover, hull_of_geom
from armwright.robots._fit_gripper import finger_joints, settle_gripper
from armwright.robots._fit_self import link_of_body, sample_self_contact, self_slack
from armwright.robots.kinematics import Kinematics, SphereSet
from armwright.robots.spec import RobotSpec

if TYPE_CHECKING:
    import mujoco

__all__ = ["OPENINGS", "SPHERES", "fit_kinematics", "settle_gripper"]

OPENINGS = 5
SPHERES = 350
_OVERHANGS_M = (0.024, 0.018, 0.014, 0.011, 0.0085, 0.0065, 0.005)
_PAD_OVERHANGS_M = (0.005, 0.0035, 0.0025)
# How much a millimetre of overhang costs, per area: the hand works among objects, the base never moves.
_WEIGHT_BASE, _WEIGHT_ARM, _WEIGHT_WRIST, _WEIGHT_HAND, _WEIGHT_PADS = 0.3, 0.8, 2.0, 3.0, 6.0

_Covers = dict[tuple[bytes, float], Spheres]


@dataclass(frozen=True, eq=False)
class _Group:
    """Bodies welded together, and the spheres that cover them in the frame of the first of these bodies.

    Attributes:
        link: Chain link that the group moves with.
        finger: The gripper's joints move it.
        body: The first of the bodies.
        center_m, radius_m: The spheres.
    """

    link: int
    finger: bool
    body: int
    center_m: Array
    radius_m: Array


def fit_kinematics(xml_path: Path, spec: RobotSpec, *, seed: int = 0) -> Kinematics:
    """Fit chain constants and collision spheres to a baked robot.

    The spheres cover every collision geom, coarser on the upper arm than at the fingers, as finely as the budget of
    spheres allows. How far two links' spheres may overlap before the links touch is measured.

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
    groups = _groups(model, spec, joints, settled[0])
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


@dataclass(eq=False)
class _Body:
    """A welded group while the spheres are shared out: its cover now, and the next finer one."""

    group: _Group
    finer: _Group | None
    hulls: list[Hull]
    floor: tuple[Array, float] | None
    ladder: tuple[float, ...]
    weight: float
    step: int = 0

    def fit(self, step: int, covers: _Covers) -> _Group | None:
        if step >= len(self.ladder):
            return None
        # Both fingers of a linkage are often the same meshes; their cover is the same too.
        key = (b"".join(np.round(hull.vertices_m, 9).tobytes() for hull in self.hulls), self.ladder[step])
        if key not in covers:
            covers[key] = cover(self.hulls, self.ladder[step], self.floor)
        centers, radii = covers[key]
        return replace(self.group, center_m=centers, radius_m=radii)

    @property
    def extra(self) -> int:
        """Spheres that the next finer cover costs."""
        return 0 if self.finer is None else len(self.finer.radius_m) - len(self.group.radius_m)

    @property
    def merit(self) -> float:
        """Volume that the next finer cover no longer blocks, per sphere that it costs."""
        if self.finer is None:
            return -1.0
        area = sum(area_m2(hull) for hull in self.hulls)
        return self.weight * area * (self.ladder[self.step] - self.ladder[self.step + 1]) / max(self.extra, 0.5)


def _groups(model: mujoco.MjModel, spec: RobotSpec, joints: list[int], qpos: Array) -> list[_Group]:
    """Cover all geoms; each next sphere goes where it frees most of the space that spheres block needlessly."""
    members: dict[int, list[int]] = {}
    for geom in range(model.ngeom):
        if model.geom_contype[geom] or model.geom_conaffinity[geom]:
            members.setdefault(int(model.body_weldid[model.geom_bodyid[geom]]), []).append(geom)
    fingers = {int(model.jnt_bodyid[joint]) for joint in finger_joints(model, spec.gripper)}
    pad_names = {*spec.gripper.pad_geoms[0], *spec.gripper.pad_geoms[1]}
    bodies: list[_Body] = []
    covers: _Covers = {}
    for weld, geoms in sorted(members.items()):
        link = link_of_body(model, joints, weld)
        hulls = [_in_weld_frame(model, geom, weld) for geom in geoms]
        floor = _floor(model, qpos, weld, hulls) if link == 1 else None
        pads = any(model.geom(geom).name in pad_names for geom in geoms)
        if link == len(joints):
            weight = _WEIGHT_PADS if pads else _WEIGHT_HAND
        elif link == 0:
            weight = _WEIGHT_BASE
        else:
            weight = _WEIGHT_WRIST if link >= len(joints) - 2 else _WEIGHT_ARM
        group = _Group(link, weld in fingers, weld, np.zeros((0, 3)), np.zeros(0))
        body = _Body(group, None, hulls, floor, _PAD_OVERHANGS_M if pads else _OVERHANGS_M, weight)
        body.group, body.finer = body.fit(0, covers) or group, body.fit(1, covers)
        bodies.append(body)
    left = SPHERES - sum(len(body.group.radius_m) for body in bodies)
    while True:
        affordable = [body for body in bodies if body.finer is not None and body.extra <= left]
        if not affordable:
            break
        best = max(affordable, key=lambda body: body.merit)
        left -= best.extra
        best.step += 1
        best.group, best.finer = best.finer or best.group, best.fit(best.step + 1, covers)
    return sorted((body.group for body in bodies), key=lambda group: (group.link, group.body))


def _floor(model: mujoco.MjModel, qpos: Array, weld: int, hulls: list[Hull]) -> tuple[Array, float] | None:
    """Return the plane that the first link's spheres stay above: just under the link, over what the base stands on.

    Spheres that hang over by more than the link's clearance would touch the table in every pose.
    """
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    up = np.array(data.xmat[weld].reshape(3, 3)[2])
    height = float(data.xpos[weld][2] - data.body("base").xpos[2])
    clearance = min(float((hull.vertices_m @ up).min()) for hull in hulls) + height
    return (up, 0.3 * clearance - height) if clearance > 0 else None


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
