"""The verifier sees what MuJoCo sees: contacts anywhere on a path, limits, what is held and what may be touched."""

from functools import cache

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armwright.control.protocols import Trajectory
from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.planning.types import Obstacle, WorldSpec
from armwright.planning.verify import HELD, Verifier, interpolate
from armwright.robots.bake import baked_robot

CORNERS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T


@cache
def robot():
    return baked_robot("franka")


def home():
    return np.array(robot().spec.home_rad)


def box(name, center, half, yaw=0.0):
    return Obstacle(name, Pose.from_yaw(center, yaw), (CORNERS * np.asarray(half, float),))


TABLE = box("table", (0.35, 0, -0.021), (0.6, 0.75, 0.02))


def verifier(*obstacles, opening_m=0.08):
    return Verifier(robot().xml_path, robot().spec, WorldSpec((TABLE, *obstacles)), opening_m=opening_m)


@cache
def tool_at_home():
    model = mujoco.MjModel.from_xml_path(str(robot().xml_path))
    data = mujoco.MjData(model)
    for name, value in zip(robot().spec.joints, home()):
        data.joint(name).qpos[0] = value
    mujoco.mj_kinematics(model, data)
    pose = np.eye(4)
    pose[:3, :3] = data.site("tool").xmat.reshape(3, 3)
    pose[:3, 3] = data.site("tool").xpos
    return pose


def turned(angle):
    return home() + np.eye(7)[0] * angle


def test_home_is_free_and_an_obstacle_in_the_palm_is_named_with_its_depth():
    assert verifier().check_path(home()).ok
    palm = tool_at_home()[:3, 3] - 0.08 * tool_at_home()[:3, 2]
    report = verifier(box("brick", palm, (0.02, 0.02, 0.02))).check_path(home())
    assert not report.ok and report.status == "verify_collision"
    assert report.colliding is not None and report.colliding[1] == "brick"
    assert report.index == 0 and report.depth_m > 0.005
    assert "brick" in report.detail


def test_a_thin_wall_between_free_ends_is_found_at_the_right_segment():
    radius = np.hypot(*tool_at_home()[:2, 3])
    wall = box("wall", (radius * np.cos(0.9), radius * np.sin(0.9), 0.4), (0.1, 0.001, 0.4), yaw=0.9)
    made = verifier(wall)
    path = np.array([turned(-0.4), turned(0.0), turned(1.8), turned(1.9)])
    assert made.check_path(path[0]).ok and made.check_path(path[2]).ok
    report = made.check_path(path)
    assert not report.ok and report.index == 1 and report.colliding[1] == "wall"
    assert made.check_path(path[:2]).ok and made.check_path(path[2:]).ok


def test_self_collision_is_found():
    folded = np.array([0.0, 1.7, 0.0, -3.0, 0.0, 0.1, 0.0])
    report = verifier().check_path(folded, ignore=frozenset({"table"}))
    assert not report.ok and not set(report.colliding) & {"table"}


def test_ignored_obstacles_may_be_touched_and_no_others():
    tool = tool_at_home()[:3, 3]
    cube = box("cube", tool, (0.045, 0.045, 0.02))
    made = verifier(cube, box("post", tool + np.array([0, 0, 0.08]), (0.03, 0.03, 0.01)))
    assert not made.check_path(home()).ok
    assert not made.check_path(home(), ignore=frozenset({"cube"})).ok
    assert made.check_path(home(), ignore=frozenset({"cube", "post"})).ok
    with pytest.raises(UsageError, match="cupe"):
        made.check_path(home(), ignore=frozenset({"cupe"}))


def test_the_opening_decides_what_fits_between_the_fingers():
    slim = Obstacle("slim", Pose.from_matrix(tool_at_home()), (CORNERS * [0.008, 0.02, 0.008],))
    made = verifier(slim, opening_m=0.08)
    assert made.check_path(home()).ok
    made.set_opening(0.03)
    assert not made.check_path(home()).ok


def test_what_is_held_collides_with_the_world_and_with_the_arm_but_not_with_the_hand():
    tool = tool_at_home()
    bar = CORNERS * [0.01, 0.01, 0.10] + [0, 0, 0.08]
    tip = tool[:3, 3] + 0.17 * tool[:3, 2]
    made = verifier(box("stand", tip, (0.03, 0.03, 0.01)))
    assert made.check_path(home()).ok
    assert verifier().check_path(home(), attached=(bar,)).ok
    report = made.check_path(home(), attached=(bar,))
    assert not report.ok and set(report.colliding) == {HELD, "stand"}
    assert made.check_path(home(), attached=(bar,), held_ignore=frozenset({"stand"})).ok
    palm = tool[:3, 3] - 0.08 * tool[:3, 2]
    brick = verifier(box("brick", palm, (0.02, 0.02, 0.02)))
    assert not brick.check_path(home(), attached=(bar,), held_ignore=frozenset({"brick"})).ok
    tray = CORNERS * [0.4, 0.4, 0.01] - [0, 0, 0.35]
    touching = verifier().check_path(home(), attached=(tray,))
    assert not touching.ok and HELD in touching.colliding


def test_moving_the_world_equals_building_it_again():
    obstacle = box("brick", (0.5, 0.5, 0.5), (0.05, 0.05, 0.05))
    made = verifier(obstacle)
    rng = np.random.default_rng(0)
    verdicts = []
    for _ in range(12):
        moved = Obstacle("brick", Pose.from_yaw(tool_at_home()[:3, 3] + rng.normal(0, 0.1, 3), 0.3), obstacle.hulls)
        made.set_world(WorldSpec((TABLE, moved)))
        fresh = Verifier(robot().xml_path, robot().spec, WorldSpec((TABLE, moved)), opening_m=0.08)
        one, two = made.check_path(home()), fresh.check_path(home())
        assert one.ok == two.ok and one.colliding == two.colliding
        assert one.depth_m == pytest.approx(two.depth_m, abs=1e-6)
        verdicts.append(one.ok)
    assert 0 < sum(verdicts) < len(verdicts)
    made.set_world(WorldSpec((TABLE,)))
    assert made.check_path(home()).ok


def test_verdicts_agree_with_the_full_model():
    tool = tool_at_home()[:3, 3]
    block = box("block", tool + np.array([0.05, 0.1, 0.0]), (0.08, 0.05, 0.2), yaw=0.5)
    made = verifier(block)
    spec = mujoco.MjSpec.from_file(str(robot().xml_path))
    body = spec.worldbody.add_body(name="block", pos=block.pose_base_obstacle.position_m)
    body.quat = block.pose_base_obstacle.quat_wxyz
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.08, 0.05, 0.2])
    desk = spec.worldbody.add_body(name="desk", pos=[0.35, 0, -0.021])
    desk.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.6, 0.75, 0.02])
    model = spec.compile()
    data = mujoco.MjData(model)
    names = [model.joint(j).name for j in range(model.njnt)]
    for finger in (n for n in names if n not in robot().spec.joints):
        low, high = model.joint(finger).range
        data.joint(finger).qpos[0] = high if abs(high) > abs(low) else low
    hits = 0
    for q in np.random.default_rng(2).normal(home(), 0.5, (150, 7)):
        for name, value in zip(robot().spec.joints, q):
            data.joint(name).qpos[0] = value
        mujoco.mj_fwdPosition(model, data)
        deepest = min([0.0, *data.contact.dist])
        if abs(deepest) > 1e-4 or deepest == 0.0:
            hits += deepest < 0
            assert made.check_path(q).ok == (deepest >= 0)
    assert 20 < hits < 140


def test_asking_for_one_configuration_agrees_with_checking_a_path():
    made = verifier(box("brick", tool_at_home()[:3, 3], (0.05, 0.05, 0.05)), opening_m=0.03)
    configurations = np.random.default_rng(4).normal(home(), 0.4, (60, 7))
    for opening in (0.03, 0.08):
        made.set_opening(opening)
        answers = [made.is_free(q) for q in configurations]
        assert answers == [made.check_path(q).ok for q in configurations]
        assert 0 < sum(answers) < 60


def test_clearance_is_measured_from_surface_to_surface():
    palm = tool_at_home()[:3, 3] - 0.08 * tool_at_home()[:3, 2]
    brick = box("brick", palm, (0.02, 0.02, 0.02))
    touch = verifier(brick).check_path(home()).depth_m
    assert touch > 0
    made = None
    for away in np.arange(0.0, 0.2, 0.002):
        moved = Obstacle("brick", Pose(palm + np.array([0.0, away, 0.0])), brick.hulls)
        if made is None:
            made = verifier(moved)
        made.set_world(WorldSpec((TABLE, moved)))
        if made.is_free(home()):
            break
    far = Obstacle("brick", Pose(palm + np.array([0.0, away + 0.004, 0.0])), brick.hulls)
    made.set_world(WorldSpec((TABLE, far)))
    assert made.is_free(home(), clearance_m=0.003) and not made.is_free(home(), clearance_m=0.007)
    assert made.is_free(home())


def test_flat_hulls_are_bodies_too():
    tool = tool_at_home()[:3, 3]
    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * 0.2
    report = verifier(Obstacle("sheet", Pose(tool + np.array([0, 0, 0.05])), (square,))).check_path(home())
    assert not report.ok and report.colliding[1] == "sheet"
    with pytest.raises(UsageError, match="hull"):
        verifier(Obstacle("line", Pose(), (np.zeros((2, 3)),)))


@pytest.mark.parametrize("bad", [np.zeros(6), np.zeros((2, 3, 7)), np.full(7, np.nan), np.zeros((0, 7))])
def test_wrong_paths_are_refused(bad):
    with pytest.raises(UsageError, match="franka"):
        verifier().check_path(bad)


@given(st.lists(st.lists(st.floats(-3, 3), min_size=2, max_size=2), min_size=2, max_size=6), st.floats(0.005, 0.5))
def test_interpolation_keeps_way_points_and_steps(rows, step):
    q = np.array(rows)
    dense, index = interpolate(q, step)
    assert np.abs(np.diff(dense, axis=0)).max() <= step + 1e-9
    np.testing.assert_array_equal(dense[0], q[0])
    np.testing.assert_array_equal(dense[-1], q[-1])
    assert (np.diff(index) >= 0).all() and index[-1] == len(q) - 1
    for k, row in enumerate(q):
        assert np.abs(dense[index == k] - row).max(axis=1).min() < 1e-9


def ramp(*, speed_share=0.5, acceleration_share=0.5, start=None):
    """A rest-to-rest motion of joint 1 with a triangular speed profile, at shares of its limits."""
    spec = robot().spec
    peak = speed_share * spec.velocity_rad_s[0]
    slope = acceleration_share * spec.acceleration_rad_s2[0]
    time = np.linspace(0, 2 * peak / slope, 201)
    velocity = np.zeros((201, 7))
    velocity[:, 0] = np.minimum(slope * time, slope * (time[-1] - time))
    position = np.tile(home() if start is None else start, (201, 1))
    position[1:, 0] += np.cumsum(0.5 * (velocity[1:, 0] + velocity[:-1, 0]) * np.diff(time))
    return Trajectory(time, position, velocity)


def test_limits_pass_within_two_percent_and_fail_beyond():
    made = verifier()
    assert made.check_limits(ramp(speed_share=1.015, acceleration_share=1.015)).ok
    for wrong, word in (
        (ramp(speed_share=1.03), "speed"),
        (ramp(acceleration_share=1.03), "acceleration"),
        (ramp(start=home() + np.eye(7)[0] * 2.8), "outside"),
    ):
        report = made.check_limits(wrong)
        assert not report.ok and report.status == "verify_limits" and word in report.detail
    jump = ramp()
    position = jump.position_rad.copy()
    position[100:, 3] += 0.5
    assert "between samples" in made.check_limits(Trajectory(jump.time_s, position, jump.velocity_rad_s)).detail
    back = Trajectory(jump.time_s[::-1].copy(), jump.position_rad, jump.velocity_rad_s)
    assert "time" in made.check_limits(back).detail


def test_moving_what_is_held_equals_building_it_there():
    bar, tip = CORNERS * [0.01, 0.01, 0.10], Pose.from_matrix(tool_at_home()).transform([0.0, 0.0, 0.17])
    made = verifier(box("stand", tip, (0.03, 0.03, 0.01)))
    seen = []
    for shift in (0.0, 0.08, -0.02, 0.05, 0.12):
        moved = Pose.from_yaw([0.0, 0.01, shift], 0.4)
        here = made.check_path(home(), attached=(bar,), pose_tool_attached=moved)
        there = verifier(box("stand", tip, (0.03, 0.03, 0.01))).check_path(home(), attached=(moved.transform(bar),))
        assert (here.ok, here.colliding) == (there.ok, there.colliding)
        assert here.depth_m == pytest.approx(there.depth_m, abs=1e-6)
        seen.append((here.ok, moved))
    touching = next(moved for ok, moved in seen if not ok)
    assert any(ok for ok, _ in seen)
    made.set_world(WorldSpec((box("stand", tip + np.array([2.0, 0.0, 0.0]), (0.03, 0.03, 0.01)),)))
    assert made.check_path(home(), attached=(bar,), pose_tool_attached=touching).ok
