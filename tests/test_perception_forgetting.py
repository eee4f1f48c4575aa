"""Instances that views look at and do not find again are dropped; what is hidden is not held against them."""

import pytest

from armwright.core.errors import ArmwrightError
from armwright.perception.descriptions import Description
from armwright.perception.forgetting import forget, recall
from armwright.perception.instances import Detection, InstanceMap, observe
from perception_scenes import Thing, looking, render

FRONT = Thing((0.0, 0.0, 0.08), (0.03, 0.05, 0.08), (200, 60, 60))
BEHIND = Thing((0.14, 0.0, 0.07), (0.03, 0.04, 0.07), (60, 60, 200))
BESIDE = Thing((0.0, 0.25, 0.06), (0.03, 0.04, 0.06), (60, 200, 60))
CAMERAS = [looking((-0.55, y, 0.12), (0.0, 0.05, 0.07)) for y in (-0.5, -0.1, 0.0, 0.1, 0.5)]


def seen(found):
    """Map the three; ``found[k]`` are the views in which thing k is detected."""
    scene, frames = InstanceMap(), []
    for number, camera in enumerate(CAMERAS):
        frame, owner = render([FRONT, BEHIND, BESIDE], camera)
        masks = [(k, owner == k) for k, views in enumerate(found) if number in views]
        observe(scene, frame, [Detection(m, Description(f"thing {k}")) for k, m in masks if m.sum() > 60])
        frames.append(frame)
    return scene, frames


def test_what_most_views_find_stays():
    scene, frames = seen([range(5), range(5), range(5)])
    assert len(scene.instances) == 3 and forget(scene, frames) == [] and len(scene.instances) == 3


def test_a_mistake_of_one_view_is_dropped():
    scene, frames = seen([range(5), (), (2,)])
    gone = forget(scene, frames)
    assert [(g.shown, g.found) for g in gone] == [(5, 1)]
    assert len(scene.instances) == 1


def test_what_others_hide_is_not_held_against_it():
    scene, frames = seen([range(5), (0, 4), range(5)])
    behind = next(i for i in scene.instances.values() if i.box_m.mean(0)[0] > 0.08)
    assert recall(behind, frames).shown < 5
    assert forget(scene, frames) == []


def test_all_frames_are_needed():
    scene, frames = seen([range(5), (), ()])
    with pytest.raises(ArmwrightError, match="has seen 5 frames"):
        forget(scene, frames[:2])
