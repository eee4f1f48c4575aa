from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from armwright.affordance.concepts import vocabulary
from armwright.affordance.labelled.deform import close_up, stretched, turned
from armwright.affordance.labelled.samples import SWAPPED, draw_shape, finishing_round, training_round, training_sample
from armwright.affordance.labelled.soup import bits_of, library_soup, soup_of
from armwright.affordance.labelled.swaps import swap
from armwright.affordance.labelled.views import seen_cloud, whole_cloud
from armwright.assets.cloud import nearest_part
from armwright.assets.library import default_library
from armwright.core.task import REGIONS


@pytest.mark.parametrize("category", ["mug", "cabinet", "kettle", "drill"])
def test_points_carry_the_regions_of_the_part_they_lie_on(category: str) -> None:
    model = default_library().build(category, instance=4)
    cloud = whole_cloud(soup_of(model), 400, rng=np.random.default_rng(1))
    part = nearest_part(model, cloud.points_m)
    for k, region in enumerate(REGIONS):
        expected = np.isin(part, model.regions.get(region, ()))
        assert (((cloud.regions >> k & 1) > 0) == expected).mean() > 0.98


def test_absence_is_judged_only_where_the_catalogue_speaks() -> None:
    cube, pot = library_soup("cube", 1), library_soup("pot", 1)
    assert cube.judged & bits_of(frozenset({"Graspable Lid"})) and not cube.present & bits_of(
        frozenset({"Graspable Lid"})
    )
    assert not pot.judged & bits_of(frozenset({"Hanging Handle"}))
    assert cube.present & ~cube.judged == 0


def test_one_view_shows_the_near_side_only_and_stays_on_the_surface() -> None:
    soup = library_soup("box", 2)
    seen = seen_cloud(soup, rng=np.random.default_rng(3), noise_m=0.0)
    whole = whole_cloud(soup, 20000, rng=np.random.default_rng(3))
    spread = cKDTree(whole.points_m).query(seen.points_m)[0]
    assert np.percentile(spread, 99) < 0.004
    assert seen.normals[:, 2].min() > -0.5, "the underside is never seen from above"
    covered = cKDTree(seen.points_m).query(whole.points_m)[0] < 0.004
    assert 0.2 < covered.mean() < 0.75


def test_a_camera_sees_into_a_bowl_but_not_through_its_wall() -> None:
    soup = library_soup("bowl", 2)
    low = seen_cloud(soup, rng=np.random.default_rng(0), elevation_rad=(0.01, 0.02))
    high = seen_cloud(soup, rng=np.random.default_rng(0), elevation_rad=(1.4, 1.5))
    inside = 1 << REGIONS.index("Containment")
    assert ((low.regions & inside) > 0).mean() < 0.15
    assert ((high.regions & inside) > 0).mean() > 0.5


def test_swapped_parts_touch_the_body_and_are_labelled() -> None:
    allowed = frozenset(vocabulary().training_categories())
    used: set[str] = set()

    def make(category: str, rng: np.random.Generator):
        used.add(category)
        return library_soup(category, int(rng.integers(50)), rng=rng)

    found, gaps = 0, []
    for k in range(40):
        shape = swap(make, allowed, rng=np.random.default_rng(k))
        if shape is None:
            continue
        found += 1
        assert int(np.bitwise_or.reduce(shape.regions)) == shape.present
        assert shape.present & ~shape.judged == 0
        assert shape.triangles_m[..., 2].min() == pytest.approx(0.0, abs=1e-9)
        handle = (shape.regions >> REGIONS.index("Graspable Handle") & 1) > 0
        body = (shape.regions >> REGIONS.index("Graspable Body") & 1) > 0
        if handle.any() and body.any():
            cloud = whole_cloud(shape, 8000, rng=np.random.default_rng(k))
            own = (cloud.regions >> REGIONS.index("Graspable Handle") & 1) > 0
            gaps.append(cKDTree(cloud.points_m[~own]).query(cloud.points_m[own])[0].min())
    assert found > 20
    # A bulge in the same band of height keeps a few a little off; points are some 3 mm apart.
    assert np.median(gaps) < 0.005 and max(gaps) < 0.03
    assert not used & set(vocabulary().held_out_categories)


def test_stretching_and_turning_keep_labels_and_outward_faces() -> None:
    soup = library_soup("mug", 1)
    moved = turned(stretched(soup, rng=np.random.default_rng(2)), rng=np.random.default_rng(2))
    corners = moved.triangles_m
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    assert volume > 0
    np.testing.assert_array_equal(moved.regions, soup.regions)


def test_close_up_keeps_what_is_near() -> None:
    cloud = whole_cloud(library_soup("cabinet", 1), 5000, rng=np.random.default_rng(0))
    near = close_up(cloud, center_m=np.array([0.0, 0.0, 0.1]), radius_m=0.12)
    assert 0 < len(near.points_m) < 5000
    assert (np.linalg.norm(near.points_m - [0, 0, 0.1], axis=1) < 0.12).all()


def test_training_never_draws_what_is_held_out_and_draws_repeat() -> None:
    names = training_round(0)
    assert not set(names) & set(vocabulary().held_out_categories)
    assert SWAPPED in names
    first, again = training_sample("mug", 5), training_sample("mug", 5)
    for key, value in first.items():
        np.testing.assert_array_equal(value, again[key])
    other = draw_shape("mug", 5, split="validation")
    assert other.triangles_m.shape != draw_shape("mug", 5, split="train").triangles_m.shape or not np.allclose(
        other.triangles_m, draw_shape("mug", 5, split="train").triangles_m
    )


def test_the_last_rounds_show_doors_most_and_nothing_held_out() -> None:
    names = finishing_round(0)
    assert not set(names) & set(vocabulary().held_out_categories)
    assert set(vocabulary().training_categories()) <= set(names)
    assert names.count("cabinet") == 4 and names.count("kettle") == 2 and names.count("plate") == 1


def test_a_sample_says_how_many_points_of_the_cloud_each_of_its_own_answers_for() -> None:
    for k in range(3):
        sample = training_sample("cabinet", k, finishing=True)
        assert sample["mass"].shape == sample["regions"].shape and 500 < sample["mass"].sum() <= 6 * 8192
