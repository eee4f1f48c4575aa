from __future__ import annotations

import numpy as np
import pytest

from armwright.assets.library import default_library
from armwright.assets.placement import placements
from armwright.assets.scene import PoseSpec
from armwright.core.errors import UnknownNameError
from armwright.core.pose import Pose
from armwright.tasks.evidence import observe
from armwright.tasks.predicates import inside
from sim_scenes import at, box_model, down, scene_of, world_of

CUBE = (0.05, 0.05, 0.05)
POSE = Pose.from_yaw((0.5, 0.1, 0.0), 0.4)


@pytest.fixture
def tower():
    boxes = {"low": box_model((0.1, 0.1, 0.05)), "high": box_model(CUBE)}
    world = world_of(boxes, low=at(0.5, 0.1), high=at(0.5, 0.1, 0.051))
    world.step(400)
    return world


def test_poses_and_velocities_are_those_of_free_fall():
    world = world_of({"b": box_model(CUBE)}, b=at(0.5, 0.2, 0.4, yaw=0.3))
    pose = world.truth.pose("b")
    np.testing.assert_allclose(pose.position_m, [0.5, 0.2, 0.4])
    assert pose.yaw_rad == pytest.approx(0.3)
    world.step(50)
    linear, angular = world.truth.velocity("b")
    np.testing.assert_allclose(linear, [0, 0, -9.81 * 0.1], atol=1e-6)
    np.testing.assert_allclose(angular, 0, atol=1e-9)
    assert world.truth.pose("b").position_m[2] == pytest.approx(0.4 - 0.5 * 9.81 * 0.1**2, abs=2e-3)
    assert world.truth.supported_by("b") == frozenset()


def test_support_is_seen_while_everything_sleeps(tower):
    assert (tower.truth.data.tree_asleep >= 0).any()
    assert tower.truth.supported_by("high") == {"low"}
    assert tower.truth.supported_by("low") == {"table"}
    assert tower.truth.velocity("high")[0] == pytest.approx(np.zeros(3), abs=1e-6)


def test_contact_forces_carry_the_weights(tower):
    on_low = np.zeros(3)
    for contact in tower.truth.contacts():
        if set(contact.objects) == {"low", "table"}:
            on_low += contact.force_n if contact.of("low") == 1 else -contact.force_n
        assert contact.of("nobody") == -1
    np.testing.assert_allclose(on_low, [0, 0, 0.6 * 9.81], atol=0.02)
    hulls = {c.parts for c in tower.truth.contacts() if "high" in c.objects}
    assert hulls == {("body", "body")}


def test_leaning_neighbours_do_not_support_each_other():
    world = world_of({"a": box_model(CUBE), "b": box_model(CUBE)}, a=at(0.5, 0.0), b=at(0.5, 0.0501))
    world.step(200)
    assert world.truth.supported_by("a") == {"table"}
    assert world.truth.supported_by("b") == {"table"}


def test_a_cup_stuck_between_steep_walls_is_carried_by_them():
    cups = {name: default_library().build("paper_cup", instance=i) for name, i in (("outer", 7), ("inner", 2))}
    placed = placements(cups["inner"], cups["outer"], "in", rng=np.random.default_rng(0), n=1, pose_world_target=POSE)
    inner = PoseSpec.from_pose(placed[0].pose_world_object)
    world = world_of(cups, outer=PoseSpec.from_pose(POSE), inner=inner)
    world.step(500)
    assert world.truth.supported_by("inner") == {"outer"}
    assert world.truth.supported_by("outer") == {"table"}
    assert inside(observe(world.truth, cups, Pose()), "inner", "outer").ok


def test_pads_touch_where_they_are():
    size = (0.06, 0.05, 0.10)
    world = world_of({"box": box_model(size)}, box=at(0.5, 0.0, yaw=0.0))
    world.step(50)
    assert world.truth.pad_contacts("box") == {}
    world.arm.move_linear(down(0.5, 0.0, 0.16), speed_m_s=0.4)
    world.arm.move_linear(down(0.5, 0.0, 0.075), speed_m_s=0.2)
    assert not world.truth.is_held("box")
    world.arm.grip(width_m=0.0)
    assert world.truth.is_held("box") and world.truth.touched_by_robot("box")
    assert world.truth.robot_contacts() == {"box"}
    points = world.truth.pad_contacts("box")["base"]
    np.testing.assert_allclose(np.abs(points[:, 1]), size[1] / 2, atol=2e-3)
    assert (np.sign(points[:, 1]) > 0).any() and (np.sign(points[:, 1]) < 0).any()
    assert (np.abs(points[:, 2] - 0.075) < 0.015).all()


def test_unknown_names_list_the_known(tower):
    with pytest.raises(UnknownNameError, match="low"):
        tower.truth.pose("lo")
    with pytest.raises(UnknownNameError, match="base"):
        tower.truth.pose("low", "lid")
    with pytest.raises(UnknownNameError):
        tower.truth.supported_by("nobody")


def test_toppled_stack_is_no_stack(tower):
    tower.reset(scene_of(low=at(0.5, 0.1), high=at(0.5, 0.1 + 0.08, 0.051)))
    tower.step(600)
    assert "table" in tower.truth.supported_by("high")
