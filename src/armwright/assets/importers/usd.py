"""Read USD with usd-core: meshes are parts, rigid bodies links, revolute and prismatic joints joints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from armwright.assets.build import Rgba
from armwright.assets.importers.raw import GREY, RawLink, RawMesh, RawObject, Triangles, joined
from armwright.assets.importers.report import Notes
from armwright.assets.model import JointModel
from armwright.core.errors import MissingDependencyError, UsageError
from armwright.core.pose import Array


def _pxr() -> Any:
    try:
        import pxr
        import pxr.Usd
        import pxr.UsdGeom
        import pxr.UsdPhysics
    except ImportError as error:
        raise MissingDependencyError(
            "reading USD files needs usd-core.", hint="Run: pip install 'armwright[usd]'"
        ) from error
    return pxr


def _triangles(counts: Triangles, indices: Triangles) -> Triangles:
    faces, at = [], 0
    for count in counts:
        corner = indices[at : at + count]
        faces += [(corner[0], corner[k], corner[k + 1]) for k in range(1, count - 1)]
        at += count
    return np.array(faces, np.int64).reshape(-1, 3)


def _matrix(matrix: Any) -> Array:
    return np.array(matrix, float).T


def _colour(mesh: Any) -> Rgba:
    value = mesh.GetDisplayColorAttr().Get()
    if value is None or not len(value):
        return GREY
    r, g, b = (float(v) for v in np.asarray(value, float).reshape(-1, 3).mean(0))
    return (r, g, b, 1.0)


def read(path: Path, notes: Notes) -> RawObject:
    """Return the meshes of a USD stage, in its own unit and up axis.

    Raises:
        MissingDependencyError: usd-core is not installed.
        UsageError: The stage cannot be opened or holds no mesh.
    """
    pxr = _pxr()
    try:
        stage = pxr.Usd.Stage.Open(str(path))
    except Exception as error:  # usd-core raises its own classes for what it cannot parse
        raise UsageError(f"{path} is no USD file, or is damaged.", hint="Export it again, or as GLB.") from error
    cache = pxr.UsdGeom.XformCache()
    bodies: dict[str, list[RawMesh]] = {}
    masses: dict[str, float] = {}
    for prim in stage.Traverse():
        if not prim.IsA(pxr.UsdGeom.Mesh):
            continue
        mesh = pxr.UsdGeom.Mesh(prim)
        points, counts = mesh.GetPointsAttr().Get(), mesh.GetFaceVertexCountsAttr().Get()
        if points is None or counts is None or not len(counts):
            notes.fix("content", str(prim.GetPath()), "has no faces and was left out.")
            continue
        faces = _triangles(np.asarray(counts, int), np.asarray(mesh.GetFaceVertexIndicesAttr().Get(), int))
        if mesh.GetOrientationAttr().Get() == "leftHanded":
            faces = faces[:, ::-1]
        name = prim.GetName().lower()
        raw = RawMesh(np.asarray(points, float), faces, np.full(len(faces), name), {name: _colour(mesh)})
        body = prim
        while (
            body and not body.HasAPI(pxr.UsdPhysics.RigidBodyAPI) and body.GetPath() != body.GetPath().absoluteRootPath
        ):
            body = body.GetParent()
        key = str(body.GetPath()) if body and body.HasAPI(pxr.UsdPhysics.RigidBodyAPI) else ""
        bodies.setdefault(key, []).append(raw.moved(_matrix(cache.GetLocalToWorldTransform(prim))))
        if key and body.HasAPI(pxr.UsdPhysics.MassAPI):
            masses[key] = float(pxr.UsdPhysics.MassAPI(body).GetMassAttr().Get() or 0.0)
    if not bodies:
        raise UsageError(
            f"{path} holds no mesh.", hint="References may be unresolved: import the file with the meshes."
        )
    joints = _joints(pxr, stage, cache, bodies, notes)
    fixed_to_root = [key for key in bodies if key not in joints]
    root = fixed_to_root[0]
    links = [
        RawLink("base", joined([mesh for key in fixed_to_root for mesh in bodies[key]]), (),
                sum(masses.get(key, 0.0) for key in fixed_to_root) or None)
    ]  # fmt: skip
    names = {key: "base" if key in fixed_to_root else key.rsplit("/", 1)[-1].lower() for key in bodies}
    for key, (parent, joint) in joints.items():
        links.append(
            RawLink(names[key], joined(bodies[key]), (), masses.get(key) or None, names.get(parent, names[root]), joint)
        )
    up = "y" if pxr.UsdGeom.GetStageUpAxis(stage) == "Y" else "z"
    return RawObject(tuple(links), float(pxr.UsdGeom.GetStageMetersPerUnit(stage)), up, path.stem)  # type: ignore[arg-type]


def _joints(
    pxr: Any, stage: Any, cache: Any, bodies: dict[str, list[RawMesh]], notes: Notes
) -> dict[str, tuple[str, JointModel]]:
    """Return the joint that each moving body hangs on, with its parent's path."""
    joints: dict[str, tuple[str, JointModel]] = {}
    for prim in stage.Traverse():
        revolute, prismatic = prim.IsA(pxr.UsdPhysics.RevoluteJoint), prim.IsA(pxr.UsdPhysics.PrismaticJoint)
        if not (revolute or prismatic):
            if prim.IsA(pxr.UsdPhysics.Joint) and not prim.IsA(pxr.UsdPhysics.FixedJoint):
                notes.fix(
                    "joint", str(prim.GetPath()), f"joints of type {prim.GetTypeName()} are not known; held fast."
                )
            continue
        joint = (pxr.UsdPhysics.RevoluteJoint if revolute else pxr.UsdPhysics.PrismaticJoint)(prim)
        parents, children = joint.GetBody0Rel().GetTargets(), joint.GetBody1Rel().GetTargets()
        child = str(children[0]) if children else ""
        if child not in bodies:
            notes.fix("joint", str(prim.GetPath()), "moves no body that has a mesh; it was left out.")
            continue
        body = stage.GetPrimAtPath(child)
        world = _matrix(cache.GetLocalToWorldTransform(body))
        local = joint.GetLocalPos1Attr().Get()
        rotation = joint.GetLocalRot1Attr().Get()
        q = np.array([1.0, 0, 0, 0]) if rotation is None else np.array([rotation.GetReal(), *rotation.GetImaginary()])
        axis = np.eye(3)["XYZ".index(joint.GetAxisAttr().Get() or "X")]
        axis = axis + 2 * np.cross(q[1:], np.cross(q[1:], axis) + q[0] * axis)
        low, high = joint.GetLowerLimitAttr().Get(), joint.GetUpperLimitAttr().Get()
        low, high = (-180.0 if low is None else float(low)), (180.0 if high is None else float(high))
        scale = np.pi / 180.0 if revolute else 1.0
        if not (np.isfinite([low, high]).all() and high > low):
            low, high = (-180.0, 180.0) if revolute else (0.0, 1.0)
        direction = world[:3, :3] @ axis
        anchor = world @ np.array([*(local if local is not None else (0.0, 0.0, 0.0)), 1.0])
        model = JointModel(
            kind="hinge" if revolute else "slide",
            axis=direction / np.linalg.norm(direction),
            anchor_m=anchor[:3],
            range=(low * scale, high * scale),
            damping=0.5,
            frictionloss=0.3,
        )
        joints[child] = (str(parents[0]) if parents else "", model)
    return joints
