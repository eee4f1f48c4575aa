"""How hard the fingers close: by weight and lever, gently on what is light, with all there is on what is heavy."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.assets.export import link_inertia
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery
from armwright.generate.episode import EpisodeRequest, run_episode
from armwright.skills.context import SkillOptions
from armwright.skills.grip import GRAVITY_M_S2, LIGHT_N, SAFETY, grip_force
from armwright.skills.pick import pick
from skill_scenes import bench

MIDDLE = Pose(np.array([0.0, 0.0, 0.05]))


class Weighing:
    """The true scene, in which everything weighs the same."""

    def __init__(self, source, mass_kg: float) -> None:
        self._source, self._mass_kg = source, mass_kg

    def __getattr__(self, name: str):
        return getattr(self._source, name)

    def mass_kg(self, object_id: str) -> float:
        return self._mass_kg


def force(stage, mass_kg: float, lever_m: float = 0.0) -> float | None:
    """Return the force for a can that weighs so much, held so far above its mass centre."""
    stage.ctx.scene = Weighing(stage.ctx.scene, mass_kg)
    middle = np.asarray(link_inertia(stage.models["can"].root)[0])
    return grip_force(stage.ctx, "can", Pose(middle + np.array([0.0, 0.0, lever_m])))


@pytest.fixture
def stage(session_of):
    return bench(session_of("franka"), can="can")


def test_light_things_are_held_gently_and_heavy_ones_with_all_there_is(stage):
    limit = stage.ctx.gripper.force_n
    assert force(stage, 0.035) == LIGHT_N < limit
    assert force(stage, 3.0) is None


def test_the_force_grows_with_weight_and_with_the_lever(stage):
    mass_kg = 1.2 * stage.models["can"].friction / SAFETY
    held = [force(stage, mass_kg, lever_m) for lever_m in (0.018, 0.021, 0.024)]
    assert held[0] < held[1] < held[2] < stage.ctx.gripper.force_n
    assert force(stage, 0.95 * mass_kg, 0.024) < held[2]
    # Friction must carry the weight alone, with reserve, whatever the lever.
    assert held[0] > SAFETY * mass_kg * GRAVITY_M_S2 / (2 * stage.models["can"].friction)


def test_the_line_through_the_pads_has_no_lever_along_itself(stage):
    along = Pose(np.array([0.0, 0.03, 0.05]))
    assert grip_force(stage.ctx, "can", along) == pytest.approx(grip_force(stage.ctx, "can", MIDDLE))


def test_an_asked_for_force_is_taken_as_it_is(session_of):
    stage = bench(session_of("franka"), options=SkillOptions(grip_force_n=12.0), can="can")
    assert grip_force(stage.ctx, "can", MIDDLE) == 12.0


def test_a_pick_closes_no_harder_than_a_light_thing_asks(session_of):
    stage = bench(session_of("franka"), cube="cube")
    assert pick(stage.ctx, AffordanceQuery(object="cube", region="Graspable Body", role="grasp")).ok
    assert 0.8 * LIGHT_N < stage.ctx.arm.state().grip_force_n < stage.ctx.gripper.force_n - 1.0


def test_contents_weigh_as_well(session_of, task):
    episode = run_episode(session_of("franka"), EpisodeRequest(task("pour the paper cup into the bowl"), 7000000))
    cup = episode.scene.objects[0]
    world = episode.world
    alone = world.objects[cup.id].mass_kg
    bead = 1300.0 * 4 / 3 * np.pi * cup.contents.radius_m**3
    assert world.truth.mass_kg(cup.id) == pytest.approx(alone + cup.contents.count * bead, rel=1e-3)
    # With the full force the cone of 35 g shot out of the fingers while it was tilted.
    assert episode.ok, (episode.failed_stage, episode.graded.detail)
