"""Grading: equal up to ids, and every kind of difference is seen."""

from __future__ import annotations

import copy

import pytest

from armwright.core.errors import UsageError
from armwright.language import parse
from armwright.language.grading import grade

SENTENCE = "There is a can on the shelf. Put the red cube on the blue cube, then pour the kettle into the bowl."
RIGHT = {
    "sentence": SENTENCE,
    "objects": {
        "tin": {"category": "can"},
        "shelf_9": {"category": "shelf", "attributes": {}},
        "upper": {"category": "cube", "attributes": {"colour": "red"}},
        "lower": {"category": "cube", "attributes": {"colour": "blue"}},
        "k": {"category": "kettle"},
        "b": {"category": "bowl"},
    },
    "relations": [["tin", "on", "shelf_9"], ["k", "on", "table"]],
    "primitives": [
        ["pick", "upper"],
        ["place", "upper", "lower", "on"],
        ["pick", "k", None, None],
        ["pour", "k", "b", "in"],
    ],
    "queries": [
        ["b", "Pour In", "receive"],
        ["upper", "Graspable Body", "grasp"],
        ["k", "Graspable Handle", "grasp"],
        ["k", "Pour Out", "use"],
    ],
}


def test_names_and_the_order_of_queries_do_not_matter():
    assert grade(RIGHT, parse(SENTENCE)) == (True, ())


def test_interchangeable_objects_may_be_swapped():
    task = parse("There are two cubes. Put one cube on the tray.")
    expected = {
        "objects": {"b": {"category": "cube"}, "a": {"category": "cube"}, "t": {"category": "tray"}},
        "primitives": [["pick", "a"], ["place", "a", "t", "on"]],
        "queries": [["a", "Graspable Body", "grasp"]],
    }
    assert grade(expected, task)[0]


def _change(path: str, value: object) -> dict:
    item = copy.deepcopy(RIGHT)
    key, _, index = path.partition(".")
    if index:
        item[key][int(index) if index.isdigit() else index] = value
    else:
        item[key] = value
    return item


@pytest.mark.parametrize(
    "wrong",
    [
        _change("objects.tin", {"category": "carton"}),
        _change("objects.upper", {"category": "cube", "attributes": {"colour": "green"}}),
        _change("objects.extra", {"category": "mug"}),
        _change("relations", []),
        _change("relations.0", ["tin", "in", "shelf_9"]),
        _change("primitives.1", ["place", "lower", "upper", "on"]),
        _change("primitives.3", ["pour", "k", "b", "above"]),
        _change("primitives", RIGHT["primitives"][2:] + RIGHT["primitives"][:2]),
        _change("queries.0", ["b", "Containment", "receive"]),
        _change("queries.1", ["lower", "Graspable Body", "grasp"]),
        _change("queries", RIGHT["queries"][:3]),
        {"sentence": SENTENCE, "error": True},
    ],
)
def test_every_difference_is_seen(wrong):
    ok, differences = grade(wrong, parse(SENTENCE))
    assert not ok
    assert differences


def test_errors_are_right_only_where_expected():
    assert grade({"error": True}, UsageError("no")) == (True, ())
    ok, differences = grade(RIGHT, UsageError("no such thing"))
    assert not ok
    assert "no such thing" in differences[0]


def test_a_category_split_off_since_counts_as_the_former_one_only_if_told():
    expected = copy.deepcopy(RIGHT)
    expected["objects"]["b"]["category"] = "scoop"
    assert not grade(expected, parse(SENTENCE))[0]
    assert grade(expected, parse(SENTENCE), former={"bowl": "scoop"}) == (True, ())
    assert not grade(expected, parse(SENTENCE), former={"kettle": "scoop"})[0]
