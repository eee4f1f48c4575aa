"""Local geometry: normals, approach directions, closing axes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.grasping.local import approach_directions, closing_axes, local_tensors, pca_normals, tangent_basis


def bar(rng, n=2000, radius=0.006, length=0.1):
    v, x = rng.uniform(0, 2 * np.pi, n), rng.uniform(0, length, n)
    normals = np.c_[np.zeros(n), np.cos(v), np.sin(v)]
    return np.c_[x, np.zeros(n), np.zeros(n)] + radius * normals, normals


def test_pca_normal_is_the_surface_normal_on_a_thin_bar():
    rng = np.random.default_rng(0)
    points, normals = bar(rng)
    index = rng.choice(len(points), 40, replace=False)
    index = index[(points[index, 0] > 0.01) & (points[index, 0] < 0.09)]
    found = pca_normals(points, normals, index, neighbours=16)
    assert (np.einsum("ij,ij->i", found, normals[index]) > np.cos(0.35)).all()


def test_pca_normal_without_cloud_normals_points_away_from_the_centroid():
    rng = np.random.default_rng(1)
    direction = rng.normal(size=(3000, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    index = np.arange(20)
    found = pca_normals(0.05 * direction, np.zeros_like(direction), index, neighbours=16)
    assert (np.einsum("ij,ij->i", found, direction[index]) > np.cos(0.25)).all()


@given(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_ring_has_the_tilt_and_even_azimuths(vector, count):
    normal = np.array(vector) / np.linalg.norm(vector)
    first, second = tangent_basis(normal)
    assert np.linalg.det(np.stack([first, second, normal])) == pytest.approx(1.0)
    ring = approach_directions(normal, count=count, tilts_rad=(0.5, 0.0))
    assert len(ring) == count + 1
    assert ring[:count] @ -normal == pytest.approx(np.full(count, np.cos(0.5)))
    assert ring[count] @ -normal == pytest.approx(1.0)
    if count > 2:
        step = np.linalg.norm(ring[1] - ring[0])
        assert np.linalg.norm(np.roll(ring[:count], -1, axis=0) - ring[:count], axis=1) == pytest.approx(
            np.full(count, step)
        )


def test_first_closing_axis_is_across_a_bar_and_all_are_perpendicular_to_the_approach():
    rng = np.random.default_rng(2)
    points, normals = bar(rng)
    contact = np.array([[0.05, 0.0, 0.006]])
    tensors = local_tensors(points, normals, contact, pieces=np.ones((1, len(points))))
    down = np.array([[0.0, 0.0, -1.0], [0.3, 0.0, -0.95]])
    down /= np.linalg.norm(down, axis=1, keepdims=True)
    row, axes = closing_axes(down, np.repeat(tensors, 2, axis=0))
    assert set(row) == {0, 1}
    assert np.abs(np.einsum("ij,ij->i", axes, down[row])).max() < 1e-9
    assert np.linalg.norm(axes, axis=1) == pytest.approx(np.ones(len(axes)))
    for k in range(2):
        assert abs(axes[row == k][0] @ [0, 1, 0]) > 0.995


def test_flat_neighbourhood_uses_the_whole_piece():
    """On the side of a box the far faces say how to turn, not the face in front."""
    rng = np.random.default_rng(3)
    size = np.array([0.05, 0.09, 0.14])
    n = 6000
    axis, sign = rng.integers(0, 3, n), rng.choice([-1.0, 1.0], n)
    normals = np.eye(3)[axis] * sign[:, None]
    points = rng.uniform(-0.5, 0.5, (n, 3)) * size
    points[np.arange(n), axis] = 0.5 * sign * size[axis]
    contact = np.array([[0.0, 0.045, 0.0]])
    tensors = local_tensors(points, normals, contact, pieces=np.ones((1, n)))
    _, axes = closing_axes(np.array([[0.0, -1.0, 0.0]]), tensors)
    assert np.abs(axes[:, 0]).max() > 0.99
    assert np.abs(axes[:, 1]).max() < 1e-9


def test_uniform_yaws_are_added():
    tensors = np.repeat(np.diag([1.0, 0.5, 0.1])[None, None], 4, axis=1)
    few = closing_axes(np.array([[0.0, 0.0, -1.0]]), tensors)[1]
    many = closing_axes(np.array([[0.0, 0.0, -1.0]]), tensors, uniform=6)[1]
    assert len(few) == 2
    assert len(many) == 6
