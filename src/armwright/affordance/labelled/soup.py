"""Objects as triangles that know which regions they belong to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.concepts import vocabulary
from armwright.assets.library import default_library
from armwright.assets.model import LinkModel, ObjectModel
from armwright.core.pose import Array
from armwright.core.task import REGIONS

Bits = NDArray[np.int32]
"""Bit k is set where the k-th region of the published list is meant."""

OPEN_SHARE = 0.4
"""Share of articulated objects that are shown with a drawer or door somewhere along its travel."""


@dataclass(frozen=True, eq=False)
class Soup:
    """Triangles of one object in its own frame.

    Attributes:
        category: Category of the body.
        triangles_m: (m, 3, 3) float [m].
        regions: (m,) bits of the regions that each triangle belongs to.
        parts: (m,) part names.
        present: Bits of the regions that the object has.
        judged: Bits of the regions that are known to be there or known not to be.
    """

    category: str
    triangles_m: Array
    regions: Bits
    parts: NDArray[np.str_]
    present: int
    judged: int

    @property
    def extent_m(self) -> Array:
        """Size along x, y, z [m]."""
        points = self.triangles_m.reshape(-1, 3)
        return np.asarray(np.ptp(points, axis=0))

    def with_triangles(self, triangles_m: Array) -> Soup:
        """Return the same labels on moved triangles."""
        return replace(self, triangles_m=triangles_m)


def bits_of(names: frozenset[str]) -> int:
    """Return the bits of these regions."""
    return sum(1 << k for k, region in enumerate(REGIONS) if region in names)


def judged_bits(category: str, names: frozenset[str]) -> int:
    """Return the bits of the regions that a category says something about, by listing them or by lacking them."""
    bits = bits_of(names)
    for k, one in enumerate(vocabulary().concepts):
        if one.judges_absence(category, names):  # type: ignore[arg-type]
            bits |= 1 << k
    return bits


def soup_of(model: ObjectModel, *, rng: np.random.Generator | None = None) -> Soup:
    """Return an object's triangles with the regions they belong to.

    Args:
        model: The object.
        rng: Moves drawers and doors of some objects, and takes some loose lids off; None leaves all closed.
    """
    opened = rng is not None and rng.random() < OPEN_SHARE
    meshes: list[Array] = []
    parts: list[NDArray[np.str_]] = []
    for link in model.links:
        if opened and rng is not None and link.parent is not None and link.joint is None and rng.random() < 0.5:
            continue
        triangles = link.vertices_m[link.faces]
        if opened and rng is not None and link.joint is not None:
            triangles = _moved(triangles, link, float(rng.random()) * float(rng.integers(0, 2)))
        meshes.append(triangles)
        parts.append(np.asarray(link.part_names)[link.face_part])
    part = np.concatenate(parts)
    names = frozenset(model.regions)
    bits = np.zeros(len(part), np.int32)
    for k, region in enumerate(REGIONS):
        if region in names:
            bits |= np.isin(part, model.regions[region]).astype(np.int32) << k
    present = int(np.bitwise_or.reduce(bits))
    # What was taken off with its lid is neither there nor known to be missing in this category.
    judged = judged_bits(model.category, names) & ~(bits_of(names) & ~present)
    return Soup(model.category, np.concatenate(meshes), bits, part, present, judged)


def library_soup(category: str, instance: int, *, rng: np.random.Generator | None = None) -> Soup:
    """Return the triangles of an object of the library."""
    return soup_of(default_library().build(category, instance=instance), rng=rng)


def _moved(triangles_m: Array, link: LinkModel, share: float) -> Array:
    joint = link.joint
    assert joint is not None
    low, high = joint.range
    value = share * (high if abs(high) >= abs(low) else low)
    axis, anchor = np.asarray(joint.axis, float), np.asarray(joint.anchor_m, float)
    if joint.kind == "slide":
        return np.asarray(triangles_m + value * axis)
    c, s = np.cos(value), np.sin(value)
    v = triangles_m - anchor
    turned = c * v + s * np.cross(np.broadcast_to(axis, v.shape), v) + (1 - c) * (v @ axis)[..., None] * axis
    return np.asarray(turned + anchor)
