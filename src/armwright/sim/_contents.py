"""Beads in vessels: their bodies in the model, their places at the start, where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from armwright.assets.contents import bead_positions
from armwright.assets.model import ObjectModel
from armwright.assets.scene import ContentsSpec, SceneSpec
from armwright.core.errors import SceneError
from armwright.core.pose import Array

CONTENTS = "contents"
"""Bodies are named ``id/contents/k``; their owner in contacts is ``id/contents``."""
BEAD_RGBA = (0.93, 0.62, 0.16, 1.0)
_DENSITY_KG_M3 = 1300.0
_FRICTION = 0.3
# A bead in the air keeps its speed (1.2 s to lose it), one on the table slides instead of rolling away for ever.
_DAMPING = 1e-3


def add_contents(spec: Any, object_id: str, model: ObjectModel, contents: ContentsSpec, *, solref_s: float) -> None:
    """Add one free sphere per bead.

    Raises:
        SceneError: The vessel does not take that many.
    """
    import mujoco

    room = len(bead_positions(model, contents.count, contents.radius_m))
    if room < contents.count:
        raise SceneError(
            f"{object_id} has room for {room} beads of {contents.radius_m * 1000:.0f} mm radius, not {contents.count}.",
            hint="Give it fewer or smaller ones, or another vessel.",
        )
    for k in range(contents.count):
        body = spec.worldbody.add_body(name=f"{object_id}/{CONTENTS}/{k}")
        body.add_freejoint(name=body.name)
        geom = body.add_geom(
            name=f"{object_id}/{CONTENTS}#c{k}",
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[contents.radius_m, 0.0, 0.0],
            rgba=BEAD_RGBA,
            group=2,
            condim=3,
            friction=[_FRICTION, 0.005, 0.0001],
            priority=1,  # its own friction counts against whatever it touches
            density=_DENSITY_KG_M3,
        )
        geom.solref[0] = solref_s


def index_contents(model: Any, scene: SceneSpec) -> dict[str, np.ndarray]:
    """Damp the beads of a compiled model and return the first qpos address of each (k,), by object id."""
    found: dict[str, np.ndarray] = {}
    for node in scene.objects:
        if node.contents is None:
            continue
        bodies = [int(model.body(f"{node.id}/{CONTENTS}/{k}").id) for k in range(node.contents.count)]
        joints = model.body_jntadr[bodies]
        for address in model.jnt_dofadr[joints]:
            model.dof_damping[address : address + 6, ...] = _damping_row(model)
        found[node.id] = np.asarray(model.jnt_qposadr[joints], np.int64)
    return found


def place_contents(data: Any, scene: SceneSpec, objects: Mapping[str, ObjectModel], at: Mapping[str, Any]) -> None:
    """Write the beads' places at the start, packed into their vessels as these stand in the scene."""
    for node in scene.objects:
        if node.contents is None or node.pose is None:
            continue
        places = bead_positions(objects[node.id], node.contents.count, node.contents.radius_m)
        for address, position in zip(at[node.id], node.pose.to_pose().transform(places), strict=True):
            data.qpos[address : address + 3] = position
            data.qpos[address + 3 : address + 7] = (1.0, 0.0, 0.0, 0.0)


def contents_positions(data: Any, addresses: np.ndarray) -> Array:
    """Return the centres of beads (k, 3) in the world [m]."""
    return np.asarray(data.qpos)[addresses[:, None] + np.arange(3)]


def _damping_row(model: Any) -> Any:
    """MuJoCo keeps one damping number per degree of freedom, or a row of coefficients whose first is linear."""
    if model.dof_damping.ndim == 1:
        return _DAMPING
    row = np.zeros(model.dof_damping.shape[1])
    row[0] = _DAMPING
    return row
