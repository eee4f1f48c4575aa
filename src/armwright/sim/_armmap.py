"""Where the arm lives in the model's arrays, and what its contacts and pads say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.sim.build import ARM_PREFIX, BuiltScene

Ids = NDArray[np.int64]
_SETTLE_STEPS = 600
_SQUEEZE_SHARE = 0.5


class ArmMap:
    """Addresses of one arm in one compiled model, and readings that need them.

    Args:
        built: The compiled scene.
    """

    def __init__(self, built: BuiltScene) -> None:
        model, spec = built.model, built.robot.spec
        joints = [model.joint(ARM_PREFIX + name) for name in spec.joints]
        self.qpos = np.array([int(j.qposadr[0]) for j in joints])
        self.dof = np.array([int(j.dofadr[0]) for j in joints])
        self.act = np.array([int(model.actuator(ARM_PREFIX + name).id) for name in spec.joints])
        self.gripper_act = int(model.actuator(ARM_PREFIX + spec.gripper.actuator).id)
        # A position servo lags by damping over stiffness per speed; feeding that forward removes the lag.
        stiffness, damping = model.actuator_gainprm[self.act, 0], -model.actuator_biasprm[self.act, 2]
        passive = np.array([float(np.ravel(model.dof_damping[d])[0]) for d in self.dof])
        self.lead_s = (damping + passive) / stiffness
        table = np.asarray(spec.gripper.table, float)
        order = np.argsort(table[:, 1])
        self._gap, self._control = table[order, 1], table[order, 0]
        self._model = model
        self._owner = built.body_object
        self._mass_of = _moving_masses(built)
        self._loose_mass = _loose_masses(built)
        self.pads = tuple(
            np.array([int(model.geom(ARM_PREFIX + g).id) for g in side]) for side in spec.gripper.pad_geoms
        )
        self.gripper_geom = _gripper_geoms(built, int(model.site(ARM_PREFIX + "tool").bodyid[0]), self.pads)
        self.robot_geom = np.array([built.body_object[b] == "robot" for b in model.geom_bodyid])
        self._side = np.full(model.ngeom, -1)
        for side, pads in enumerate(self.pads):
            self._side[pads] = side
        self.tool_site = int(model.site(ARM_PREFIX + "tool").id)

    def control_for(self, gap_m: float) -> float:
        """Return the gripper actuator's control for a pad gap [m]."""
        return float(np.interp(gap_m, self._gap, self._control))

    def gap_for(self, control: float) -> float:
        """Return the pad gap [m] that a control commands."""
        rising = np.argsort(self._control)
        return float(np.interp(control, self._control[rising], self._gap[rising]))

    def gap(self, data: Any) -> float:
        """Measure the free gap between the pads along the closing axis [m]; needs current geom poses."""
        axis = data.site_xmat[self.tool_site].reshape(3, 3)[:, 1]
        center = float(data.site_xpos[self.tool_site] @ axis)
        spans = []
        for side in self.pads:
            low, high = np.inf, -np.inf
            for g in side.tolist():
                along = self._corners[g] @ (axis @ data.geom_xmat[g].reshape(3, 3))
                middle = float(data.geom_xpos[g] @ axis) - center
                low, high = min(low, middle + float(along.min())), max(high, middle + float(along.max()))
            spans.append((low, high))
        (_, inner_low), (inner_high, _) = sorted(spans)
        return max(0.0, inner_high - inner_low)

    def _payload(self, object_id: str, bodies: set[int]) -> float:
        """Return the mass that goes along when these bodies of an object are held [kg]: a lid alone, or all of it."""
        if bodies <= self._loose_mass.keys():
            return sum(self._loose_mass[b] for b in bodies)
        return self._mass_of.get(object_id, 0.0)

    @cached_property
    def _corners(self) -> dict[int, Array]:
        return {int(g): geom_corners(self._model, int(g)) for side in self.pads for g in side}

    def readings(self, data: Any) -> ContactReading:
        """Sum up what touches the gripper, from the contacts and constraint forces of the last step."""
        contact = data.contact
        if not len(contact):
            return _NOTHING
        geom = np.asarray(contact.geom)
        mine = self.gripper_geom[geom]
        rows = np.flatnonzero((mine[:, 0] != mine[:, 1]) & ~(self.robot_geom[geom].all(1)))
        rows = rows[(np.asarray(contact.efc_address)[rows] >= 0) & (geom[rows] >= 0).all(1)]
        if not len(rows):
            return _NOTHING
        closing = data.site_xmat[self.tool_site].reshape(3, 3)[:, 1]
        address = np.asarray(contact.efc_address)[rows]
        size = np.asarray(contact.dim)[rows]
        # Elliptic cones: the rows of a contact are its force along the frame's axes; torsion comes after the third.
        inside = np.arange(3) < size[:, None]
        local = np.where(inside, data.efc_force[np.where(inside, address[:, None] + np.arange(3), 0)], 0.0)
        # The frame's x axis points from the first geom to the second and pushes the second.
        second = mine[rows, 1]
        on_second = np.einsum("ki,kij->kj", local, np.asarray(contact.frame)[rows].reshape(-1, 3, 3))
        force = np.where(second[:, None], on_second, -on_second)
        own = np.where(second, geom[rows, 1], geom[rows, 0])
        other = np.where(second, geom[rows, 0], geom[rows, 1])
        # A pad that stands on top of something does not squeeze it.
        pressed = np.abs(force @ closing)
        squeezes = pressed > _SQUEEZE_SHARE * np.sqrt((force * force).sum(1))
        sides = [np.flatnonzero(squeezes & (self._side[own] == side)) for side in (0, 1)]
        touched = [{self._owner[self._model.geom_bodyid[g]] for g in set(other[i].tolist())} for i in sides]
        held = frozenset(touched[0] & touched[1])
        bodies = {int(self._model.geom_bodyid[g]) for i in sides for g in set(other[i].tolist())}
        payload = sum(self._payload(name, {b for b in bodies if self._owner[b] == name}) for name in held)
        grip = 0.5 * float(sum(pressed[i].sum() for i in sides))
        return ContactReading(force.sum(0), grip, held, payload, bool(touched[0] and touched[1]))


@dataclass(frozen=True, eq=False)
class ContactReading:
    """What the gripper feels.

    Attributes:
        force_n: (3,) sum of the contact forces on the gripper, in the world.
        grip_n: Mean force along the closing axis on the two sides' pads.
        held: Ids of objects that both sides' pads press.
        payload_kg: Mass of those.
        both: Both sides' pads press something.
    """

    force_n: Array
    grip_n: float
    held: frozenset[str]
    payload_kg: float
    both: bool


_NOTHING = ContactReading(np.zeros(3), 0.0, frozenset(), 0.0, False)


def geom_corners(model: Any, geom: int) -> Array:
    """Return points (k, 3) in the geom's frame whose hull is the geom: exact for boxes and meshes, bounding else."""
    import mujoco

    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        start = int(model.mesh_vertadr[mesh])
        return np.array(model.mesh_vert[start : start + int(model.mesh_vertnum[mesh])], float)
    half = model.geom_aabb[geom, 3:]
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return np.asarray(model.geom_aabb[geom, :3] + signs * half)


def _moving_masses(built: BuiltScene) -> dict[str, float]:
    mass: dict[str, float] = {}
    for (object_id, _), link in built.links.items():
        if link.dof >= 0:
            mass[object_id] = mass.get(object_id, 0.0) + float(built.model.body_mass[link.body])
    return mass


def _loose_masses(built: BuiltScene) -> dict[int, float]:
    """Return the masses of the links that move freely besides their object's root, by body."""
    roots = {object_id: model.root.name for object_id, model in built.objects.items()}
    return {
        link.body: float(built.model.body_mass[link.body])
        for (object_id, name), link in built.links.items()
        if link.free and name != roots[object_id]
    }


def _gripper_geoms(built: BuiltScene, tool_body: int, pads: tuple[Ids, ...]) -> NDArray[np.bool_]:
    """Mark the geoms beyond the last arm joint: what a force sensor in the wrist would carry."""
    model = built.model
    joints = {int(model.joint(ARM_PREFIX + name).id) for name in built.robot.spec.joints}
    root = tool_body
    while not any(int(model.body_jntadr[root]) + k in joints for k in range(int(model.body_jntnum[root]))):
        root = int(model.body_parentid[root])
    inside = np.zeros(model.nbody, bool)
    inside[root] = True
    for b in range(root + 1, model.nbody):
        inside[b] = inside[int(model.body_parentid[b])] or b == root
    return np.asarray(inside[model.geom_bodyid])


@lru_cache(maxsize=8)
def open_fingers(
    xml_path: str, digest: str, joints: tuple[str, ...], actuator: str, control: float
) -> dict[str, float]:
    """Return the finger joints' values when the gripper has come to rest at a control, by simulating the arm alone."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(xml_path)
    data = mujoco.MjData(model)
    model.opt.gravity[:] = 0.0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data.ctrl[model.actuator(actuator).id] = control
    mujoco.mj_step(model, data, _SETTLE_STEPS)
    arm = set(joints)
    return {
        model.joint(j).name: float(data.qpos[model.jnt_qposadr[j]])
        for j in range(model.njnt)
        if model.joint(j).name not in arm
    }
