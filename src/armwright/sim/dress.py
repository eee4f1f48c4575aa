"""A second compiled model of a world, for drawing only, whose textures and lights an episode's looks are written into.

Textures and lights cannot be added to a compiled model, so this one is compiled with a slot for each object, the table
and the floor and for some lights. It has the same bodies and joints as the one that is stepped, which is never touched.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from armwright.assets.randomise import FLOOR, MAX_LIGHTS, TABLE, LightLook, Looks
from armwright.assets.scene import SceneSpec
from armwright.sim._stage import TableShape
from armwright.sim.build import BuiltScene, PhysicsOptions, build_model
from armwright.sim.textures import texture_image

if TYPE_CHECKING:
    from armwright.robots.station import Lamp

_OBJECT_PX, _PLANE_PX = 128, 512
_PLANES = {TABLE: "wood", FLOOR: "floor"}
_FLOOR_REPEATS = 4.0
# A cone wide enough for the work area at two metres, fading towards its edge.
_CUTOFF_DEG, _EXPONENT = 45.0, 6.0
_EVERYWHERE_DEG = 180.0
_QUADS = 24


def slotted_model(
    built: BuiltScene, scene: SceneSpec, *, table: TableShape, options: PhysicsOptions, lamps: tuple[Lamp, ...] = ()
) -> Any:
    """Compile the ``MjModel`` of a scene with slots for textures and lights."""

    def add_slots(spec: Any) -> None:
        import mujoco

        names = {node.id: mujoco.mjtTexture.mjTEXTURE_CUBE for node in scene.objects}
        names |= dict.fromkeys(_PLANES, mujoco.mjtTexture.mjTEXTURE_2D)
        for name, kind in names.items():
            px, faces = (_PLANE_PX, 1) if name in _PLANES else (_OBJECT_PX, 6)
            texture = spec.add_texture(name=_slot(name), type=kind, width=px, height=px * faces, nchannel=3)
            texture.data = np.full((px * faces, px, 3), 255, np.uint8).tobytes()
            material = spec.add_material(name=_slot(name), specular=0.2, shininess=0.3)
            material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = _slot(name)
        # OpenGL lights corners: a cone on a table needs many of them.
        spec.visual.quality.numquads = _QUADS
        for k in range(MAX_LIGHTS):
            light = spec.worldbody.add_light(name=_slot(str(k)), pos=[0.5, 0.0, 2.0], dir=[0.0, 0.0, -1.0])
            light.active = False

    return build_model(
        scene,
        built.objects,
        built.robot,
        pose_world_base=built.pose_world_base,
        table=table,
        options=options,
        lamps=lamps,
        decorate=add_slots,
    ).model


def dressed_model(slotted: Any, looks: Looks, owners: tuple[str, ...]) -> Any:
    """Return a copy of a slotted model with an episode's textures and lights.

    Args:
        slotted: From `slotted_model`.
        looks: What to write.
        owners: Scene id per body.

    Raises:
        UsageError: A texture file is gone or has changed.
    """
    model = copy.copy(slotted)
    for name, surface in looks.surfaces.items():
        plane = name in _PLANES
        px = _PLANE_PX if plane else _OBJECT_PX
        image = texture_image(surface, px)
        texture = model.texture(_slot(name)).id
        start, size = int(model.tex_adr[texture]), image.size * (1 if plane else 6)
        model.tex_data[start : start + size] = np.tile(image.ravel(), 1 if plane else 6)
        slot = model.material(_slot(name)).id
        if plane:
            worn = model.material(_PLANES[name]).id
            model.mat_texid[worn], model.mat_rgba[worn] = model.mat_texid[slot], 1.0
            model.mat_texrepeat[worn] = _FLOOR_REPEATS if name == FLOOR else 1.0
            continue
        for g in range(model.ngeom):
            if owners[model.geom_bodyid[g]] == name and model.geom_group[g] == 2:
                model.geom_matid[g], model.geom_rgba[g] = slot, 1.0
    if looks.lights is not None:
        _write_lights(model, looks.lights)
    if looks.ambient is not None:
        model.vis.headlight.ambient[:] = looks.ambient
    return model


def _write_lights(model: Any, lights: tuple[LightLook, ...]) -> None:
    import mujoco

    kinds = {
        "directional": mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        "spot": mujoco.mjtLightType.mjLIGHT_SPOT,
        # The classic renderer leaves out lights of the type point; a cone of 180 degrees is one.
        "point": mujoco.mjtLightType.mjLIGHT_SPOT,
    }
    model.light_active[:] = False
    for k, light in enumerate(lights):
        i = model.light(_slot(str(k))).id
        model.light_active[i] = True
        model.light_type[i] = int(kinds[light.kind])
        model.light_castshadow[i] = light.shadow
        model.light_pos[i], model.light_dir[i] = light.position_m, light.direction
        model.light_diffuse[i], model.light_ambient[i] = light.diffuse, 0.0
        model.light_specular[i] = 0.3 * np.asarray(light.diffuse)
        model.light_attenuation[i] = (1.0, 0.0, 0.0)
        model.light_cutoff[i] = _CUTOFF_DEG if light.kind == "spot" else _EVERYWHERE_DEG
        model.light_exponent[i] = _EXPONENT if light.kind == "spot" else 0.0


def _slot(name: str) -> str:
    return f"looks/{name}"


class Wardrobe:
    """A world's slotted model, compiled when looks first need it.

    It is kept apart from the world, since a cycle would keep the megabytes of both for long.
    """

    def __init__(
        self,
        built: BuiltScene,
        scene: SceneSpec,
        *,
        table: TableShape,
        options: PhysicsOptions,
        lamps: tuple[Lamp, ...] = (),
    ) -> None:
        self._parts = built, scene, table, options, lamps
        self._slotted: Any = None

    def dressed(self, looks: Looks) -> Any:
        """Return the model to draw an episode with."""
        built, scene, table, options, lamps = self._parts
        if self._slotted is None:
            self._slotted = slotted_model(built, scene, table=table, options=options, lamps=lamps)
        return dressed_model(self._slotted, looks, built.body_object)
