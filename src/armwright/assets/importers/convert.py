"""Turn what a reader returned into an object of the library: unit, up axis, place, closed links, hulls, mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from armwright.assets.importers.decompose import MAX_HULLS, at_least_thick, convex_pieces
from armwright.assets.importers.mend import Shell, closed_shells
from armwright.assets.importers.raw import GREY, RawLink, RawObject
from armwright.assets.importers.regions import guess_regions
from armwright.assets.importers.report import Notes
from armwright.assets.importers.surfaces import Cavity, find_cavity, find_support, hulls_fill
from armwright.assets.model import Container, JointModel, LinkModel, ObjectModel, SupportSurface
from armwright.core.pose import Array

UnitName = Literal["auto", "m", "cm", "mm", "in"]
UNITS_M: Mapping[str, float] = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
SMALLEST_M, LARGEST_M = 0.008, 2.5
_USUAL_M = (0.02, 1.2)
_FILL_KG_M3 = 900.0
"""Mean density of what household things are made of."""
_HEAVIEST_KG = 60.0
_MOST_FACES = 60_000
INTERIOR = "interior"
"""Name of the part that lines a cavity."""
_Y_UP = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])


def scale_of(raw: RawObject, unit: UnitName, size_m: float | None, notes: Notes) -> float | None:
    """Return metres per file unit, None after refusing."""
    points = [link.mesh.vertices for link in raw.links if len(link.mesh.vertices)]
    if not points:
        notes.refuse("content", "", "there are no triangles in it.")
        return None
    extent = float(np.ptp(np.concatenate(points), axis=0).max())
    if not np.isfinite(extent) or extent <= 0:
        notes.refuse("scale", "", f"its extent is {extent:g}; it needs one above 0.")
        return None
    if size_m is not None:
        notes.fix("scale", "", f"scaled by {size_m / extent:.4g} to a largest extent of {size_m:g} m, as asked.")
        return size_m / extent
    if unit != "auto":
        scale = UNITS_M[unit]
    elif raw.unit_m is not None and SMALLEST_M <= extent * raw.unit_m <= LARGEST_M:
        scale = raw.unit_m
        if scale != 1.0:
            notes.fix("units", "", f"the file's unit is {scale:g} m; converted.")
    else:
        usual = [name for name in ("m", "mm", "cm", "in") if _USUAL_M[0] <= extent * UNITS_M[name] <= _USUAL_M[1]]
        if not usual:
            notes.refuse(
                "scale", "", f"its largest extent is {extent:g}, which is no household thing in m, cm, mm or inches; "
                "give --units, or --size with its true extent in metres.",
            )  # fmt: skip
            return None
        scale = UNITS_M[usual[0]]
        declared = "" if raw.unit_m is None else f" though its unit is {raw.unit_m:g} m"
        if scale != 1.0 or declared:
            text = f"its largest extent is {extent:g}: read as {usual[0]}{declared}; give --units if not."
            notes.fix("units", "", text)
    if not SMALLEST_M <= extent * scale <= LARGEST_M:
        notes.refuse(
            "scale", "", f"its largest extent would be {extent * scale:.3g} m; {SMALLEST_M:g} to {LARGEST_M:g} m is "
            "possible. Give --units, or --size with its true extent in metres.",
        )  # fmt: skip
        return None
    return scale


def _placed(raw: RawObject, scale: float, notes: Notes) -> tuple[RawLink, ...]:
    """Return the links in metres, z up, standing on z = 0 about the origin."""
    turn = _Y_UP if raw.up == "y" else np.eye(3)
    if raw.up == "y":
        notes.fix("up_axis", "", "y points up in the file; turned to z up.")
    points = np.concatenate([link.mesh.vertices for link in raw.links if len(link.mesh.vertices)]) @ turn.T * scale
    low, high = points.min(0), points.max(0)
    transform = np.eye(4)
    transform[:3, :3] = scale * turn
    transform[:3, 3] = -np.array([0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), low[2]])
    shift = transform[:3, 3]

    def moved(joint: JointModel | None) -> JointModel | None:
        if joint is None:
            return None
        slide = scale if joint.kind == "slide" else 1.0
        return replace(
            joint,
            axis=turn @ joint.axis,
            anchor_m=scale * (turn @ joint.anchor_m) + shift,
            range=(slide * joint.range[0], slide * joint.range[1]),
        )

    return tuple(
        replace(
            link,
            mesh=link.mesh.moved(transform),
            collision=tuple(piece @ (scale * turn).T + shift for piece in link.collision),
            joint=moved(link.joint),
        )
        for link in raw.links
    )


def _hulls(link: RawLink, shells: tuple[Shell, ...], notes: Notes, inside: Cavity | None) -> tuple[Array, ...]:
    """Return the collision hulls of a link; ``inside`` is the cavity that they must leave free."""
    if link.collision:
        hulls = [piece for piece in link.collision if len(piece) >= 4]
    else:
        # The largest shells get what is left of the budget; small ones are convex enough by themselves.
        size = [float(np.prod(np.ptp(shell.vertices_m, axis=0) + 1e-4)) for shell in shells]
        share = np.array(size) / sum(size)
        hulls = []
        for shell, part in zip(shells, share, strict=True):
            most = max(1, round(MAX_HULLS * float(part)))
            if inside is None:
                hulls += convex_pieces(shell, most=most)
            else:
                hulls += convex_pieces(shell, most=most, center_m=inside.axis_m, floor_z_m=inside.floor_z_m)
    done, thin = [], 0
    for hull in hulls:
        thick, was_thin = at_least_thick(hull)
        done.append(thick)
        thin += was_thin
    if thin:
        notes.fix("thin_panel", link.name, f"{thin} collision hulls under 1 mm were made 2 mm thick.")
    if len(done) > 2 * MAX_HULLS:
        notes.fix("collision", link.name, f"it has {len(done)} hulls; simulation will be slow.")
    return tuple(done)


def _link(link: RawLink, notes: Notes, mass_kg: float | None) -> tuple[LinkModel, Container | None] | None:
    """Return a finished link, with its cavity if it is the root and has one; None where it has no faces."""
    shells = closed_shells(link.mesh, notes, where=link.name)
    if not shells:
        return None
    starts = np.cumsum([0, *[len(shell.vertices_m) for shell in shells]])
    vertices = np.concatenate([shell.vertices_m for shell in shells])
    faces = np.concatenate([shell.faces + start for shell, start in zip(shells, starts, strict=False)])
    part = np.concatenate([shell.part for shell in shells])
    if len(faces) > _MOST_FACES:
        notes.refuse("faces", link.name, f"it has {len(faces)} faces; {_MOST_FACES} can be handled. Simplify the mesh.")
        return None
    names = tuple(dict.fromkeys(str(name) for name in part))
    index = {name: k for k, name in enumerate(names)}
    made = LinkModel(
        name=link.name,
        vertices_m=vertices,
        faces=np.ascontiguousarray(faces, dtype=np.int32),
        part_names=names,
        face_part=np.array([index[str(name)] for name in part], dtype=np.int32),
        part_rgba={name: link.mesh.colours.get(name, GREY) for name in names},
        hulls=(),
        hull_part=(),
        mass_kg=1.0,
        parent=link.parent,
        joint=link.joint,
    )
    cavity = find_cavity(made) if link.parent is None else None
    hulls = _hulls(link, shells, notes, cavity)
    mass = link.mass_kg if link.mass_kg else mass_kg
    if mass is None:
        filled = sum(float(ConvexHull(hull, qhull_options="QJ").volume) for hull in hulls)
        mass = float(np.clip(_FILL_KG_M3 * filled, 0.005, _HEAVIEST_KG))
        notes.fix("mass", link.name, f"the file gives none; {mass:.3f} kg assumed from its volume.")
    made = replace(
        made,
        hulls=hulls,
        hull_part=tuple(_part_at(hull, vertices, faces, part) for hull in hulls),
        mass_kg=mass,
    )
    if cavity is None or cavity.container is None:
        return made, None
    if hulls_fill(made, cavity.container):
        notes.fix("collision", link.name, "its collision hulls reach into its cavity: nothing can be put in it.")
        return made, None
    return _lined(made, cavity.lining), cavity.container


def _part_at(hull: Array, vertices: Array, faces: Array, part: Array) -> str:
    """Return the part whose faces lie nearest to a hull's middle."""
    return str(part[int(np.argmin(np.linalg.norm(vertices[faces].mean(1) - hull.mean(0), axis=1)))])


def convert(
    raw: RawObject,
    name: str,
    notes: Notes,
    *,
    unit: UnitName = "auto",
    size_m: float | None = None,
    mass_kg: float | None = None,
    fixed: bool | None = None,
) -> ObjectModel | None:
    """Return the object, or None where something was refused.

    Args:
        raw: What a reader returned.
        name: Category under which it will be known.
        notes: Takes what was mended and refused.
        unit: Unit of the file's lengths.
        size_m: Largest extent that it should have [m], whatever the unit.
        mass_kg: Mass of a rigid object for which the file gives none.
        fixed: Whether it stands fast; if None, articulated objects and those over 8 kg do.
    """
    scale = scale_of(raw, unit, size_m, notes)
    if scale is None:
        return None
    links: list[LinkModel] = []
    inside: Container | None = None
    gone: dict[str, str | None] = {}
    for link in _placed(raw, scale, notes):
        parent = link.parent
        while parent in gone:
            parent = gone[parent]
        made = _link(replace(link, parent=parent), notes, mass_kg if len(raw.links) == 1 else None)
        if made is None:
            gone[link.name] = parent
            notes.fix("content", link.name, "the link has no faces and was left out.")
        else:
            links.append(made[0])
            inside = inside or made[1]
    if not links or notes.refused:
        if not links:
            notes.refuse("content", "", "no link has any faces.")
        return None
    if links[0].parent is not None or any(link.parent is None for link in links[1:]):
        notes.refuse("content", "", "its root link has no geometry; nothing to hang the others on.")
        return None
    containers = () if inside is None else (inside,)
    supports: tuple[SupportSurface, ...] = ()
    support = find_support(links[0])
    # A floor inside, or the bottom of a vessel that is too curved to count, is nothing to stand on.
    if support is not None and inside is None:
        supports = (support,)
    total = sum(link.mass_kg for link in links)
    moving = {link.name for link in links if link.joint is not None}
    parts = {part: link.name in moving for link in links for part in link.part_names}
    regions = guess_regions(parts)
    if containers:
        regions.setdefault("Pour In", (INTERIOR,))
    return ObjectModel(
        category=name,
        links=tuple(links),
        attributes={},
        regions=regions,
        params={"scale": scale},
        containers=containers,
        supports=supports,
        static=fixed if fixed is not None else bool(moving) or total > 8.0,
    )


def _lined(link: LinkModel, lining: NDArray[np.bool_]) -> LinkModel:
    """Return a link whose faces in its cavity are a part of their own."""
    part = np.array(link.part_names, dtype=object)[link.face_part]
    usual = str(part[lining][0]) if lining.any() else link.part_names[0]
    part[lining] = INTERIOR
    names = tuple(dict.fromkeys(str(name) for name in part))
    colours = {**link.part_rgba, INTERIOR: link.part_rgba[usual]}
    index = {name: k for k, name in enumerate(names)}
    return replace(
        link,
        part_names=names,
        face_part=np.array([index[str(name)] for name in part], dtype=np.int32),
        part_rgba={name: colours[name] for name in names},
        hull_part=tuple(name if name in names else names[0] for name in link.hull_part),
    )
