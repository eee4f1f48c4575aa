"""Masks: what they show in the world, also where they bleed over an edge or hold holes."""

from dataclasses import replace

import numpy as np
import pytest

from armwright.core.camera import RgbdFrame
from armwright.core.errors import ArmwrightError
from armwright.core.pose import Pose
from armwright.perception.masks import covered, patch
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


# Seen from -x, +y is left.
ON_ITS_LEFT = Thing((-0.1, 0.05, 0.1), (0.02, 0.03, 0.2))
BEFORE_IT = Thing((-0.1, 0.0, 0.02), (0.02, 0.2, 0.04))


@pytest.mark.parametrize(
    ("things", "sides"),
    [([BOX, WALL], ""), ([BOX, ON_ITS_LEFT], "left"), ([BOX, BEFORE_IT], "lower"), ([BOX, WALL, BEFORE_IT], "lower")],
)
@pytest.mark.parametrize("turns", range(4))
def test_what_is_covered_by_something_nearer(things, sides, turns):
    camera = looking((-0.6, 0.0, 0.25), (0, 0, 0.1), width=240, height=240)
    frame, owner = render(things, camera)
    for _ in range(turns):
        x, y, z = camera.pose_world_camera.rotation.T
        camera = replace(
            camera,
            pose_world_camera=Pose.from_rotation(np.stack([y, -x, z], 1), camera.pose_world_camera.position_m),
        )
    turned = RgbdFrame(np.rot90(frame.rgb, turns), np.rot90(frame.depth_m, turns), camera, 0.0)
    said = covered(turned, np.rot90(owner == 0, turns), up=np.array([0.0, 0.0, 1.0]))
    for name, share in zip(("left", "right", "lower", "upper"), said, strict=True):
        assert share > 0.5 if name == sides else share < 0.25, (name, said)


def test_the_end_of_the_picture_covers():
    frame, owner = render([Thing((0.0, 0.0, 0.1), (0.03, 0.04, 0.5))], CAMERA)
    said = covered(frame, owner == 0, up=np.array([0.0, 0.0, 1.0]))
    assert said[2] > 0.7
    assert said[3] > 0.7
    assert covered(frame, np.zeros_like(owner, bool), up=np.array([0.0, 0.0, 1.0])).tolist() == [0.0] * 4
