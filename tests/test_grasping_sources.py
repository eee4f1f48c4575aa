"""Grasp sources by name, and what each looks at."""

import numpy as np
import pytest

from armwright.core.errors import MissingDependencyError, UnknownNameError, UsageError
from armwright.grasping import sources
from armwright.grasping.request import GraspRequest, SourceNeeds
from armwright.grasping.types import GraspSet


class Mine:
    name = "mine"
    needs = SourceNeeds()

    def sample(self, request):
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
    nothing = GraspRequest(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros(4, bool), None)
    assert source.sample(nothing).candidates == ()


@pytest.mark.parametrize("name", ["affordance", "oracle", "manual", "generic", "generic-filtered"])
def test_built_in_sources_are_what_they_are_called(name):
    source = sources.grasp_source(name)
    assert isinstance(source, sources.GraspSource) and source.name == name
    assert (source.needs.affordance == "oracle") == (name == "oracle")
    # Only what predicts nothing goes on without a region.
    assert source.needs.region == (name not in {"manual", "generic"})


def test_number_of_candidates_is_part_of_the_name():
    assert sources.grasp_source("generic:50").top == 50
    assert sources.grasp_source("generic-filtered:1000").generic.top == 1000
    assert sources.grasp_source("generic").top == sources.TOP


@pytest.mark.parametrize("name", ["generic:", "generic:0", "generic:-3", "generic:1e3", "generic:many", "generic:²"])
def test_numbers_that_are_none_are_refused(name):
    with pytest.raises(UsageError, match="is no number of candidates from 1 to"):
        sources.grasp_source(name)


def test_sources_that_do_not_rank_take_no_number():
    with pytest.raises(UsageError, match="affordance takes no number"):
        sources.grasp_source("affordance:50")


def test_unknown_name_lists_the_nearest():
    with pytest.raises(UnknownNameError, match="affordance"):
        sources.grasp_source("afordance")


def test_anygrasp_says_what_to_install():
    with pytest.raises(MissingDependencyError, match="anygrasp_sdk"):
        sources.grasp_source("anygrasp")


def test_entry_points_are_found_and_checked(monkeypatch):
    offer(monkeypatch, Mine)
    assert sources.grasp_source("mine").name == "mine"
    assert "mine" in sources.grasp_source_names() and "affordance" in sources.grasp_source_names()
    offer(monkeypatch, dict)
    with pytest.raises(UsageError, match="sample"):
        sources.grasp_source("mine")


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match="mask"):
        GraspRequest(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros(3, bool), None)
