"""Where a thing comes to rest when it is let go over another: both alone, as rigid bodies, for a second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armwright.assets.export import link_inertia
from armwright.assets.model import ObjectModel
from armwright.core.pose import Array, Pose

# Twice the step of the simulated world and half its contacts' time constant: what comes to rest does so all the same.
STEP_S = 0.004
SOLREF_S = 0.008
# A drop over a few centimetres and the rocking after it.
LONGEST_S = 1.2
# At rest when nothing moved faster for this long.
STILL_M_S = 0.01
STILL_SPIN_RAD_S = 0.2
STILL_S = 0.1
_HELD = "held"


class Settling:
    """Things let go over a target that stays where it is.

    Args:
        held: What is let go.
        around: What it may fall on, and where that stands in the world; it does not move.
        ground_z_m: Height of the plane under everything.
    """

    def __init__(self, held: ObjectModel, around: Sequence[tuple[ObjectModel, Pose]], *, ground_z_m: float = 0.0):
        import mujoco

        self._mujoco = mujoco
        spec = mujoco.MjSpec()
        spec.option.timestep = STEP_S
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 1], pos=[0, 0, ground_z_m])
        for number, (model, pose) in enumerate(around):
            body = spec.worldbody.add_body(name=f"{number}", pos=pose.position_m, quat=pose.quat_wxyz)
            _add_hulls(spec, body, model, [hull for link in model.links for hull in link.hulls])
        body = spec.worldbody.add_body(name=_HELD)
        body.add_freejoint()
        center, inertia = link_inertia(held.root)
        body.mass, body.ipos, body.explicitinertial = held.root.mass_kg, center, True
        body.fullinertia = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        _add_hulls(spec, body, held, held.root.hulls)
        self._model = spec.compile()

    def rest(self, pose_world_held: Pose) -> Pose:
        """Return where the object lies after it was let go, at rest, at a pose."""
        mujoco, model = self._mujoco, self._model
        data = mujoco.MjData(model)
        data.qpos[:3], data.qpos[3:7] = pose_world_held.position_m, pose_world_held.quat_wxyz
        still_s = 0.0
        while data.time < LONGEST_S and still_s < STILL_S:
            mujoco.mj_step(model, data)
            speed, spin = np.linalg.norm(data.qvel[:3]), np.linalg.norm(data.qvel[3:6])
            # A body that starts to fall is slow as well.
            slow = data.time > STILL_S and speed < STILL_M_S and spin < STILL_SPIN_RAD_S
            still_s = still_s + STEP_S if slow else 0.0
        return Pose(np.array(data.qpos[:3]), np.array(data.qpos[3:7]))


def _add_hulls(spec: Any, body: Any, model: ObjectModel, hulls: Sequence[Array]) -> None:
    import mujoco

    for number, hull in enumerate(hulls):
        name = f"{body.name}/{number}"
        spec.add_mesh(name=name, uservert=np.asarray(hull, float).ravel())
        geom = body.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=name,
            condim=6,
            friction=[model.friction, 0.005, model.rolling_m],
            mass=0.0,
        )
        geom.solref[0] = SOLREF_S
