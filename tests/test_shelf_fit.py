"""Candidates and scores: what fits where, SF, P_sem within 10 cm, S(g, p)."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.shelf.candidates import CLEARANCE_M, HEADROOM_M, sample_candidates
from armwright.shelf.fit import (
    MATCH_M,
    attribute_fits,
    candidate_fits,
    named_place,
    order_candidates,
    pair_score,
    semantic_fit,
    semantic_scores,
)
from armwright.shelf.graph import build_graph
from armwright.shelf.metrics import iou
from armwright.shelf.neighbours import boards, corners, nearest
from armwright.shelf.reasoner import Proposal, rank_weights
from armwright.shelf.records import Box, Shelf
from armwright.shelf.scenes import scene
from shelf_scenes import SHELF, SIZE, thing, wanted


def _fits(objects, target, box, orientation="upright"):
    low, high = corners([box])
    board = boards(SHELF, low, high)
    return attribute_fits(SHELF, objects, target.nature, low, high, board, [orientation])[0]


def _at(x, y, board=0):
    return thing("p", x, y, board=board).box


def test_rank_weights_fall_by_e_and_sum_to_one():
    weights = rank_weights()
    assert sum(weights) == pytest.approx(1)
    assert np.allclose(np.divide(weights[:-1], weights[1:]), np.e)


def test_candidates_are_free_and_tell_what_ruled_out_the_others():
    one = scene("multi-row", 4)
    boxes = [o.box for o in one.objects]
    places = sample_candidates(one.shelf, boxes, one.target_record())
    assert len(places) > 0
    chosen = [places.box(k) for k in range(0, len(places), 7)]
    assert iou(chosen, boxes).max() == 0
    for box, board in zip(chosen, places.board[::7], strict=True):
        assert box.low_m[0] >= -1e-9
        assert box.high_m[0] <= one.shelf.depth_m + 1e-9
        assert box.size_m[2] + HEADROOM_M <= one.shelf.clearance_m(board) + 1e-9
    assert places.rejected["occupied"] > 0
    tall = sample_candidates(SHELF, [], wanted(size=(0.1, 0.1, 0.4), packaging="bottle"))
    assert len(tall) == 0
    assert tall.rejected["too_tall"] > 0
    wide = sample_candidates(SHELF, [], wanted(size=(0.4, 0.1, 0.1), packaging="bottle"))
    assert wide.rejected["too_large"] == 2


def test_a_full_shelf_has_no_candidate():
    full = [Box((0.15, 0.0, 0.12), (0.3, 0.9, 0.2)), Box((0.15, 0.0, 0.44), (0.3, 0.9, 0.2))]
    places = sample_candidates(SHELF, full, wanted(packaging="can"))
    assert len(places) == 0
    assert places.rejected["occupied"] > 0


@pytest.mark.parametrize("packaging", ["can", "bottle", "tube"])
def test_what_rolls_is_never_laid(packaging):
    assert set(sample_candidates(SHELF, [], wanted(packaging=packaging)).orientation) == {"upright"}
    assert set(sample_candidates(SHELF, [], wanted(packaging="box")).orientation) == {"upright", "lying"}


def test_semantic_fit_is_the_mean_over_the_nearest_on_each_side():
    objects = [
        thing("left", 0.05, 0.1, packaging="can"),
        thing("right", 0.05, -0.1, edible=False, content="bleach"),
        thing("farther", 0.05, -0.3, packaging="tube", edible=False),
        thing("behind", 0.2, 0.0, packaging="tube", orientation="lying"),
        thing("below", 0.05, 0.0, board=1, packaging="tube", edible=False),
    ]
    c, p, e, o = _fits(objects, wanted(), _at(0.05, 0.0))
    assert (p, e, o) == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert 2 / 3 <= c < 0.95
    assert _fits(objects, wanted(), _at(0.05, 0.0), "lying")[3] == pytest.approx(1 / 3)
    fits = np.array([[1.0, 0.0, 1.0, 0.0]])
    assert semantic_fit(fits)[0] == pytest.approx(0.5)
    assert semantic_fit(fits, {"content": 3, "packaging": 1, "edible": 0, "orientation": 0})[0] == pytest.approx(0.75)


def test_without_a_neighbour_nothing_fits():
    assert not _fits([thing("a", 0.05, 0.0, board=1)], wanted(), _at(0.05, 0.0)).any()
    assert not _fits([], wanted(), _at(0.05, 0.0)).any()


def test_wrong_weights_are_refused():
    for weights in ({"content": 1.0}, {"content": -1, "packaging": 1, "edible": 1, "orientation": 1}):
        with pytest.raises(UsageError, match="weights"):
            semantic_fit(np.zeros((1, 4)), weights)


def test_nearest_agrees_with_a_search_by_hand():
    rng = np.random.default_rng(3)
    center = np.column_stack([rng.uniform(0, 0.3, 30), rng.uniform(-0.4, 0.4, 30), np.full(30, 0.1)])
    low, high = center - 0.02, center + 0.02
    index, gaps = nearest(low, high, np.zeros(30, np.intp))
    for i in range(30):
        for column, (axis, sign) in enumerate([(1, 1), (1, -1), (0, -1), (0, 1)]):
            ahead = {
                j: sign * (center[j, axis] - center[i, axis])
                for j in range(30)
                if j != i and abs(center[j, 1 - axis] - center[i, 1 - axis]) < 0.04
            }
            ahead = {j: max(d - 0.04, 0) + 1e-3 * d for j, d in ahead.items() if d > 0}
            expected = min(ahead, key=ahead.get) if ahead else -1
            assert index[i, column] == expected
            assert np.isfinite(gaps[i, column]) == (expected >= 0)


def _proposal(rank, anchor, side, orientation=None):
    return Proposal(rank, anchor, side, orientation, rank_weights()[rank - 1], "")


def test_p_sem_is_that_of_the_best_proposal_matched_within_10_cm():
    objects = [thing("a", 0.05, 0.2), thing("b", 0.05, -0.3)]
    places = sample_candidates(SHELF, [o.box for o in objects], wanted(packaging="can"))
    center = (places.low_m + places.high_m) / 2
    score, away = semantic_scores([_proposal(1, "a", "right"), _proposal(2, "b", "left")], SHELF, objects, places)
    first, second = rank_weights()[:2]
    named = np.array(named_place(objects[0].box, "right", SIZE).center_m)
    assert named[1] == pytest.approx(0.2 - 0.06 - CLEARANCE_M)
    far = np.linalg.norm((center - named)[:, :2], axis=1)
    right_side = (places.board == 0) & (center[:, 1] < 0.2)
    assert np.array_equal(score == first, right_side & (far <= MATCH_M))
    assert np.allclose(away[score == first], far[score == first])
    assert set(np.unique(score)) == {0.0, first, second}
    assert not score[places.board == 1].any()


def test_a_proposal_may_name_an_orientation_or_a_board():
    objects = [thing("a", 0.05, 0.2)]
    places = sample_candidates(SHELF, [o.box for o in objects], wanted())
    score, _ = semantic_scores([_proposal(1, "a", "right", "lying")], SHELF, objects, places)
    assert {places.orientation[k] for k in np.flatnonzero(score)} == {"lying"}
    score, _ = semantic_scores([_proposal(1, "board_1", "on_board")], SHELF, objects, places)
    assert np.array_equal(score > 0, places.board == 1)


def test_order_is_by_p_sem_then_fit_then_distance():
    score = np.array([0.2, 0.6, 0.6, 0.6, 0.0])
    fit = np.array([1.0, 0.5, 0.7, 0.7, 1.0])
    away = np.array([0.0, 0.0, 0.05, 0.02, 0.0])
    assert order_candidates(score, fit, away).tolist() == [3, 2, 1, 0]
    assert len(order_candidates(np.zeros(2), np.ones(2), np.ones(2))) == 0


def test_pair_score_is_a_product_and_zero_if_infeasible():
    assert pair_score(0.8, 0.5, True) == pytest.approx(0.4)
    assert pair_score(0.8, 0.5, False) == 0


def test_fits_of_candidates_are_those_of_their_boxes():
    one = scene("multi-row", 5)
    graph = build_graph(one.shelf, one.records())
    places = sample_candidates(one.shelf, [o.box for o in one.objects], one.target_record(), step_m=0.05)
    fits = candidate_fits(graph, one.target_record(), places)
    assert fits.shape == (len(places), 4)
    assert fits.min() >= 0
    assert fits.max() <= 1


def test_an_absent_headroom_is_no_candidate():
    low = Shelf(0.9, 0.3, (0.02,), 0.02 + SIZE[2] + HEADROOM_M - 0.001)
    assert len(sample_candidates(low, [], wanted(packaging="can"))) == 0
