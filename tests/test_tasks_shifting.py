"""What counts as pushed: near the goal, on its support all the way, upright, at rest, the target left alone."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.assets.footprint import Footprint, outline_gap
from armwright.assets.scene import SceneSpec
from armwright.assets.shifting import BESIDE_M, shift_goal
from armwright.core.pose import Pose
from armwright.core.task import Primitive
from armwright.sim.world import World
from armwright.tasks.judge import EpisodeJudge, Graded
from sim_scenes import at, box_model, franka, scene_of

SIZE_M = (0.06, 0.06, 0.05)
MODELS = {"box": box_model(SIZE_M), "block": box_model(SIZE_M, mass_kg=2.0)}
LEFT = Primitive(name="push", object="box", relation="left_of")
TO_BLOCK = Primitive(name="push", object="box", target="block", relation="next_to")
BASE = Pose()


def moved(*steps: tuple[float, float, float], tilt: bool = False, block: float = 0.3, push: Primitive = LEFT) -> Graded:
    """Grade a box that is put at x, y, z one after the other, with a real block beside it."""
    start = scene_of(box=at(0.5, 0.0), block=at(0.5, block))
    world = World(start, objects=MODELS, robot=franka())
    world.clock.sleep(0.3)
    judge = EpisodeJudge([push], [], MODELS, world.arm.pose_world_base)
    judge.observe(world.truth)
    for x, y, z in steps:
        pose = Pose(np.array([x, y, z]), np.array([0.7071, 0.7071, 0.0, 0.0]) if tilt else np.array([1.0, 0, 0, 0]))
        spec = at(0.5, block)
        node = start.objects[0].model_copy(update={"pose": spec.from_pose(pose)})
        world.reset(start.model_copy(update={"objects": (node, start.objects[1])}))
        judge.observe(world.truth)
    world.clock.sleep(0.5)
    judge.observe(world.truth)
    return judge.finish(world.truth)


def test_ten_centimetres_to_the_left_are_meant_without_a_number():
    assert moved((0.5, 0.10, 0.0)).success
    assert moved((0.5, 0.128, 0.0)).success
    graded = moved((0.5, 0.134, 0.0))
    assert not graded.success and graded.detail.startswith("shifted")
    assert not moved((0.535, 0.10, 0.0)).success
    assert not moved().success


def test_carrying_it_there_is_no_push():
    graded = moved((0.5, 0.05, 0.05), (0.5, 0.10, 0.0))
    assert not graded.success and graded.detail.startswith("on_its_support")


@pytest.mark.parametrize(("height_m", "passes"), [(0.0, True), (0.004, False), (0.02, False)])
def test_pushing_it_off_what_it_stands_on_is_no_push(height_m, passes):
    models = {"box": MODELS["box"], "tray": box_model((0.10, 0.10, max(height_m, 0.001)), static=True)}
    x = 0.5 if height_m else 0.8

    def scene(y: float, z: float) -> SceneSpec:
        return scene_of(box=at(0.5, y, z), tray=at(x, 0.0))

    world = World(scene(0.0, height_m), objects=models, robot=franka())
    world.clock.sleep(0.3)
    judge = EpisodeJudge([LEFT], [], models, world.arm.pose_world_base)
    judge.observe(world.truth)
    world.reset(scene(0.12, 0.0))
    world.clock.sleep(0.5)
    judge.observe(world.truth)
    graded = judge.finish(world.truth)
    assert graded.success is passes and graded.detail.startswith("" if passes else "on_its_support")


def test_tipping_it_over_is_no_push():
    graded = moved((0.5, 0.13, 0.03), tilt=True)
    assert not graded.success


def test_a_push_towards_something_ends_before_it_and_leaves_it_alone():
    goal = 0.3 - 0.06 - BESIDE_M
    assert moved((0.5, goal, 0.0), push=TO_BLOCK).success
    assert not moved((0.5, goal - 0.04, 0.0), push=TO_BLOCK).success


def prints(yaw: float) -> tuple[Footprint, Footprint]:
    own = Footprint.from_model(MODELS["box"], Pose.from_yaw([0.5, 0.0, 0.0], yaw))
    return own, Footprint.from_model(MODELS["block"], Pose.from_yaw([0.62, 0.25, 0.0], 0.3))


@pytest.mark.parametrize("yaw", [0.0, 0.4, 1.1])
def test_the_goal_beside_a_target_leaves_the_gap(yaw):
    own, target = prints(yaw)
    goal = shift_goal(TO_BLOCK, own, target, BASE)
    gap = outline_gap(own.outline_m + goal - own.center_m, target.outline_m)
    assert BESIDE_M <= gap < BESIDE_M + 0.006


@pytest.mark.parametrize(
    ("name", "relation", "way"),
    [
        ("push", "right_of", (0, -1)),
        ("push", "behind", (1, 0)),
        ("push", None, (1, 0)),
        ("pull", "in_front_of", (-1, 0)),
        ("pull", None, (-1, 0)),
    ],
)
def test_directions_are_seen_from_the_base(name, relation, way):
    own, _ = prints(0.0)
    primitive = Primitive(name=name, object="box", relation=relation, distance_m=0.07)
    assert np.allclose(shift_goal(primitive, own, None, BASE) - own.center_m, 0.07 * np.array(way))
    turned = Pose.from_yaw([0.0, 0.0, 0.0], np.pi / 2)
    expected = 0.07 * np.array([-way[1], way[0]])
    assert np.allclose(shift_goal(primitive, own, None, turned) - own.center_m, expected)


@pytest.mark.parametrize(("y", "passes"), [(0.45 - 0.06 - BESIDE_M, True), (0.30 - 0.06 - BESIDE_M, False)])
def test_what_is_pushed_up_to_a_thing_moved_before_is_graded_by_where_that_is_then(y, passes):
    steps = (Primitive(name="push", object="block", relation="left_of", distance_m=0.15), TO_BLOCK)
    world = World(scene_of(box=at(0.5, 0.0), block=at(0.5, 0.30)), objects=MODELS, robot=franka())
    world.clock.sleep(0.3)
    judge = EpisodeJudge(steps, [], MODELS, world.arm.pose_world_base)
    judge.observe(world.truth)
    for box_m, block_m in ((0.0, 0.38), (0.0, 0.45), (0.5 * y, 0.45), (y, 0.45)):
        world.reset(scene_of(box=at(0.5, box_m), block=at(0.5, block_m)))
        judge.observe(world.truth)
    world.clock.sleep(0.5)
    judge.observe(world.truth)
    first, second = (stage.verdict for stage in judge.finish(world.truth).stages)
    assert first.ok and second.ok is passes, (first, second)


def test_a_push_that_drags_the_thing_along_that_it_goes_to_is_none():
    steps = (Primitive(name="push", object="block", relation="left_of", distance_m=0.15), TO_BLOCK)
    world = World(scene_of(box=at(0.5, 0.0), block=at(0.5, 0.30)), objects=MODELS, robot=franka())
    world.clock.sleep(0.3)
    judge = EpisodeJudge(steps, [], MODELS, world.arm.pose_world_base)
    judge.observe(world.truth)
    for box_m, block_m in ((0.0, 0.40), (0.2, 0.40), (0.30 - BESIDE_M, 0.45)):
        world.reset(scene_of(box=at(0.5, box_m), block=at(0.5, block_m)))
        judge.observe(world.truth)
    world.clock.sleep(0.5)
    assert not judge.finish(world.truth).stages[1].verdict.ok
