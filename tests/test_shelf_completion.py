"""What was not seen of a package: the far half of a can, the depth of a box seen from its front."""

import numpy as np
import pytest

from armwright.core.seeds import rng_for
from armwright.shelf.completion import complete


def seen_from_front(points, normals, *, widest_deg=70.0):
    """Keep what a camera before the shelf (-x) sees."""
    keep = -normals[:, 0] > np.cos(np.deg2rad(widest_deg))
    return points[keep], normals[keep]


def cylinder(radius, height, at=(0.1, 0.05), *, neck=None, noise=0.0008, seed=0):
    rng = rng_for(seed, "tests", "completion")
    angle, z = rng.uniform(0, 2 * np.pi, 4000), rng.uniform(0, height, 4000)
    r = np.where(z > 0.75 * height, neck or radius, radius) + rng.normal(0, noise, 4000)
    normals = np.stack([np.cos(angle), np.sin(angle), np.zeros(4000)], 1)
    points = np.stack([at[0] + r * normals[:, 0], at[1] + r * normals[:, 1], z], 1)
    return seen_from_front(points, normals)


def block(size, yaw, *, seed=0, sides=True):
    rng = rng_for(seed, "tests", "completion", "block")
    x, y, z = (np.array(size) / 2).tolist()
    n = 3000
    front = np.stack([np.full(n, -x), rng.uniform(-y, y, n), rng.uniform(-z, z, n)], 1)
    left = np.stack([rng.uniform(-x, x, n), np.full(n, y), rng.uniform(-z, z, n)], 1)
    points = np.concatenate([front, left]) if sides else front
    normals = np.repeat([[-1.0, 0, 0], [0, 1.0, 0]][: 2 if sides else 1], n, axis=0)
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return points @ turn.T + [0.1, 0, z], normals @ turn.T + rng_for(seed, "n").normal(0, 0.05, points.shape)


def completed(points, normals):
    return complete(points, normals, low_m=points.min(0), high_m=points.max(0))


@pytest.mark.parametrize("neck", [None, 0.012])
def test_a_can_and_a_bottle_are_as_deep_as_wide(neck):
    points, normals = cylinder(0.035, 0.18, neck=neck)
    done = completed(points, normals)
    assert done.section == "round"
    assert np.allclose(done.box_m[1, :2] - done.box_m[0, :2], 0.07, atol=0.005)
    assert np.allclose(done.box_m.mean(0)[:2], (0.1, 0.05), atol=0.004)


@pytest.mark.parametrize("yaw", [0.0, 0.15, -0.17])
def test_a_box_of_which_a_side_was_seen_keeps_its_depth(yaw):
    points, normals = block((0.06, 0.10, 0.16), yaw)
    done = completed(points, normals)
    assert done.section == "planar"
    true = np.array([0.06 * np.cos(yaw) + 0.10 * abs(np.sin(yaw)), 0.10 * np.cos(yaw) + 0.06 * abs(np.sin(yaw))])
    assert np.abs(done.box_m[1, :2] - done.box_m[0, :2] - true).max() < 0.008


def test_a_box_seen_from_its_front_alone_gets_a_usual_depth():
    points, normals = block((0.06, 0.10, 0.16), 0.0, sides=False)
    done = completed(points, normals)
    assert done.section == "planar" and 0.05 < done.box_m[1, 0] - done.box_m[0, 0] < 0.07
    assert done.box_m[0, 0] < 0.075  # the front stays where it was seen


def test_too_little_is_left_as_it_is():
    points = np.array([[0.0, 0.0, 0.0], [0.01, 0.02, 0.03]])
    done = completed(points, np.array([[0.0, 0, 1], [0, 0, 1]]))
    assert done.section == "unknown" and done.added_m == 0
    assert np.array_equal(done.box_m, [points.min(0), points.max(0)])
