"""Read MJCF by MuJoCo's own compiler: bodies are links, geoms are parts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from armwright.assets.importers.primitives import box_mesh, capsule_mesh, cylinder_mesh, ellipsoid_mesh, sphere_mesh
from armwright.assets.importers.raw import RawLink, RawMesh, RawObject, joined
from armwright.assets.importers.report import Notes
from armwright.assets.model import JointModel
from armwright.core.errors import UsageError, in_one_line, quoted
from armwright.core.pose import Array

_NUMERIC = {
    *("armature", "axis", "axisangle", "damping", "density", "diaginertia", "euler", "frictionloss", "fromto"),
    *("fullinertia", "mass", "pos", "quat", "range", "ref", "rgba", "scale", "size", "vertex", "xyaxes", "zaxis"),
}
_NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)")


def _transform(position: Array, matrix: Array) -> Array:
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = np.asarray(matrix).reshape(3, 3), position
    return transform


def _shape(model: Any, geom: int, notes: Notes, where: str) -> RawMesh | None:
    """Return a geom's triangles in its own frame."""
    import mujoco

    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    types = mujoco.mjtGeom
    if kind == types.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        start, number = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        faces = np.array(model.mesh_face[start : start + number], np.int64)
        return RawMesh(np.array(model.mesh_vert[first : first + count], float), faces, np.full(number, "body"), {})
    if kind == types.mjGEOM_BOX:
        return box_mesh(size)
    if kind == types.mjGEOM_SPHERE:
        return sphere_mesh(float(size[0]))
    if kind == types.mjGEOM_CYLINDER:
        return cylinder_mesh(float(size[0]), float(size[1]))
    if kind == types.mjGEOM_CAPSULE:
        return capsule_mesh(float(size[0]), float(size[1]))
    if kind == types.mjGEOM_ELLIPSOID:
        return ellipsoid_mesh(size)
    notes.fix("content", where, "planes and height fields are no part of an object; it was left out.")
    return None


def _name(model: Any, kind: int, index: int, default: str) -> str:
    import mujoco

    return "_".join((mujoco.mj_id2name(model, kind, index) or default).lower().split())


def _check_finite(path: Path) -> None:
    """Refuse numbers that are none: MuJoCo takes them for values left out.

    Raises:
        UsageError: There is one.
    """
    for element in ElementTree.fromstring(path.read_bytes()).iter():
        for name, text in element.attrib.items():
            if name in _NUMERIC and any(_NO_NUMBER.fullmatch(word.lower()) for word in text.split()):
                label = element.get("name")
                raise UsageError(
                    f"{path}: <{element.tag}>{f' {label!r}' if label else ''} {name} is {quoted(text)}; "
                    "it must be of finite numbers.",
                    hint="Correct the file.",
                )


def read(path: Path, notes: Notes) -> RawObject:
    """Return an MJCF file; bodies that do not move against their parent become part of it.

    Raises:
        UsageError: MuJoCo cannot compile it, or it holds no geometry.
    """
    import mujoco

    try:
        spec = mujoco.MjSpec.from_file(str(path))
        # Geoms without contacts are what is seen; a compiler that drops them would leave hulls alone.
        spec.compiler.discardvisual = False
        model = spec.compile()
    except ValueError as error:
        missing = "Error opening file" in str(error) or "not found" in str(error).lower()
        raise UsageError(
            f"{path} cannot be compiled: {in_one_line(error)}.",
            hint="Put the files it names beside it." if missing else "Correct the file.",
        ) from error
    _check_finite(path)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    bodies = list(range(1, model.nbody))
    owner, joint_of = {0: 0}, {}
    for body in bodies:
        parent = int(model.body_parentid[body])
        number, first = int(model.body_jntnum[body]), int(model.body_jntadr[body])
        kinds = [int(model.jnt_type[first + k]) for k in range(number)]
        known = kinds in ([mujoco.mjtJoint.mjJNT_HINGE], [mujoco.mjtJoint.mjJNT_SLIDE])
        if kinds and not known and kinds != [mujoco.mjtJoint.mjJNT_FREE]:
            notes.fix("joint", _name(model, mujoco.mjtObj.mjOBJ_BODY, body, "body"),
                      f"{number} joints of which one is known at most; it is held fast.")  # fmt: skip
        owner[body] = body if known and owner[parent] else owner[parent] or body
        if owner[body] == body and known and owner[parent]:
            joint_of[body] = first
    roots = {owner[b] for b in bodies if b not in joint_of and owner[b] == b}
    if len(roots) > 1:
        names = ", ".join(_name(model, mujoco.mjtObj.mjOBJ_BODY, b, "body") for b in sorted(roots))
        raise UsageError(f"{path} holds {len(roots)} objects ({names}).", hint="Import a file with one.")
    if not roots:
        if not model.ngeom:
            raise UsageError(f"{path} holds no geometry.", hint="Name a file with an object.")
        roots = {0}
    root = roots.pop()
    links = []
    for body in (root, *joint_of):
        members = [b for b in [0, *bodies] if owner[b] == body] if body else [0]
        seen: list[RawMesh] = []
        solid: list[RawMesh] = []
        mass = 0.0
        for member in members:
            mass += float(model.body_mass[member])
            for geom in range(
                int(model.body_geomadr[member]), int(model.body_geomadr[member]) + int(model.body_geomnum[member])
            ):
                where = _name(model, mujoco.mjtObj.mjOBJ_GEOM, geom, f"geom_{geom}")
                mesh = _shape(model, geom, notes, where)
                if mesh is None:
                    continue
                part = _name(
                    model, mujoco.mjtObj.mjOBJ_GEOM, geom, _name(model, mujoco.mjtObj.mjOBJ_BODY, member, "body")
                )
                r, g, b, _ = (float(v) for v in model.geom_rgba[geom])
                mesh = mesh.moved(_transform(data.geom_xpos[geom], data.geom_xmat[geom])).named(part)
                mesh = RawMesh(mesh.vertices, mesh.faces, mesh.part, {part: (r, g, b, 1.0)})
                collides = bool(model.geom_contype[geom] or model.geom_conaffinity[geom])
                (solid if collides else seen).append(mesh)
        above = owner[int(model.body_parentid[body])] if body in joint_of else None
        links.append(
            RawLink(
                _name(model, mujoco.mjtObj.mjOBJ_BODY, body, "base"),
                joined(seen or solid),
                tuple(mesh.vertices for mesh in solid),
                mass or None,
                None if above is None else _name(model, mujoco.mjtObj.mjOBJ_BODY, above, "base"),
                _joint(model, data, joint_of[body]) if body in joint_of else None,
            )
        )
    return RawObject(tuple(links), 1.0, "z", path.stem)


def _joint(model: Any, data: Any, joint: int) -> JointModel:
    import mujoco

    slide = int(model.jnt_type[joint]) == mujoco.mjtJoint.mjJNT_SLIDE
    low, high = (float(v) for v in model.jnt_range[joint]) if model.jnt_limited[joint] else (-np.pi, np.pi)
    return JointModel(
        kind="slide" if slide else "hinge",
        axis=np.array(data.xaxis[joint], float),
        anchor_m=np.array(data.xanchor[joint], float),
        range=(low, high),
        damping=0.5,
        frictionloss=0.3,
    )
