"""Affordance models by name."""

import pytest

from armwright.affordance import registry
from armwright.affordance.oracle import OracleAffordance
from armwright.affordance.protocol import AffordanceModel
from armwright.core.errors import UnknownNameError, UsageError


class Point:
    value = "package:thing"
    name = "mine"

    def __init__(self, thing):
        self.thing = thing

    def load(self):
        return self.thing


class Mine(OracleAffordance):
    name = "mine"


def offer(monkeypatch, thing):
    monkeypatch.setattr(
        registry, "entry_points", lambda *, group, name="mine": [Point(thing)] if name == "mine" else []
    )


def test_oracle_is_built_in():
    assert isinstance(registry.affordance_model("oracle"), AffordanceModel)
    assert "oracle" in registry.affordance_names()


def test_unknown_name_lists_the_nearest():
    with pytest.raises(UnknownNameError, match="oracle") as error:
        registry.affordance_model("orakle")
    assert error.value.nearest == ("oracle",)


def test_entry_points_are_found_and_checked(monkeypatch):
    offer(monkeypatch, Mine)
    assert registry.affordance_model("mine").name == "mine"
    assert registry.affordance_names() == ("learned", "mine", "openad-style", "oracle")
    offer(monkeypatch, list)
    with pytest.raises(UsageError, match="predict"):
        registry.affordance_model("mine")
