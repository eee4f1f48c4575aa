"""Grasp sources by name."""

import numpy as np
import pytest

from armwright.core.errors import UnknownNameError, UsageError
from armwright.grasping import sources
from armwright.grasping.types import GraspSet


class Mine:
    name = "mine"

    def sample(self, points_m, normals, mask, gripper, *, support_plane=None, obstacles=()):
        return GraspSet((), {}, "mine")


class Point:
    value = "package:thing"
    name = "mine"

    def __init__(self, thing):
        self.thing = thing

    def load(self):
        return self.thing


def offer(monkeypatch, thing):
    def entry_points(*, group, name="mine"):
        assert group == "armwright.grasps"
        return [Point(thing)] if name == "mine" else []

    monkeypatch.setattr(sources, "entry_points", entry_points)


def test_default_is_a_grasp_source_that_knows_no_empty_region():
    source = sources.grasp_source()
    assert isinstance(source, sources.GraspSource)
    assert source.name == "affordance"
    assert source.sample(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros(4, bool), None).candidates == ()


def test_unknown_name_lists_the_nearest():
    with pytest.raises(UnknownNameError, match="affordance"):
        sources.grasp_source("afordance")


def test_entry_points_are_found_and_checked(monkeypatch):
    offer(monkeypatch, Mine)
    assert sources.grasp_source("mine").name == "mine"
    assert sources.grasp_source_names() == ("affordance", "mine")
    offer(monkeypatch, dict)
    with pytest.raises(UsageError, match="sample"):
        sources.grasp_source("mine")
