"""Where the pads touch: held at their edge, a thing slides out."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.grasping.coverage import aside_m

PAD_M = (0.010, 0.030)
UPRIGHT = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]).T


def tube(radius_m: float = 0.03, height_m: float = 0.10) -> np.ndarray:
    turn, z = np.meshgrid(np.linspace(0, 2 * np.pi, 240), np.linspace(0, height_m, 200))
    return np.stack([radius_m * np.cos(turn), radius_m * np.sin(turn), z], axis=-1).reshape(-1, 3)


@pytest.mark.parametrize(("height_m", "off_m"), [(0.05, 0.0), (0.095, 0.0), (0.098, 0.0015), (0.10, 0.0025)])
def test_a_pad_across_an_edge_touches_with_one_side(height_m, off_m):
    middle = np.array([[0.0, 0.0, height_m]])
    found = aside_m(tube(), middle, UPRIGHT[None], np.array([0.06]), PAD_M)
    assert found[0] == pytest.approx(off_m, abs=4e-4)


def test_a_pad_that_touches_nothing_is_all_beside():
    found = aside_m(tube(), np.array([[0.0, 0.0, 0.2]]), UPRIGHT[None], np.array([0.06]), PAD_M)
    assert found[0] == pytest.approx(0.005)
