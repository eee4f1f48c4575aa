"""Masks: what they show in the world, also where they bleed over an edge or hold holes."""

import numpy as np
import pytest

from armwright.core.camera import RgbdFrame
from armwright.core.errors import ArmwrightError
from armwright.perception.masks import patch
from perception_scenes import Thing, looking, render

BOX = Thing((0.0, 0.0, 0.1), (0.03, 0.04, 0.1))
WALL = Thing((0.4, 0.0, 0.0), (0.01, 1.0, 1.0))
CAMERA = looking((-0.6, 0.0, 0.25), (0, 0, 0.1))


def test_points_lie_on_the_thing_and_the_box_around_it():
    frame, owner = render([BOX, WALL], CAMERA)
    seen = patch(frame, owner == 0)
    assert np.abs(seen.points_m[:, 1]).max() < 0.041 and len(seen.points_m) <= 4000
    assert np.abs(seen.box_m[:, 1] - (-0.04, 0.04)).max() < 0.003
    assert seen.box_m[0, 0] == pytest.approx(-0.03, abs=0.003)
    assert seen.extent_m[2] == pytest.approx(0.2, abs=0.01)


def test_a_mask_that_bleeds_keeps_to_the_thing():
    frame, owner = render([BOX, WALL], CAMERA)
    grown = owner == 0
    for _ in range(6):
        grown |= np.roll(grown, 1, 0) | np.roll(grown, -1, 0) | np.roll(grown, 1, 1) | np.roll(grown, -1, 1)
    seen = patch(frame, grown)
    assert seen.points_m[:, 0].max() < 0.05
    assert not (seen.kept & (owner[seen.rows, seen.columns] != 0)).any()


def test_nothing_to_see():
    frame, owner = render([BOX, WALL], CAMERA)
    assert patch(frame, owner == 9) is None
    few = np.zeros_like(owner, bool)
    few[120, 150:160] = True
    assert patch(frame, few) is None
    holes = RgbdFrame(frame.rgb, np.zeros_like(frame.depth_m), CAMERA, 0.0)
    assert patch(holes, owner == 0) is None
    lost = RgbdFrame(frame.rgb, np.full_like(frame.depth_m, np.nan), CAMERA, 0.0)
    assert patch(lost, owner == 0) is None
    with pytest.raises(ArmwrightError, match="mask"):
        patch(frame, np.ones((4, 4), bool))
