"""Measure a baked gripper and arm: pad gap over control, tool frame, links that always touch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from armwright.core.errors import CacheError
from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for
from armwright.robots.links import GRIPPER_PREFIX
from armwright.robots.recipe import GripperRecipe
from armwright.robots.spec import RobotSpec

TOOL_GAP_M = 0.03
_ROWS = 17
_SAMPLES = 300
_ALWAYS = 0.9


class GripperGauge:
    """Reads pad positions off a baked model in which only the fingers move."""

    def __init__(self, model: Any, spec: RobotSpec, gripper: GripperRecipe) -> None:
        import mujoco

        self._mujoco = mujoco
        self.model, self.data = model, mujoco.MjData(model)
        self.gripper = gripper
        self.factors = {gripper.driver: 1.0, **gripper.couple}
        self.pads = [[int(model.geom(g).id) for g in side] for side in spec.gripper.pad_geoms]
        self.link = int(model.jnt_bodyid[model.joint(spec.joints[-1]).id])

    def set(self, control: float) -> None:
        """Put the fingers where ``control`` would hold them."""
        for joint, factor in self.factors.items():
            adr = int(self.model.joint(GRIPPER_PREFIX + joint).qposadr[0])
            self.data.qpos[adr] = factor * control
        self._mujoco.mj_kinematics(self.model, self.data)

    def link_pose(self) -> Pose:
        """Pose of the last arm link in the world."""
        return Pose(self.data.xpos[self.link], self.data.xquat[self.link])

    def _corners(self, side: int) -> Array:
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        return np.concatenate(
            [
                (signs * self.model.geom_size[g]) @ self.data.geom_xmat[g].reshape(3, 3).T + self.data.geom_xpos[g]
                for g in self.pads[side]
            ]
        )

    def faces(self, axis_world: Array) -> tuple[float, Array]:
        """Return the gap along ``axis_world`` (from right to left) [m] and the middle between the pads (3,)."""
        left, right = self._corners(0), self._corners(1)
        inner_left, inner_right = float((left @ axis_world).min()), float((right @ axis_world).max())
        middle = 0.5 * (left.mean(0) + right.mean(0))
        middle = middle + (0.5 * (inner_left + inner_right) - middle @ axis_world) * axis_world
        return inner_left - inner_right, middle


def tool_frame(gauge: GripperGauge, approach_link: Array) -> Pose:
    """Return the tool frame in the last arm link.

    z points along the approach, y from the right pads to the left ones, the origin lies midway between the pads
    when they are 30 mm apart.

    Args:
        gauge: On the baked model.
        approach_link: (3,) unit vector out of the palm in the last link's frame.
    """
    low, high = gauge.gripper.driver_range
    gauge.set(0.5 * (low + high))
    pose_world_link = gauge.link_pose()
    z = pose_world_link.rotate(approach_link)
    y = gauge._corners(0).mean(0) - gauge._corners(1).mean(0)
    y = y - (y @ z) * z
    y /= np.linalg.norm(y)
    for _ in range(60):
        middle = 0.5 * (low + high)
        gauge.set(middle)
        too_wide = gauge.faces(y)[0] > TOOL_GAP_M
        low, high = (low, middle) if too_wide == gauge.gripper.open_at_upper else (middle, high)
    gap, origin = gauge.faces(y)
    if abs(gap - TOOL_GAP_M) > 1e-4:
        raise CacheError(f"the pads never are 30 mm apart (nearest {gap * 1000:.1f} mm).", hint="Report this as a bug.")
    pose_world_tool = Pose.from_rotation(np.stack([np.cross(y, z), y, z], 1), origin)
    return pose_world_link.inverse() @ pose_world_tool


def gripper_table(gauge: GripperGauge, pose_link_tool: Pose) -> tuple[tuple[float, float, float], ...]:
    """Return rows (control, pad gap [m], z of the pads' middle in the tool frame [m]), gap falling."""
    low, high = gauge.gripper.driver_range
    controls = np.linspace(high, low, _ROWS) if gauge.gripper.open_at_upper else np.linspace(low, high, _ROWS)
    rows = []
    for control in controls:
        gauge.set(float(control))
        pose_world_tool = gauge.link_pose() @ pose_link_tool
        gap, middle = gauge.faces(pose_world_tool.rotation[:, 1])
        depth = float(pose_world_tool.inverse().transform(middle)[2])
        rows.append((round(float(control), 6), round(gap, 6) + 0.0, round(depth, 6) + 0.0))
    if any(b[1] >= a[1] for a, b in itertools.pairwise(rows)):
        raise CacheError("the pad gap does not fall along the control.", hint="Report this as a bug.")
    return tuple(rows)


def always_touching(model: Any, spec: RobotSpec) -> list[tuple[str, str]]:
    """Return body pairs that touch in over 90 % of random configurations: overlapping shapes, not collisions."""
    import mujoco

    data = mujoco.MjData(model)
    rng = rng_for(0, "robots", spec.name, "touching")
    limits = np.array(spec.limits_rad)
    adr = [int(model.joint(j).qposadr[0]) for j in spec.joints]
    counts: dict[tuple[str, str], int] = {}
    for _ in range(_SAMPLES):
        data.qpos[adr] = rng.uniform(limits[:, 0], limits[:, 1])
        mujoco.mj_fwdPosition(model, data)
        found = {tuple(sorted(str(model.body(model.geom_bodyid[g]).name) for g in pair)) for pair in data.contact.geom}
        for one, other in found:
            counts[one, other] = counts.get((one, other), 0) + 1
    return sorted(pair for pair, count in counts.items() if count > _ALWAYS * _SAMPLES)
