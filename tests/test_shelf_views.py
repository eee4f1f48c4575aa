"""The greedy choice of viewpoints, without an arm: what cannot be held changes nothing about the others."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from armwright.core.camera import CameraModel
from armwright.core.pose import Pose
from armwright.shelf import views
from armwright.shelf.views import Samples

POSES = [Pose((float(k), 0.0, 0.0)) for k in range(4)]


@pytest.fixture
def stage(monkeypatch):
    """Return a world of four viewpoints, of which the k-th shows the points that row k marks."""
    shown = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]], float)
    held: list[int] = []

    def number(pose: Pose) -> int:
        return round(float(pose.position_m[0]))

    monkeypatch.setattr(views, "visibility", lambda camera, *_: shown[number(camera.pose_world_camera)])
    monkeypatch.setattr(views, "_holdable", lambda world, pose: np.zeros((int(number(pose) in held), 6)))
    model = CameraModel(640, 480, 600.0, 600.0, 320.0, 240.0, Pose())
    return SimpleNamespace(camera=SimpleNamespace(model=model)), held


@pytest.mark.parametrize(
    ("held", "chosen"), [((0, 1, 2, 3), [0, 3]), ((1, 2, 3), [1, 2, 3]), ((2, 3), [2, 3]), ((3,), [3]), ((), [])]
)
def test_the_best_that_can_be_held_is_taken_each_time(stage, held, chosen):
    world, may = stage
    may += held
    points = Samples(np.zeros((5, 3)), np.zeros((5, 3)), np.ones(5))
    found = views._choose(world, "shelf", POSES, points, 4)
    assert [round(float(view.pose_world_camera.position_m[0])) for view in found] == chosen
    assert all(len(view.joints_rad) for view in found)
    assert all(a.gain >= b.gain for a, b in pairwise(found))
