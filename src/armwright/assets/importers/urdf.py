"""Read URDF, with the part names of a PartNet-Mobility folder where they lie beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from armwright.assets.build import Rgba
from armwright.assets.importers.files import MESH_FORMATS, find_file
from armwright.assets.importers.primitives import box_mesh, cylinder_mesh, sphere_mesh
from armwright.assets.importers.raw import GREY, RawLink, RawMesh, RawObject, joined
from armwright.assets.importers.report import Notes
from armwright.assets.importers.scenefile import read_any_mesh
from armwright.assets.importers.values import number, numbers
from armwright.assets.model import JointModel
from armwright.core.errors import UsageError, quoted
from armwright.core.pose import Array

_FULL_TURN = (-np.pi, np.pi)
_MOVING = ("revolute", "continuous", "prismatic")
_HELD = ("floating", "planar")


def _origin(element: ElementTree.Element, where: str) -> Array:
    """Return the (4, 4) transform of an element's origin."""
    transform = np.eye(4)
    origin = element.find("origin")
    if origin is not None:
        angles = numbers(origin, "rpy", count=3, where=where, default=(0.0, 0.0, 0.0))
        transform[:3, :3] = Rotation.from_euler("xyz", angles).as_matrix()
        transform[:3, 3] = numbers(origin, "xyz", count=3, where=where, default=(0.0, 0.0, 0.0))
    return transform


def partnet_names(folder: Path) -> dict[str, str]:
    """Return mesh file stem -> part name from a PartNet-Mobility ``result.json``; empty where there is none."""
    path = folder / "result.json"
    if not path.is_file():
        return {}

    def walk(nodes: Any) -> Iterator[tuple[str, str]]:
        for node in nodes if isinstance(nodes, list) else ():
            for mesh in node.get("objs", ()):
                yield str(mesh), str(node.get("name", "part"))
            yield from walk(node.get("children"))

    # Children come after their parents and are more precise.
    return dict(walk(json.loads(path.read_text())))


def partnet_joints(folder: Path) -> dict[str, str]:
    """Return link name -> what it is (``door``, ``drawer`` …) from a PartNet-Mobility ``semantics.txt``."""
    path = folder / "semantics.txt"
    if not path.is_file():
        return {}
    rows = [line.split() for line in path.read_text().splitlines()]
    return {row[0]: row[2] for row in rows if len(row) >= 3}


class _Reader:
    def __init__(self, path: Path, notes: Notes) -> None:
        self.path, self.folder, self.notes = path, path.parent, notes
        self.parts, self.kinds = partnet_names(path.parent), partnet_joints(path.parent)

    def mesh(self, element: ElementTree.Element, link: str) -> RawMesh | None:
        """Return a visual or collision element's triangles in the link's frame."""
        where = f"{self.path}: link {link!r}"
        geometry = element.find("geometry")
        shape = geometry[0] if geometry is not None and len(geometry) else None
        if shape is None:
            return None
        if shape.tag == "mesh":
            mesh = self._mesh_file(shape, element, link, where)
            if mesh is None:
                return None
        elif shape.tag == "box":
            mesh = box_mesh(numbers(shape, "size", count=3, where=where, above=0) / 2)
        elif shape.tag == "cylinder":
            mesh = cylinder_mesh(
                number(shape, "radius", where=where, above=0), number(shape, "length", where=where, above=0) / 2
            )
        elif shape.tag == "sphere":
            mesh = sphere_mesh(number(shape, "radius", where=where, above=0))
        else:
            self.notes.refuse("content", link, f"the shape <{shape.tag}> is not known.")
            return None
        if shape.tag != "mesh":
            mesh = mesh.named("_".join((element.get("name") or self.kinds.get(link) or "body").lower().split()))
        colour = self._colour(element, where)
        if colour is not None:
            mesh = RawMesh(mesh.vertices, mesh.faces, mesh.part, dict.fromkeys(mesh.colours, colour))
        return mesh.moved(_origin(element, where))

    def _mesh_file(
        self, shape: ElementTree.Element, element: ElementTree.Element, link: str, where: str
    ) -> RawMesh | None:
        name = shape.get("filename", "")
        if not name.strip():
            raise UsageError(f"{where}: <mesh> filename is missing; it must name a file.", hint="Correct the file.")
        file = find_file(name, self.folder, self.notes, kind="missing_mesh", where=link)
        if file is None:
            return None
        if file.suffix.lower() not in MESH_FORMATS:
            raise UsageError(
                f"{where}: {quoted(name)} is no mesh file.", hint=f"Known: {', '.join(sorted(MESH_FORMATS))}."
            )
        try:
            mesh = read_any_mesh(file, self.notes)
        except UsageError as error:
            raise UsageError(f"{where}: {error.args[0]}", hint=error.hint) from error
        scale = np.diag([*numbers(shape, "scale", count=3, where=where, default=(1.0, 1.0, 1.0)), 1.0])
        part = self.parts.get(file.stem) or element.get("name") or self.kinds.get(link) or file.stem
        return mesh.moved(scale).named("_".join(str(part).lower().split()))

    @staticmethod
    def _colour(element: ElementTree.Element, where: str) -> Rgba | None:
        colour = element.find("material/color")
        if colour is None:
            return None
        r, g, b, _ = numbers(colour, "rgba", count=4, where=where, default=(*GREY[:3], 1.0))
        return (float(r), float(g), float(b), 1.0)


def _joint(element: ElementTree.Element, transform: Array, notes: Notes, path: Path) -> JointModel | None:
    """Return a joint in the object's frame, None where it does not move."""
    kind, name = element.get("type", ""), element.get("name", "joint")
    where = f"{path}: joint {name!r}"
    if kind == "fixed":
        return None
    if kind in _HELD:
        notes.fix("joint", name, f"joints of type {kind} are not known; it is held fast.")
        return None
    if kind not in _MOVING:
        raise UsageError(
            f"{where} is of the unknown type {quoted(kind)}.", hint=f"Known: fixed, {', '.join((*_MOVING, *_HELD))}."
        )
    axis_element, limit = element.find("axis"), element.find("limit")
    axis = numbers(axis_element, "xyz", count=3, where=where, default=(1.0, 0.0, 0.0))
    ends = [number(limit, end, where=where, default=0.0) for end in ("lower", "upper")]
    if not np.linalg.norm(axis):
        notes.fix("joint", name, "its axis has no length; it is held fast.")
        return None
    low, high = _FULL_TURN
    if kind != "continuous":
        low, high = ends
        if high <= low:
            notes.fix("joint", name, f"its limits {low:g} to {high:g} leave no travel; it is held fast.")
            return None
    direction = transform[:3, :3] @ (axis / np.linalg.norm(axis))
    return JointModel(
        kind="slide" if kind == "prismatic" else "hinge",
        axis=direction,
        anchor_m=transform[:3, 3].copy(),
        range=(low, high),
        damping=0.5,
        frictionloss=0.3,
    )


def _end(joint: ElementTree.Element, which: str) -> str:
    """Return the name of a joint's ``parent`` or ``child`` link, empty where there is none."""
    element = joint.find(which)
    return "" if element is None else element.get("link", "")


def _links_and_joints(
    root: ElementTree.Element, path: Path
) -> tuple[dict[str, ElementTree.Element], dict[str, ElementTree.Element]]:
    """Return the links by name, and the joints by the name of their child.

    Raises:
        UsageError: A link has no name or that of another, or a joint does not hang one link of the file on another.
    """
    links: dict[str, ElementTree.Element] = {}
    for link in root.findall("link"):
        name = link.get("name", "")
        if not name or name in links:
            fault = f"two links are called {name!r}" if name else "a link has no name"
            raise UsageError(f"{path}: {fault}.", hint="Correct the file.")
        links[name] = link
    joints: dict[str, ElementTree.Element] = {}
    for joint in root.findall("joint"):
        where = f"{path}: joint {joint.get('name', '')!r}"
        for which in ("parent", "child"):
            name = _end(joint, which)
            if name not in links:
                fault = f"names the {which} link {quoted(name)}, which is not there" if name else f"has no {which} link"
                raise UsageError(f"{where} {fault}.", hint=f"Links: {', '.join(links) or '(none)'}.")
        child = _end(joint, "child")
        if child in joints:
            raise UsageError(f"{where}: link {child!r} hangs on another joint already.", hint="Correct the file.")
        joints[child] = joint
    return links, joints


def read(path: Path, notes: Notes) -> RawObject:
    """Return a URDF; links that do not move against their parent become part of it.

    Raises:
        UsageError: It is not a URDF, its joints do not make a tree, or a number in it is none.
    """
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except ElementTree.ParseError as error:
        raise UsageError(f"{path} is not XML: {error}.", hint="Export it again.") from error
    if root.tag != "robot":
        raise UsageError(f"{path} is not a URDF: its first element is <{root.tag}>.", hint="Name the .urdf file.")
    reader = _Reader(path, notes)
    elements, joints = _links_and_joints(root, path)
    frame: dict[str, Array] = {}
    owner: dict[str, str] = {}
    moving: dict[str, tuple[str, JointModel]] = {}

    def place(name: str, trail: tuple[str, ...] = ()) -> None:
        if name in frame:
            return
        if name in trail or name not in elements:
            raise UsageError(f"{path}: the joints do not make a tree at link {name!r}.", hint="Correct the file.")
        joint = joints.get(name)
        if joint is None:
            frame[name], owner[name] = np.eye(4), name
            return
        parent = _end(joint, "parent")
        place(parent, (*trail, name))
        frame[name] = frame[parent] @ _origin(joint, f"{path}: joint {joint.get('name', '')!r}")
        model = _joint(joint, frame[name], notes, path)
        owner[name] = owner[parent] if model is None else name
        if model is not None:
            moving[name] = (owner[parent], model)

    for name in elements:
        place(name)
    roots = [name for name in elements if name not in joints]
    if len(roots) != 1:
        raise UsageError(f"{path} has {len(roots)} root links ({', '.join(roots)}).", hint="It must have one.")
    links = []
    for name in (roots[0], *moving):
        visual, collision, mass = [], [], 0.0
        for member in (m for m in elements if owner[m] == name):
            own_visual = [reader.mesh(v, member) for v in elements[member].findall("visual")]
            own_collision = [reader.mesh(c, member) for c in elements[member].findall("collision")]
            visual += [m.moved(frame[member]) for m in own_visual if m is not None]
            collision += [m.moved(frame[member]).vertices for m in own_collision if m is not None and len(m.faces)]
            weight = elements[member].find("inertial/mass")
            mass += max(0.0, number(weight, "value", where=f"{path}: link {member!r}", default=0.0))
        parent, joint_model = moving.get(name, (None, None))
        links.append(RawLink(name, joined(visual), tuple(collision), mass or None, parent, joint_model))
    if len(links) == 1:
        notes.fix("one_link", roots[0], "nothing moves in this URDF: it is a rigid object.")
    return RawObject(tuple(links), 1.0, "z", path.stem if path.stem != "mobility" else path.parent.name)
