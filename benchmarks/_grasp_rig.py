"""A gripper without an arm, in MuJoCo: closes on an object that stands on a table, lifts it, shakes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from armwright.assets.model import ObjectModel
from armwright.core.pose import Pose, matrix_to_quat
from armwright.grasping.options import GraspOptions
from armwright.grasping.types import GraspCandidate
from armwright.robots.spec import GripperSpec

LIFT_M = 0.15


@dataclass(frozen=True)
class Trial:
    """What came of one grasp.

    Attributes:
        held: Both pads touch the object at the end and it rose with the hand.
        slip_m, turn_rad: Motion of the object in the hand between the end of closing and the end.
        contacts: (n, 3) pad contact points during the lift, in the object's frame.
    """

    held: bool
    slip_m: float
    turn_rad: float
    contacts: np.ndarray


class Rig:
    """One compiled model per object and gripper; a trial only moves the hand's frame."""

    def __init__(self, model: ObjectModel, gripper: GripperSpec, *, friction: float = 1.0) -> None:
        self.gripper = gripper
        spec = mujoco.MjSpec()
        spec.option.timestep = 0.002
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0
        spec.worldbody.add_geom(
            name="table", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1], friction=[0.8, 0.005, 1e-4], condim=4
        )
        self._add_object(spec, model)
        self._add_hand(spec, gripper, friction)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        name2id = mujoco.mj_name2id
        self.hand = name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, "hand")
        self.lift = name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, "lift")
        self.body = name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, "link_0")
        self.pads = tuple(name2id(self.model, mujoco.mjtObj.mjOBJ_GEOM, f"pad_{s}") for s in "lr")
        bodies = {name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, f"link_{k}") for k in range(len(model.links))}
        self.object_geoms = {g for g in range(self.model.ngeom) if self.model.geom_bodyid[g] in bodies}
        for _ in range(250):
            mujoco.mj_step(self.model, self.data)
        self.rest = self.data.qpos.copy()
        self.pose_world_object = Pose(self.data.xpos[self.body], self.data.xquat[self.body])

    @staticmethod
    def _add_object(spec: Any, model: ObjectModel) -> None:
        bodies: dict[str, Any] = {}
        for k, link in enumerate(model.links):
            parent = bodies[link.parent] if link.joint is not None and link.parent else spec.worldbody
            body = parent.add_body(name=f"link_{k}")
            bodies[link.name] = body
            if link.joint is None:
                body.add_freejoint()
            else:
                kind = mujoco.mjtJoint.mjJNT_SLIDE if link.joint.kind == "slide" else mujoco.mjtJoint.mjJNT_HINGE
                body.add_joint(
                    type=kind, axis=link.joint.axis, pos=link.joint.anchor_m, range=link.joint.range, limited=True
                )
            low, high = link.vertices_m.min(0), link.vertices_m.max(0)
            size = high - low
            body.mass = link.mass_kg
            body.ipos = link.vertices_m[link.faces].mean((0, 1))
            # A hollow box of that size: vessels carry their mass in the wall.
            body.inertia = (
                link.mass_kg
                / 8.0
                * np.array([size[1] ** 2 + size[2] ** 2, size[0] ** 2 + size[2] ** 2, size[0] ** 2 + size[1] ** 2])
            )
            body.explicitinertial = True
            for h, hull in enumerate(link.hulls):
                name = f"hull_{k}_{h}"
                spec.add_mesh(name=name, uservert=hull.astype(np.float32).ravel())
                body.add_geom(
                    name=name,
                    type=mujoco.mjtGeom.mjGEOM_MESH,
                    meshname=name,
                    condim=4,
                    density=0.0,
                    friction=[model.friction, 0.005, 1e-4],
                )

    @staticmethod
    def _add_hand(spec: Any, gripper: GripperSpec, friction: float) -> None:
        box = mujoco.mjtGeom.mjGEOM_BOX
        hand = spec.worldbody.add_body(name="hand", pos=[0, 0, 1], gravcomp=1)
        hand.add_joint(name="lift", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1], armature=1.0)
        palm_x, palm_y = GraspOptions().palm_half_m
        hand.add_geom(type=box, size=[palm_x, palm_y, 0.03], pos=[0, 0, -gripper.palm_depth_m - 0.03], mass=0.5)
        pad_x, pad_z = gripper.pad_size_m
        thick = gripper.finger_thickness_m
        half = 0.5 * (gripper.palm_depth_m + gripper.finger_depth_m)
        top = 0.5 * gripper.opening_m[1] + 0.005
        for side, sign in (("l", 1.0), ("r", -1.0)):
            finger = hand.add_body(name=f"finger_{side}", gravcomp=1)
            finger.add_joint(
                name=f"slide_{side}",
                type=mujoco.mjtJoint.mjJNT_SLIDE,
                axis=[0, sign, 0],
                range=[0, top],
                limited=True,
                armature=0.1,
            )
            finger.add_geom(
                name=f"pad_{side}",
                type=box,
                size=[pad_x / 2, thick / 2, pad_z / 2],
                pos=[0, sign * thick / 2, 0],
                mass=0.02,
                friction=[friction, 0.02, 1e-4],
                condim=4,
                priority=1,
                solref=[0.004, 1.0],
            )
            finger.add_geom(
                type=box,
                size=[pad_x / 2, thick / 2 - 5e-4, half],
                mass=0.05,
                pos=[0, sign * (thick / 2 + 5e-4), gripper.finger_depth_m - half],
            )
        spec.add_equality(name1="slide_l", name2="slide_r", type=mujoco.mjtEq.mjEQ_JOINT, data=[0, 1, *[0] * 10])
        for name, joint, kp, force in (("close", "slide_l", 2e3, gripper.force_n), ("raise", "lift", 2e4, 2e3)):
            actuator = spec.add_actuator(name=name, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.set_to_position(kp=kp, dampratio=1.0)
            actuator.forcerange = [-force, force]
            actuator.forcelimited = True

    def run(self, candidate: GraspCandidate) -> Trial:
        """Close at a candidate, lift, shake, and report."""
        m, d = self.model, self.data
        pose = self.pose_world_object @ candidate.pose_object_pads
        mujoco.mj_resetData(m, d)
        rotation = pose.rotation
        m.body_pos[self.hand] = pose.position_m
        m.body_quat[self.hand] = matrix_to_quat(rotation)
        m.jnt_axis[self.lift] = rotation[2]
        d.qpos[:] = self.rest
        start = 0.5 * candidate.opening_m
        address = [m.jnt_qposadr[mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_JOINT, n)] for n in ("slide_l", "slide_r")]
        d.qpos[address] = start
        d.qpos[m.jnt_qposadr[self.lift]] = 0.0
        contacts: list[np.ndarray] = []
        relative: Pose | None = None
        base_z = self.pose_world_object.position_m[2]
        end_s = 2.2
        for step in range(int(end_s / m.opt.timestep)):
            t = step * m.opt.timestep
            d.ctrl[0] = max(start - 0.12 * t, -0.03)
            d.ctrl[1] = LIFT_M * min(max((t - 0.6) / 0.8, 0.0), 1.0)
            if 1.5 < t < 1.9:
                d.ctrl[1] += 0.01 * np.sin(2 * np.pi * 5 * t)
            mujoco.mj_step(m, d)
            if relative is None and t >= 0.6:
                relative = self._in_hand()
            if 0.6 < t < 1.4 and step % 20 == 0:
                contacts += self._pad_contacts()
        final = self._in_hand()
        slip = relative.distance_to(final) if relative is not None else 9.9
        turn = relative.angle_to(final) if relative is not None else 9.9
        both = all(self._touches(pad) for pad in self.pads)
        rose = d.xpos[self.body][2] - base_z
        return Trial(
            held=bool(both and rose > 0.6 * LIFT_M),
            slip_m=slip,
            turn_rad=turn,
            contacts=np.array(contacts) if contacts else np.zeros((0, 3)),
        )

    def _in_hand(self) -> Pose:
        d = self.data
        hand = Pose(d.xpos[self.hand], d.xquat[self.hand])
        return hand.inverse() @ Pose(d.xpos[self.body], d.xquat[self.body])

    def _touches(self, pad: int) -> bool:
        return any(
            (int(a) == pad and int(b) in self.object_geoms) or (int(b) == pad and int(a) in self.object_geoms)
            for a, b in self.data.contact.geom
        )

    def _pad_contacts(self) -> list[np.ndarray]:
        d = self.data
        to_object = Pose(d.xpos[self.body], d.xquat[self.body]).inverse()
        found = []
        for (a, b), position in zip(d.contact.geom, d.contact.pos, strict=True):
            if (a in self.pads and b in self.object_geoms) or (b in self.pads and a in self.object_geoms):
                found.append(to_object.transform(position))
        return found
