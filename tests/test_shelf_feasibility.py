"""Which grasps and places go together, and what ruled out how many."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.pose import Pose
from armwright.planning.planner import Planner
from armwright.planning.types import Obstacle, WorldSpec
from armwright.robots.bake import baked_robot
from armwright.shelf import _hand_kernels as kernel
from armwright.shelf.candidates import sample_candidates
from armwright.shelf.feasibility import choose_places, feasible_pairs, ways_in
from armwright.shelf.grasps import sample_grasps
from armwright.shelf.obstacles import MapObstacles, map_leftovers
from armwright.shelf.placings import ROUND_TURNS_RAD, placings
from armwright.shelf.records import Box, Shelf
from armwright.shelf.worlds import corners_of, panels_of
from shelf_scenes import thing, wanted
from shelf_targets import box, can

SHELF = Shelf(width_m=0.9, depth_m=0.3, boards_m=(-0.1, 0.22), top_m=0.54)
AT_SHELF = Pose(np.array([0.62, 0.0, 0.0]))
AT_TARGET = Pose.from_yaw((0.05, 0.5, 0.0), 1.4)


def obstacles(*things, solid=None) -> MapObstacles:
    table = Box.between((-0.4, 0.1, -0.04), (0.4, 0.9, 0.0))
    panels = [Obstacle(p.name, AT_SHELF, (corners_of(p.box),)) for p in panels_of(SHELF)]
    fixtures = WorldSpec((Obstacle("table", Pose(), (corners_of(table),)), *panels))
    own = None if solid is None else Obstacle("target", AT_TARGET, solid.hulls)
    return MapObstacles(fixtures, AT_SHELF, things, target=own)


def stood(name, x, y, board, size):
    return thing(name, x, y, board=board, size=size, shelf=SHELF)


@pytest.fixture(scope="module")
def robot():
    return baked_robot("ur5e")


def judged(robot, things, solid, *, size, most=40):
    free = sample_candidates(SHELF, [t.box for t in things], wanted(size=size))
    score = np.full(len(free), 0.5)
    places = list(range(0, len(free), max(1, len(free) // most)))[:most]
    hand = robot.spec.gripper
    grasps = sample_grasps(solid, hand, rng=np.random.default_rng(0), most=80).candidates
    planner = Planner(robot.kinematics, opening_m=hand.opening_m[1])
    found = feasible_pairs(
        planner,
        hand,
        solid,
        grasps,
        free,
        places,
        score,
        pose_base_target=AT_TARGET,
        pose_base_shelf=AT_SHELF,
        start_rad=robot.kinematics.home_rad,
        obstacles=obstacles(*things, solid=solid),
    )
    return found, free, places, grasps


def test_an_empty_shelf_has_room_and_every_pair_is_accounted_for(robot):
    found, free, places, grasps = judged(robot, (), can(), size=(0.066, 0.066, 0.11))
    assert len(found.pairs) > 50
    assert found.table.shape == (len(grasps), len(places))
    assert len(found.pairs) + sum(found.ruled_out.values()) == found.table.size
    scores = [pair.score for pair in found.pairs]
    assert scores == sorted(scores, reverse=True)
    for pair in found.pairs[::20]:
        assert found.table[pair.grasp, places.index(pair.place)] == pytest.approx(0.5 * grasps[pair.grasp].quality)
        tool = (pair.pose_base_placed @ pair.pose_target_tool).matrix()
        planner = Planner(robot.kinematics, opening_m=0.085)
        assert np.abs(planner.fk(pair.place_rad)[0] - tool).max() < 0.003
        placed = pair.pose_base_placed.transform(can().vertices_m)
        inside = AT_SHELF.inverse().transform(placed)
        assert inside.min(0) == pytest.approx(free.low_m[pair.place], abs=1e-6)
        assert tool[0, 2] > 0.3  # the hand comes from the front


def test_no_room_for_fingers_is_told_from_no_room(robot):
    """Columns of tall boxes with gaps in which the target fits, but no finger beside it."""
    things = [stood(f"t{b}{k}", 0.15, 0.39 - 0.145 * k, b, (0.28, 0.045, 0.26)) for b in (0, 1) for k in range(6)]
    found, *_ = judged(robot, things, can(), size=(0.066, 0.066, 0.11))
    assert found.pairs == ()
    assert found.ruled_out["hand_meets_a_neighbour"] > 0
    assert "0 pairs are feasible" in found.summary()
    assert "hand meets a neighbour" in found.summary()


def test_a_full_shelf_leaves_nothing_to_choose_from(robot):
    things = [stood(f"t{b}", 0.15, 0.0, b, (0.29, 0.89, 0.26)) for b in (0, 1)]
    found, free, *_ = judged(robot, things, can(), size=(0.066, 0.066, 0.11))
    assert len(free) == 0
    assert found.summary().endswith("there is nothing to choose from")


def test_a_target_out_of_reach_is_said_to_be(robot):
    solid = can()
    free = sample_candidates(SHELF, [], wanted(size=(0.066, 0.066, 0.11)))
    hand = robot.spec.gripper
    grasps = sample_grasps(solid, hand, rng=np.random.default_rng(0), most=20).candidates
    found = feasible_pairs(
        Planner(robot.kinematics, opening_m=0.085),
        hand,
        solid,
        grasps,
        free,
        [0, 1],
        np.ones(len(free)),
        pose_base_target=Pose(np.array([-1.5, 0.0, 0.0])),
        pose_base_shelf=AT_SHELF,
        start_rad=robot.kinematics.home_rad,
        obstacles=obstacles(),
    )
    assert found.ruled_out["grasp_unreachable"] == 2 * len(grasps)


def test_ways_in_pass_over_what_is_low_and_not_through_what_is_tall():
    size = (0.06, 0.06, 0.10)
    low = stood("low", 0.06, 0.2, 0, (0.08, 0.2, 0.06))
    tall = stood("tall", 0.06, -0.2, 0, (0.08, 0.2, 0.25))
    free = sample_candidates(SHELF, [low.box, tall.box], wanted(size=size))
    middle = (free.low_m + free.high_m) / 2
    first = free.board == 0

    def at(x, y):
        return int(np.flatnonzero(first)[np.hypot(middle[first, 0] - x, middle[first, 1] - y).argmin()])

    over = ways_in(free, [at(0.2, 0.2), at(0.2, -0.2), at(0.2, 0.0)], obstacles(low, tall))
    assert 0.06 < over[0] < 0.12
    assert np.isnan(over[1])
    assert over[2] == pytest.approx(0.01)


def test_places_are_taken_in_turn_from_every_proposal():
    score = np.array([0.6] * 50 + [0.2] * 5 + [0.1] * 50)
    chosen = choose_places(score, np.arange(105), most=30)
    levels = score[chosen]
    assert len(chosen) == 30
    assert (levels == 0.2).sum() == 5
    assert (levels == 0.1).sum() >= 10
    assert (np.diff(levels) <= 0).sum() >= 28


def test_placings_keep_the_outline_and_lay_on_the_back():
    solid = box(depth=0.05, width=0.08, height=0.14)
    upright = placings(solid, "upright", "upright")
    assert [p.turn_rad for p in upright] == pytest.approx([0.0, np.pi])
    assert len(placings(solid, "upright", "upright", front_known=True)) == 1
    (laid, _) = placings(solid, "upright", "lying")
    assert laid.rotation @ np.array([-1.0, 0.0, 0.0]) == pytest.approx([0.0, 0.0, 1.0])  # label up
    assert laid.rotation @ np.array([0.0, 0.0, 1.0]) == pytest.approx([1.0, 0.0, 0.0])  # top to the rear
    corners = solid.vertices_m @ laid.rotation.T + laid.offset_m
    assert np.ptp(corners, axis=0) == pytest.approx([0.14, 0.08, 0.05])
    assert corners[:, 2].min() == pytest.approx(0.0)
    again = placings(solid, "lying", "upright")[0]
    assert again.rotation @ laid.rotation == pytest.approx(np.eye(3))
    assert len(placings(can(), "upright", "upright", toward_rad=0.3)) == len(ROUND_TURNS_RAD)


def test_hands_meet_boxes_where_spheres_do():
    turn, offset = np.eye(3)[None], np.zeros((1, 3))
    ball, radius = np.array([[[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]]), np.array([[0.02, 0.01]])
    places = np.array([[0.0, 0.0, 0.0], [0.0, 0.049, 0.0], [-0.1, 0.0, 0.0], [0.0, 0.051, 0.0]])
    low, high = (
        np.array([[-0.01, -0.05, -0.01], [0.05, -0.05, -0.1]]),
        np.array([[0.01, -0.01, 0.01], [0.2, -0.04, 0.1]]),
    )
    low[1], high[1] = [-0.13, -0.01, -0.01], [-0.115, 0.01, 0.01]
    seen = kernel.meets(turn, offset, np.zeros(1, np.int64), ball, radius, places, low, high, np.array([False, True]))
    assert seen[0].tolist() == [kernel.OBJECT, kernel.CLEAR, kernel.STRUCTURE, kernel.CLEAR]


def test_what_the_map_does_not_explain_stays_an_obstacle():
    known = [Box((0.1, 0.0, 0.05), (0.06, 0.06, 0.1))]
    cells = np.array([[[0.09, -0.01, 0.02], [0.11, 0.01, 0.05]], [[0.2, 0.2, 0.0], [0.23, 0.23, 0.05]]])
    left = map_leftovers(cells, AT_SHELF, known, AT_SHELF)
    assert left.shape == (1, 2, 3)
    assert left[0, 0] == pytest.approx(AT_SHELF.transform([0.2, 0.2, 0.0]))
