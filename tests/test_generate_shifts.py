"""Scenes with pushes: the hand can get behind the thing, and what it is pushed to stands in the way that is told."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.assets.footprint import Footprint
from armwright.assets.library import default_library
from armwright.core.pose import Pose
from armwright.generate.parsing import parse_sentence
from armwright.generate.shifts import COMING_IN_M, strokes
from armwright.generate.solve import Workspace, solve_scene
from armwright.tasks.evidence import TABLE, Evidence, ObjectEvidence
from armwright.tasks.predicates import beside

BOX = default_library().build("box", instance=0)


def ways(start: tuple[float, float], goal: tuple[float, float]):
    own = Footprint.from_model(BOX, Pose([*start, 0.0]))
    hand = np.array(
        [*(own.center_m - 0.05 * (np.array(goal) - start) / np.linalg.norm(np.subtract(goal, start))), 0.04]
    )
    return strokes(hand, np.array(goal), own), hand


def test_a_stroke_is_straight_to_the_goal_and_begins_along_the_fingers():
    found, hand = ways((0.5, -0.1), (0.5, 0.1))
    for before, start, end in found:
        assert np.linalg.det(start[:3, :3]) == pytest.approx(1.0)
        np.testing.assert_allclose(start[:3, 3], hand)
        np.testing.assert_allclose(end[:3, 3] - start[:3, 3], [0.0, 0.2, 0.0], atol=1e-6)
        np.testing.assert_allclose(start[:3, 3] - before[:3, 3], COMING_IN_M * start[:3, 2])


def test_where_a_hand_comes_but_cannot_push_nothing_is_to_be_pushed(session_of):
    """At the far edge an arm gets there with its fingers stretched out, and then not behind the thing sideways."""
    session = session_of("kinova")
    near, _ = ways((0.45, -0.1), (0.45, 0.0))
    far, hand = ways((0.78, -0.1), (0.78, 0.0))
    assert session.reach(hand[None]).all()
    assert session.follow(near, ()) and not session.follow(far, ())


def test_what_is_pushed_forward_to_something_stands_in_front_of_it(session_of):
    session, (parsed, _) = session_of("franka"), parse_sentence("push_coffeecan")
    solved = solve_scene(
        parsed, session.library, seed=21, reach=session.reach, workspace=Workspace.of(session.robot.spec)
    )
    seen = {
        node.id: ObjectEvidence(node.pose.to_pose(), 0, 0, frozenset({TABLE}), False, False, solved.objects[node.id])
        for node in solved.scene.objects
    }
    assert beside(Evidence(seen, Pose()), "can_1", "mug_1", "in_front_of").ok
