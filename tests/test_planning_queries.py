import mujoco
import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.planning._arrays import SPHERE_PAD_M, padded_spheres
from armwright.planning.types import WorldSpec
from planning_support import (
    arm,
    box,
    box_distance,
    desk,
    down_at,
    planner,
    random_joints,
    spheres_at,
)

BOXES = WorldSpec(
    (
        box("table", (0.35, 0, -0.03), (0.6, 0.75, 0.03)),
        box("post", (0.45, 0.25, 0.3), (0.05, 0.05, 0.3), 0.3),
        box("beam", (0.3, -0.3, 0.7), (0.3, 0.04, 0.04), 0.8),
    ),
    frozenset({"post"}),
)


def brute_force(made, robot, q, *, ignore=()):
    """Free in the spheres' sense, and by how much [m], with plain numpy."""
    kinematics = robot.kinematics
    spheres = kinematics.spheres[max(kinematics.spheres)]
    radius = padded_spheres(kinematics, spheres)[:, 3]
    place = spheres_at(kinematics, spheres, q)
    moving = spheres.link > 0
    gaps = [
        (box_distance(o, place[moving]) - radius[moving]).min() for o in made.world.obstacles if o.name not in ignore
    ]
    for a, b in made._robot.pair:
        one, two = spheres.link == a, spheres.link == b
        if one.any() and two.any():
            apart = np.linalg.norm(place[one][:, None] - place[two][None], axis=2)
            gaps.append((apart - radius[one][:, None] - radius[two][None]).min() + made._robot.slack[a, b])
    return min(gaps)


@pytest.mark.parametrize("name", ["franka", "ur5e"])
def test_fk_agrees_with_mujoco(name):
    robot = arm(name)
    model = mujoco.MjModel.from_xml_path(str(robot.xml_path))
    data = mujoco.MjData(model)
    q = random_joints(robot.kinematics, 50)
    poses = planner(name=name).fk(q)
    base = model.body("base").id
    for row, pose in zip(q, poses):
        for joint, value in zip(robot.spec.joints, row):
            data.joint(joint).qpos[0] = value
        mujoco.mj_kinematics(model, data)
        turn = data.xmat[base].reshape(3, 3)
        np.testing.assert_allclose(turn.T @ (data.site("tool").xpos - data.xpos[base]), pose[:3, 3], atol=2e-6)
        np.testing.assert_allclose(turn.T @ data.site("tool").xmat.reshape(3, 3), pose[:3, :3], atol=2e-6)


@pytest.mark.parametrize("name", ["franka", "kinova", "sawyer", "ur5e", "xarm7"])
def test_ik_reaches_what_can_be_reached_inside_the_limits(name):
    made = planner(name=name)
    kinematics = made.kinematics
    poses = made.fk(random_joints(kinematics, 500, seed=1))
    result = made.ik(poses, n_seeds=50, max_solutions=1)
    assert (result.count > 0).mean() >= 0.998
    q = result.q_rad[result.count > 0][:, 0]
    assert (q >= kinematics.lower_rad).all() and (q <= kinematics.upper_rad).all()
    got, want = made.fk(q), poses[result.count > 0]
    assert np.linalg.norm(got[:, :3, 3] - want[:, :3, 3], axis=1).max() < 1e-3
    cosine = (np.einsum("bij,bij->b", got[:, :3, :3], want[:, :3, :3]) - 1) / 2
    assert np.rad2deg(np.arccos(np.clip(cosine, -1, 1))).max() < 0.5


def test_ik_solutions_differ_and_the_nearest_comes_first():
    made = planner()
    near = made.kinematics.home_rad + 0.1
    result = made.ik(down_at(0.45, 0.1, 0.2)[None], seeds=near[None], n_seeds=32, max_solutions=8)
    found = result.q_rad[0, : result.count[0]]
    assert len(found) >= 3
    cost = np.linalg.norm(found - near, axis=1)
    assert (np.diff(cost) >= 0).all()
    apart = np.abs(found[:, None] - found[None]).max(2)
    assert apart[~np.eye(len(found), dtype=bool)].min() > 0.01


def test_ik_says_how_near_it_came():
    made = planner()
    result = made.ik(np.stack([down_at(0.4, 0, 0.2), down_at(3.0, 0, 0.2)]))
    assert result.count[0] > 0 and result.count[1] == 0
    assert result.error_m[0] < 1e-3 and result.error_m[1] > 1.0
    assert np.linalg.norm(made.fk(result.nearest_rad)[1, :3, 3] - [3.0, 0, 0.2]) == pytest.approx(
        result.error_m[1], rel=0.01
    )


@pytest.mark.parametrize("name", ["franka", "ur5e"])
def test_check_agrees_with_brute_force(name):
    robot, made = arm(name), planner(BOXES, name=name)
    q = random_joints(robot.kinematics, 300, seed=2)
    free = made.check(q)
    gaps = np.array([brute_force(made, robot, row) for row in q])
    clear = np.abs(gaps) > 1e-4
    assert ((gaps > 0) == free)[clear].all()
    assert 0.05 < free.mean() < 0.95
    np.testing.assert_allclose(made.clearance(q), gaps, atol=1e-4)


def test_targets_can_be_ignored_and_nothing_else():
    robot, made = arm(), planner(BOXES)
    q = random_joints(robot.kinematics, 300, seed=3)
    ignored = made.check(q, without_targets=True)
    gaps = np.array([brute_force(made, robot, row, ignore=("post",)) for row in q])
    assert ((gaps > 0) == ignored)[np.abs(gaps) > 1e-4].all()
    assert (ignored & ~made.check(q)).any()


def test_the_colliding_pair_is_named():
    made = planner()
    inside = made.ik(down_at(0.42, 0.3, 0.1)[None], n_seeds=32)
    pair = made.colliding_pair(inside.q_rad[0, 0])
    assert pair is not None and pair[1] == "carton" and pair[0] in ("hand", "link_6")
    assert made.colliding_pair(made.kinematics.home_rad) is None
    q = random_joints(made.kinematics, 200, seed=4)
    made.set_world(WorldSpec(()))
    free = made.check(q)
    pairs = [made.colliding_pair(row) for row in q]
    assert [pair is None for pair in pairs] == free.tolist()
    assert all(pair[0] != pair[1] and pair[1].startswith(("base", "link", "hand")) for pair in pairs if pair)


def test_edges_are_symmetric_and_no_better_than_their_samples():
    made = planner()
    q = random_joints(made.kinematics, 400, seed=5)
    q = made.kinematics.home_rad + 0.35 * (q - made.kinematics.home_rad)
    a, b = q[:200], q[200:]
    there = made.check_edges(a, b, resolution_rad=0.02)
    assert (there == made.check_edges(b, a, resolution_rad=0.02)).mean() > 0.99
    assert 0.05 < there.mean() < 0.95
    for i in np.flatnonzero(there):
        assert made.check(np.stack([a[i], b[i]])).all()
    # A finer look never finds an edge free that a look at a third of its samples found blocked.
    fine = made.check_edges(a, b, resolution_rad=0.02 / 3)
    assert not (fine & ~there).any() or (fine & ~there).mean() < 0.01


def test_a_held_object_collides_where_the_hand_does_not():
    wall = WorldSpec((box("wall", (0.45, 0.0, 0.05), (0.05, 0.3, 0.05)),), frozenset())
    made = planner(wall)
    q = made.ik(down_at(0.45, 0.0, 0.25)[None], n_seeds=32)
    q = q.q_rad[0, : q.count[0]]
    assert made.check(q).any()
    stick = np.array([[0, 0, 0.02 * i] for i in range(10)], float)
    made.attach(stick, np.full(10, 0.01))
    assert not made.check(q).any()
    free = planner(wall).check(q)
    assert made.colliding_pair(q[free][0]) == ("held", "wall")
    made.detach()
    assert (made.check(q) == free).all()


def test_a_named_held_object_leaves_the_world_and_may_touch_targets_alone():
    made = planner(desk(targets=("table",)))
    q = made.ik(down_at(0.5, -0.25, 0.05)[None], n_seeds=48, max_solutions=16)
    q = q.q_rad[0, : q.count[0]]
    assert made.colliding_pair(q[0])[1] == "can"
    can = np.array([[0, 0, z] for z in (-0.03, 0.0, 0.025)], float)
    made.attach(can, np.full(3, 0.03), name="can")
    assert all((made.colliding_pair(row) or ("", ""))[1] != "can" for row in q)
    # The can's lower sphere reaches into the table; ignoring targets frees it, but never the arm.
    assert not made.check(q).any()
    free = q[made.check(q, without_targets=True)]
    assert len(free) and all(made.colliding_pair(row) == ("can", "table") for row in free)
    low = made.ik(down_at(0.4, -0.3, -0.02)[None], n_seeds=32).q_rad[0, 0]
    assert made.colliding_pair(low, without_targets=True) == ("hand", "table")


def test_spheres_of_the_gap_in_use_are_used():
    made = planner()
    gaps = sorted(made.kinematics.spheres)
    middle = (gaps[0] + gaps[1]) / 2
    made.set_opening(middle)
    spheres = made.kinematics.spheres_at(middle)
    leaves = made._robot.ball[made._robot.skip == np.arange(len(made._robot.skip)) + 1]
    wanted = np.column_stack([spheres.center_m, spheres.radius_m + SPHERE_PAD_M])[spheres.finger]
    assert np.isclose(leaves[:, None], wanted[None], atol=1e-6).all(2).any(0).all()
    made.set_opening(1.0)
    assert made.check(made.kinematics.home_rad[None]).all()


def test_every_ball_contains_its_children():
    robot = planner()._robot
    for i, (ball, after) in enumerate(zip(robot.ball, robot.skip)):
        inside = robot.ball[i + 1 : after]
        if len(inside):
            assert (np.linalg.norm(inside[:, :3] - ball[:3], axis=1) + 0 <= ball[3] + 1e-6).all()
            leaf = robot.skip[i + 1 : after] == np.arange(i + 1, after) + 1
            reach = np.linalg.norm(inside[leaf, :3] - ball[:3], axis=1) + inside[leaf, 3]
            assert (reach <= ball[3] + 1e-5).all()


@pytest.mark.parametrize("name", ["franka", "kinova", "sawyer", "ur5e", "xarm7"])
def test_home_on_a_table_is_free(name):
    made = planner(WorldSpec((box("table", (0.3, 0, -0.02), (0.6, 0.6, 0.02)),)), name=name)
    assert made.colliding_pair(made.kinematics.home_rad) is None


def test_bad_arguments_say_what_is_wrong():
    made = planner()
    with pytest.raises(UsageError, match=r"\(b, 7\)"):
        made.check(np.zeros((2, 6)))
    with pytest.raises(UsageError, match="finite"):
        made.fk(np.full((1, 7), np.nan))
    with pytest.raises(UsageError, match="orthonormal"):
        made.ik(2 * np.eye(4)[None])
    with pytest.raises(UsageError, match=r"\(b, 4, 4\)"):
        made.ik(np.eye(4))
    with pytest.raises(UsageError, match="held object"):
        made.attach(np.zeros((2, 3)), np.ones(3))
    with pytest.raises(UsageError, match="positive"):
        made.attach(np.zeros((1, 3)), -np.ones(1))
    with pytest.raises(UsageError, match="equal shapes"):
        made.check_edges(np.zeros((1, 7)), np.zeros((2, 7)))


def test_empty_batches_are_answered_with_empty_batches():
    made = planner()
    assert made.fk(np.zeros((0, 7))).shape == (0, 4, 4)
    assert made.check(np.zeros((0, 7))).shape == (0,)
    assert made.ik(np.zeros((0, 4, 4))).count.shape == (0,)


@pytest.mark.parametrize("name", ["franka", "ur5e"])
@pytest.mark.parametrize("held", [False, True])
def test_edges_are_free_exactly_where_every_step_of_them_is(name, held):
    made = planner(name=name)
    if held:
        made.attach([[0, 0, 0.03], [0.03, 0, 0.06], [-0.03, 0, 0.06]], [0.04, 0.03, 0.03])
    q = random_joints(made.kinematics, 6000, seed=6)
    q = q[made.check(q)][:600].astype(np.float32)
    length = np.random.default_rng(1).choice([0.1, 0.8, 4.0], len(q) - 1)[:, None]
    a, turn = q[:-1], q[1:] - q[:-1]
    b = (a + turn * np.minimum(1, length / np.linalg.norm(turn, axis=1, keepdims=True))).astype(np.float32)
    found = made.check_edges(a, b, resolution_rad=0.01)
    expected = []
    for start, end in zip(a, b):
        steps = max(1, int(np.ceil(np.abs(end - start).max() / np.float32(0.01))))
        share = (np.arange(steps + 1) / steps).astype(np.float32)[:, None]
        expected.append(made.check(start + share * (end - start)).all())
    assert 20 < np.sum(expected) < len(expected) - 20
    # Half a unit of the last place may decide a graze.
    assert (found != expected).sum() <= 1


def test_the_motion_of_a_link_is_never_farther_than_its_bound():
    robot = arm()
    made = planner()
    reach = made._robot.reach
    spheres = robot.kinematics.spheres[max(robot.kinematics.spheres)]
    rng = np.random.default_rng(2)
    for q in random_joints(robot.kinematics, 20, seed=8):
        turn = rng.uniform(-0.3, 0.3, len(q))
        moved = np.linalg.norm(
            spheres_at(robot.kinematics, spheres, q + turn) - spheres_at(robot.kinematics, spheres, q), axis=1
        )
        bound = np.abs(turn) @ reach
        assert (moved <= bound[spheres.link] + 1e-6).all()
        assert moved.max() > 0.1 * bound.max()
