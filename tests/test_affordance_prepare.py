from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from armwright.affordance._kernels import AROUND, FAR, LANES, look_around
from armwright.affordance.labelled.soup import library_soup
from armwright.affordance.labelled.views import whole_cloud
from armwright.affordance.prepare import COARSE, FEATURES, MIDDLE, NEIGHBOURS, POINTS, prepare
from armwright.core.errors import UsageError
from armwright.core.task import REGIONS


def cloud_of(category: str, n: int = 8192):
    return whole_cloud(library_soup(category, 3), n, rng=np.random.default_rng(0))


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def feature(ready, name: str) -> np.ndarray:
    return ready.features[:, FEATURES.index(name)]


@pytest.mark.parametrize(("category", "n"), [("mug", 8192), ("cabinet", 8192), ("knife", 300), ("egg", 5)])
def test_arrays_fit_each_other_for_any_cloud(category: str, n: int) -> None:
    cloud = cloud_of(category, n)
    ready = prepare(cloud.points_m, cloud.normals)
    assert ready.features.shape == (POINTS, len(FEATURES)) and np.isfinite(ready.features).all()
    assert ready.near_fine.shape == (POINTS, 12) and 0 <= ready.near_fine.min() <= ready.near_fine.max() < POINTS
    assert ready.near_middle.shape == (MIDDLE, NEIGHBOURS) and ready.near_coarse.shape == (COARSE, NEIGHBOURS)
    assert ready.chosen.max() < n and ready.nearest.shape == (n, 3) and ready.nearest.max() < POINTS
    assert ready.up_fine.max() < MIDDLE and ready.up_middle.max() < COARSE
    np.testing.assert_allclose(ready.weight_fine.sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(ready.weight_middle.sum(1), 1, atol=1e-5)


def test_same_cloud_same_answer() -> None:
    cloud = cloud_of("kettle")
    first, second = prepare(cloud.points_m, cloud.normals), prepare(cloud.points_m, cloud.normals)
    for name in ("features", "chosen", "nearest", "near_fine", "near_middle", "up_fine"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_small_parts_of_large_things_keep_more_points_than_their_share() -> None:
    cloud = cloud_of("microwave")
    ready = prepare(cloud.points_m, cloud.normals)
    own = (cloud.regions >> REGIONS.index("Openable Handle") & 1) > 0
    assert own[ready.chosen].mean() > 1.5 * own.mean()


def test_every_point_is_stood_for_by_one_nearby() -> None:
    cloud = cloud_of("mug")
    ready = prepare(cloud.points_m, cloud.normals)
    away = np.linalg.norm(cloud.points_m[ready.chosen][ready.nearest[:, 0]] - cloud.points_m, axis=1)
    assert np.percentile(away, 99) < 0.1 * np.ptp(cloud.points_m, axis=0).max()


def test_inside_of_a_cup_faces_a_wall_and_its_outside_faces_none() -> None:
    cloud = cloud_of("cup")
    ready = prepare(cloud.points_m, cloud.normals)
    inside = (cloud.regions[ready.chosen] >> REGIONS.index("Containment") & 1) > 0
    outside = (cloud.regions[ready.chosen] >> REGIONS.index("Graspable Body") & 1) > 0
    assert np.median(feature(ready, "clear")[inside]) < 1.0
    assert np.median(feature(ready, "clear")[outside]) == pytest.approx(1.5)
    assert np.median(feature(ready, "enclosed")[inside]) >= 0.5


def test_thickness_of_a_slab_is_read_behind_its_face() -> None:
    rng = np.random.default_rng(0)
    xy = rng.uniform(-0.1, 0.1, (4000, 2))
    z = np.where(rng.random(4000) < 0.5, 0.0, 0.02)
    normals = np.column_stack([np.zeros((4000, 2)), np.where(z > 0, 1.0, -1.0)])
    ready = prepare(np.column_stack([xy, z]), normals)
    assert np.median(feature(ready, "thick")) == pytest.approx(0.02 / 0.2, rel=0.1)


@pytest.mark.parametrize(
    ("points", "normals"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.zeros((5, 2)), np.zeros((5, 2))),
        (np.zeros((5, 3)), np.zeros((4, 3))),
        (np.full((5, 3), np.nan), np.zeros((5, 3))),
    ],
)
def test_clouds_that_cannot_be_are_refused(points: np.ndarray, normals: np.ndarray) -> None:
    with pytest.raises(UsageError):
        prepare(points, normals)


def test_points_all_in_one_place_are_an_answer_not_a_crash() -> None:
    ready = prepare(np.zeros((50, 3)), np.tile([0.0, 0.0, 1.0], (50, 1)))
    assert np.isfinite(ready.features).all()


@pytest.mark.parametrize("category", ["mug", "cabinet"])
def test_the_three_that_answer_for_a_point_are_near_it_in_place_and_direction(category: str) -> None:
    cloud = cloud_of(category)
    ready = prepare(cloud.points_m, cloud.normals)
    np.testing.assert_allclose(ready.weight_nearest.sum(1), 1, atol=1e-5)
    assert (np.diff(ready.weight_nearest, axis=1) <= 1e-6).all()
    extent = np.ptp(cloud.points_m, axis=0).max()
    known = np.hstack([cloud.points_m / extent, 0.05 * cloud.normals])
    best, third = cKDTree(known[ready.chosen]).query(known, k=3)[0][:, [0, 2]].T
    away = np.linalg.norm(known[ready.chosen][ready.nearest] - known[:, None], axis=2)
    # Looking among neighbours finds nearly always what looking everywhere does, and hardly ever much less.
    assert (away[:, 0] < best + 1e-9).mean() > 0.95 and (away[:, 0] < 1.5 * best + 1e-3).mean() > 0.99
    assert (away[:, 2] < 1.5 * third + 1e-3).mean() > 0.97


def test_spreading_keeps_what_is_the_same_everywhere_and_lies_between_what_is_not() -> None:
    cloud = cloud_of("kettle")
    ready = prepare(cloud.points_m, cloud.normals)
    np.testing.assert_allclose(ready.spread(np.full((2, POINTS), 3.0, np.float32)), 3.0, atol=1e-5)
    height = cloud.points_m[:, 2]
    spread = ready.spread(height[ready.chosen].astype(np.float32))
    assert np.abs(spread - height).mean() < np.abs(height[ready.chosen][ready.nearest[:, 0]] - height).mean()


def test_an_edge_between_regions_is_drawn_finer_than_by_the_nearest_point_alone() -> None:
    cloud = cloud_of("fridge")
    ready = prepare(cloud.points_m, cloud.normals)
    truth = (cloud.regions >> REGIONS.index("Openable Handle") & 1) > 0

    def overlap(mask: np.ndarray) -> float:
        return float((mask & truth).sum() / (mask | truth).sum())

    signs = np.where(truth[ready.chosen], 1.0, -1.0).astype(np.float32)
    assert overlap(ready.spread(signs) > 0) >= overlap(truth[ready.chosen][ready.nearest[:, 0]]) > 0.8


def test_what_is_seen_around_a_point_is_what_looking_at_every_other_finds() -> None:
    rng = np.random.default_rng(2)
    points = rng.random((40, 3)).astype(np.float32)
    others = rng.random((3, 2 * LANES)).astype(np.float32)
    normals = unit(rng.normal(size=(40, 3)))
    other_normals = np.ascontiguousarray(unit(rng.normal(size=(2 * LANES, 3))).T)
    slack = np.float32(0.05)
    found = np.empty((40, len(AROUND)))
    look_around(points, normals, others, other_normals, slack, found)

    away = others.T[None] - points[:, None]
    along = np.einsum("ijk,ik->ij", away, normals)
    beside = np.sqrt((away**2).sum(-1) - along**2)
    met = (normals @ other_normals < -0.2) & (beside < slack + 0.35 * abs(along))
    flat, rise = np.hypot(away[..., 0], away[..., 1]), away[..., 2]
    column = flat < slack + 0.25 * abs(rise)
    expected = [
        np.where(met & (along < 0), -along, FAR).min(1),
        np.where(met & (along > 0.25 * slack), along, FAR).min(1),
        np.where(column & (rise > slack), rise, FAR).min(1),
        np.where(column & (rise < -slack), -rise, FAR).min(1),
    ]
    np.testing.assert_allclose(found[:, :4], np.stack(expected, axis=1), atol=1e-5)
    away, flat, rise = away[:, ::2], flat[:, ::2], rise[:, ::2]
    stands = np.einsum("ijk,kj->ij", away[..., :2], other_normals[:2, ::2]) < 0
    stands &= (flat > slack) & (abs(rise) - slack < 0.35 * flat)
    x, y = away[..., 0], away[..., 1]
    sector = (x > 0) + 2 * (y > 0) + 4 * (abs(x) > abs(y))
    walls = np.stack([np.where(stands & (sector == s), flat, FAR).min(1) for s in range(8)])
    np.testing.assert_allclose(found[:, 4], (walls < FAR).mean(0), atol=1e-6)
    np.testing.assert_allclose(found[:, 5], walls.min(0), atol=1e-5)
    np.testing.assert_allclose(found[:, 6], walls.mean(0), atol=1e-5)
