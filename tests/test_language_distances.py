"""How far to push or pull: lengths in all units, what is no distance to go, and distances that cannot be."""

from __future__ import annotations

import pytest

from armwright.core.errors import UsageError
from armwright.generate.parsing import parse_sentence


def moves(sentence: str) -> list[tuple[str, str, str | None, float | None]]:
    task, _ = parse_sentence(sentence)
    return [(p.name, p.object, p.relation, p.distance_m) for p in task.primitives]


@pytest.mark.parametrize(
    ("sentence", "relation", "distance_m"),
    [
        ("push the box forward by 10 cm", "behind", 0.10),
        ("push the box 5 cm to the left", "left_of", 0.05),
        ("push the box 7.5cm to the right", "right_of", 0.075),
        ("slide the box to the right by twelve centimetres", "right_of", 0.12),
        ("nudge the box forward 60 mm", "behind", 0.06),
        ("push the box 0.2 metres forward", "behind", 0.2),
        ("push the box two inches to the left", "left_of", 0.0508),
    ],
)
def test_a_push_goes_as_far_as_is_said(sentence, relation, distance_m):
    assert moves(sentence) == [("push", "box_1", relation, pytest.approx(distance_m))]
    assert parse_sentence(sentence)[0].not_understood == ()


def test_pulls_and_pushes_towards_things_take_distances_as_well():
    assert moves("pull the box closer by 8 cm") == [("pull", "box_1", "in_front_of", 0.08)]
    task, _ = parse_sentence("push the box 10 cm towards the plate")
    assert task.primitives[0].target == "plate_1" and task.primitives[0].distance_m == 0.10


def test_each_push_has_its_own_distance():
    far = moves("push the box 10 cm to the left, then push it 6 cm forward")
    assert [step[3] for step in far] == [0.10, 0.06]
    assert [step[3] for step in moves("push the box forward by 10 cm and push the can to the left")] == [0.10, None]


@pytest.mark.parametrize(
    "sentence", ["push the box forward", "push the box to within 5 cm of the plate", "push the box 5 cm from the plate"]
)
def test_a_length_that_says_where_is_no_distance_to_go(sentence):
    assert [step[3] for step in moves(sentence)] == [None]


def test_a_distance_that_nothing_is_done_with_is_told():
    task, _ = parse_sentence("open the drawer by 10 cm")
    assert "10 cm" in task.not_understood and task.primitives[0].distance_m is None


@pytest.mark.parametrize("length", ["0 cm", "-5 cm"])
def test_no_way_and_less_are_refused(length):
    with pytest.raises(UsageError, match="nothing can be moved by"):
        moves(f"push the box forward by {length}")
