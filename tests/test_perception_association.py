"""Association: which pairs are candidates, what a match costs, and who gets whom."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from armwright.perception.association import (
    association_cost,
    center_distance,
    geometric_candidates,
    greedy_assignment,
    semantic_veto,
)

costs = arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(0, 1), unique=True)


@settings(deadline=None)
@given(costs, st.randoms(), st.floats(0, 1))
def test_assignment_is_one_to_one_and_follows_any_renumbering(cost, random, bound):
    cost = np.where(cost > bound, np.inf, cost)
    pairs = greedy_assignment(cost)
    rows, columns = [d for d, _ in pairs], [i for _, i in pairs]
    assert len(set(rows)) == len(rows) and len(set(columns)) == len(columns)
    assert all(np.isfinite(cost[d, i]) for d, i in pairs)
    # Greedy: costs rise, and nothing that could still be matched is left.
    chosen = [cost[d, i] for d, i in pairs]
    assert chosen == sorted(chosen)
    left = np.delete(np.delete(cost, rows, 0), columns, 1)
    assert not np.isfinite(left).any()
    d_order, i_order = list(range(cost.shape[0])), list(range(cost.shape[1]))
    random.shuffle(d_order), random.shuffle(i_order)
    mixed = {(d_order[d], i_order[i]) for d, i in greedy_assignment(cost[np.ix_(d_order, i_order)])}
    assert mixed == set(pairs)


def test_the_cheapest_pair_goes_first_even_where_another_choice_is_cheaper_in_all():
    assert greedy_assignment(np.array([[1.0, 2.0], [1.5, 9.0]])) == [(0, 0), (1, 1)]
    assert greedy_assignment(np.full((2, 2), np.inf)) == []
    assert greedy_assignment(np.zeros((0, 3))) == [] and greedy_assignment(np.zeros((2, 0))) == []


def box(x, size=0.1):
    return np.array([[x, 0, 0], [x + size, size, size]])


def test_candidates_are_near_and_overlap():
    detections = np.stack([box(0.0), box(0.04, 0.01)])
    instances = np.stack([box(0.02), box(0.095), box(1.0), box(-0.4, 1.0)])
    assert np.array_equal(
        geometric_candidates(detections, instances), [[True, False, False, False], [True, False, False, False]]
    )
    assert center_distance(detections, instances)[0, 0] == pytest.approx(0.02)
    # A part inside the whole overlaps wholly, however small; only its centre can be too far.
    assert geometric_candidates(detections, instances, max_center_m=9)[1, 3]


def test_only_two_supported_sides_veto():
    conflicting = np.array([[True, False], [True, True]])
    assert np.array_equal(
        semantic_veto(conflicting, np.array([True, False]), np.array([True, True])), [[True, False], [False, False]]
    )
    assert not semantic_veto(conflicting, np.array([True, True]), np.array([False, False])).any()


def test_the_cost_is_distance_plus_extent_and_never_for_what_is_no_candidate():
    cost = association_cost(np.array([[0.1, 0.2]]), np.array([[0.05, 0.0]]), np.array([[True, False]]))
    assert cost[0, 0] == pytest.approx(0.15) and np.isinf(cost[0, 1])
