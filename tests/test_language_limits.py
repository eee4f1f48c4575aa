"""Counts, conditions, negations and contradictions: what changes the meaning of a sentence is never passed over."""

from __future__ import annotations

import pytest

from armwright.core.errors import UsageError
from armwright.language import parse


def _steps(sentence: str) -> list[tuple[str | None, ...]]:
    return [tuple(v for v in (p.name, p.object, p.target) if v) for p in parse(sentence).primitives]


@pytest.mark.parametrize(
    "said", ["no mugs", "none of the mugs", "neither mug", "neither of the mugs", "zero mugs", "0 mugs", "no mug"]
)
def test_a_clause_about_nothing_does_nothing(said):
    why = "is no number of things to act on. Say one from 1 to 12" if said[0] in "z0" else "not to do"
    with pytest.raises(UsageError, match=why):
        parse(f"pick up {said}")
    task = parse(f"Pick up {said}. Put the banana in the bowl.")
    assert [o.category for o in task.scene.objects] == ["banana", "bowl"]
    assert task.not_understood == (f"Pick up {said}",)


@pytest.mark.parametrize(
    "said", ["neither the mug nor the cup on the plate", "the mug on no plate", "the mug in no bowl"]
)
def test_putting_nothing_or_nowhere_does_nothing(said):
    with pytest.raises(UsageError, match="not to do"):
        parse(f"put {said}")


@pytest.mark.parametrize("number", ["-3", "1.5", "0/1", "2/3", "1e9", "2-3", "half of the", "most of the", "one two"])
def test_what_is_no_count_is_refused(number):
    with pytest.raises(UsageError, match="whole number of them from 1 to 12"):
        parse(f"put {number} cubes in the bowl")


@pytest.mark.parametrize("number", ["13", "thirteen", "twenty five", "100", "a hundred", "two dozen", "ninety"])
def test_more_than_a_table_holds_is_refused(number):
    with pytest.raises(UsageError, match="more than 12 objects"):
        parse(f"pick up {number} cubes")


@pytest.mark.parametrize(
    ("number", "n"),
    [("twelve", 12), ("a dozen", 12), ("12", 12), ("eleven", 11), ("half a dozen", 6), ("two pairs of", 4), ("2", 2)],
)
def test_counts(number, n):
    assert len(_steps(f"pick up {number} cubes")) == n


def test_some_of_several():
    task = parse("pick up two of the three cubes")
    assert len(task.scene.objects) == 3
    assert [p.object for p in task.primitives] == ["cube_1", "cube_2"]
    with pytest.raises(UsageError, match="'both' means two, but 3"):
        parse("pick up both of the three cubes")
    with pytest.raises(UsageError, match="5 of 3"):
        parse("pick up five of the three cubes")
    with pytest.raises(UsageError, match="3 of them"):
        parse("There are two cubes. Put three of them in the bowl.")
    assert len(_steps("pick up both of the two cubes")) == len(_steps("pick up all two cubes")) == 2


CONDITIONS = [
    "if it is empty",
    "unless it is full",
    "until it is full",
    "whenever it is dirty",
    "in case it is dirty",
    "as long as it is clean",
    "once it is cool",
    "when I say so",
    "while opening the drawer",
    "provided it is clean",
    "if you can see it",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_is_refused_and_quoted(condition):
    for text in (f"put the mug on the plate {condition}", f"{condition.capitalize()}, put the mug on the plate."):
        with pytest.raises(UsageError, match="is a condition") as caught:
            parse(text)
        assert condition.casefold() in str(caught.value).casefold()


@pytest.mark.parametrize(
    "text",
    [
        "If you don't mind, put the mug on the plate.",
        "Put the mug on the plate if you can.",
        "If possible, put the mug on the plate",
        "I would be glad if you could put the mug on the plate.",
        "If you would please put the mug on the plate.",
        "Pick up the mug while avoiding the bowl and put it on the plate.",
        "Once you have picked up the mug, put it on the plate.",
    ],
)
def test_courtesy_and_order_are_no_conditions(text):
    assert _steps(text) == [("pick", "mug_1"), ("place", "mug_1", "plate_1")]


def test_what_an_action_brings_about_may_end_it():
    assert _steps("push the drawer until it is closed") == [("close", "cabinet_1")]
    assert _steps("push the can until it is next to the mug") == [("push", "can_1", "mug_1")]


@pytest.mark.parametrize(
    "text",
    ["don't pick up the mug", "do not pick up the mug", "never pick up the mug", "don't take the mug and drop it"],
)
def test_what_shall_not_be_done_is_not_done(text):
    with pytest.raises(UsageError, match="not to do"):
        parse(text)
    assert _steps(f"{text}. Push the box to the left.") == [("push", "box_1")]


@pytest.mark.parametrize(
    "text",
    [
        "put the banana on the plate without touching the bowl",
        "put the banana on the plate instead of the bowl",
        "put the banana on the plate, not in the bowl",
        "instead of the bowl, put the banana on the plate",
        "No bowl should be moved. Put the banana on the plate.",
    ],
)
def test_what_is_ruled_out_is_not_touched(text):
    task = parse(text)
    assert _steps(text) == [("pick", "banana_1"), ("place", "banana_1", "plate_1")]
    assert any("bowl" in said for said in task.not_understood)


CUBES = "There are three cubes, a red one, a blue one and a green one."


@pytest.mark.parametrize(
    "but",
    [
        "except the red one",
        "except for the red cube",
        "but the red one",
        "apart from the red one",
        "other than the red one",
    ],
)
def test_exceptions_are_left_where_they_are(but):
    for text in (f"Put all the cubes in the bowl {but}.", f"Put all the cubes {but} in the bowl."):
        if text.endswith("bowl but the red one."):
            continue
        task = parse(f"{CUBES} {text}")
        moved = [task.scene.object(p.object).attributes for p in task.primitives if p.name == "place"]
        assert moved == [{"colour": "blue"}, {"colour": "green"}]
        assert len(task.scene.objects) == 4
        assert not task.not_understood


def test_everything_but_one():
    text = "There is a mug, a banana and a bowl. Put everything but the banana in the bowl."
    assert _steps(text) == [("pick", "mug_1"), ("place", "mug_1", "bowl_1")]
    with pytest.raises(UsageError, match="nothing is left"):
        parse("There is a cube. Put all cubes except the cube in the bowl.")


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("pick up the red blue mug", "both red and blue"),
        ("pick up the small large cube", "both small and large"),
        ("pick up the wooden plastic cube", "both wood and plastic"),
        ("put the cube on the red green plate", "both red and green"),
    ],
)
def test_contradictions_are_refused(text, pair):
    with pytest.raises(UsageError, match=pair):
        parse(text)


@pytest.mark.parametrize(("said", "colour"), [("navy blue", "blue"), ("lime green", "green"), ("teal green", "green")])
def test_shades_of_a_colour_are_no_contradiction(said, colour):
    assert parse(f"pick up the {said} mug").scene.object("mug_1").attributes == {"colour": colour}


def test_a_side_is_followed_quoted_or_refused():
    for text in ("pick up the mug to the left", "open the drawer to the left", "put the mug on the plate to the left"):
        assert parse(text).not_understood == ("to the left",)
    assert parse("push the box to the left").primitives[0].relation == "left_of"
    with pytest.raises(UsageError, match="can be held"):
        parse("hold the mug to the left")


@pytest.mark.parametrize("text", ["<script>", "1e9", "42", "-3", "<b>", "pick up the mug"[:4] + "!"])
def test_what_is_no_instruction_is_said_to_be_none(text):
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert "not English" not in str(caught.value) or any(w in text for w in ("der", "la"))


@pytest.mark.parametrize(("said", "spot"), [("top", "top"), ("middle", "middle"), ("lower", "bottom")])
def test_which_drawer_is_meant_is_kept(said, spot):
    task = parse(f"Open the {said} drawer, put the banana in it and close it.")
    assert [(p.name, p.spot) for p in task.primitives if p.object == "cabinet_1"] == [("open", spot), ("close", spot)]
    assert not task.not_understood
    assert parse(f"Put the banana in the {said} drawer.").not_understood == (said,)
