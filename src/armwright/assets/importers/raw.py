"""What a file holds before it is mended: triangles with part names, links, joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armwright.assets.build import Rgba
from armwright.assets.model import JointModel
from armwright.core.pose import Array

GREY: Rgba = (0.6, 0.6, 0.62, 1.0)
Triangles = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RawMesh:
    """Triangles as they were read.

    Attributes:
        vertices: (n, 3) float, in the file's unit.
        faces: (m, 3) int.
        part: (m,) str, the part each face belongs to.
        colours: Colour per part.
    """

    vertices: Array
    faces: Triangles
    part: NDArray[np.str_]
    colours: Mapping[str, Rgba] = field(default_factory=dict)

    def moved(self, transform: Array) -> RawMesh:
        """Return the mesh under a (4, 4) transform; a mirror keeps faces counter-clockwise."""
        vertices = self.vertices @ transform[:3, :3].T + transform[:3, 3]
        faces = self.faces[:, ::-1] if np.linalg.det(transform[:3, :3]) < 0 else self.faces
        return replace(self, vertices=vertices, faces=faces)

    def named(self, part: str) -> RawMesh:
        """Return the mesh as one part; its colour is that of most faces."""
        names, count = np.unique(self.part, return_counts=True)
        colour = self.colours.get(str(names[np.argmax(count)]), GREY) if len(names) else GREY
        return replace(self, part=np.full(len(self.faces), part), colours={part: colour})


def joined(meshes: Sequence[RawMesh]) -> RawMesh:
    """Return several meshes as one."""
    if not meshes:
        return RawMesh(np.zeros((0, 3)), np.zeros((0, 3), np.int64), np.zeros(0, dtype="<U1"))
    starts = np.cumsum([0, *[len(m.vertices) for m in meshes]])
    colours: dict[str, Rgba] = {}
    for mesh in meshes:
        colours.update(mesh.colours)
    return RawMesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.faces + start for m, start in zip(meshes, starts, strict=False)]),
        np.concatenate([m.part for m in meshes]),
        colours,
    )


@dataclass(frozen=True, eq=False)
class RawLink:
    """A link, all geometry in the object's frame with joints at 0.

    Attributes:
        name: Its name in the file.
        mesh: What is seen.
        collision: Convex pieces the file gives, (k, 3) float each.
        mass_kg: As the file says, or None.
        parent, joint: As in ``LinkModel``; lengths in the file's unit.
    """

    name: str
    mesh: RawMesh
    collision: tuple[Array, ...] = ()
    mass_kg: float | None = None
    parent: str | None = None
    joint: JointModel | None = None


@dataclass(frozen=True, eq=False)
class RawObject:
    """What a reader returns.

    Attributes:
        links: Root first.
        unit_m: Length of the file's unit where the format or file says it, else None.
        up: Which axis points up in the file.
        name: Name the file suggests.
    """

    links: tuple[RawLink, ...]
    unit_m: float | None
    up: Literal["y", "z"]
    name: str
