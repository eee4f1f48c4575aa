"""The index names at least five hundred objects over sixty categories, each of which can be built as it says."""

from __future__ import annotations

import pytest

from armwright.assets.catalog import CATALOG
from armwright.assets.index import find, instance, instances
from armwright.core.errors import UnknownNameError


def test_there_are_five_hundred_objects_of_sixty_categories_rigid_and_articulated():
    every = instances()
    assert len(every) >= 500 and len({one.category for one in every}) >= 60
    assert len({one.name for one in every}) == len(every)
    assert {one.category for one in every} == set(CATALOG)


def test_no_two_objects_of_a_category_are_the_same():
    looks = {(one.category, one.instance, *sorted(one.attributes.items())) for one in instances()}
    assert len(looks) == len(instances())
    differing = sum(len({one.attributes["colour"] for one in find((name,))}) > 1 for name in CATALOG)
    assert differing > 0.75 * len(CATALOG)


@pytest.mark.parametrize("one", instances()[::7], ids=lambda one: one.name)
def test_objects_are_built_as_the_index_says(one):
    model = one.build()
    assert model.category == one.category
    assert {key: model.attributes[key] for key in one.attributes} == dict(one.attributes)


def test_search_by_category_and_attributes():
    red = find(("mug", "cup"), {"colour": "red"})
    assert red and {one.category for one in red} == {"mug", "cup"}
    assert all(one.attributes["colour"] == "red" for one in red)
    soups = find(attributes={"label": "soup"})
    assert {one.category for one in soups} == {"can", "carton"}
    assert find(("mug",), {"label": "soup"}) == ()
    assert {one.attributes["lid"] for one in find(("pot",))} == {"on", "none"}


def test_misuse_is_named():
    assert instance("mug_03").category == "mug"
    with pytest.raises(UnknownNameError, match="mug_03"):
        instance("mug_33")
    with pytest.raises(UnknownNameError, match="colour"):
        find(attributes={"colours": "red"})
    with pytest.raises(UnknownNameError, match="mug"):
        find(("mugg",))
