"""Packaging and orientation from points of one side: analytic shapes, turned, thinned, cut; doubt where due."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.perception.packages import PACKAGINGS, describe_points, relief

UP, TOWARDS = (0.0, 0.0, 1.0), (-1.0, 0.0, 0.35)


def _turned(profile, *, flat=None, count=5000, seed=1):
    """Return points on the near half (-x) of a body of revolution; ``flat`` maps height share to (depth, width)."""
    rng = np.random.default_rng(seed)
    z, r = np.array(profile, float).T
    share = rng.uniform(size=count)
    height = share * z[-1]
    radius = np.interp(height, z, r)
    angle = rng.uniform(-np.pi / 2, np.pi / 2, count)
    depth, width = (radius, radius) if flat is None else flat(height / z[-1], radius)
    points = np.stack([-depth * np.cos(angle), width * np.sin(angle), height], 1)
    return points + rng.normal(0, 0.0008, points.shape)


def _cuboid(width, depth, height, *, count=5000, seed=1, yaw=0.0):
    """Return points on the front, one side that shows when it is turned, and the top of a cuboid."""
    rng = np.random.default_rng(seed)
    areas = np.array([width * height, abs(np.sin(yaw)) * depth * height, 0.35 * width * depth])
    n = (count * areas / areas.sum()).astype(int)
    a, b = (lambda k: rng.uniform(-0.5, 0.5, n[k])), (lambda k: rng.uniform(0, 1, n[k]))
    front = np.stack([np.full(n[0], -depth / 2), width * a(0), height * b(0)], 1)
    side = np.stack([depth * a(1), np.full(n[1], -np.sign(yaw) * width / 2), height * b(1)], 1)
    top = np.stack([depth * a(2), width * a(2), np.full(n[2], height)], 1)
    points = Pose.from_yaw((0, 0, 0), yaw).transform(np.concatenate([front, side, top]))
    return points + rng.normal(0, 0.0008, points.shape)


def _bottle():
    body = [(0.0, 0.036), (0.14, 0.036), (0.155, 0.033), (0.17, 0.022), (0.18, 0.013), (0.2, 0.013)]
    return _turned([*body, (0.2001, 0.016), (0.22, 0.016)])


def _tube():
    def flat(share, radius):
        s = np.clip((share - 0.15) / 0.85, 0, 1)
        depth = np.where(share < 0.15, radius, 0.02 * np.sqrt(np.clip(1 - s, 0.002, 1)))
        width = np.where(share < 0.15, radius, 0.02 + 0.008 * s)
        return depth, width

    return _turned([(0.0, 0.012), (0.14, 0.02)], flat=flat)


def _gable():
    points = _cuboid(0.08, 0.07, 0.17)
    rng = np.random.default_rng(2)
    points = points[points[:, 2] < 0.168]
    up, across = rng.uniform(0, 1, 1200), rng.uniform(-0.04, 0.04, 1200)
    roof = np.stack([-0.035 * (1 - up), across, 0.17 + 0.04 * up], 1)
    fin = np.stack([np.zeros(400), rng.uniform(-0.04, 0.04, 400), rng.uniform(0.21, 0.225, 400)], 1)
    return np.concatenate([points, roof, fin])


SHAPES = {
    "can": lambda: _turned([(0.0, 0.037), (0.11, 0.037)]),
    "bottle": _bottle,
    "tube": _tube,
    "carton": _gable,
    "box": lambda: _cuboid(0.14, 0.05, 0.19, yaw=0.12),
}


@pytest.mark.parametrize("kind", PACKAGINGS)
def test_plain_shapes_are_told_apart(kind):
    said = describe_points(SHAPES[kind](), up=UP, towards=TOWARDS)
    assert (said.packaging, said.orientation) == (kind, "upright")
    assert sum(said.probabilities.values()) == pytest.approx(1)


def test_a_box_on_its_back_lies():
    said = describe_points(_cuboid(0.12, 0.19, 0.05), up=UP, towards=TOWARDS)
    assert said.orientation == "lying"


@pytest.mark.parametrize("kind", PACKAGINGS)
def test_the_frame_does_not_matter(kind):
    points = SHAPES[kind]()
    pose = Pose.from_rotation(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([1.0, -2.0, 0.5]))
    moved = relief(pose.transform(points), up=pose.rotate(UP), towards=pose.rotate(TOWARDS))
    assert np.abs(moved - relief(points, up=UP, towards=TOWARDS)).mean() < 0.01


def test_points_of_two_views_do_too():
    both = np.concatenate([_bottle(), Pose.from_yaw((0, 0, 0), 0.6).transform(_bottle())])
    assert describe_points(both, up=UP, towards=TOWARDS).packaging == "bottle"


def test_what_is_likely_counts():
    points = _cuboid(0.08, 0.06, 0.13)
    plain = describe_points(points, up=UP, towards=TOWARDS).probabilities
    told = describe_points(points, up=UP, towards=TOWARDS, likely={"carton": 5.0}).probabilities
    assert told["carton"] > plain["carton"]
    assert told["box"] < plain["box"]


def test_too_few_points_say_nothing():
    assert describe_points(_bottle()[:20], up=UP, towards=TOWARDS).packaging == ""
    assert describe_points(np.full((500, 3), np.nan), up=UP, towards=TOWARDS).packaging == ""


def test_misuse_is_named():
    with pytest.raises(UsageError, match=r"\(n, 3\)"):
        describe_points(np.zeros((5, 2)), up=UP, towards=TOWARDS)
    with pytest.raises(UsageError, match="straight above"):
        describe_points(_bottle(), up=UP, towards=(0, 0, 1))
    with pytest.raises(UsageError, match="up must be"):
        describe_points(_bottle(), up=(0, 0, 0), towards=TOWARDS)
