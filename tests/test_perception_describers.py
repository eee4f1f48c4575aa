"""Describers by name: the registry, the variant with labels only, and what is refused."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from armwright.core import plugins
from armwright.core.errors import UnknownNameError, UsageError
from armwright.perception.describers import LabelsOnly, checked_up, describer_names, make_describer
from armwright.perception.descriptions import Description
from label_scenes import frame_of, halves

FULL = Description("oat milk", "milk", "carton", True, "upright", (0.07, 0.07, 0.2), 0.8)


class Fixed:
    """Says the same of everything."""

    name = "fixed"
    note = "tried"

    def describe(self, frame, masks, *, up=(0, 0, 1)):
        return [FULL] * len(masks)


def _made(model):
    return Fixed()


def _wrong(model):
    return object()


def _offer(monkeypatch, value):
    points = [EntryPoint("mine", f"{__name__}:{value}", "armwright.describers")]
    monkeypatch.setattr(plugins, "entry_points", lambda group, name=None: points if name in (None, "mine") else [])


def test_labels_only_keeps_label_and_confidence():
    basic = LabelsOnly(Fixed())
    said = basic.describe(frame_of(np.zeros((200, 320, 3), np.uint8)), halves())
    assert said == [Description("oat milk", confidence=0.8)] * 2
    assert basic.note == "tried"


def test_other_packages_add_describers(monkeypatch):
    _offer(monkeypatch, "_made")
    assert "mine" in describer_names()
    assert make_describer("mine").name == "fixed"


def test_what_is_no_describer_is_refused(monkeypatch):
    _offer(monkeypatch, "_wrong")
    with pytest.raises(UsageError, match="no name, note and describe"):
        make_describer("mine")


def test_an_unknown_name_lists_the_near_ones():
    with pytest.raises(UnknownNameError, match="labels"):
        make_describer("label")


@pytest.mark.parametrize("up", [(0, 0), (0, 0, 0), (0, 0, float("nan")), (0, 0, 1, 0)])
def test_up_must_be_a_direction(up):
    with pytest.raises(UsageError, match="up must be"):
        checked_up(up)
    assert np.allclose(checked_up((0, 0, 5)), (0, 0, 1))
