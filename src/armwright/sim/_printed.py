"""Printed surfaces in a model under construction: one texture per image, however many objects wear it."""

from __future__ import annotations

import hashlib
import weakref
from typing import Any

import numpy as np

from armwright.assets.model import Surface
from armwright.core.pose import Array

_NAMES: weakref.WeakKeyDictionary[Surface, str] = weakref.WeakKeyDictionary()


def printed_material(spec: Any, surface: Surface) -> str:
    """Return the name of the ``MjSpec`` material that shows a surface's image, adding it the first time."""
    import mujoco

    name = _name(surface)
    if spec.material(name) is None:
        height, width = surface.image.shape[:2]
        kind = mujoco.mjtTexture.mjTEXTURE_2D
        texture = spec.add_texture(name=name, type=kind, width=width, height=height, nchannel=3)
        texture.data = np.ascontiguousarray(surface.image).tobytes()
        material = spec.add_material(name=name, rgba=[1.0, 1.0, 1.0, 1.0], specular=0.15, shininess=0.2)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    return name


def add_printed_mesh(spec: Any, name: str, corners_m: Array, surface: Surface, *, inertia: Any) -> None:
    """Add a mesh with a vertex for each corner of its faces, so that each has its own normal and place on the image.

    Args:
        spec: The ``MjSpec``.
        name: Of the mesh.
        corners_m: (m, 3, 3) corners of the faces [m].
        surface: What is printed on them, in the same order.
        inertia: ``mjtMeshInertia``.
    """
    corners = np.arange(3 * len(corners_m), dtype=np.int32)
    spec.add_mesh(
        name=name,
        uservert=np.asarray(corners_m, float).ravel(),
        userface=corners,
        usernormal=np.asarray(surface.normals, np.float32).ravel(),
        userfacenormal=corners,
        usertexcoord=np.asarray(surface.uv, np.float32).ravel(),
        userfacetexcoord=corners,
        inertia=inertia,
    )


def _name(surface: Surface) -> str:
    known = _NAMES.get(surface)
    if known is None:
        digest = hashlib.blake2b(surface.image.tobytes(), digest_size=8, salt=b"printed")
        digest.update(repr(surface.image.shape).encode())
        known = _NAMES[surface] = f"printed/{digest.hexdigest()}"
    return known
