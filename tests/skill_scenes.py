"""A work bench for tests of skills and judges: named objects at named places before a real arm, and a skill context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from armwright.affordance.registry import affordance_model
from armwright.assets.model import ObjectModel
from armwright.assets.placement import TableBounds
from armwright.assets.scene import ObjectSpec, PoseSpec, SceneSpec
from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.generate.session import Session
from armwright.generate.solve import Workspace
from armwright.grasping.sources import grasp_source
from armwright.planning.types import WorldSpec
from armwright.sim.oracle import OracleSource
from armwright.sim.world import World
from armwright.skills.context import SkillContext, SkillOptions
from sim_scenes import box_model

# Where objects stand unless a test says otherwise: first the one that is moved, then a reference, then clutter.
PLACES = ((0.48, -0.12), (0.50, 0.20), (0.62, 0.02))
BOARD_M = (0.30, 0.30, 0.02)


class Blinkered:
    """The true scene with some objects unseen."""

    def __init__(self, source: OracleSource, hidden: tuple[str, ...]) -> None:
        self._source, self._hidden = source, hidden

    def __getattr__(self, name: str):
        return getattr(self._source, name)

    def objects(self) -> tuple[str, ...]:
        return tuple(o for o in self._source.objects() if o not in self._hidden)

    def world_spec(self, *, exclude: tuple[str, ...] = (), targets: tuple[str, ...] = ()) -> WorldSpec:
        return self._source.world_spec(exclude=(*exclude, *self._hidden), targets=targets)


@dataclass(eq=False)
class Bench:
    """A settled world and what a skill gets of it."""

    world: World
    ctx: SkillContext
    models: Mapping[str, ObjectModel]


def bench(
    session: Session,
    *,
    options: SkillOptions | None = None,
    places: Mapping[str, tuple[float, ...]] | None = None,
    change: Callable[[ObjectModel], ObjectModel] = lambda model: model,
    hidden: tuple[str, ...] = (),
    instance: int = 3,
    seed: int = 0,
    verified: bool = False,
    **categories: str,
) -> Bench:
    """Put objects (name=category) on the table and let them settle; ``board`` is a fixed board in the air."""
    models, nodes = {}, []
    for (name, category), usual in zip(categories.items(), PLACES, strict=False):
        if category == "board":
            models[name] = box_model(BOARD_M, static=True)
        else:
            models[name] = change(session.library.build(category, instance=instance))
        where = (places or {}).get(name, usual)
        z = where[2] if len(where) > 2 else -float(models[name].bounds_m[0][2])
        pose = PoseSpec.from_pose(Pose.from_yaw([where[0], where[1], z], -np.pi / 2 if category == "mug" else 0.0))
        nodes.append(ObjectSpec(id=name, category=category, instance=instance, pose=pose))
    world = World(SceneSpec(objects=tuple(nodes)), objects=models, robot=session.robot, options=session.options)
    world.clock.sleep(0.4)
    session.planner.seed = seed
    session.planner.detach()
    space = Workspace.of(session.robot.spec)
    source = OracleSource(world)
    ctx = SkillContext(
        arm=world.arm,
        clock=world.clock,
        gripper=session.robot.spec.gripper,
        planner=session.planner,
        scene=Blinkered(source, hidden) if hidden else source,
        affordance=affordance_model("oracle"),
        grasp_source=grasp_source("affordance"),
        rng=rng_for(seed, "skills"),
        bounds=TableBounds(space.x_m, space.y_m),
        verifier=session.verifier if verified else None,
        options=options or SkillOptions(),
    )
    return Bench(world, ctx, models)


def down_the(pose_tool_object: Pose) -> float:
    """Return how much the tool looks down at an upright object held so: 1 from above, 0 from the side."""
    return -float(pose_tool_object.rotation[2, 2])
