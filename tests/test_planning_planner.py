import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.planning.kernels_edges import path_length, shortcut
from armwright.planning.kernels_random import random_state
from armwright.planning.types import WorldSpec
from planning_support import box, dense, desk, down_at, planner, random_joints


def free_pairs(made, count, seed=0):
    """Pairs of free configurations with the tool above the table."""
    q = random_joints(made.kinematics, 40 * count, seed)
    q = q[made.check(q) & (made.fk(q)[:, 2, 3] > 0.1)]
    return list(zip(q[:count], q[count : 2 * count]))


@pytest.mark.parametrize("name", ["franka", "xarm7"])
def test_paths_join_start_and_goal_and_are_free_every_hundredth_of_a_radian(name):
    made = planner(name=name)
    solved = 0
    for start, goal in free_pairs(made, 25):
        report = made.plan(start, goal[None])
        if not report.ok:
            assert report.status == "no_path" and len(report.path_rad) == 0
            continue
        solved += 1
        np.testing.assert_array_equal(report.path_rad[[0, -1]], [start, goal])
        assert made.check(dense(report.path_rad)).all()
        lengths = np.linalg.norm(np.diff(report.path_rad, axis=0), axis=1)
        assert report.length_rad == pytest.approx(lengths.sum(), abs=1e-3)
        assert report.length_rad >= np.linalg.norm(goal - start) - 1e-3
        assert (report.path_rad >= made.kinematics.lower_rad).all()
        assert (report.path_rad <= made.kinematics.upper_rad).all()
    assert solved >= 22


def test_the_same_seed_gives_the_same_answer_and_calls_do_not_disturb_one_another():
    (start, goal), *_ = free_pairs(planner(), 8, seed=3)
    one, two, other = planner(), planner(), planner(seed=5)
    poses = np.stack([down_at(0.45, y, 0.15) for y in (-0.1, 0.0, 0.1)])
    one.evaluate_grasps(start, poses)
    first, second = one.plan(start, goal[None]), two.plan(start, goal[None])
    np.testing.assert_array_equal(first.path_rad, second.path_rad)
    assert other.plan(start, goal[None]).ok == first.ok
    np.testing.assert_array_equal(one.ik(poses).q_rad, two.ik(poses).q_rad)
    alone = [two.evaluate_grasps(start, poses).score[0], two.evaluate_grasps(start, poses[:1]).score[0]]
    assert alone[0] == alone[1]


def test_the_nearest_goal_that_can_be_reached_is_chosen():
    made = planner(WorldSpec(()))
    home = made.kinematics.home_rad
    goals = np.stack([home + 0.8, home + 0.1, home + 0.4])
    report = made.plan(home, goals)
    assert report.ok and report.goal == 1
    np.testing.assert_array_equal(report.path_rad[-1], goals[1])


def test_shortcut_is_never_longer_and_keeps_the_ends():
    made = planner(WorldSpec((box("post", (0.4, 0, 0.4), (0.03, 0.03, 0.4)),)))
    scene = made._scene(False)
    rng = np.random.default_rng(0)
    home = made.kinematics.home_rad
    for _ in range(10):
        path = np.cumsum(np.vstack([home - 0.4, rng.normal(0, 0.15, (12, 7))]), axis=0).astype(np.float32)
        path = path[made.check(path)]
        if len(path) < 4:
            continue
        short = shortcut(scene, path, 0.03, 60, random_state(1))
        assert path_length(short) <= path_length(path) + 1e-5
        np.testing.assert_array_equal(short[[0, -1]], path[[0, -1]])


def test_a_sealed_goal_is_no_path_and_a_short_budget_says_so():
    # Two walls and a lid: what is beyond a wall cannot be reached from between them.
    walls = [((0.0, y, 0.5), (0.9, 0.01, 0.5)) for y in (0.25, -0.25)] + [((0.0, 0.0, 1.5), (0.9, 0.9, 0.1))]
    cage = WorldSpec(tuple(box(f"wall_{i}", center, half) for i, (center, half) in enumerate(walls)))
    made = planner(cage)
    across = made.kinematics.home_rad + np.eye(7)[0] * 2.85
    assert made.check(np.stack([made.kinematics.home_rad, across])).all()
    report = made.plan(made.kinematics.home_rad, across[None], max_iterations=60)
    assert not report.ok and report.status == "no_path"
    assert "60 iterations" in report.detail


def test_collisions_at_the_ends_are_named():
    made = planner()
    home = made.kinematics.home_rad
    low = made.ik(down_at(0.35, -0.3, -0.02)[None], n_seeds=32).q_rad[0, :1]
    goal = made.plan(home, low)
    assert goal.status == "goal_collision" and goal.colliding is not None and "table" in goal.colliding
    start = made.plan(low[0], home[None])
    assert start.status == "start_collision" and start.colliding == goal.colliding
    assert made.evaluate_grasps(low[0], down_at(0.4, 0, 0.2)[None]).status == ("start_collision",)


def test_bad_goals_are_misuse():
    made = planner()
    home = made.kinematics.home_rad
    with pytest.raises(UsageError, match="no goals"):
        made.plan(home, np.zeros((0, 7)))
    with pytest.raises(UsageError, match="joint 4 of goal 0"):
        made.plan(home, home[None] + [0, 0, 0, 5.0, 0, 0, 0])
    with pytest.raises(UsageError, match="joint 1 of the start"):
        made.plan(home + 9.0 * np.eye(7)[0], home[None])


def test_lines_are_straight_smooth_and_end_where_asked():
    made = planner()
    start = made.ik(down_at(0.45, 0.0, 0.3)[None]).q_rad[0, 0]
    goal = down_at(0.4, -0.2, 0.25, yaw=0.5)
    report = made.linear(start, goal)
    assert report.ok
    poses = made.fk(report.path_rad)
    a, b = poses[0, :3, 3], goal[:3, 3]
    along = np.clip(((poses[:, :3, 3] - a) @ (b - a)) / ((b - a) @ (b - a)), 0, 1)
    assert np.linalg.norm(poses[:, :3, 3] - (a + along[:, None] * (b - a)), axis=1).max() < 1e-3
    assert (np.diff(along) > 0).all()
    np.testing.assert_allclose(poses[-1], goal, atol=3e-3)
    assert np.abs(np.diff(report.path_rad, axis=0)).max() < 0.25
    middle = made.fk((report.path_rad[1:] + report.path_rad[:-1]) / 2)[:, :3, 3]
    along = ((middle - a) @ (b - a)) / ((b - a) @ (b - a))
    assert np.linalg.norm(middle - (a + along[:, None] * (b - a)), axis=1).max() < 1e-3


def test_lines_say_how_far_they_got():
    made = planner(desk(targets=("can",)))
    start = made.ik(down_at(0.5, 0.0, 0.3)[None]).q_rad[0, 0]
    far = made.linear(start, down_at(1.4, 0.0, 0.3), check=False)
    assert far.status == "ik_fail" and len(far.path_rad) > 0 and "of 0.9" in far.detail
    table = made.linear(start, down_at(0.3, -0.3, -0.1))
    assert table.status == "approach_collision" and table.colliding[1] == "table"
    over = made.ik(down_at(0.5, -0.25, 0.25)[None], n_seeds=32)
    over = next(q for q in over.q_rad[0, : over.count[0]] if made.check(q[None])[0])
    assert made.linear(over, down_at(0.5, -0.25, 0.06)).ok
    assert made.linear(over, down_at(0.5, -0.25, 0.06), without_targets=False).colliding[1] == "can"


def test_grasps_are_judged_stage_by_stage():
    made = planner(desk(targets=("can",)))
    home = made.kinematics.home_rad
    poses = np.stack(
        [
            down_at(0.5, -0.25, 0.06),  # around the target
            down_at(0.42, 0.3, 0.1),  # inside the carton
            down_at(1.6, 0.0, 0.2),  # out of reach
            down_at(0.7, 0.0, 0.30),  # the approach comes through the board
        ]
    )
    result = made.evaluate_grasps(home, poses, n_seeds=32)
    assert result.status[0] == "ok"
    assert result.status[1] == "goal_collision" and "carton" in result.detail[1]
    assert result.status[2] == "ik_fail" and "nearest miss" in result.detail[2]
    assert result.status[3] in ("goal_collision", "approach_collision") and "board" in result.detail[3]
    assert (result.score > 0).tolist() == [True, False, False, False]
    path, line = result.path_rad[0], result.approach_rad[0]
    assert result.score[0] == pytest.approx(1 / np.linalg.norm(np.diff(path, axis=0), axis=1).sum(), rel=1e-3)
    np.testing.assert_array_equal(path[0], home)
    np.testing.assert_array_equal(path[-1], line[0])
    np.testing.assert_array_equal(line[-1], result.q_grasp_rad[0])
    assert made.check(dense(path)).all()
    assert made.check(dense(line), without_targets=True).all()
    ends = made.fk(line[[0, -1]])
    np.testing.assert_allclose(ends[1], poses[0], atol=3e-3)
    np.testing.assert_allclose(ends[1, :3, 3] - ends[0, :3, 3], 0.10 * poses[0, :3, 2], atol=1e-3)


def test_no_candidates_is_a_normal_question():
    made = planner()
    result = made.evaluate_grasps(made.kinematics.home_rad, np.zeros((0, 4, 4)))
    assert result.status == () and result.score.shape == (0,)
