"""Write the baked arm as one self-contained MJCF folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from armwright.core.pose import Array, Pose
from armwright.robots import meshes
from armwright.robots.links import BASE, GRIPPER_PREFIX, Link, Primitive, Surface
from armwright.robots.recipe import ArmRecipe, Cut, GripperRecipe
from armwright.robots.spec import RobotSpec

TOOL_SITE = "tool"
WRIST_CAMERA = "wrist"
_VISUAL_GROUP = "2"
_COLLISION_GROUP = "3"


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{float(v):.7g}" for v in values)


def _place(element: ET.Element, pose: Pose) -> None:
    if np.abs(pose.position_m).max() > 1e-9:
        element.set("pos", _numbers(pose.position_m))
    if abs(pose.quat_wxyz[0] - 1) > 1e-12:
        element.set("quat", _numbers(pose.quat_wxyz))


def collision_pieces(link: Link, cuts: Sequence[Cut], *, split: int) -> list[Array]:
    """Return the vertices (k, 3) of the simplified convex pieces that a link's collision meshes become."""
    pieces = list(link.hulls)
    if split > 1:
        pieces = [part for piece in pieces for part in meshes.split_convex(piece, pieces=split)]
    for plane in (c for c in cuts if c.body == link.name):
        sides = {"both": (True, False), "above": (True,), "below": (False,)}[plane.keep]
        halves = [meshes.cut(p, axis=plane.axis, at_m=plane.at_m, above=above) for p in pieces for above in sides]
        pieces = [half for half in halves if half is not None]
    return [meshes.simple_hull(piece.vertices_m) for piece in pieces]


class _Writer:
    def __init__(
        self,
        spec: RobotSpec,
        arm: ArmRecipe,
        gripper: GripperRecipe,
        hulls: Mapping[str, Sequence[Array]],
        folder: Path,
    ) -> None:
        self.spec, self.arm, self.gripper, self.hulls, self.folder = spec, arm, gripper, hulls, folder
        self.root = ET.Element("mujoco", model=spec.name)
        ET.SubElement(self.root, "compiler", angle="radian", meshdir="meshes", autolimits="true")
        ET.SubElement(self.root, "option", timestep="0.002", integrator="implicitfast", cone="elliptic", impratio="10")
        self._defaults()
        self.asset = ET.SubElement(self.root, "asset")
        self.world = ET.SubElement(self.root, "worldbody")
        self.bodies: dict[str, ET.Element] = {}

    def _defaults(self) -> None:
        name = self.spec.name
        top = ET.SubElement(ET.SubElement(self.root, "default"), "default", {"class": name})
        visual = ET.SubElement(top, "default", {"class": f"{name}_visual"})
        ET.SubElement(visual, "geom", type="mesh", group=_VISUAL_GROUP, contype="0", conaffinity="0", density="0")
        collision = ET.SubElement(top, "default", {"class": f"{name}_collision"})
        ET.SubElement(collision, "geom", group=_COLLISION_GROUP, density="0", rgba="0.9 0.5 0.2 0.6")
        pad = ET.SubElement(top, "default", {"class": f"{name}_pad"})
        ET.SubElement(
            pad,
            "geom",
            type="box",
            group=_COLLISION_GROUP,
            density="0",
            condim="4",
            friction="1.5 0.02 0.0001",
            priority="1",
            solref="0.004 1",
            solimp="0.95 0.99 0.001",
            rgba="0.2 0.4 0.9 0.6",
        )

    def add_link(self, link: Link, surfaces: Sequence[Surface]) -> None:
        """Write one link with its geometry; ``surfaces`` are its decimated visuals."""
        parent = self.world if link.parent is None else self.bodies[link.parent]
        body = ET.SubElement(parent, "body", name=link.name, gravcomp="1")
        if link.parent is None:
            body.set("childclass", self.spec.name)
        _place(body, link.pose_parent_link)
        self.bodies[link.name] = body
        if link.mass_kg > 0:
            i = link.inertia
            ET.SubElement(
                body,
                "inertial",
                pos=_numbers(link.com_m),
                mass=_numbers([link.mass_kg]),
                fullinertia=_numbers([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]),
            )
        if link.joint is not None:
            self._add_joint(body, link)
        for k, surface in enumerate(surfaces):
            mesh = f"{link.name}_{k}"
            meshes.write_stl(self.folder / "meshes" / f"{mesh}.stl", surface.vertices_m, surface.faces)
            ET.SubElement(self.asset, "mesh", name=mesh, file=f"{mesh}.stl", inertia="shell")
            ET.SubElement(body, "geom", {"class": f"{self.spec.name}_visual"}, mesh=mesh, rgba=_numbers(surface.rgba))
        for k, points in enumerate(self.hulls[link.name]):
            name = f"{link.name}_hull_{k}"
            ET.SubElement(self.asset, "mesh", name=name, vertex=_numbers(points.ravel()))
            ET.SubElement(body, "geom", {"class": f"{self.spec.name}_collision"}, name=name, type="mesh", mesh=name)
        for k, shape in enumerate(link.primitives):
            self._add_primitive(body, shape, f"{link.name}_shape_{k}", f"{self.spec.name}_collision")
        for side, boxes in link.pads.items():
            for k, shape in enumerate(boxes):
                self._add_primitive(body, shape, f"{side}_pad_{k + 1}", f"{self.spec.name}_pad")

    def _add_primitive(self, body: ET.Element, shape: Primitive, name: str, kind: str) -> None:
        geom = ET.SubElement(body, "geom", {"class": kind}, name=name, type=shape.kind, size=_numbers(shape.size_m))
        _place(geom, shape.pose_link_geom)

    def _add_joint(self, body: ET.Element, link: Link) -> None:
        joint = link.joint
        assert joint is not None
        arm, gripper, spec = self.arm, self.gripper, self.spec
        if joint.name in spec.joints:
            k = spec.joints.index(joint.name)
            span, armature, damping = spec.limits_rad[k], arm.armature[k], arm.damping
        else:
            source = joint.name.removeprefix(GRIPPER_PREFIX)
            factor = 1.0 if source == gripper.driver else gripper.couple[source]
            low, high = sorted(factor * v for v in gripper.driver_range)
            # The equality holds coupled joints in place; their own stops would fight its softness.
            margin = 0.0 if source == gripper.driver else 0.1 * (high - low)
            span = (low - margin, high + margin)
            armature, damping = gripper.armature, gripper.damping
        element = ET.SubElement(
            body,
            "joint",
            name=joint.name,
            type=joint.kind,
            axis=_numbers(joint.axis),
            range=_numbers(span),
            armature=_numbers([armature]),
            damping=_numbers([damping]),
        )
        if np.abs(joint.anchor_m).max() > 1e-9:
            element.set("pos", _numbers(joint.anchor_m))

    def add_drive(self) -> None:
        """Write actuators and the coupling of the fingers."""
        actuators = ET.SubElement(self.root, "actuator")
        spec, arm, gripper = self.spec, self.arm, self.gripper
        for k, joint in enumerate(spec.joints):
            ET.SubElement(
                actuators,
                "position",
                name=joint,
                joint=joint,
                kp=_numbers([arm.kp[k]]),
                dampratio=_numbers([arm.dampratio]),
                ctrlrange=_numbers(spec.limits_rad[k]),
                forcerange=_numbers([-arm.torque_nm[k], arm.torque_nm[k]]),
            )
        driver = GRIPPER_PREFIX + gripper.driver
        ET.SubElement(
            actuators,
            "position",
            name=spec.gripper.actuator,
            joint=driver,
            kp=_numbers([gripper.kp]),
            dampratio=_numbers([gripper.dampratio]),
            ctrlrange=_numbers(gripper.driver_range),
            forcerange=_numbers([-gripper.force, gripper.force]),
        )
        equalities = ET.SubElement(self.root, "equality")
        for joint, factor in gripper.couple.items():
            ET.SubElement(
                equalities,
                "joint",
                joint1=GRIPPER_PREFIX + joint,
                joint2=driver,
                polycoef=_numbers([0, factor, 0, 0, 0]),
                solref="0.004 1",
                solimp="0.99 0.999 0.0001",
            )

    def add_excludes(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Write pairs of bodies that never collide."""
        contact = ET.SubElement(self.root, "contact")
        for one, other in pairs:
            ET.SubElement(contact, "exclude", body1=one, body2=other)

    def add_tool(self, link: str, pose_link_tool: Pose) -> None:
        """Write the tool site and the wrist camera on a link."""
        site = ET.SubElement(self.bodies[link], "site", name=TOOL_SITE, size="0.004", group="4")
        _place(site, pose_link_tool)
        values = self.spec.wrist_camera
        pose = pose_link_tool @ Pose(np.array(values[:3]), np.array(values[3:]))
        flipped = pose @ Pose(quat_wxyz=np.array([0.0, 1.0, 0.0, 0.0]))  # MuJoCo's cameras look along -z, y up
        camera = ET.SubElement(
            self.bodies[link], "camera", name=WRIST_CAMERA, fovy=_numbers([self.spec.wrist_camera_fovy_deg])
        )
        _place(camera, flipped)

    def write(self) -> Path:
        """Write ``robot.xml`` and return its path."""
        ET.indent(self.root)
        path = self.folder / "robot.xml"
        path.write_bytes(ET.tostring(self.root) + b"\n")
        return path


def decimated_visuals(links: Sequence[Link], faces: int) -> dict[str, list[Surface]]:
    """Return the visual surfaces per link, merged by colour and reduced to ``faces`` triangles in all."""
    merged = [(link.name, meshes.weld(s)) for link in links for s in meshes.merge_by_colour(link.visuals)]
    shares = meshes.face_budget([s for _, s in merged], faces)
    result: dict[str, list[Surface]] = {link.name: [] for link in links}
    for (name, surface), share in zip(merged, shares, strict=True):
        result[name].append(meshes.decimate(surface, share))
    return result


def collision_hulls(links: Sequence[Link], arm: ArmRecipe, gripper: GripperRecipe) -> dict[str, list[Array]]:
    """Return the collision hulls per link; only the arm's own links are split into several."""
    cuts = (*arm.cuts, *gripper.cuts)
    return {
        link.name: collision_pieces(link, cuts, split=1 if link.name.startswith(GRIPPER_PREFIX) else arm.convex_pieces)
        for link in links
    }


def write_robot(
    folder: Path,
    links: Sequence[Link],
    visuals: Mapping[str, Sequence[Surface]],
    hulls: Mapping[str, Sequence[Array]],
    spec: RobotSpec,
    arm: ArmRecipe,
    gripper: GripperRecipe,
    *,
    excludes: Iterable[tuple[str, str]] = (),
    pose_link_tool: Pose | None = None,
) -> Path:
    """Write ``robot.xml`` and its meshes into ``folder`` and return the path of the XML.

    Args:
        folder: Existing folder.
        links: From :func:`armwright.robots.links.read_links`.
        visuals: From :func:`decimated_visuals`.
        hulls: From :func:`collision_hulls`.
        spec: The arm's spec.
        arm: Servo constants and cuts.
        gripper: Finger coupling, pads and cuts.
        excludes: Pairs of bodies that never collide.
        pose_link_tool: Tool frame in the last arm link; left out while it is not known.
    """
    (folder / "meshes").mkdir(exist_ok=True)
    writer = _Writer(spec, arm, gripper, hulls, folder)
    for link in links:
        writer.add_link(link, visuals[link.name])
    writer.add_drive()
    writer.add_excludes(excludes)
    if pose_link_tool is not None:
        last = next(link.name for link in links if link.joint is not None and link.joint.name == spec.joints[-1])
        writer.add_tool(last, pose_link_tool)
    return writer.write()


__all__ = ["BASE", "TOOL_SITE", "WRIST_CAMERA", "collision_hulls", "decimated_visuals", "write_robot"]
