"""What surrounds the objects: table, floor, backdrop and light, pleasant to look at and cheap to draw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from armwright.core.pose import Array
from armwright.core.seeds import rng_for

if TYPE_CHECKING:
    from armwright.robots.station import Lamp

TABLE = "table"
_WOOD_PX = 256
_LEG_M = 0.03


@dataclass(frozen=True)
class TableShape:
    """Where the table stands: its top is the plane z = 0.

    Attributes:
        center_m: Middle of the top, x and y [m].
        half_extents_m: Half sizes along x and y [m].
        thickness_m: Thickness of the top.
        height_m: Height of the top above the floor.
    """

    center_m: tuple[float, float] = (0.35, 0.0)
    half_extents_m: tuple[float, float] = (0.65, 0.8)
    thickness_m: float = 0.04
    height_m: float = 0.75


def add_stage(spec: Any, table: TableShape, *, plane: bool, lamps: tuple[Lamp, ...] = ()) -> None:
    """Add floor, table, backdrop and lights to an ``MjSpec``.

    Args:
        spec: The model under construction.
        table: Size and place of the table.
        plane: Collide with an endless plane instead of the table's box (cloth needs that).
        lamps: Lights of the station.
    """
    import mujoco

    _add_look(spec)
    for k, lamp in enumerate(lamps):
        spec.worldbody.add_light(
            name=f"lamp_{k}",
            type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
            dir=_unit(list(lamp.direction)),
            diffuse=[lamp.brightness] * 3,
            specular=[0.0, 0.0, 0.0],
            castshadow=False,
        )
    world = spec.worldbody
    (x, y), (hx, hy) = table.center_m, table.half_extents_m
    thin = 0.5 * table.thickness_m
    floor = world.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[4.0, 4.0, 0.1],
        pos=[x, y, -table.height_m],
        material="floor",
        group=0,
    )
    floor.solref[0] = 0.01
    body = world.add_body(name=TABLE)
    top = body.add_geom(
        name="table_top",
        type=mujoco.mjtGeom.mjGEOM_PLANE if plane else mujoco.mjtGeom.mjGEOM_BOX,
        size=[hx, hy, thin],
        pos=[x, y, 0.0 if plane else -thin],
        rgba=[0.6, 0.5, 0.4, 1.0],
        group=3,
        condim=3,
        friction=[0.8, 0.005, 0.0001],
    )
    top.solref[0] = 0.01
    _add_visual(body, "table_surface", mujoco.mjtGeom.mjGEOM_PLANE, [hx, hy, 0.05], [x, y, 0.0], "wood")
    _add_visual(body, "table_edge", mujoco.mjtGeom.mjGEOM_BOX, [hx, hy, thin - 5e-4], [x, y, -thin - 5e-4], "wood_edge")
    leg = 0.5 * (table.height_m - table.thickness_m)
    for i, (sx, sy) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1))):
        position = [x + sx * (hx - 2 * _LEG_M), y + sy * (hy - 2 * _LEG_M), -table.thickness_m - leg]
        _add_visual(body, f"table_leg_{i}", mujoco.mjtGeom.mjGEOM_BOX, [_LEG_M, _LEG_M, leg], position, "wood_edge")


def _add_visual(body: Any, name: str, kind: Any, size: list[float], pos: list[float], material: str) -> None:
    body.add_geom(name=name, type=kind, size=size, pos=pos, material=material, group=2, contype=0, conaffinity=0)


def _add_look(spec: Any) -> None:
    import mujoco

    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.93, 0.95, 0.97],
        rgb2=[0.62, 0.68, 0.75],
        width=64,
        height=384,
    )
    wood = spec.add_texture(
        name="wood", type=mujoco.mjtTexture.mjTEXTURE_2D, width=_WOOD_PX, height=_WOOD_PX, nchannel=3
    )
    wood.data = _wood().tobytes()
    for name, texture, repeat, rgba, shine in (
        ("wood", "wood", [1.0, 1.0], [1.0, 1.0, 1.0, 1.0], 0.12),
        ("wood_edge", "", [1.0, 1.0], [0.55, 0.40, 0.27, 1.0], 0.1),
        ("floor", "", [1.0, 1.0], [0.70, 0.71, 0.72, 1.0], 0.0),
    ):
        material = spec.add_material(name=name, rgba=rgba, specular=shine, shininess=0.3, texrepeat=repeat)
        if texture:
            material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture
    spec.worldbody.add_light(
        name="key",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[-0.4, 0.9, 2.2],
        dir=_unit([0.55, -0.55, -1.1]),
        diffuse=[0.55, 0.54, 0.52],
        specular=[0.25, 0.25, 0.25],
        castshadow=True,
    )
    spec.worldbody.add_light(
        name="fill",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[1.5, -1.0, 1.8],
        dir=_unit([-0.7, 0.4, -0.8]),
        diffuse=[0.22, 0.23, 0.25],
        specular=[0.05, 0.05, 0.05],
        castshadow=False,
    )
    head = spec.visual.headlight
    head.ambient, head.diffuse, head.specular = [0.34, 0.34, 0.35], [0.16, 0.16, 0.16], [0.0, 0.0, 0.0]


def _unit(vector: list[float]) -> Array:
    v = np.asarray(vector, float)
    return np.asarray(v / np.linalg.norm(v))


@lru_cache(maxsize=1)
def _wood() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Paint planks with grain: (n, n, 3) uint8."""
    rng = rng_for(0, "sim", "wood")
    n, planks = _WOOD_PX, 8
    u, v = np.meshgrid(np.arange(n) / n, np.arange(n) / n)
    plank = np.minimum((v * planks).astype(int), planks - 1)
    tone = rng.uniform(-0.05, 0.05, planks)[plank]
    shift = rng.uniform(0, 10, planks)[plank]
    waves = sum(
        a * np.sin(2 * np.pi * (f * v + 0.25 * np.sin(2 * np.pi * (k * u + shift)) + shift))
        for f, k, a in ((9.0, 1.0, 0.5), (23.0, 2.0, 0.3), (57.0, 1.0, 0.2))
    )
    grain = 0.035 * waves + 0.012 * rng.standard_normal((n, 1)) + 0.012 * rng.standard_normal((n, n))
    seam = np.where(np.abs(v * planks - np.round(v * planks)) < 0.5 * planks / n, -0.12, 0.0)
    base = np.array([0.80, 0.63, 0.44])
    rgb = base * (1.0 + tone + grain + seam)[..., None]
    return np.asarray((255 * np.clip(rgb, 0, 1)).astype(np.uint8))
