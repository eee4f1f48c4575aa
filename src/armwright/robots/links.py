"""Read an arm and its gripper out of their source files as rigid links: inertia, visual meshes, collision shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import CacheError
from armwright.core.pose import Array, Pose
from armwright.robots.recipe import ArmRecipe, GripperRecipe, SourceFile

Faces = NDArray[np.int32]

GRIPPER_PREFIX = "gripper_"
BASE = "base"
_VISUAL_GROUPS = (1, 2)


@dataclass(frozen=True, eq=False)
class Surface:
    """A coloured triangle mesh in a link's frame: (n, 3) vertices [m], (m, 3) faces."""

    vertices_m: Array
    faces: Faces
    rgba: tuple[float, float, float, float]


def join_surfaces(surfaces: Sequence[Surface]) -> Surface:
    """Join surfaces into one that has the first one's colour."""
    offsets = np.cumsum([0, *(len(s.vertices_m) for s in surfaces[:-1])])
    vertices = np.concatenate([s.vertices_m for s in surfaces])
    faces = np.concatenate([s.faces + offset for s, offset in zip(surfaces, offsets, strict=True)])
    return Surface(vertices, faces.astype(np.int32), surfaces[0].rgba)


@dataclass(frozen=True, eq=False)
class Primitive:
    """A collision box, sphere, capsule or cylinder; ``size_m`` as MuJoCo reads it."""

    kind: str
    size_m: tuple[float, ...]
    pose_link_geom: Pose


@dataclass(frozen=True, eq=False)
class LinkJoint:
    """The joint that moves a link, in the link's frame."""

    name: str
    kind: str
    axis: Array
    anchor_m: Array
    range: tuple[float, float]


@dataclass(eq=False)
class Link:
    """What moves as one piece; fixed bodies of the source are merged into it.

    Attributes:
        name: Body name in the baked model.
        parent: Name of the parent link, or None for the base.
        pose_parent_link: At joint value 0.
        joint: None for the base.
        mass_kg, com_m, inertia: Mass, centre of mass (3,) and inertia (3, 3) about it, in the link's frame.
        visuals, hulls, primitives: Geometry; ``hulls`` are meshes that collide as their convex hull.
        pads: Pad boxes, (centre, half extents, rotation) in the link's frame, by ``left`` or ``right``.
    """

    name: str
    parent: str | None
    pose_parent_link: Pose
    joint: LinkJoint | None
    mass_kg: float = 0.0
    com_m: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    visuals: list[Surface] = field(default_factory=list)
    hulls: list[Surface] = field(default_factory=list)
    primitives: list[Primitive] = field(default_factory=list)
    pads: dict[str, list[Primitive]] = field(default_factory=dict)


def _parse(source: SourceFile, folder: Path) -> Any:
    """Parse a source file, with its text fixes applied, into an MjSpec without anything but bodies and meshes."""
    import mujoco

    path = folder / source.file
    text = path.read_text(encoding="utf-8")
    for old, new in source.replace.items():
        if old not in text:
            raise CacheError(f"{source.file} of {source.wheel} does not hold {old!r}.", hint="Report this as a bug.")
        text = text.replace(old, new)
    fixed = path.with_suffix(".fixed.xml")
    fixed.write_text(text, encoding="utf-8")
    spec = mujoco.MjSpec.from_file(str(fixed))
    for group in (spec.actuators, spec.sensors, spec.keys, spec.equalities, spec.tendons, spec.excludes):
        for element in list(group):
            spec.delete(element)
    for group in (spec.cameras, spec.lights, spec.sites):
        for element in list(group):
            spec.delete(element)
    return spec


def _compile(arm: ArmRecipe, gripper: GripperRecipe, arm_folder: Path, gripper_folder: Path) -> Any:
    hand = _parse(gripper.source, gripper_folder)
    for name in gripper.weld:
        hand.delete(next(joint for joint in hand.joints if joint.name == name))
    spec = _parse(arm.source, arm_folder)
    mount = next(body for body in spec.bodies if body.name == arm.mount_body)
    hand.option.cone, hand.option.impratio = spec.option.cone, spec.option.impratio  # else attach warns
    hand.option.integrator = spec.option.integrator
    frame = mount.add_frame(pos=list(arm.mount_pos_m), quat=list(arm.mount_quat_wxyz))
    spec.attach(hand, frame=frame, prefix=GRIPPER_PREFIX)
    return spec.compile()


def _align_z(axis: Array) -> Array:
    """Return the smallest rotation (3, 3) that takes +z to ``axis``."""
    z = np.array([0.0, 0.0, 1.0])
    v, c = np.cross(z, axis), float(z @ axis)
    if c < -1 + 1e-9:
        return np.diag([1.0, -1.0, -1.0])
    k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.asarray(np.eye(3) + k + k @ k / (1 + c))


def _matrix(rotation: Array, position: Array) -> Array:
    m = np.eye(4)
    m[:3, :3], m[:3, 3] = rotation, position
    return m


class _Reader:
    """Walks the compiled source model once and fills the links."""

    def __init__(self, model: Any, joints: Sequence[str], arm: ArmRecipe, gripper: GripperRecipe) -> None:
        import mujoco

        self.model, self.arm, self.gripper = model, arm, gripper
        self.arm_joints = tuple(joints)
        data = mujoco.MjData(model)
        data.qpos[:] = 0
        mujoco.mj_kinematics(model, data)
        c, s = np.cos(arm.base_yaw_rad), np.sin(arm.base_yaw_rad)
        turn = _matrix(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]), np.zeros(3))
        self.world_body = [turn @ _matrix(data.xmat[b].reshape(3, 3), data.xpos[b]) for b in range(model.nbody)]
        self.world_geom = [
            turn @ _matrix(data.geom_xmat[g].reshape(3, 3), data.geom_xpos[g]) for g in range(model.ngeom)
        ]
        self.links: dict[int, Link] = {}
        self.world_link: dict[int, Array] = {}
        self.mesh_collision: dict[int, list[Surface]] = {}

    def _joint(self, body: int) -> int:
        count, first = int(self.model.body_jntnum[body]), int(self.model.body_jntadr[body])
        if count != 1:
            raise CacheError(f"source body {self.model.body(body).name} has {count} joints.", hint="Report this.")
        return first

    def read(self) -> list[Link]:
        """Return the links, parents first."""
        model = self.model
        self.links[0] = Link(BASE, None, Pose(), None)
        self.world_link[0] = np.eye(4)
        for body in range(1, model.nbody):
            top = int(model.body_weldid[body])
            if top == body:
                self._add_link(body)
            self._add_inertia(body, top)
        for geom in range(model.ngeom):
            self._add_geom(geom)
        for body, surfaces in self.mesh_collision.items():
            self.links[int(model.body_weldid[body])].hulls.append(join_surfaces(surfaces))
        for side, pad in (("left", self.gripper.left), ("right", self.gripper.right)):
            body = int(model.body(GRIPPER_PREFIX + pad.body).id)
            top = int(model.body_weldid[body])
            local = np.linalg.inv(self.world_link[top]) @ self.world_body[body]
            self.links[top].pads[side] = _pad_boxes(pad.center_m, pad.half_m, pad.stack_axis, local)
        return list(self.links.values())

    def approach(self) -> Array:
        """Return the z axis of the gripper's root in the last arm link's frame."""
        mount = int(self.model.body(self.arm.mount_body).id)
        root = Pose(np.array(self.arm.mount_pos_m), np.array(self.arm.mount_quat_wxyz)).rotation
        world_link = self.world_link[int(self.model.body_weldid[mount])]
        return np.asarray((world_link[:3, :3].T @ self.world_body[mount][:3, :3] @ root)[:, 2])

    def _add_link(self, body: int) -> None:
        model = self.model
        j = self._joint(body)
        name = str(model.joint(j).name)
        world = self.world_body[body].copy()
        axis, anchor = np.array(model.jnt_axis[j]), np.array(model.jnt_pos[j])
        span = (float(model.jnt_range[j][0]), float(model.jnt_range[j][1]))
        if name in self.arm_joints:
            world = world @ _matrix(_align_z(axis), anchor)
            axis, anchor = np.array([0.0, 0.0, 1.0]), np.zeros(3)
        parent = int(model.body_weldid[model.body_parentid[body]])
        self.world_link[body] = world
        self.links[body] = Link(
            str(model.body(body).name),
            self.links[parent].name,
            Pose.from_matrix(np.linalg.inv(self.world_link[parent]) @ world),
            LinkJoint(name, {2: "slide", 3: "hinge"}[int(model.jnt_type[j])], axis, anchor, span),
        )

    def _add_inertia(self, body: int, top: int) -> None:
        model, link = self.model, self.links[top]
        mass = float(model.body_mass[body])
        if mass <= 0:
            return
        local = np.linalg.inv(self.world_link[top]) @ self.world_body[body]
        inertial = local @ Pose(model.body_ipos[body], model.body_iquat[body]).matrix()
        rotation, center = inertial[:3, :3], inertial[:3, 3]
        inertia = rotation @ np.diag(model.body_inertia[body]) @ rotation.T
        total = link.mass_kg + mass
        com = (link.mass_kg * link.com_m + mass * center) / total
        link.inertia = link.inertia + _shift(link.mass_kg, link.com_m - com) + inertia + _shift(mass, center - com)
        link.mass_kg, link.com_m = total, com

    def _add_geom(self, geom: int) -> None:
        import mujoco

        model = self.model
        body = int(model.geom_bodyid[geom])
        top = int(model.body_weldid[body])
        link = self.links[top]
        local = np.linalg.inv(self.world_link[top]) @ self.world_geom[geom]
        body_name, name = str(model.body(body).name), str(model.geom(geom).name)
        is_visual = int(model.geom_group[geom]) in _VISUAL_GROUPS
        collides = bool(model.geom_contype[geom] | model.geom_conaffinity[geom])
        wanted = {*self.arm.mesh_collision, *(GRIPPER_PREFIX + b for b in self.gripper.mesh_collision)}
        dropped = {GRIPPER_PREFIX + g for g in self.gripper.drop_geoms}
        collides = collides and name not in dropped and body_name not in wanted
        if body_name in self.arm.drop_bodies:
            return
        kind = int(model.geom_type[geom])
        if kind == mujoco.mjtGeom.mjGEOM_MESH:
            surface = self._surface(geom, local)
            if is_visual:
                link.visuals.append(surface)
                if body_name in wanted:
                    self.mesh_collision.setdefault(body, []).append(surface)
            if collides:
                link.hulls.append(surface)
        elif collides:
            names = {2: "sphere", 3: "capsule", 5: "cylinder", 6: "box"}
            count = {2: 1, 3: 2, 5: 2, 6: 3}[kind]
            size = tuple(float(v) for v in model.geom_size[geom][:count])
            link.primitives.append(Primitive(names[kind], size, Pose.from_matrix(local)))

    def _surface(self, geom: int, local: Array) -> Surface:
        model = self.model
        mesh = int(model.geom_dataid[geom])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        vertices = np.asarray(model.mesh_vert[first : first + count], float) @ local[:3, :3].T + local[:3, 3]
        first, count = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        faces = np.asarray(model.mesh_face[first : first + count], np.int32)
        material = int(model.geom_matid[geom])
        rgba = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
        r, g, b, _ = (float(v) for v in rgba)
        return Surface(vertices, faces, (r, g, b, 1.0))


def _shift(mass: float, offset: Array) -> Array:
    """Return the inertia (3, 3) of a point mass at ``offset``."""
    return np.asarray(mass * (offset @ offset * np.eye(3) - np.outer(offset, offset)))


def _pad_boxes(center: tuple[float, ...], half: tuple[float, ...], axis: int, local: Array) -> list[Primitive]:
    """Split a pad in two along ``axis``; the part nearer the finger tip (larger coordinate) first."""
    boxes = []
    size = np.array(half)
    size[axis] /= 2
    for sign in (1.0, -1.0):
        position = np.array(center)
        position[axis] += sign * size[axis]
        pose = Pose.from_matrix(local @ _matrix(np.eye(3), position))
        boxes.append(Primitive("box", tuple(float(v) for v in size), pose))
    return boxes


def read_links(
    joints: Sequence[str], arm: ArmRecipe, gripper: GripperRecipe, *, arm_folder: Path, gripper_folder: Path
) -> tuple[list[Link], Array]:
    """Return the links of an arm with its gripper, and the approach direction in the last arm link's frame (3,).

    The base comes first, parents before children. The approach direction is the z axis of the gripper's root, out
    of the palm.

    Args:
        joints: Names of the arm's joints.
        arm: How the arm is read.
        gripper: How the gripper is read.
        arm_folder: Where the arm's source folder was extracted to.
        gripper_folder: Where the gripper's was.
    """
    model = _compile(arm, gripper, arm_folder, gripper_folder)
    reader = _Reader(model, joints, arm, gripper)
    return reader.read(), reader.approach()
