"""Descriptions: normalisation, and what counts as a contradiction."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.core.errors import ArmwrightError
from armwright.perception.descriptions import Description, by_meaning, conflict, exactly, normalised

words = st.sampled_from(["", "ketchup", "Ketchup!", "mustard", "tomatoes", "box", "can"])
descriptions = st.builds(
    Description,
    label=words,
    content=words,
    packaging=words,
    edible=st.sampled_from([None, True, False]),
    orientation=st.sampled_from(["", "upright", "lying"]),
)


@settings(deadline=None)
@given(descriptions, descriptions)
def test_a_conflict_is_symmetric_and_nobody_contradicts_himself(a, b):
    assert conflict(a, b) == conflict(b, a)
    assert not conflict(a, a)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=30))
def test_normalising_twice_changes_nothing_of_plain_words(text):
    assert normalised(text) == normalised(text.swapcase()) or not text.isascii()
    assert normalised(f"  {text}. ") == normalised(text)


def test_normalisation():
    assert normalised("The Tomatoes!") == normalised("tomato") == "tomato"
    assert normalised("A box of Crackers") == "box cracker"
    assert normalised("glass") == "glass" and normalised("boxes") == "box" and normalised("berries") == "berry"
    assert normalised("olive_oil") == "olive oil"


def test_shared_attributes_decide_before_labels():
    a = Description("ketchup", content="tomato", packaging="bottle")
    assert not conflict(a, Description("red sauce", content="Tomatoes"))
    assert conflict(a, Description("ketchup", content="tomato", packaging="can"))
    assert conflict(Description("a", edible=True), Description("a", edible=False))
    assert conflict(Description("a", orientation="upright"), Description("a", orientation="lying"))


def test_labels_decide_only_without_shared_attributes_and_only_when_both_are_there():
    assert conflict(Description("ketchup"), Description("mustard", packaging="bottle"))
    assert not conflict(Description("ketchup"), Description(""))
    assert not conflict(Description("Ketchup."), Description("the ketchup"))


def test_meaning_bridges_other_words_for_the_same():
    alike = by_meaning()
    assert alike("ketchup", "Ketchup!") == 1
    assert alike("tomato sauce", "red tomato sauce") == alike("red tomato sauce", "tomato sauce") > 0.6
    assert alike("tomato sauce", "laundry detergent") < 0.6
    a, b = Description("x", content="tomato sauce"), Description("y", content="red tomato sauce")
    assert conflict(a, b, alike=exactly) and not conflict(a, b, alike=alike)


@pytest.mark.parametrize(
    "wrong",
    [
        {"confidence": 1.5},
        {"confidence": float("nan")},
        {"extent_m": (0.1, 0.1, 0)},
        {"extent_m": (0.1, float("nan"), 1)},
    ],
)
def test_misuse(wrong):
    with pytest.raises(ArmwrightError) as caught:
        Description("jam", **wrong)
    assert caught.value.hint and "jam" in str(caught.value)
