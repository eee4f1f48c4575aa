"""Pulling and pushing what stands fast: its drawer or door opens and closes; it goes nowhere."""

from __future__ import annotations

import pytest

from armwright.core.errors import UsageError
from armwright.generate.parsing import parse_sentence

HANDLE = [("cabinet_1", "Openable Handle", "grasp")]


def read(sentence: str) -> tuple[list[tuple[str, str]], list[tuple[str, str, str]]]:
    task, _ = parse_sentence(sentence)
    queries = [(q.object, q.region, q.role) for q in task.queries]
    return [(p.name, p.object) for p in task.primitives], queries


@pytest.mark.parametrize("sentence", ["pull the drawer", "pull the drawer towards you", "pull the cabinet open"])
def test_pulling_a_drawer_opens_it(sentence):
    assert read(sentence) == ([("open", "cabinet_1")], HANDLE)


@pytest.mark.parametrize("sentence", ["push the drawer", "push the drawer forward", "push the drawer shut"])
def test_pushing_a_drawer_closes_it(sentence):
    assert read(sentence) == ([("close", "cabinet_1")], HANDLE)


def test_which_drawer_is_meant_is_kept():
    task, _ = parse_sentence("pull the top drawer")
    assert task.primitives[0].name == "open" and task.primitives[0].spot == "top"


def test_what_goes_in_between_is_kept():
    steps, _ = read("pull the drawer, put the can in it, then push the drawer")
    assert [name for name, _ in steps] == ["open", "pick", "place", "close"]


def test_loose_things_and_buttons_are_still_pushed():
    assert read("push the box forward")[0] == [("push", "box_1")]
    assert read("push the button of the microwave")[0] == [("push", "microwave_1")]


@pytest.mark.parametrize("sentence", ["pull the cabinet to the left", "push the microwave towards the box"])
def test_furniture_goes_nowhere(sentence):
    with pytest.raises(UsageError, match="stands fast"):
        read(sentence)
