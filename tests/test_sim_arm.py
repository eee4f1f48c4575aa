from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from armwright.control.protocols import Arm, Camera, Clock, Guard, Trajectory
from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.sim._servo import servo_of
from armwright.sim.world import World
from sim_scenes import at, box_model, down, scene_of, world_of

BOX_M = (0.06, 0.05, 0.10)


@pytest.fixture
def world() -> World:
    world = world_of({"box": box_model(BOX_M)}, box=at(0.5, 0.0))
    world.step(50)
    return world


def swing(start: np.ndarray, by: np.ndarray, seconds: float) -> Trajectory:
    t = np.linspace(0, seconds, 101)
    s = t / seconds
    ease, speed = 10 * s**3 - 15 * s**4 + 6 * s**5, (30 * s**2 - 60 * s**3 + 30 * s**4) / seconds
    return Trajectory(t, start + ease[:, None] * by, speed[:, None] * by)


def grasp(world: World) -> None:
    assert world.arm.move_linear(down(0.5, 0.0, 0.16), speed_m_s=0.4).ok
    assert world.arm.move_linear(down(0.5, 0.0, 0.075), speed_m_s=0.2).ok
    assert world.arm.grip(width_m=0.0).holding


def test_protocols_are_met(world):
    assert isinstance(world.arm, Arm)
    assert isinstance(world.clock, Clock)
    assert all(isinstance(camera, Camera) for camera in world.cameras.values())


def test_trajectory_is_tracked(world):
    by = np.array([0.5, -0.3, -0.3, 0.4, 0.2, 0.3, 0.5])
    start = world.arm.command()
    plan = swing(start, by, 1.6)
    t0 = world.clock.now_s
    report = world.arm.follow(plan)
    assert (report.ok, report.status) == (True, "done")
    assert report.error_m < 1e-3 and report.error_rad < 3e-3
    assert world.clock.now_s - t0 < plan.duration_s + 0.2
    states = [s for s in world.arm.states(t0) if s.stamp_s <= t0 + plan.duration_s]
    assert len(states) > 20
    for state in states:
        wanted = [np.interp(state.stamp_s - t0, plan.time_s, column) for column in plan.position_rad.T]
        np.testing.assert_allclose(state.position_rad, wanted, atol=0.012)
        np.testing.assert_allclose(state.target_rad, wanted, atol=2e-3)
    np.testing.assert_allclose(world.arm.state().position_rad, start + by, atol=3e-3)


def test_trajectory_from_elsewhere_or_beyond_limits_is_refused(world):
    start = world.arm.command()
    before = world.clock.now_s
    far = world.arm.follow(swing(start + 0.3, np.zeros(7), 0.5))
    assert (far.ok, far.status) == (False, "limit")
    over = world.arm.follow(swing(start, np.array([0, 0, 0, 9.0, 0, 0, 0]), 0.5))
    assert (over.ok, over.status) == (False, "limit")
    assert world.clock.now_s == before
    with pytest.raises(UsageError, match="7"):
        world.arm.follow(Trajectory(np.array([0.0, 1.0]), np.zeros((2, 3)), np.zeros((2, 3))))


def test_straight_motion_stays_on_its_line_and_keeps_its_speed(world):
    start = world.arm.state().pose_base_tool
    goal = Pose(start.position_m + np.array([0.1, -0.12, -0.05]), start.quat_wxyz)
    t0 = world.clock.now_s
    report = world.arm.move_linear(goal, speed_m_s=0.2)
    assert report.ok and report.error_m < 2e-3
    length = start.distance_to(goal)
    assert length / 0.2 <= world.clock.now_s - t0 <= length / 0.2 + 0.6
    line = (goal.position_m - start.position_m) / length
    points = np.array([s.pose_base_tool.position_m for s in world.arm.states(t0)]) - start.position_m
    off = points - np.outer(points @ line, line)
    assert np.linalg.norm(off, axis=1).max() < 3e-3
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=1) / 0.05
    assert speeds.max() < 0.22


def test_unreachable_line_moves_nothing(world):
    before = world.clock.now_s
    report = world.arm.move_linear(down(1.6, 0.0, 0.3))
    assert (report.ok, report.status) == (False, "no_ik")
    assert world.clock.now_s == before
    with pytest.raises(UsageError, match="speed"):
        world.arm.move_linear(down(0.5, 0.0, 0.3), speed_m_s=0.0)


def test_grip_holds_lifts_and_releases(world):
    grasp(world)
    assert world.truth.is_held("box")
    state = world.arm.state()
    assert state.opening_m == pytest.approx(BOX_M[1], abs=2e-3)
    assert state.grip_force_n > 10
    hand = state.pose_base_tool.inverse() @ world.truth.pose("box")
    assert world.arm.move_linear(down(0.55, 0.1, 0.25), speed_m_s=0.4).ok
    world.clock.sleep(1.0)
    lifted = world.arm.state().pose_base_tool.inverse() @ world.truth.pose("box")
    assert hand.distance_to(lifted) < 1e-3
    assert world.truth.supported_by("box") == frozenset()
    opened = world.arm.grip(width_m=0.08)
    assert opened.ok and not opened.holding
    assert not world.truth.is_held("box")
    world.clock.sleep(0.6)
    assert world.truth.supported_by("box") == {"table"}


def test_grip_on_nothing_and_on_too_little(world):
    closed = world.arm.grip(width_m=0.02)
    assert closed.ok and not closed.holding
    assert closed.opening_m == pytest.approx(0.02, abs=2e-3)
    assert closed.force_n == 0.0
    late = world.arm.grip(width_m=0.08, timeout_s=0.1)
    assert not late.ok and "not reached" in late.detail


def test_grip_stops_at_the_force_asked_for(world):
    assert world.arm.move_linear(down(0.5, 0.0, 0.16), speed_m_s=0.4).ok
    assert world.arm.move_linear(down(0.5, 0.0, 0.075), speed_m_s=0.2).ok
    gentle = world.arm.grip(width_m=0.0, force_n=8.0)
    assert gentle.holding
    assert 7.0 < gentle.force_n < 10.5
    assert world.arm.grip(width_m=0.0).force_n > 1.5 * gentle.force_n


def test_pads_standing_on_top_hold_nothing():
    world = world_of({"wide": box_model((0.06, 0.10, 0.08))}, wide=at(0.5, 0.0))
    world.step(50)
    world.arm.move_linear(down(0.5, 0.0, 0.14), speed_m_s=0.4)
    world.arm.move_linear(down(0.5, 0.0, 0.06), Guard(contact_n=5.0), speed_m_s=0.06)
    assert world.truth.touched_by_robot("wide")
    assert not world.arm.grip(width_m=0.06, timeout_s=0.5).holding
    assert not world.truth.is_held("wide")


def test_contact_guard_stops_on_the_table(world):
    world.arm.move_linear(down(0.45, 0.25, 0.05), speed_m_s=0.5)
    report = world.arm.move_linear(down(0.45, 0.25, -0.05), Guard(contact_n=5.0), speed_m_s=0.05)
    assert (report.ok, report.status, report.guard) == (True, "guard", "contact")
    lowest = world.arm.state().pose_base_tool.position_m[2] - world.built.robot.spec.gripper.finger_depth_m
    assert abs(lowest) < 4e-3
    assert world.truth.robot_contacts() <= {"table"}


def test_a_force_that_has_to_last_stops_the_arm_later(world):
    stops = []
    for lasting_s in (0.0, 0.2):
        world.arm.move_linear(down(0.45, 0.25, 0.05), speed_m_s=0.5)
        guard = Guard(contact_n=5.0, contact_s=lasting_s)
        started = world.clock.now_s
        report = world.arm.move_linear(down(0.45, 0.25, -0.05), guard, speed_m_s=0.02)
        assert (report.status, report.guard) == ("guard", "contact")
        stops.append(report.state.stamp_s - started)
    assert stops[1] - stops[0] == pytest.approx(0.2, abs=0.05)


def test_contact_guard_feels_the_held_object_touch_down_but_not_its_weight(world):
    grasp(world)
    up = world.arm.move_linear(down(0.5, 0.0, 0.2), Guard(contact_n=2.0), speed_m_s=0.2)
    assert (up.ok, up.status) == (True, "done")
    over = world.arm.move_linear(down(0.5, 0.12, 0.2), Guard(contact_n=2.0), speed_m_s=0.2)
    assert over.status == "done"
    landed = world.arm.move_linear(down(0.5, 0.12, 0.03), Guard(contact_n=4.0), speed_m_s=0.05)
    assert (landed.status, landed.guard) == ("guard", "contact")
    assert abs(world.truth.pose("box").position_m[2]) < 1e-3


def test_other_guards(world):
    here = world.arm.state().pose_base_tool
    goal = Pose(here.position_m - [0.0, 0.0, 0.15], here.quat_wxyz)
    t0 = world.clock.now_s
    timed = world.arm.move_linear(goal, Guard(timeout_s=0.3), speed_m_s=0.1)
    assert (timed.status, timed.guard) == ("guard", "timeout")
    assert world.clock.now_s - t0 == pytest.approx(0.31, abs=0.02)
    gone = world.arm.move_linear(goal, Guard(distance_m=0.03), speed_m_s=0.1)
    assert gone.guard == "distance"
    asked = world.arm.move_linear(
        goal, Guard(predicate=lambda s: s.pose_base_tool.position_m[2] < 0.28, predicate_name="low"), speed_m_s=0.1
    )
    assert asked.guard == "low"
    assert asked.state.pose_base_tool.position_m[2] == pytest.approx(0.28, abs=3e-3)
    world.clock.sleep(0.5)
    assert np.abs(world.arm.state().velocity_rad_s).max() < 1e-3


def test_blocked_motion_was_not_reached(world):
    world.arm.move_linear(down(0.45, 0.25, 0.05), speed_m_s=0.5)
    report = world.arm.move_linear(down(0.45, 0.25, -0.04), speed_m_s=0.1)
    assert (report.ok, report.status) == (False, "not_reached")
    assert report.error_m > 5e-3


def test_stop_ends_the_motion_under_way(world):
    def stop_soon(state):
        if state.stamp_s > t0 + 0.2:
            world.arm.stop()
        return False

    t0 = world.clock.now_s
    here = world.arm.state().pose_base_tool
    report = world.arm.move_linear(Pose(here.position_m - [0, 0, 0.2], here.quat_wxyz), Guard(predicate=stop_soon))
    assert (report.ok, report.status) == (False, "stopped")
    assert world.clock.now_s - t0 < 0.5


def test_torques_show_what_is_carried(world):
    assert np.abs(world.arm.state().torque_nm).max() < 0.05
    grasp(world)
    world.arm.move_linear(down(0.5, 0.0, 0.25), speed_m_s=0.3)
    world.clock.sleep(0.3)
    shoulder = abs(world.arm.state().torque_nm[1])
    assert shoulder == pytest.approx(0.3 * 9.81 * 0.5, rel=0.15)


def test_streamed_commands_replay_a_pick(world):
    grasp(world)
    world.arm.move_linear(down(0.55, 0.1, 0.2), speed_m_s=0.3)
    wanted = world.truth.pose("box")
    servo = servo_of(world.built.robot.kinematics)
    commands = []
    for state in world.arm.states():
        tool = servo.tool_pose(state.target_rad)
        commands.append((state.stamp_s, tool, state.target_opening_m))
    world.reset(world.scene)
    for (t0, _, _), (t1, tool, opening) in pairwise(commands):
        world.arm.track(tool, opening_m=opening, duration_s=t1 - t0)
    world.arm.track(tool, opening_m=opening, duration_s=0.3)
    assert world.truth.is_held("box")
    assert world.truth.pose("box").distance_to(wanted) < 5e-3
    out = world.arm.track(down(1.5, 0.0, 0.2), opening_m=0.0, duration_s=0.05)
    assert (out.ok, out.status) == (False, "no_ik")


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["kinova", "sawyer", "ur5e", "xarm7"])
def test_every_arm_lifts_a_box(robot):
    world = World(scene_of(box=at(0.5, 0.0)), objects={"box": box_model(BOX_M)}, robot=robot)
    world.step(50)
    base = world.arm.pose_world_base.inverse()
    assert world.arm.move_linear(base @ down(0.5, 0.0, 0.18), speed_m_s=0.3).ok
    assert world.arm.move_linear(base @ down(0.5, 0.0, 0.075), speed_m_s=0.2).ok
    assert world.arm.grip(width_m=0.0).holding
    hand = world.arm.state().pose_base_tool.inverse() @ (base @ world.truth.pose("box"))
    assert world.arm.move_linear(base @ down(0.5, 0.1, 0.2), speed_m_s=0.2).ok
    world.clock.sleep(1.0)
    lifted = world.arm.state().pose_base_tool.inverse() @ (base @ world.truth.pose("box"))
    assert hand.distance_to(lifted) < 1e-3
    assert world.truth.is_held("box") and world.truth.supported_by("box") == frozenset()
    assert world.arm.grip(width_m=0.08).ok
    world.clock.sleep(0.6)
    assert world.truth.supported_by("box") == {"table"}
