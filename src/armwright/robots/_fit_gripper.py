"""Where the gripper's bodies are at a given gap between the pads: settle the linkage in MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.robots.spec import GripperSpec

if TYPE_CHECKING:
    import mujoco

_SETTLE_S = 1.5


def control_for_opening(gripper: GripperSpec, opening_m: float) -> float:
    """Return the actuator's control for a gap between the pads [m], from the measured table.

    Raises:
        UsageError: The table is empty.
    """
    if not gripper.table:
        raise UsageError(f"gripper {gripper.name!r} has an empty table; bake the robot, which measures it.")
    rows = np.asarray(gripper.table, float)
    rows = rows[np.argsort(rows[:, 1])]
    return float(np.interp(opening_m, rows[:, 1], rows[:, 0]))


def settle_gripper(model: mujoco.MjModel, gripper: GripperSpec, opening_m: float) -> Array:
    """Return qpos (nq,) of the arm's zero pose with the gripper at rest at ``opening_m``.

    Contacts and gravity are off while it settles, so that the linkage alone decides.
    """
    import mujoco

    flags = int(model.opt.disableflags)
    model.opt.disableflags = flags | int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    try:
        data = mujoco.MjData(model)
        actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, gripper.actuator)
        if actuator < 0:
            raise UsageError(f"the model has no actuator {gripper.actuator!r}, which the gripper's spec names.")
        fingers = finger_joints(model, gripper)
        addresses = model.jnt_qposadr[fingers]
        dofs = model.jnt_dofadr[fingers]
        start = data.qpos.copy()
        arm = np.ones(model.nq, bool)
        arm[addresses] = False
        still = np.ones(model.nv, bool)
        still[dofs] = False
        data.ctrl[actuator] = control_for_opening(gripper, opening_m)
        for _ in range(round(_SETTLE_S / model.opt.timestep)):
            mujoco.mj_step(model, data)
            data.qpos[arm] = start[arm]
            data.qvel[still] = 0.0
        return np.array(data.qpos)
    finally:
        model.opt.disableflags = flags


def finger_joints(model: mujoco.MjModel, gripper: GripperSpec) -> list[int]:
    """Return the joints that move with the gripper: those in its spec and any other below the same palm."""
    import mujoco

    named = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in gripper.joints]
    if min(named, default=-1) < 0:
        raise UsageError(f"the model lacks some of the gripper's joints {gripper.joints}.")
    palm = min(int(model.body_parentid[model.jnt_bodyid[j]]) for j in named)
    found = set(named)
    for joint in range(model.njnt):
        body = int(model.body_parentid[model.jnt_bodyid[joint]])
        while body > palm:
            body = int(model.body_parentid[body])
        if body == palm:
            found.add(joint)
    return sorted(found)
