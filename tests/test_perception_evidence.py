"""Evidence: the Gaussian weight, sums that do not depend on the order, the canonical label."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.perception.descriptions import Description
from armwright.perception.evidence import (
    UNKNOWN_EXTENT_WEIGHT,
    canonical,
    extent_penalty_m,
    extent_weight,
    pooled,
    ranked,
    supported,
    with_evidence,
)

extents = st.tuples(*[st.floats(0.005, 0.5)] * 3)
observations = st.lists(
    st.tuples(st.sampled_from(["ketchup", "Ketchup", "mustard", "jam", ""]), st.floats(0.01, 1), st.floats(0.01, 1)),
    max_size=8,
)


def gathered(seen):
    hypotheses = {}
    for label, confidence, weight in seen:
        description = Description(label, extent_m=(0.1, confidence, 0.2))
        hypotheses = with_evidence(hypotheses, description, confidence=confidence, weight=weight)
    return hypotheses


@settings(deadline=None)
@given(extents, extents)
def test_the_weight_is_bounded_symmetric_and_ignores_the_order_of_sides(a, b):
    weight = extent_weight(a, b)
    assert 0 <= weight <= 1
    assert weight == pytest.approx(extent_weight(b, a))
    assert all(extent_weight(p, b) == weight for p in itertools.permutations(a))
    assert extent_weight(a, a) == 1
    assert extent_penalty_m(a, b) == pytest.approx(extent_penalty_m(b[::-1], a[::-1])) and extent_penalty_m(a, a) == 0


def test_the_weight_falls_by_sigma():
    typical = (0.10, 0.20, 0.30)
    off = [extent_weight((0.10, 0.20, 0.30 + d), typical) for d in (0, 0.02, 0.04, 0.08, 0.3)]
    assert off == sorted(off, reverse=True)
    assert off[2] == pytest.approx(np.exp(-0.5)) and off[3] == pytest.approx(np.exp(-2))
    assert extent_weight(typical, None) == UNKNOWN_EXTENT_WEIGHT and extent_penalty_m(typical, None) == 0


@settings(deadline=None)
@given(observations, st.randoms())
def test_evidence_does_not_depend_on_the_order_of_views(seen, random):
    mixed = list(seen)
    random.shuffle(mixed)
    first, second = gathered(seen), gathered(mixed)
    assert first.keys() == second.keys()
    for key, one in first.items():
        other = second[key]
        assert one.evidence == pytest.approx(other.evidence)
        assert one.observations == other.observations and one.best_confidence == other.best_confidence
        assert one.extent_m == pytest.approx(other.extent_m)


@settings(deadline=None)
@given(observations, observations)
def test_pooling_two_instances_is_gathering_their_views_together(first, second):
    both = pooled(gathered(first), gathered(second))
    together = gathered([*first, *second])
    assert both.keys() == together.keys()
    assert all(both[key].evidence == pytest.approx(together[key].evidence) for key in both)


@settings(deadline=None)
@given(observations)
def test_the_canonical_label_has_the_most_evidence_and_the_others_are_kept(seen):
    hypotheses = gathered(seen)
    best = canonical(hypotheses)
    assert (best is None) == (not any(label for label, _, _ in seen))
    if best is not None:
        assert best.evidence == max(h.evidence for h in hypotheses.values())
        assert len(ranked(hypotheses)) == len(hypotheses)


def test_repeated_support_outweighs_one_strong_mistake():
    hypotheses = gathered([("jam", 0.95, 1.0), ("ketchup", 0.6, 0.9), ("Ketchup", 0.6, 0.9)])
    assert canonical(hypotheses).label.lower() == "ketchup"
    assert [h.observations for h in ranked(hypotheses)] == [2, 1]


def test_what_it_takes_to_veto():
    assert not supported(None)
    assert not supported(canonical(gathered([("jam", 0.9, 1)])))
    assert not supported(canonical(gathered([("jam", 0.69, 1), ("jam", 0.5, 1)])))
    assert supported(canonical(gathered([("jam", 0.7, 1), ("jam", 0.1, 1)])))
