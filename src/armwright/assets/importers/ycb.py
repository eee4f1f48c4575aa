"""Read an object's folder of the YCB set: the best mesh it has, its number left out of its name."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from armwright.assets.importers import obj, scenefile
from armwright.assets.importers.raw import RawObject
from armwright.assets.importers.report import Notes

LAYOUT = (
    "google_16k/textured.obj",
    "google_16k/nontextured.stl",
    "google_16k/nontextured.ply",
    "google_64k/textured.obj",
    "google_512k/textured.obj",
    "poisson/textured.obj",
    "tsdf/textured.obj",
    "textured_simple.obj",
    "textured.obj",
)
"""Where the set, and the copies of it made for pose estimation, keep an object's meshes; the first there is taken."""


def mesh_of(folder: Path) -> Path | None:
    """Return the mesh of a YCB folder, None where the folder is not one."""
    return next((folder / name for name in LAYOUT if (folder / name).is_file()), None)


def read(folder: Path, notes: Notes) -> RawObject:
    """Return a YCB object; the set is in metres with z up."""
    mesh = mesh_of(folder)
    assert mesh is not None
    raw = obj.read(mesh, notes) if mesh.suffix == ".obj" else scenefile.read(mesh, notes)
    name = re.sub(r"^\d+(-[a-z])?_", "", folder.name)
    links = (replace(raw.links[0], mesh=raw.links[0].mesh.named("body")),)
    return RawObject(links, 1.0, "z", name)
