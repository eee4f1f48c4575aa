"""Find the files that a model refers to, also where its paths belong to another machine."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import numpy as np

from armwright.assets.build import Rgba
from armwright.assets.importers.report import Kind, Notes

MESH_FORMATS = frozenset((".obj", ".glb", ".gltf", ".stl", ".ply", ".dae"))
_SEARCH_DEPTH = 6
_LEVELS_UP = 2
"""How far above the model's folder a relative name may lead: its package keeps meshes beside the model's folder."""


def find_file(name: str, folder: Path, notes: Notes, *, kind: Kind, where: str) -> Path | None:
    """Return the file that a model names, or None after noting that it is missing.

    Relative names are looked up beside the model. ``package://``, ``file://`` and absolute paths belong to the machine
    the model comes from; they are matched by their longest tail that exists near the model.
    """
    plain = name.strip().strip('"').replace("\\", "/")
    foreign = "://" in plain or PurePosixPath(plain).is_absolute() or plain[1:3] == ":/"
    tail = [piece for piece in PurePosixPath(plain.split("://")[-1]).parts if piece not in ("/", "..", ".")]
    above = [parent for parent in folder.absolute().parents if parent != parent.parent]
    if not foreign and (folder / plain).is_file():
        home = [folder.resolve(), *folder.resolve().parents][:-1][: _LEVELS_UP + 1][-1:]
        if ".." not in PurePosixPath(plain).parts or any((folder / plain).resolve().is_relative_to(h) for h in home):
            return folder / plain
        notes.refuse(kind, where, f"{plain} leads too far out of {folder}; put the file beside the model.")
        return None
    roots = [folder, *above[:_SEARCH_DEPTH]] if foreign else [folder]
    for start in range(len(tail)):
        for root in roots if start < len(tail) - 1 else [folder, folder / "meshes", folder / "textures"]:
            candidate = root.joinpath(*tail[start:])
            if candidate.is_file():
                if foreign:
                    notes.fix("absolute_path", where, f"{plain} belongs to another machine; took {candidate} instead.")
                return candidate
    if kind == "missing_mesh":
        notes.refuse(kind, where, f"{plain} is not there; put it beside {folder}.")
    else:
        notes.fix(kind, where, f"{plain} is not there; the part is grey.")
    return None


def mean_colour(path: Path, notes: Notes) -> Rgba | None:
    """Return the mean colour of a texture, or None after noting that it cannot be read."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            r, g, b = np.asarray(picture.convert("RGB").resize((32, 32)), float).reshape(-1, 3).mean(0) / 255.0
    except OSError as error:
        notes.fix("missing_texture", path.name, f"cannot be read ({error}); the part is grey.")
        return None
    notes.fix("material", path.name, "textures are reduced to their mean colour.")
    return (float(r), float(g), float(b), 1.0)
