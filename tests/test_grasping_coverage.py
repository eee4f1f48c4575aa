"""Where the pads touch: held at their edge, a thing slides out."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.pose import Pose
from armwright.grasping.coverage import touch_of
from armwright.grasping.types import GraspCandidate
from armwright.skills.rank import looseness

PAD_M = (0.010, 0.030)
UPRIGHT = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]).T


def tube(radius_m: float = 0.03, height_m: float = 0.10, taper: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    turn, z = np.meshgrid(np.linspace(0, 2 * np.pi, 240), np.linspace(0, height_m, 200))
    wide = radius_m + taper * z
    points = np.stack([wide * np.cos(turn), wide * np.sin(turn), z], axis=-1).reshape(-1, 3)
    normals = np.stack([np.cos(turn), np.sin(turn), np.full_like(z, -taper)], axis=-1).reshape(-1, 3)
    return points, normals / np.hypot(1.0, taper)


@pytest.mark.parametrize(("height_m", "off_m"), [(0.05, 0.0), (0.095, 0.0), (0.098, 0.0015), (0.10, 0.0025)])
def test_a_pad_across_an_edge_touches_with_one_side(height_m, off_m):
    middle = np.array([[0.0, 0.0, height_m]])
    found, _ = touch_of(*tube(), middle, UPRIGHT[None], np.array([0.06]), PAD_M)
    assert found[0] == pytest.approx(off_m, abs=4e-4)


def test_a_pad_that_touches_nothing_is_all_beside():
    found, _ = touch_of(*tube(), np.array([[0.0, 0.0, 0.2]]), UPRIGHT[None], np.array([0.06]), PAD_M)
    assert found[0] == pytest.approx(0.005)


@pytest.mark.parametrize("short_m", [0.0, 0.005, 0.009, -0.009])
def test_fingers_that_end_before_the_middle_of_a_tube_squeeze_it_out(short_m):
    """Both sides push it the same way: twice the slope of the wall where the tips meet it."""
    middle = np.array([[-short_m - np.sign(short_m) * 0.015, 0.0, 0.05]])
    slope = np.tan(np.arcsin(abs(short_m) / 0.03))
    width = 2 * np.sqrt(0.03**2 - short_m**2)
    _, found = touch_of(*tube(), middle, UPRIGHT[None], np.array([width]), PAD_M)
    assert found[0] == pytest.approx(2 * slope, abs=0.2)


def test_a_cone_is_squeezed_out_by_its_taper():
    _, found = touch_of(*tube(taper=0.1), np.array([[0.0, 0.0, 0.05]]), UPRIGHT[None], np.array([0.07]), PAD_M)
    assert found[0] == pytest.approx(0.2, abs=0.02)


def test_what_is_less_firm_is_looser():
    def grasp(aside, wedge):
        return GraspCandidate(Pose(), 0.05, 0.06, np.zeros(3), np.array([0.0, 1.0, 0.0]), aside=aside, wedge=wedge)

    loose = [looseness(grasp(*touch)) for touch in ((0.1, 0.2), (0.23, 0.29), (0.16, 0.40), (0.38, 0.75))]
    assert loose[0] == 0 and loose == sorted(set(loose)), "the last lost a paper cup that the second kept"
