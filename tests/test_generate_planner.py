"""Another planner by name: an episode asks it for nothing that the plug point does not promise."""

from importlib.metadata import EntryPoint

import pytest

from armwright.core.errors import UnknownNameError
from armwright.core.settings import get_settings
from armwright.generate.episode import EpisodeRequest, run_episode
from armwright.generate.session import Session
from armwright.planning import backend
from armwright.planning.planner import Planner

PROMISED = {name for name in dir(backend.PlanningBackend) if not name.startswith("_")} | {"seed"}


class Counting:
    """The built-in planner behind the plug point's names alone."""

    def __init__(self, kinematics, *, opening_m, seed=0):
        self.__dict__["inner"] = Planner(kinematics, opening_m=opening_m, seed=seed)
        self.__dict__["asked"] = set()

    def __getattr__(self, name):
        if name not in PROMISED:
            raise AttributeError(f"{name} is not part of the plug point")
        self.asked.add(name)
        return getattr(self.inner, name)

    def __setattr__(self, name, value):
        assert name == "seed", name
        self.inner.seed = value


@pytest.fixture
def settings(monkeypatch):
    get_settings.cache_clear()
    yield monkeypatch.setenv
    monkeypatch.undo()
    get_settings.cache_clear()


@pytest.fixture
def counting(settings, monkeypatch):
    point = EntryPoint("counting", f"{__name__}:Counting", backend.GROUP)
    monkeypatch.setattr(backend, "entry_points", lambda group: [point] if group == backend.GROUP else [])
    settings("ARMWRIGHT_PLANNER", "counting")


def test_an_episode_runs_on_a_planner_that_was_registered_by_name(counting, task):
    session = Session.open("franka")
    episode = run_episode(session, EpisodeRequest(task("pick up the can and put it in the basket"), 0))
    assert episode.ok, episode.graded
    assert {"set_world", "evaluate_grasps", "plan", "linear", "ik", "first_collision"} <= session.planner.asked


def test_a_planner_that_is_not_installed_is_named_with_those_that_are(settings):
    settings("ARMWRIGHT_PLANNER", "nunba")
    with pytest.raises(UnknownNameError, match=r"nunba.*numba"):
        Session.open("franka")
