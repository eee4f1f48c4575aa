from __future__ import annotations

import numpy as np
import pytest

from armwright.assets.catalog import CATALOG, COLOURS
from armwright.assets.library import Library, default_library
from armwright.assets.materials import MATERIALS
from armwright.core.errors import UnknownNameError, UsageError


def same_geometry(a, b):
    return all(
        np.array_equal(x.vertices_m, y.vertices_m) and np.array_equal(x.faces, y.faces)
        for x, y in zip(a.links, b.links, strict=True)
    )


@pytest.mark.parametrize("name", sorted(CATALOG))
def test_the_same_request_gives_the_same_object(name):
    first, again = Library().build(name, instance=11), Library().build(name, instance=11)
    assert first is not again and same_geometry(first, again)
    assert first.attributes == again.attributes and first.params == again.params
    other = Library().build(name, instance=12)
    assert other.params != first.params


def test_objects_are_cached():
    library = default_library()
    assert default_library() is library
    mug = library.build("mug", instance=4, attributes={"colour": "red", "size": "small"})
    assert library.build("mug", instance=4, attributes={"size": "small", "colour": "red"}) is mug
    assert library.build("mug", instance=5, attributes={"size": "small", "colour": "red"}) is not mug


@pytest.mark.parametrize("name", sorted(CATALOG))
def test_an_asked_for_colour_shows_and_changes_no_shape(name):
    library = Library()
    red, blue = (library.build(name, instance=2, attributes={"colour": c}) for c in ("red", "blue"))
    assert same_geometry(red, blue)
    for model, colour in ((red, "red"), (blue, "blue")):
        assert model.attributes["colour"] == colour
        shown = area_mean_colour(model)
        nearest = min(("red", "blue"), key=lambda c: np.linalg.norm(shown - COLOURS[c]))
        assert nearest == colour, (name, shown)


def area_mean_colour(model):
    total, weight = np.zeros(3), 0.0
    for link in model.links:
        t = link.vertices_m[link.faces]
        area = np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1)
        rgb = np.array([link.part_rgba[p][:3] for p in link.part_names])[link.face_part]
        total, weight = total + area @ rgb, weight + area.sum()
    return total / weight


@pytest.mark.parametrize("name", ["mug", "box", "can", "bottle", "plate", "cube", "pot"])
def test_size_orders_the_draws(name):
    def extent(size):
        models = [Library().build(name, instance=i, attributes={"size": size}) for i in range(8)]
        return np.mean([np.prod(m.bounds_m[1] - m.bounds_m[0]) for m in models])

    assert extent("small") < extent("medium") < extent("large")


def test_colours_are_drawn_from_the_usual_ones_and_materials_bring_theirs():
    library = Library()
    drawn = {library.build("can", instance=i).attributes["colour"] for i in range(30)}
    assert drawn <= set(CATALOG["can"].colours) and len(drawn) > 2
    assert library.build("cube", instance=1, attributes={"material": "wood"}).attributes["colour"] == "brown"
    steel = library.build("mug", instance=1, attributes={"material": "metal"})
    assert steel.friction == MATERIALS["metal"].friction
    assert steel.mass_kg > library.build("mug", instance=1, attributes={"material": "plastic"}).mass_kg


def test_further_attributes_are_kept_and_choices_obeyed():
    library = Library()
    assert library.build("can", instance=1, attributes={"label": "soup"}).attributes["label"] == "soup"
    assert [link.name for link in library.build("pot", instance=1).links] == ["base", "lid"]
    assert len(library.build("pot", instance=1, attributes={"lid": "none"}).links) == 1
    kettle = library.build("kettle", instance=1, attributes={"stand": "no"})
    assert len(kettle.links) == 1 and abs(kettle.bounds_m[0][2]) < 1e-9


def test_search_filters_by_category_and_attributes():
    library = Library()
    assert len(library.search()) == len(CATALOG)
    assert [info.name for info in library.search("mug")] == ["mug"]
    yellow = {info.name for info in library.search(attributes={"colour": "yellow"})}
    assert "banana" in yellow and "carrot" not in yellow
    assert {info.name for info in library.search(attributes={"lid": "on"})} == {"pot", "jar"}
    assert library.search("mug", {"material": "food"}) == ()


def test_misuse_is_named_with_what_is_allowed():
    library = Library()
    with pytest.raises(UnknownNameError, match="mug") as caught:
        library.build("mugg", instance=0)
    assert "mug" in caught.value.nearest
    with pytest.raises(UsageError, match=r"turquoise.*red"):
        library.build("mug", instance=0, attributes={"colour": "turquoise"})
    with pytest.raises(UsageError, match=r"size.*small, medium, large"):
        library.build("mug", instance=0, attributes={"size": "giant"})
    with pytest.raises(UsageError, match=r"material.*ceramic"):
        library.build("mug", instance=0, attributes={"material": "cheese"})
    with pytest.raises(UnknownNameError):
        library.search("sofa")
