"""Metrics by hand: matching one to one, labels, boxes, spurious, success, paired tests."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.shelf.metrics import compare, iou, score_mapping, score_placement
from armwright.shelf.records import Box
from shelf_scenes import thing


def _moved(one, dy, **nature):
    x, y, z = one.box.center_m
    changed = dataclasses.replace(one.nature, **nature) if nature else one.nature
    return dataclasses.replace(one, box=Box((x, y + dy, z), one.box.size_m), nature=changed)


def test_iou_of_known_boxes():
    a = Box((0, 0, 0), (1, 1, 1))
    assert iou([a], [Box((0.5, 0, 0), (1, 1, 1)), a, Box((2, 0, 0), (1, 1, 1))])[0] == pytest.approx([1 / 3, 1, 0])


def test_a_perfect_map_scores_one():
    truth = [thing("tomato soup", 0.05, 0.2), thing("shampoo", 0.05, 0.0)]
    score = score_mapping(truth, truth)
    assert (score.f1_label, score.box_iou, score.instances, score.spurious) == (1, 1, 1, 0)


def test_errors_count_once_each():
    truth = [thing("tomato soup", 0.05, 0.3), thing("shampoo", 0.05, 0.1), thing("olive oil", 0.05, -0.2)]
    mapped = [
        _moved(truth[0], 0.0),
        _moved(truth[0], 0.03),
        _moved(truth[1], 0.03, label="baking powder"),
    ]
    score = score_mapping(truth, mapped)
    assert score.spurious == 1
    assert score.instances == pytest.approx(2 / 3)
    assert score.f1_label == pytest.approx(2 * 1 / 6)
    assert score.box_iou == pytest.approx((1 + 1 / 3) / 3)


def test_labels_need_to_be_alike():
    truth = [thing("olive oil", 0.05, 0.3)]
    assert score_mapping(truth, [_moved(truth[0], 0, label="olive oil bottle")]).f1_label == 1
    assert score_mapping(truth, [_moved(truth[0], 0, label="laundry powder")]).f1_label == 0
    assert score_mapping(truth, [_moved(truth[0], 0, label=None)]).f1_label == 0


def test_nothing_mapped_or_nothing_there():
    truth = [thing("a", 0.05, 0.3)]
    assert score_mapping(truth, []).instances == 0
    assert score_mapping([], truth).spurious == 1
    assert score_mapping([], []).f1_label == 1


def test_success_needs_all_components_and_six_centimetres():
    good = score_placement((0, 0, 0), (0, 0.059, 0), executed=True, moved_m=[0.019])
    assert good.success
    assert good.upright
    assert good.neighbours_still
    assert not score_placement((0, 0, 0), (0, 0.061, 0), executed=True).success
    assert not score_placement((0, 0, 0), (0, 0, 0), executed=False).success
    tipped = score_placement((0, 0, 0), (0, 0, 0), executed=True, placed_up=(1, 0, 0), moved_m=[0.0, 0.02])
    assert not tipped.upright
    assert not tipped.neighbours_still


def test_paired_comparison():
    rng = np.random.default_rng(0)
    a = rng.uniform(size=40)
    better = compare(a + 0.1 + 0.01 * rng.normal(size=40), a)
    assert better.p < 1e-4
    assert better.mean_a - better.mean_b == pytest.approx(0.1, abs=0.01)
    same = compare(a, a)
    assert same.p == 1
    assert compare(a, rng.permutation(a)).p > 0.01
    with pytest.raises(UsageError, match="as many"):
        compare(a, a[:3])
