import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.planning.timing import OVER_LIMIT, limit_ratios, time_path
from armwright.planning.types import WorldSpec
from planning_support import arm, box, planner, random_joints


def paths(count=30, seed=0):
    kinematics = arm().kinematics
    rng = np.random.default_rng(seed)
    for _ in range(count):
        points = random_joints(kinematics, int(rng.integers(2, 7)), int(rng.integers(1 << 30)))
        yield kinematics.home_rad + rng.uniform(0.02, 0.6) * (points - kinematics.home_rad)


@pytest.mark.parametrize("method", ["blend", "toppra", "ruckig"])
def test_trajectories_keep_the_limits_start_and_stop_at_rest_and_join_the_ends(method):
    kinematics = arm().kinematics
    for path in paths(12):
        report = time_path(path, kinematics, method=method)
        assert report.ok and report.trajectory is not None
        t = report.trajectory
        ratio_v, ratio_a, _ = limit_ratios(t, kinematics.velocity_rad_s, kinematics.acceleration_rad_s2)
        assert ratio_v <= OVER_LIMIT and ratio_a <= OVER_LIMIT**2
        np.testing.assert_allclose(t.position_rad[[0, -1]], path[[0, -1]], atol=1e-6)
        np.testing.assert_allclose(t.velocity_rad_s[[0, -1]], 0, atol=1e-6)
        assert t.time_s[0] == 0 and (np.diff(t.time_s) > 0).all()


def test_velocity_is_the_derivative_of_position_and_acceleration_is_bounded_between_samples():
    kinematics = arm().kinematics
    for path in paths(20, seed=1):
        t = time_path(path, kinematics, step_s=0.002).trajectory
        slope = np.diff(t.position_rad, axis=0) / np.diff(t.time_s)[:, None]
        middle = (t.velocity_rad_s[1:] + t.velocity_rad_s[:-1]) / 2
        assert np.abs(slope - middle).max() < 0.02
        again = np.abs(np.diff(slope, axis=0)) / 0.002
        assert (again.max(0) <= 1.05 * kinematics.acceleration_rad_s2).all()


def test_blends_stay_near_the_path_and_are_quicker_than_stopping():
    kinematics = arm().kinematics
    gained = []
    for path in paths(20, seed=2):
        t = time_path(path, kinematics).trajectory
        edges = np.diff(path, axis=0)
        for q in t.position_rad[::10]:
            part = np.clip(((q - path[:-1]) * edges).sum(1) / (edges**2).sum(1), 0, 1)
            assert np.linalg.norm(q - path[:-1] - part[:, None] * edges, axis=1).min() < 0.1
        if len(path) > 3:
            gained.append(t.duration_s / time_path(path, kinematics, method="ruckig").trajectory.duration_s)
    # Zigzags are the worst case: on planned paths the gain is about a tenth.
    assert np.mean(gained) < 1.05


def test_a_straight_path_stays_straight():
    kinematics = arm().kinematics
    a, b = kinematics.home_rad, kinematics.home_rad + np.linspace(-0.5, 0.6, 7)
    t = time_path(np.stack([a, b]), kinematics).trajectory
    part = (t.position_rad - a) @ (b - a) / ((b - a) @ (b - a))
    np.testing.assert_allclose(t.position_rad, a + part[:, None] * (b - a), atol=1e-9)
    assert (np.diff(part) >= -1e-12).all()


def test_scales_slow_the_motion_down():
    kinematics = arm().kinematics
    path = next(paths(1, seed=4))
    full = time_path(path, kinematics).trajectory
    slow = time_path(path, kinematics, velocity_scale=0.3, acceleration_scale=0.5).trajectory
    assert slow.duration_s > full.duration_s
    assert (np.abs(slow.velocity_rad_s).max(0) <= 0.3 * kinematics.velocity_rad_s * OVER_LIMIT).all()


def test_a_corner_around_an_obstacle_is_rounded_only_as_far_as_it_is_free():
    made = planner(WorldSpec(()))
    kinematics = made.kinematics
    corner = kinematics.home_rad.copy()
    a, b = corner.copy(), corner.copy()
    a[0] += 0.9
    b[1] += 0.9
    path = np.stack([a, corner, b])

    def cuts(q):
        """Something stands close inside the corner."""
        inside = (q[:, 0] > corner[0] + 0.002) & (q[:, 1] > corner[1] + 0.002)
        return (int(np.argmax(inside)), ("hand", "post")) if inside.any() else None

    wide, exact = time_path(path, kinematics), time_path(path, kinematics, first_collision=cuts)
    assert cuts(wide.trajectory.position_rad) is not None
    assert exact.ok and cuts(exact.trajectory.position_rad) is None
    assert exact.trajectory.duration_s > wide.trajectory.duration_s


def test_a_path_through_something_fails_with_the_pair():
    made = planner(WorldSpec((box("post", (0.45, 0, 0.4), (0.05, 0.05, 0.4)),)))
    home = made.kinematics.home_rad
    swing = np.eye(7)[0] * 0.8
    path = np.stack([home + swing, home - swing])
    report = time_path(path, made.kinematics, first_collision=made.first_collision)
    assert report.status == "verify_collision" and report.trajectory is None
    assert report.colliding is not None and report.colliding[1] == "post"
    assert time_path(path, made.kinematics).ok


def test_planned_paths_can_be_timed():
    made = planner()
    q = random_joints(made.kinematics, 1200, seed=9)
    q = q[made.check(q)]
    tried = 0
    for start, goal in zip(q[:20], q[20:40]):
        report = made.plan(start, goal[None])
        if report.ok:
            tried += 1
            timed = time_path(report.path_rad, made.kinematics, first_collision=made.first_collision)
            assert timed.ok, timed.detail
            assert made.first_collision(timed.trajectory.position_rad) is None
    assert tried > 10


def test_a_path_of_one_point_is_a_rest():
    kinematics = arm().kinematics
    for path in (kinematics.home_rad[None], np.tile(kinematics.home_rad, (3, 1))):
        t = time_path(path, kinematics).trajectory
        assert t.duration_s <= 0.01 and not t.velocity_rad_s.any()


def test_bad_paths_say_what_is_wrong():
    kinematics = arm().kinematics
    with pytest.raises(UsageError, match="w >= 1, 7"):
        time_path(np.zeros((2, 6)), kinematics)
    with pytest.raises(UsageError, match="w >= 1"):
        time_path(np.zeros((0, 7)), kinematics)
    with pytest.raises(UsageError, match="scales"):
        time_path(np.zeros((2, 7)), kinematics, velocity_scale=0.0)
