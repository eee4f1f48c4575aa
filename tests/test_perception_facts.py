"""General facts: what is inside and whether it can be eaten; the table knows words, not products."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from armwright.perception.facts import content_of, edible_of, general_facts
from armwright.shelf.products import load_products


@pytest.mark.parametrize(
    ("label", "content"),
    [
        ("creamy tomato soup", "tomato soup"),
        ("zesta almond milk", "almond milk"),
        ("black beans", "black beans"),
        ("extra virgin olive oil", "olive oil"),
        ("acme floor cleaner", "floor cleaner"),
        ("classic", "classic"),
        ("corn flakes box", "corn flakes"),
    ],
)
def test_content_is_the_label_without_brand_and_qualities(label, content):
    assert content_of(label.split()) == content


@pytest.mark.parametrize(
    ("label", "edible"),
    [
        ("almond milk", True),
        ("lemon dish soap", False),
        ("lemon juice", True),
        ("baking soda", True),
        ("coconut shampoo", False),
        ("hand cream", False),
        ("sour cream", True),
        ("olive oil", True),
        ("baby oil", False),
        ("dog biscuits", False),
        ("cleaning vinegar", False),
        ("apple cider vinegar", True),
        ("bath salt", False),
        ("sea salt", True),
        ("cocoa powder", True),
        ("washing powder", False),
    ],
)
def test_what_can_be_eaten(label, edible):
    said, sure = edible_of(label.split())
    assert said is edible
    assert sure > 0.5


@pytest.mark.parametrize("label", [["xylo"], ["qwrt", "zzkp"], [], ["original"], ["bar"], ["tablets"]])
def test_words_that_do_not_say_leave_it_open(label):
    assert edible_of(label) == (None, 0.0)


def test_the_table_was_not_made_from_products():
    text = (files("armwright.perception") / "data" / "general_facts.yaml").read_text(encoding="utf-8").casefold()
    said = " ".join(re.findall(r"[a-z]+", text))
    for product in load_products():
        name = " ".join(product.name.split("_"))
        if " " in name:
            assert f" {name} " not in f" {said} ", f"{name} stands in the table of general facts"
    assert all(re.fullmatch(r"[a-z]+", word) for word in general_facts().words)
