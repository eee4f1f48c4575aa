"""Read Wavefront OBJ: faces by group, colours from the material file, textures by their mean colour."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from armwright.assets.build import Rgba
from armwright.assets.importers.files import find_file, mean_colour
from armwright.assets.importers.raw import GREY, RawLink, RawMesh, RawObject
from armwright.assets.importers.report import Notes
from armwright.core.errors import UsageError


def _materials(path: Path, notes: Notes) -> dict[str, Rgba]:
    colours: dict[str, Rgba] = {}
    name = ""
    for line in path.read_text(errors="replace").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "newmtl":
            name = rest.strip()
            colours[name] = GREY
        elif word == "Kd" and name and len(rest.split()) >= 3:
            r, g, b = (float(value) for value in rest.split()[:3])
            colours[name] = (r, g, b, 1.0)
        elif word == "map_Kd" and name:
            texture = find_file(rest.split()[-1], path.parent, notes, kind="missing_texture", where=f"material {name}")
            if texture is not None:
                colours[name] = mean_colour(texture, notes) or colours[name]
    return colours


def read_mesh(path: Path, notes: Notes) -> RawMesh:
    """Return the triangles of an OBJ file; groups and objects are parts.

    Raises:
        UsageError: A line cannot be read.
    """
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    parts: list[str] = []
    materials: dict[str, Rgba] = {}
    used: dict[str, str] = {}
    group, material = "body", ""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        word, _, rest = line.strip().partition(" ")
        try:
            if word == "v":
                vertices.append([float(value) for value in rest.split()[:3]])
            elif word in ("o", "g"):
                group = "_".join(rest.split()).lower() or "body"
            elif word == "mtllib":
                library = find_file(rest.strip(), path.parent, notes, kind="material", where=path.name)
                if library is not None:
                    materials.update(_materials(library, notes))
            elif word == "usemtl":
                material = rest.strip()
            elif word == "f":
                corners = [int(corner.split("/")[0]) for corner in rest.split()]
                corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
                if any(not 0 <= c < len(vertices) for c in corners):
                    raise ValueError("a vertex that is not there")
                faces += [(corners[0], a, b) for a, b in itertools.pairwise(corners[1:])]
                parts += [group] * (len(corners) - 2)
                used.setdefault(group, material)
        except ValueError as error:
            raise UsageError(f"{path}, line {number} cannot be read: {error}.", hint="Export it again.") from error
    colours = {part: materials.get(name, GREY) for part, name in used.items()}
    return RawMesh(
        np.array(vertices, float).reshape(-1, 3),
        np.array(faces, np.int64).reshape(-1, 3),
        np.array(parts, dtype=str),
        colours,
    )


def read(path: Path, notes: Notes) -> RawObject:
    """Return an OBJ file as an object of one link; the format knows no unit."""
    return RawObject((RawLink("base", read_mesh(path, notes)),), None, "z", path.stem)
