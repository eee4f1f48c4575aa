import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.planning._arrays import SLACK
from armwright.planning.kernels_check import part_distance
from armwright.planning.types import Obstacle, WorldSpec
from armwright.planning.world import COARSE_CELL_M, FINE_SPACING_M, ShapeCache, WorldModel
from planning_support import box, box_distance, cup, prism

LOW, HIGH = np.array([-0.6, -0.6, -0.3]), np.array([0.6, 0.6, 0.6])


def model(*obstacles, targets=()):
    world = WorldModel(LOW, HIGH, largest_sphere_m=0.08)
    world.load(WorldSpec(tuple(obstacles), frozenset(targets)))
    return world


def distances(world, points):
    parts = range(len(world.part_owner))
    return np.array([[part_distance(world.arrays, p, *map(np.float32, x)) for x in points] for p in parts])


def surface(obstacle, count=60_000, seed=0):
    """Points on the faces of every hull, in the base frame."""
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(seed)
    out = []
    for hull in obstacle.hulls:
        corners = np.asarray(hull)[ConvexHull(hull).simplices]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        pick = rng.choice(len(corners), count // len(obstacle.hulls), p=area / area.sum())
        u = np.sqrt(rng.random((len(pick), 1)))
        v = rng.random((len(pick), 1))
        t = corners[pick]
        out.append((1 - u) * t[:, 0] + u * (1 - v) * t[:, 1] + u * v * t[:, 2])
    return obstacle.pose_base_obstacle.transform(np.concatenate(out))


@settings(max_examples=20, deadline=None)
@given(
    center=st.tuples(*[st.floats(-0.3, 0.3)] * 3),
    half=st.tuples(*[st.floats(0.01, 0.2)] * 3),
    yaw=st.floats(-3, 3),
    seed=st.integers(0, 1000),
)
def test_boxes_are_exact(center, half, yaw, seed):
    obstacle = box("b", center, half, yaw)
    world = model(obstacle)
    points = np.random.default_rng(seed).uniform(-0.5, 0.5, (40, 3))
    assert world.arrays.grid[0, 0] == -1
    np.testing.assert_allclose(distances(world, points)[0], box_distance(obstacle, points), atol=2e-5)


@pytest.mark.parametrize("make", [prism, cup])
def test_grids_are_near_the_true_distance_and_never_far_above_it(make):
    from scipy.spatial import cKDTree

    obstacle = prism("p", (0.1, 0.05, 0.1), 0.04, 0.1) if make is prism else cup("c", (0.1, 0.05, 0.1))
    world = model(obstacle)
    points = np.random.default_rng(1).uniform([-0.05, -0.1, 0.0], [0.25, 0.2, 0.3], (1500, 3))
    got = distances(world, points)[0]
    truth = cKDTree(surface(obstacle)).query(points)[0]
    outside = got > FINE_SPACING_M
    error = (got - truth)[outside]
    # The sampled surface is itself up to 0.5 mm too far away.
    assert error.max() < 1e-3
    near = outside & (truth < 0.03)
    assert np.abs((got - truth)[near]).max() < 2e-3
    # Beyond the grid only a lower bound is promised, but not a useless one.
    assert error.min() > -0.045


def test_inside_is_negative_and_a_cavity_is_free():
    can, mug = prism("p", (0.0, 0.0, 0.1), 0.04, 0.1), cup("c", (0.2, 0.0, 0.0))
    world = model(can, mug)
    solid, cavity = distances(world, [(0.0, 0.0, 0.1), (0.2, 0.0, 0.05)]).diagonal()
    assert solid < -0.03
    assert 0.025 < cavity < 0.037


def test_coarse_grid_is_a_lower_bound_and_marks_what_is_near():
    things = [
        box("a", (0.2, 0.1, 0.1), (0.05, 0.1, 0.02), 0.5),
        cup("b", (-0.2, 0.1, 0.0)),
        prism("c", (0, -0.3, 0), 0.05, 0.1),
    ]
    world = model(*things)
    arrays = world.arrays
    points = np.random.default_rng(2).uniform(LOW, HIGH, (3000, 3))
    exact = distances(world, points)
    cell = tuple(((points - LOW) / COARSE_CELL_M).astype(int).T)
    assert (arrays.coarse[cell] - arrays.frame[SLACK] <= exact.min(0) + 1e-5).all()
    marked = (arrays.near[cell][None] & arrays.bit[:, None]) != 0
    assert marked[exact < 0.08].all()
    assert not marked[exact > 0.08 + 4 * arrays.frame[SLACK]].any()


def test_the_same_shape_is_built_once_wherever_it_stands():
    cache = ShapeCache()
    here, there = cup("a", (0, 0, 0)), cup("b", (0.3, 0.1, 0.2))
    assert cache.parts(here) is cache.parts(there)
    assert cache.parts(cup("c", (0, 0, 0), radius=0.05)) is not cache.parts(here)


def test_a_rotated_grid_moves_with_its_obstacle():
    mug = cup("a", (0, 0, 0))
    pose = Pose(np.array([0.2, -0.1, 0.1]), np.array([0.8, 0.3, -0.2, 0.4]))
    moved = Obstacle("a", pose, mug.hulls)
    points = np.random.default_rng(3).uniform(-0.1, 0.1, (200, 3))
    np.testing.assert_allclose(
        distances(model(mug), points), distances(model(moved), pose.transform(points)), atol=1e-5
    )


def test_more_parts_than_bits_are_still_told_apart():
    many = [box(f"b{i}", (-0.5 + 0.1 * (i % 10), -0.4 + 0.1 * (i // 10), 0), (0.02, 0.02, 0.02)) for i in range(80)]
    world = model(*many)
    flags, bits = world.active(arm_ignores=frozenset({"b70"}), held_ignores=frozenset())
    assert flags[0].sum() == 79 and flags[1].all()
    assert bits[0] == bits[1]
    assert world.arrays.bit[70] == world.arrays.bit[79]


def test_a_refused_world_changes_nothing():
    good = box("a", (0.2, 0, 0), (0.1, 0.1, 0.1))
    world = model(good)
    before = world.arrays.coarse.copy()
    flat = Obstacle("flat", Pose(), (np.zeros((4, 3)),))
    for _ in range(2):
        with pytest.raises(UsageError, match="flat"):
            world.load(WorldSpec((good, flat)))
    assert world.spec.obstacles == (good,)
    np.testing.assert_array_equal(world.arrays.coarse, before)


def test_no_obstacles_is_a_world():
    world = model()
    assert len(world.part_owner) == 0
    assert (world.arrays.near == 0).all()


@pytest.mark.parametrize(
    ("obstacles", "targets", "says"),
    [
        ([box("a", (0, 0, 0), (0.1, 0.1, 0.1)), box("a", (0.3, 0, 0), (0.1, 0.1, 0.1))], (), "must differ"),
        ([box("a", (0, 0, 0), (0.1, 0.1, 0.1))], ("b",), "not among the obstacles"),
        ([Obstacle("a", Pose(), ())], (), "no hulls"),
        ([Obstacle("a", Pose(), (np.zeros((3, 3)),))], (), "k >= 4"),
        ([Obstacle("a", Pose(), (np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]]),))], (), "flat"),
        ([Obstacle("a", Pose(), (np.full((8, 3), np.nan),))], (), "finite"),
    ],
)
def test_bad_worlds_say_what_is_wrong(obstacles, targets, says):
    with pytest.raises(UsageError, match=says):
        model(*obstacles, targets=targets)
