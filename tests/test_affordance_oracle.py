"""Oracle masks are the part labels of the region, on every category of the catalogue."""

import numpy as np
import pytest

from armwright.affordance.oracle import OracleAffordance
from armwright.affordance.protocol import ObjectCloud
from armwright.assets.catalog import CATALOG
from armwright.assets.cloud import sample_cloud
from armwright.assets.library import default_library
from armwright.core.errors import UsageError
from armwright.core.task import AffordanceQuery


def cloud_of(category, n=3000):
    cloud = sample_cloud(default_library().build(category, instance=3), n, rng=np.random.default_rng(0))
    return ObjectCloud("it", category, cloud.points_m, cloud.normals, cloud.part, cloud.link)


def query(region):
    return AffordanceQuery(object="it", region=region, role="grasp")


@pytest.mark.parametrize("category", sorted(CATALOG))
def test_mask_is_the_region_and_not_empty(category):
    cloud = cloud_of(category)
    for region, parts in CATALOG[category].regions.items():
        found = OracleAffordance().predict(cloud, query(region))
        assert found.mask.any(), f"{category} has no point on {region}"
        assert set(cloud.part[found.mask]) <= set(parts)
        assert not set(cloud.part[~found.mask]) & set(parts)
        assert (found.score == found.mask).all()
        assert found.model == "oracle"


def test_region_that_the_category_lacks_is_empty():
    assert not OracleAffordance().predict(cloud_of("banana"), query("Pour In")).mask.any()


def test_unknown_category_is_empty_unless_regions_are_given():
    cloud = ObjectCloud("it", "gadget", np.zeros((2, 3)), np.zeros((2, 3)), np.array(["grip", "rest"]))
    assert not OracleAffordance().predict(cloud, query("Graspable Handle")).mask.any()
    own = OracleAffordance({"Graspable Handle": ("grip",)})
    assert own.predict(cloud, query("Graspable Handle")).mask.tolist() == [True, False]


def test_cloud_without_labels_is_misuse():
    with pytest.raises(UsageError, match="part labels"):
        OracleAffordance().predict(ObjectCloud("it", "mug", np.zeros((2, 3)), np.zeros((2, 3))), query("Pour In"))
