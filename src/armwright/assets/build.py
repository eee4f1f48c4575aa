"""Build a link by adding and cutting solids while remembering which part every face came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armwright.assets.hulls import on_four_feet
from armwright.assets.model import JointModel, LinkModel
from armwright.core.errors import ArmwrightError
from armwright.core.pose import Array

Rgba = tuple[float, float, float, float]

SIMPLIFY_M = 1e-5
"""Edges that move the surface by less than this are collapsed; far below what a camera or a finger notices."""


class BuildError(ArmwrightError):
    """A category's solids do not make a sound link: a defect of the category, not of its caller."""


class LinkBuilder:
    """CSG on labelled solids.

    A solid that is added gives its part name to its faces, a solid that is cut out gives its name to the faces of the
    hollow it leaves. Add what sticks out first (bodies, handles, spouts), cut cavities last, so that nothing pokes
    into them.
    """

    def __init__(self, name: str = "base") -> None:
        self.name = name
        self._solid: Any = None
        self._part_of: dict[int, str] = {}
        self._hulls: list[Array] = []
        self._hull_part: list[str] = []

    def add(self, part: str, solid: Any, *, hulls: Iterable[ArrayLike] = ()) -> LinkBuilder:
        """Unite with a solid whose faces belong to ``part``; ``hulls`` are its collision hulls, (k, 3) float each."""
        labelled = self._label(part, solid)
        self._solid = labelled if self._solid is None else self._solid + labelled
        return self.collide(part, hulls)

    def cut(self, part: str, solid: Any) -> LinkBuilder:
        """Remove a solid; the faces it leaves behind belong to ``part``."""
        self._solid = self._solid - self._label(part, solid)
        return self

    def collide(self, part: str, hulls: Iterable[ArrayLike]) -> LinkBuilder:
        """Add collision hulls, (k, 3) float each, that contacts report as ``part``."""
        for hull in hulls:
            self._hulls.append(np.asarray(hull, float))
            self._hull_part.append(part)
        return self

    def link(
        self,
        *,
        colours: Mapping[str, Rgba],
        density_kg_m3: float | None = None,
        mass_kg: float | None = None,
        parent: str | None = None,
        joint: JointModel | None = None,
    ) -> LinkModel:
        """Return the finished link.

        Args:
            colours: Colour per part; ``*`` colours the parts that are not named.
            density_kg_m3: Mass follows from the volume of the closed mesh, unless ``mass_kg`` is given.
            mass_kg: Mass of the link.
            parent: Parent link.
            joint: Joint to the parent.

        Raises:
            BuildError: The solid is empty, or neither density nor mass is given.
        """
        solid = self._solid.simplify(SIMPLIFY_M)
        mesh = solid.to_mesh64()
        if solid.is_empty() or (density_kg_m3 is None and mass_kg is None):
            raise BuildError(f"link {self.name!r} has no volume or neither a density nor a mass.")
        faces = np.array(mesh.tri_verts, dtype=np.int64, order="C")
        vertices = np.array(mesh.vert_properties[:, :3], dtype=float, order="C")
        merge_from, merge_to = np.asarray(mesh.merge_from_vert, int), np.asarray(mesh.merge_to_vert, int)
        if len(merge_from):
            target = np.arange(len(vertices))
            target[merge_from] = merge_to
            used, inverse = np.unique(target[faces], return_inverse=True)
            faces, vertices = inverse.reshape(faces.shape), vertices[used]
        ground = float(vertices[:, 2].min())
        names: dict[str, int] = {}
        face_part = np.empty(len(faces), dtype=np.int32)
        run = np.asarray(mesh.run_index, int) // 3
        for start, stop, original in zip(run[:-1], run[1:], mesh.run_original_id, strict=True):
            part = self._part_of[int(original)]
            face_part[start:stop] = names.setdefault(part, len(names))
        return LinkModel(
            name=self.name,
            vertices_m=vertices,
            faces=np.ascontiguousarray(faces, dtype=np.int32),
            part_names=tuple(names),
            face_part=face_part,
            part_rgba={part: colours[part] if part in colours else colours["*"] for part in names},
            hulls=tuple(on_four_feet(hull, ground) for hull in self._hulls),
            hull_part=tuple(self._hull_part),
            mass_kg=float(mass_kg if mass_kg is not None else (density_kg_m3 or 0.0) * solid.volume()),
            parent=parent,
            joint=joint,
        )

    @property
    def volume_m3(self) -> float:
        """Volume of what is built so far [m^3]."""
        return float(self._solid.volume())

    def _label(self, part: str, solid: Any) -> Any:
        if solid.is_empty():
            raise BuildError(f"part {part!r} of link {self.name!r} is an empty solid.")
        labelled = solid.as_original()
        self._part_of[int(labelled.original_id())] = part
        return labelled
