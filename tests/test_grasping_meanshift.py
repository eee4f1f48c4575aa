"""Contacts: pieces, modes, and the surface points they stand for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.grasping.meanshift import connected_pieces, farthest_points, find_contacts, mean_shift, spacing_m
from armwright.grasping.options import GraspOptions


def half_ring(rng, n=1500, radius=0.03, bar=0.005):
    u = rng.uniform(-np.pi / 2, np.pi / 2, n)
    v = rng.uniform(0, 2 * np.pi, n)
    out = np.c_[np.cos(u), np.zeros(n), np.sin(u)]
    return out * radius + bar * (out * np.cos(v)[:, None] + np.array([0, 1, 0]) * np.sin(v)[:, None])


def test_contacts_lie_on_the_mask_where_the_centroid_does_not():
    rng = np.random.default_rng(0)
    handle = half_ring(rng) + np.array([0.05, 0, 0.05])
    body = rng.normal(size=(1500, 3)) * 0.01
    points = np.concatenate([body, handle])
    mask = np.arange(len(points)) >= len(body)
    found = find_contacts(points, mask)
    assert mask[found.index].all()
    assert found.is_mode[0]
    distance = np.linalg.norm(points[mask] - points[mask].mean(0), axis=1).min()
    assert distance > 0.004, "the centroid is meant to lie in the hole"


@given(st.integers(0, 1000), st.integers(2, 4))
@settings(max_examples=20, deadline=None)
def test_separate_blobs_are_separate_pieces_largest_first(seed, count):
    rng = np.random.default_rng(seed)
    sizes = [400 - 80 * k for k in range(count)]
    blobs = [rng.uniform(-0.01, 0.01, (m, 3)) + np.array([0.1 * k, 0, 0]) for k, m in enumerate(sizes)]
    order = rng.permutation(sum(sizes))
    points = np.concatenate(blobs)[order]
    truth = np.repeat(np.arange(count), sizes)[order]
    assert (connected_pieces(points, gap_m=0.012) == truth).all()
    found = find_contacts(points, np.ones(len(points), bool))
    assert set(found.piece) == set(range(count))
    assert (truth[found.index] == found.piece).all()
    assert all(found.is_mode[found.piece == k].any() for k in range(count))


@given(st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_modes_find_the_densest_spot_first(seed):
    rng = np.random.default_rng(seed)
    dense, sparse = rng.normal(size=(600, 3)) * 0.004, rng.normal(size=(200, 3)) * 0.004 + [0.08, 0, 0]
    modes = mean_shift(np.concatenate([dense, sparse])[rng.permutation(800)], bandwidth_m=0.02)
    assert len(modes) == 2
    assert np.linalg.norm(modes[0]) < 0.004
    assert np.linalg.norm(modes[1] - [0.08, 0, 0]) < 0.004


def test_spacing_follows_density():
    rng = np.random.default_rng(1)
    for n in (500, 2000, 8000):
        flat = np.c_[rng.uniform(0, 0.1, (n, 2)), np.zeros(n)]
        assert spacing_m(flat) == pytest.approx(0.1 / np.sqrt(n), rel=0.15)


def test_farthest_points_spread_and_stop():
    grid = np.stack(np.meshgrid(range(5), range(5), [0]), -1).reshape(-1, 3).astype(float)
    chosen = farthest_points(grid, start=grid[:1], count=3)
    assert sorted(map(tuple, grid[chosen][:, :2])) == [(0.0, 4.0), (4.0, 0.0), (4.0, 4.0)] or len(chosen) == 3
    gaps = np.linalg.norm(grid[chosen][:, None] - grid[chosen][None], axis=2)
    assert gaps[np.triu_indices(3, 1)].min() >= 2.8
    assert len(farthest_points(grid[:2], start=grid[:2], count=4)) == 0


def test_number_of_contacts_is_shared_between_pieces():
    rng = np.random.default_rng(2)
    points = np.concatenate(
        [rng.uniform(-0.02, 0.02, (900, 3)), rng.uniform(-0.02, 0.02, (900, 3)) + np.array([0.2, 0, 0])]
    )
    found = find_contacts(points, np.ones(1800, bool), options=GraspOptions(contacts=12))
    assert np.bincount(found.piece).tolist() == [6, 6]
    assert len(set(found.index)) == 12


def test_empty_mask_gives_no_contact():
    assert len(find_contacts(np.zeros((5, 3)), np.zeros(5, bool)).index) == 0


def test_single_masked_point_is_a_contact():
    mask = np.zeros(50, bool)
    mask[7] = True
    assert find_contacts(np.random.default_rng(0).random((50, 3)), mask).index.tolist() == [7]
