import subprocess
import sys

import numpy as np
import pytest

from armwright.core.errors import UnknownNameError
from armwright.planning.backend import BUILT_IN, PlanningBackend, backend_names, make_planner
from armwright.planning.kernels_random import random_state, uniform
from planning_support import arm, planner


def test_the_built_in_backend_is_found_and_offers_everything():
    assert BUILT_IN in backend_names()
    made = make_planner(arm().kinematics, opening_m=0.04)
    assert isinstance(made, PlanningBackend)
    home = arm().kinematics.home_rad
    np.testing.assert_array_equal(made.fk(home[None]), planner().fk(home[None]))


def test_an_unknown_backend_lists_the_known():
    with pytest.raises(UnknownNameError, match="numba"):
        make_planner(arm().kinematics, opening_m=0.04, backend="nunba")


def test_an_installed_backend_is_loaded_by_its_entry_point(monkeypatch):
    from importlib.metadata import EntryPoint

    from armwright.planning import backend

    point = EntryPoint("mine", "armwright.planning.planner:Planner", backend.GROUP)
    monkeypatch.setattr(backend, "entry_points", lambda group: [point] if group == backend.GROUP else [])
    assert backend.backend_names() == ("mine", "numba")
    made = make_planner(arm().kinematics, opening_m=0.04, seed=3, backend="mine")
    assert made.seed == 3


def test_the_plug_point_imports_without_numba():
    code = "import sys, armwright.planning.backend, armwright.planning.types; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_kernel_random_numbers_are_even_and_repeat():
    state, again = random_state(7), random_state(7)
    draws = np.array([uniform(state) for _ in range(4000)])
    assert draws.min() >= 0 and draws.max() < 1
    assert abs(draws.mean() - 0.5) < 0.02 and abs(draws.var() - 1 / 12) < 0.01
    assert draws[:10].tolist() == [uniform(again) for _ in range(10)]
