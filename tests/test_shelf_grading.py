"""Grades of a placing: near misses, tipped targets, pushed neighbours."""

from __future__ import annotations

import numpy as np

from armwright.core.pose import Pose
from armwright.shelf.grading import Truth, grade
from armwright.shelf.records import Box

PLACE = Box((0.1, 0.2, 0.4), (0.06, 0.06, 0.12))
BEFORE = Truth({"target": Box((0.0, 0.0, 0.06), PLACE.size_m)}, {"target": Pose(), "neighbour": Pose()})


def graded(*, shift=(0.0, 0.0, 0.0), turn=(1.0, 0.0, 0.0, 0.0), pushed=0.0, executed=True, **orientations):
    box = Box(tuple(np.add(PLACE.center_m, shift)), PLACE.size_m)
    poses = {"target": Pose(np.zeros(3), np.array(turn)), "neighbour": Pose(np.array([pushed, 0.0, 0.0]))}
    return grade(BEFORE, Truth({"target": box}, poses), PLACE, executed=executed, **orientations)


def test_on_its_place_upright_and_alone():
    score = graded(shift=(0.02, 0.0, 0.0), turn=(0.8, 0.0, 0.0, 0.6))
    assert (score.success, score.upright, score.neighbours_still) == (True, True, True)


def test_a_near_miss_a_fall_and_a_push_are_told_apart():
    assert not graded(shift=(0.061, 0.0, 0.0)).success
    assert not graded(executed=False).success
    half = np.deg2rad(20) / 2
    assert not graded(turn=(np.cos(half), np.sin(half), 0.0, 0.0)).upright
    assert not graded(pushed=0.021).neighbours_still


def test_what_was_to_be_laid_down_must_lie_on_its_back():
    on_its_back = (np.cos(np.pi / 4), 0.0, np.sin(np.pi / 4), 0.0)
    assert graded(turn=on_its_back, as_found="upright", wanted="lying").upright
    assert not graded(as_found="upright", wanted="lying").upright
