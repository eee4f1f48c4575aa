"""Reference affordances: enough of them, on objects and regions that exist, and close to what part labels say."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.assets.catalog import CATALOG
from armwright.assets.cloud import sample_cloud
from armwright.assets.index import instance
from armwright.assets.reference import (
    Body,
    ReferenceRegion,
    overlap,
    reference_instances,
    reference_mask,
    reference_regions,
)
from armwright.core.errors import UnknownNameError
from armwright.core.task import REGIONS

LOWEST = 0.6
"""Below this a drawn region and the labelled one mean different things: one of the two is wrong."""


def test_fifty_objects_of_twenty_five_categories_have_them():
    names = reference_instances()
    assert len(names) >= 50 and len({instance(name).category for name in names}) >= 25
    assert sum(len(reference_regions(name)) for name in names) >= 100


@pytest.mark.parametrize("name", reference_instances())
def test_drawn_regions_agree_with_the_labelled_ones_but_are_not_the_same(name):
    model = instance(name).build()
    cloud = sample_cloud(model, 8000, rng=np.random.default_rng(1))
    for region in reference_regions(name):
        assert region in REGIONS and region in CATALOG[model.category].regions
        drawn = reference_mask(name, region, cloud.points_m, cloud.normals)
        labelled = np.isin(cloud.part, model.regions[region])
        assert drawn.any() and LOWEST < overlap(drawn, labelled) <= 1.0, (name, region, overlap(drawn, labelled))


def test_the_reference_is_not_the_part_labels_in_other_words():
    same = 0
    for name in reference_instances()[::4]:
        model = instance(name).build()
        cloud = sample_cloud(model, 4000, rng=np.random.default_rng(1))
        for region in reference_regions(name):
            drawn = reference_mask(name, region, cloud.points_m, cloud.normals)
            same += overlap(drawn, np.isin(cloud.part, model.regions[region])) > 0.99
    assert same <= 5


def test_bodies_hold_what_they_say():
    points = 1e-3 * np.array([[0, 0, 5], [9, 0, 5], [20, 0, 5], [9, 0, 50]], float)
    normals = np.array([[0, 0, 1], [-1, 0, 0], [1, 0, 0], [1, 0, 0]], float)
    box = Body((-10, -10, 0), (10, 10, 10))
    assert box.holds(points, normals).tolist() == [True, True, False, False]
    ring = Body((-50, -50, 0), (50, 50, 60), "z", (0.0, 0.0), (5.0, 15.0))
    assert ring.holds(points, normals).tolist() == [False, True, False, True]
    inside = Body((-50, -50, 0), (50, 50, 60), "z", (0.0, 0.0), (5.0, 15.0), "in")
    assert inside.holds(points, normals).tolist() == [False, True, False, False]
    up = Body((-50, -50, 0), (50, 50, 60), facing="up")
    assert up.holds(points, normals).tolist() == [True, False, False, False]
    assert ReferenceRegion((ring, up), (box,)).mask(points, normals).tolist() == [False, False, False, True]


def test_overlap_is_intersection_over_union():
    a, b = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    assert overlap(a, b) == pytest.approx(1 / 3) and overlap(a, a) == 1.0
    assert overlap(np.zeros(3, bool), np.zeros(3, bool)) == 1.0


def test_what_has_no_reference_is_named():
    with pytest.raises(UnknownNameError, match="mug_01"):
        reference_regions("mug_07")
    with pytest.raises(UnknownNameError, match="Pour Out"):
        reference_mask("mug_01", "Hook", np.zeros((1, 3)), np.zeros((1, 3)))
