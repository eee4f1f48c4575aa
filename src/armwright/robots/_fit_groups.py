"""Share a number of spheres out between the bodies of an arm, to where they free most space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armwright.core.pose import Array, quat_to_matrix
from armwright.robots._fit_cover import Hull, Spheres, area_m2, cover, hull_of_geom
from armwright.robots._fit_gripper import finger_joints
from armwright.robots._fit_self import link_of_body
from armwright.robots.spec import RobotSpec

if TYPE_CHECKING:
    import mujoco

_OVERHANGS_M = (0.024, 0.0195, 0.016, 0.013, 0.0105, 0.0085, 0.007, 0.0057, 0.0047)
_PAD_OVERHANGS_M = (0.005, 0.0035, 0.0025)
# How much a millimetre of overhang costs, per area: the hand works among objects, the base never moves.
_WEIGHT_BASE, _WEIGHT_ARM, _WEIGHT_WRIST, _WEIGHT_HAND, _WEIGHT_PADS = 0.3, 0.8, 2.0, 3.0, 6.0


@dataclass(frozen=True, eq=False)
class Group:
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


@dataclass(frozen=True, eq=False)
class _Body:
    """A welded group before it is covered; ``key`` tells bodies of the same shape."""

    link: int
    finger: bool
    body: int
    hulls: list[Hull]
    floor: tuple[Array, float] | None
    overhangs_m: tuple[float, ...]
    weight: float
    area_m2: float
    key: bytes


class SphereBudget:
    """Covers of all collision geoms of a robot, coarse to fine, of which each number of spheres buys the best mix.

    Args:
        model: The compiled robot.
        spec: Its spec.
        joints: Ids of the arm's joints.
        qpos: Its zero pose, gripper open.
    """

    def __init__(self, model: mujoco.MjModel, spec: RobotSpec, joints: list[int], qpos: Array) -> None:
        self._covers: dict[tuple[bytes, float], Spheres] = {}
        members: dict[int, list[int]] = {}
        for geom in range(model.ngeom):
            if model.geom_contype[geom] or model.geom_conaffinity[geom]:
                members.setdefault(int(model.body_weldid[model.geom_bodyid[geom]]), []).append(geom)
        fingers = {int(model.jnt_bodyid[joint]) for joint in finger_joints(model, spec.gripper)}
        pad_names = {*spec.gripper.pad_geoms[0], *spec.gripper.pad_geoms[1]}
        self._bodies: list[_Body] = []
        for weld, geoms in sorted(members.items()):
            link = link_of_body(model, joints, weld)
            hulls = [_in_weld_frame(model, geom, weld) for geom in geoms]
            pads = any(model.geom(geom).name in pad_names for geom in geoms)
            self._bodies.append(
                _Body(
                    link,
                    weld in fingers,
                    weld,
                    hulls,
                    _floor(model, qpos, weld, hulls) if link == 1 else None,
                    _PAD_OVERHANGS_M if pads else _OVERHANGS_M,
                    _weight(link, len(joints), pads=pads),
                    sum(area_m2(hull) for hull in hulls),
                    b"".join(np.round(hull.vertices_m, 9).tobytes() for hull in hulls),
                )
            )

    def share_out(self, count: int) -> list[Group]:
        """Return covers with no more than ``count`` spheres in all, if the coarsest allow it.

        The next spheres always go to the body where they free most space that is blocked needlessly: its overhang's
        volume, weighted by what the body does.
        """
        steps = [0] * len(self._bodies)
        left = count - sum(len(self._cover(body, 0)[1]) for body in self._bodies)
        while True:
            best, best_merit, best_extra = -1, 0.0, 0
            for k, body in enumerate(self._bodies):
                if steps[k] + 1 >= len(body.overhangs_m):
                    continue
                extra = len(self._cover(body, steps[k] + 1)[1]) - len(self._cover(body, steps[k])[1])
                freed = body.area_m2 * (body.overhangs_m[steps[k]] - body.overhangs_m[steps[k] + 1])
                merit = body.weight * freed / max(extra, 0.5)
                if extra <= left and merit > best_merit:
                    best, best_merit, best_extra = k, merit, extra
            if best < 0:
                break
            steps[best] += 1
            left -= best_extra
        groups = [
            Group(body.link, body.finger, body.body, *self._cover(body, step))
            for body, step in zip(self._bodies, steps, strict=True)
        ]
        return sorted(groups, key=lambda group: (group.link, group.body))

    def _cover(self, body: _Body, step: int) -> Spheres:
        # Both fingers of a linkage are often the same meshes; their cover is the same too.
        key = (body.key, body.overhangs_m[step])
        if key not in self._covers:
            self._covers[key] = cover(body.hulls, body.overhangs_m[step], body.floor)
        return self._covers[key]


def _weight(link: int, dof: int, *, pads: bool) -> float:
    if link == dof:
        return _WEIGHT_PADS if pads else _WEIGHT_HAND
    if link == 0:
        return _WEIGHT_BASE
    return _WEIGHT_WRIST if link >= dof - 2 else _WEIGHT_ARM


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
    rotation, origin = np.eye(3), np.zeros(3)
    body = int(model.geom_bodyid[geom])
    while body != weld:
        turn = quat_to_matrix(model.body_quat[body])
        rotation, origin = turn @ rotation, turn @ origin + model.body_pos[body]
        body = int(model.body_parentid[body])
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
