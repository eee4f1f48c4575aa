"""Read GLB, GLTF, STL, PLY and DAE with trimesh; nodes are parts."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from armwright.assets.build import Rgba
from armwright.assets.importers.raw import GREY, RawLink, RawMesh, RawObject, joined
from armwright.assets.importers.report import Notes
from armwright.core.errors import MissingDependencyError, UsageError, in_one_line


def _trimesh() -> Any:
    try:
        import trimesh
    except ImportError as error:
        raise MissingDependencyError(
            "reading GLB, STL, PLY and DAE files needs trimesh.", hint="Run: pip install 'armwright[import]'"
        ) from error
    return trimesh


def _colour(geometry: Any) -> Rgba:
    """Return the colour of a geometry: its material's factor times its texture's mean, or its faces' mean."""
    material = getattr(geometry.visual, "material", None)
    colour = np.array([*GREY[:3]])
    if material is not None:
        factor = getattr(material, "baseColorFactor", None)
        if factor is None:
            factor = getattr(material, "diffuse", None)
        if factor is not None:
            factor = np.asarray(factor, float)[:3]
            colour = factor / 255.0 if factor.max() > 1.0 else factor
        texture = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
        if texture is not None:
            mean = np.asarray(texture.convert("RGB").resize((32, 32)), float).reshape(-1, 3).mean(0) / 255.0
            colour = mean * (colour if factor is not None else 1.0)
    elif getattr(geometry.visual, "defined", False):
        colour = np.asarray(geometry.visual.face_colors, float)[:, :3].mean(0) / 255.0
    r, g, b = (float(v) for v in colour)
    return (r, g, b, 1.0)


def read_mesh(path: Path, notes: Notes) -> RawMesh:
    """Return the triangles of a file; its nodes are parts.

    Raises:
        MissingDependencyError: trimesh, or what it needs for DAE, is not installed.
        UsageError: The file cannot be read.
    """
    trimesh = _trimesh()
    if path.suffix.lower() == ".dae" and importlib.util.find_spec("collada") is None:
        raise MissingDependencyError(
            f"reading {path} needs pycollada.", hint="Run: pip install pycollada, or export it as GLB or OBJ."
        )
    try:
        scene = trimesh.load_scene(path, process=False)
        meshes = []
        for node in scene.graph.nodes_geometry:
            transform, geometry_name = scene.graph[node]
            geometry = scene.geometry[geometry_name]
            if not hasattr(geometry, "faces"):
                notes.fix("content", str(node), "has no faces and was left out.")
                continue
            name = "_".join(str(node).lower().split()) if len(scene.graph.nodes_geometry) > 1 else "body"
            faces = np.asarray(geometry.faces, np.int64)
            mesh = RawMesh(
                np.asarray(geometry.vertices, float), faces, np.full(len(faces), name), {name: _colour(geometry)}
            )
            meshes.append(mesh.moved(np.asarray(transform, float)))
    except UsageError:
        raise
    except Exception as error:  # a damaged file makes trimesh raise whatever it stumbles over
        raise UsageError(f"{path} cannot be read: {in_one_line(error)}.", hint="Export it again, or as OBJ.") from error
    return joined(meshes)


def read(path: Path, notes: Notes) -> RawObject:
    """Return the file as an object of one link; GLB and GLTF are in metres with y up by their standard."""
    mesh = read_mesh(path, notes)
    gltf = path.suffix.lower() in (".glb", ".gltf")
    return RawObject((RawLink("base", mesh),), 1.0 if gltf else None, "y" if gltf else "z", path.stem)


def read_any_mesh(path: Path, notes: Notes) -> RawMesh:
    """Return the triangles of a mesh file that another file refers to."""
    from armwright.assets.importers import obj

    return obj.read_mesh(path, notes) if path.suffix.lower() == ".obj" else read_mesh(path, notes)
