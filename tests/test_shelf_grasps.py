"""Properties of the grasp grid and of G_qual (OMAR §IV-C)."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.robots.registry import load_spec
from armwright.shelf import grasp_quality as quality
from armwright.shelf.grasps import GRID_M, approaches, face_grid, sample_grasps, tilted, turned_about
from shelf_targets import bottle, box, can

HAND = load_spec("ur5e").gripper


def draw(solid, **options):
    return sample_grasps(solid, HAND, rng=np.random.default_rng(0), **options)


def test_six_approaches_each_meet_their_own_face():
    low, high = np.array([-0.03, -0.05, 0.0]), np.array([0.03, 0.05, 0.16])
    assert len(np.unique(approaches(), axis=0)) == 6
    for direction in approaches():
        grid = face_grid(low, high, direction)
        axis = int(np.abs(direction).argmax())
        assert set(grid[:, axis]) == {low[axis] if direction[axis] > 0 else high[axis]}
        assert ((grid >= low) & (grid <= high)).all()
        for other in {0, 1, 2} - {axis}:
            lines = np.unique(np.round(grid[:, other], 9))
            assert len(lines) == 1 or np.diff(lines).max() <= GRID_M + 1e-9
            assert lines.mean() == pytest.approx((low[other] + high[other]) / 2)


def test_turns_and_tilts_are_frames_that_keep_what_they_turn_about():
    for direction in approaches():
        frames = turned_about(direction, 8)
        assert np.abs(frames.transpose(0, 2, 1) @ frames - np.eye(3)).max() < 1e-12
        assert np.linalg.det(frames) == pytest.approx(np.ones(8))
        assert np.abs(frames[:, :, 2] - direction).max() < 1e-12
        over = tilted(frames, 0.4)
        assert np.abs(over[:, :, 1] - frames[:, :, 1]).max() < 1e-12
        assert np.einsum("ni,i->n", over[:, :, 2], direction) == pytest.approx(np.full(8, np.cos(0.4)))


def test_factors_lie_in_the_unit_interval_and_fall_with_what_is_worse():
    rows = {
        "alignment": quality.alignment(np.linspace(1, -1, 50)),
        "aperture": quality.aperture(np.linspace(0.001, 0.12, 50), 0.085),
        "vertical": quality.vertical_preference(np.linspace(-1, 1, 50)),
        "balance": quality.balance(np.linspace(0, 0.3, 50)),
        "across": quality.centring(np.column_stack([np.linspace(0, 2, 50), np.zeros(50)]), np.ones(50)),
        "along": quality.centring(np.column_stack([np.zeros(50), np.linspace(0, 2, 50)]), np.ones(50)),
        "cover": quality.centring(np.zeros((50, 2)), np.linspace(1, 0, 50)),
    }
    for name, values in rows.items():
        assert ((values >= 0) & (values <= 1)).all(), name
        assert values[0] == pytest.approx(1.0), name
        assert (np.diff(values) <= 1e-12).all(), name
    assert quality.alignment(1 / np.sqrt(1 + quality.FRICTION**2)) == pytest.approx(0.0)
    assert quality.aperture(0.085, 0.085) == 0.0
    assert quality.grasp_quality(*np.ones((5, 3))) == pytest.approx(np.ones(3))


@pytest.mark.parametrize("solid", [box(), can(), bottle()])
def test_grasps_close_on_the_surface_and_are_best_first(solid):
    found = draw(solid)
    assert 100 < len(found.candidates) <= 240
    assert found.sampled == len(found.candidates) + sum(found.dropped.values())
    scores = found.quality()
    assert (np.diff(scores) <= 0).all()
    assert 0 < scores[-1] <= scores[0] <= 1
    for grasp in found.candidates[::7]:
        pads = grasp.pose_object_pads
        for side in (-1, 1):
            spot = pads.position_m + side * grasp.width_m / 2 * pads.rotation[:, 1]
            away = np.linalg.norm(solid.points_m - spot, axis=1)
            assert away.min() < 0.015
        assert grasp.width_m < grasp.opening_m <= HAND.opening_m[1]
        assert pads.rotation[2, 2] < 0.06


def test_a_box_is_closed_on_across_its_narrow_side_only():
    for grasp in draw(box(depth=0.05, width=0.12)).candidates:
        assert abs(grasp.pose_object_pads.rotation[0, 1]) > 0.99


def test_a_block_wider_than_the_hand_says_so():
    found = draw(box(depth=0.1, width=0.1, height=0.1))
    assert found.candidates == ()
    assert found.dropped["too_wide"] > 100


def test_the_table_keeps_level_hands_up():
    flat = box(depth=0.06, width=0.07, height=0.04)
    on_table, held_up = draw(flat), draw(flat, table=False)
    assert on_table.dropped["table"] > 0
    assert "table" not in held_up.dropped
    level = [g.pose_object_pads.rotation[2, 2] > -0.2 for g in on_table.candidates]
    assert not any(level)


def test_the_same_seed_gives_the_same_grasps():
    first, again = draw(can(), most=50), draw(can(), most=50)
    assert [g.quality for g in first.candidates] == [g.quality for g in again.candidates]
