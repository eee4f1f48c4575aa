"""Worlds for the tests of `sim`: a table with real objects and a real arm, and a box made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from armwright.assets.library import default_library
from armwright.assets.model import LinkModel, ObjectModel
from armwright.assets.scene import ObjectSpec, PoseSpec, SceneSpec
from armwright.core.pose import Pose
from armwright.robots.bake import BakedRobot, baked_robot
from armwright.sim.world import World, WorldOptions

DOWN_WXYZ = (0.0, 1.0, 0.0, 0.0)
_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)])
_QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def box_model(size_m: tuple[float, float, float], *, mass_kg: float = 0.3, static: bool = False) -> ObjectModel:
    """Return a red box whose origin is the middle of its bottom."""
    corners = _CORNERS * np.array(size_m)
    faces = np.array([t for a, b, c, d in _QUADS for t in ((a, b, c), (a, c, d))], np.int32)
    link = LinkModel(
        name="base",
        vertices_m=corners,
        faces=faces,
        part_names=("body",),
        face_part=np.zeros(len(faces), np.int32),
        part_rgba={"body": (0.8, 0.1, 0.1, 1.0)},
        hulls=(corners,),
        hull_part=("body",),
        mass_kg=mass_kg,
    )
    return ObjectModel("box", (link,), {}, {}, {}, static=static)


def at(x: float, y: float, z: float = 0.0, *, yaw: float = 0.0) -> PoseSpec:
    return PoseSpec.from_pose(Pose.from_yaw((x, y, z), yaw))


def down(x: float, y: float, z: float) -> Pose:
    """Return a tool pose that looks straight down, closing along y."""
    return Pose(np.array([x, y, z]), np.array(DOWN_WXYZ))


def scene_of(**poses: PoseSpec) -> SceneSpec:
    return SceneSpec(objects=tuple(ObjectSpec(id=k, category="box", pose=p) for k, p in poses.items()))


@cache
def franka() -> BakedRobot:
    return baked_robot("franka")


@cache
def clutter() -> tuple[SceneSpec, Mapping[str, ObjectModel]]:
    """Return a solved table scene with six objects of the library."""
    rows = (
        ("mug_1", "mug", at(0.50, 0.12, yaw=2.0)),
        ("plate_1", "plate", at(0.55, -0.20)),
        ("bottle_1", "bottle", at(0.62, 0.32)),
        ("banana_1", "banana", at(0.42, -0.02, yaw=0.4)),
        ("bowl_1", "bowl", at(0.40, 0.30)),
        ("cube_1", "cube", at(0.68, 0.0)),
    )
    library = default_library()
    models = {name: library.build(category, instance=3) for name, category, _ in rows}
    return SceneSpec(objects=tuple(ObjectSpec(id=n, category=c, instance=3, pose=p) for n, c, p in rows)), models


def world_of(models: Mapping[str, ObjectModel], *, options: WorldOptions | None = None, **poses: PoseSpec) -> World:
    return World(scene_of(**poses), objects=models, robot=franka(), options=options)
