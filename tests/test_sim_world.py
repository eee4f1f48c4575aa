from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.sim.physics import DivergedError, StreamLostError
from armwright.sim.world import World, WorldOptions
from sim_scenes import at, box_model, clutter, down, franka, scene_of, world_of


def arrays(world: World) -> np.ndarray:
    d = world.truth.data
    return np.concatenate([[d.time], d.qpos, d.qvel, d.ctrl, d.qacc_warmstart])


@pytest.fixture
def world():
    scene, models = clutter()
    return World(scene, objects=models, robot=franka())


def lift(world: World) -> None:
    world.arm.move_linear(down(0.68, 0.0, 0.02), speed_m_s=0.4)
    world.arm.grip(width_m=0.0)
    world.arm.move_linear(down(0.6, 0.1, 0.25), speed_m_s=0.4)


def test_restore_is_bit_exact_while_objects_sleep_and_wake(world):
    world.step(150)
    assert (world.truth.data.tree_asleep >= 0).any()
    before = world.snapshot()
    lift(world)
    first = arrays(world)
    world.restore(before)
    assert world.clock.now_s == before.time_s
    world.truth.contacts()
    world.truth.velocity("mug_1")
    lift(world)
    np.testing.assert_array_equal(first, arrays(world))


def test_restore_in_the_middle_of_a_hold(world):
    world.arm.move_linear(down(0.68, 0.0, 0.02), speed_m_s=0.4)
    assert world.arm.grip(width_m=0.0).holding
    held = world.snapshot()
    target = world.arm.command()
    runs = []
    for _ in range(2):
        world.restore(held)
        np.testing.assert_array_equal(world.arm.command(), target)
        world.arm.move_linear(down(0.6, 0.0, 0.2), speed_m_s=0.4)
        runs.append(arrays(world))
    np.testing.assert_array_equal(*runs)


def test_going_back_brings_back_the_shakes_that_were_to_come_and_no_others(world):
    world.truth.shake("mug_1")
    before = world.snapshot()
    world.step(200)
    once = arrays(world)
    world.truth.shake("mug_1")
    world.step(200)
    world.restore(before)
    world.step(200)
    np.testing.assert_array_equal(once, arrays(world))
    scene = world.scene
    world.reset(scene)
    world.restore(before)
    world.step(200)
    np.testing.assert_array_equal(once, arrays(world))


def test_reading_truth_and_cameras_changes_nothing(world):
    scene, models = clutter()
    other = World(scene, objects=models, robot=franka())
    for _ in range(20):
        world.step(10)
        other.step(10)
        other.truth.contacts()
        other.arm.state()
        other.truth.supported_by("mug_1")
    other.cameras["wrist"].render(rgb=False, depth=True)
    world.step(20)
    other.step(20)
    np.testing.assert_array_equal(arrays(world), arrays(other))


def test_reset_equals_a_fresh_build(world):
    scene, models = clutter()
    lift(world)
    world.reset(scene)
    assert world.clock.now_s == 0.0
    lift(world)
    fresh = World(scene, objects=models, robot=franka())
    lift(fresh)
    np.testing.assert_array_equal(arrays(world), arrays(fresh))


def test_reset_refuses_other_objects(world):
    with pytest.raises(UsageError, match="mug_1"):
        world.reset(scene_of(box_1=at(0.5, 0.0)))
    scene, models = clutter()
    assert world.fits(scene, models)
    assert not world.fits(scene, {**models, "mug_1": box_model((0.04, 0.04, 0.04))})


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e13])
def test_divergence_is_raised_and_reset_recovers(world, value):
    scene, _ = clutter()
    world.step(10)
    world.truth.data.qvel[20] = value
    with pytest.raises(DivergedError, match="diverged at"):
        world.step(20)
    with pytest.raises(DivergedError):
        world.step(1)
    assert np.isfinite(np.concatenate([s.qpos for s in world.stream()])).all()
    world.reset(scene)
    world.step(100)
    assert np.isfinite(arrays(world)).all()


def test_restore_recovers_from_divergence_exactly(world):
    world.step(150)
    before = world.snapshot()
    lift(world)
    wanted = arrays(world)
    world.truth.data.qvel[20] = np.nan
    with pytest.raises(DivergedError):
        world.step(20)
    world.restore(before)
    lift(world)
    np.testing.assert_array_equal(arrays(world), wanted)


def test_motion_into_divergence_is_a_report(world):
    world.truth.data.qvel[20] = np.nan
    report = world.arm.move_linear(down(0.6, 0.0, 0.3))
    assert (report.ok, report.status) == (False, "diverged")
    assert np.isfinite(report.state.position_rad).all()
    assert not world.arm.grip(width_m=0.0).ok


def test_no_log_file_is_left_behind(world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world.truth.data.qvel[20] = np.nan
    with pytest.raises(DivergedError):
        world.step(5)
    assert list(tmp_path.iterdir()) == []


def test_stream_is_stamped_at_its_rate_and_bounded():
    box = box_model((0.04, 0.05, 0.06))
    world = world_of({"b": box}, options=WorldOptions(stream_hz=50.0, keep_s=1.0), b=at(0.5, 0.0))
    for n in (3, 7, 250, 1, 739):
        world.step(n)
    stamps = np.array([s.stamp_s for s in world.stream()])
    assert len(stamps) == 50
    np.testing.assert_allclose(np.diff(stamps), 0.02, atol=1e-9)
    assert stamps[-1] == pytest.approx(2.0)
    assert [s.stamp_s for s in world.arm.states(since_s=1.9)] == [s.stamp_s for s in world.stream(1.9)]
    assert len(world.stream(stamps[-2])) == 1
    # What was dropped is missed, not left out in silence; minus infinity asks for whatever there is.
    for read in (world.stream, world.arm.states, world.cameras["front"].frames):
        with pytest.raises(StreamLostError, match=r"keeps the last 1 s; samples from 0.50 s to 1.00 s are gone"):
            read(0.5)
    world.reset(world.scene)
    assert len(world.stream(-1.0)) == 1
    with pytest.raises(UsageError, match="Hz"):
        world_of({"b": box}, options=WorldOptions(stream_hz=30.0), b=at(0.5, 0.0))


def test_clock_lets_the_world_go_on(world):
    world.clock.sleep(0.5)
    assert world.clock.now_s == pytest.approx(0.5)
    world.clock.sleep(-1.0)
    assert world.clock.now_s == pytest.approx(0.5)


def test_frames_are_drawn_from_the_stream():
    box = box_model((0.04, 0.05, 0.06))
    options = WorldOptions(image_px=(48, 40), renderer="rays")
    world = world_of({"b": box}, options=options, b=at(0.5, 0.0))
    world.arm.move_linear(down(0.5, 0.0, 0.3), speed_m_s=0.5)
    wrist, front = world.cameras["wrist"], world.cameras["front"]
    now = world.clock.now_s
    frames = wrist.frames(now - 0.26)
    assert [f.stamp_s for f in frames] == [s.stamp_s for s in world.stream(now - 0.26)]
    assert frames[0].rgb.shape == (40, 48, 3) and frames[0].depth_m.shape == (40, 48)
    states = world.arm.states(now - 0.26)
    mounted = [s.pose_base_tool.inverse() @ f.camera.pose_world_camera for s, f in zip(states, frames, strict=True)]
    for pose in mounted[1:]:
        assert pose.distance_to(mounted[0]) < 1e-5
    assert frames[0].camera.pose_world_camera.distance_to(frames[-1].camera.pose_world_camera) > 1e-3
    assert (front.frames(now - 0.051, depth=False)[0].depth_m == 0).all()
    held = front.capture()
    assert held.stamp_s == pytest.approx(world.clock.now_s)
    assert (held.depth_m > 0).mean() > 0.5


def test_world_is_freed_at_once():
    scene, models = clutter()
    gc.disable()
    try:
        world = World(scene, objects=models, robot=franka())
        world.step(30)
        world.truth.contacts()
        world.arm.grip(width_m=0.03)
        world.cameras["wrist"].render(rgb=False, depth=True)
        physics = weakref.ref(world._physics)
        del world
        assert physics() is None
    finally:
        gc.enable()
