"""Sizes against common sense: wrong intrinsics show, odd products do not."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.perception.descriptions import Description
from armwright.perception.sizes import FEWEST, size_contradictions
from armwright.shelf.scenes import scene

RIGHT = [("can", 0.074, 0.11), ("bottle", 0.07, 0.24), ("box", 0.16, 0.22), ("carton", 0.07, 0.2), ("tube", 0.05, 0.14)]


def _things(factor, count=10, kinds=RIGHT):
    used = [kinds[k % len(kinds)] for k in range(count)]
    said = [Description("x", packaging=kind, orientation="upright") for kind, _, _ in used]
    return said, [np.array([0.6 * w, w, h]) * factor for _, w, h in used]


@pytest.mark.parametrize("factor", [0.68, 1.47, 0.001, 1000.0])
def test_wrong_intrinsics_or_units_are_noticed(factor):
    said = size_contradictions(*_things(factor))
    assert "intrinsics" in said
    assert "10 packages" in said


@pytest.mark.parametrize("seed", range(11, 17))
def test_true_shelves_are_quiet(seed):
    objects = scene("multi-row", seed=seed).records()
    said = [
        Description("x", packaging=o.nature.packaging or "", orientation=o.nature.orientation or "") for o in objects
    ]
    assert size_contradictions(said, [np.array(o.box.size_m) for o in objects]) == ""


def test_few_or_unknown_or_lying_things_say_nothing():
    assert size_contradictions(*_things(1.6, FEWEST - 1)) == ""
    said, sizes = _things(1.6)
    assert size_contradictions([Description("x")] * 10, sizes) == ""
    assert size_contradictions([Description("x", packaging="box", orientation="lying")] * 10, sizes) == ""
    assert size_contradictions(said, [np.full(3, np.nan)] * 10) == ""


def test_one_odd_product_says_nothing():
    said, sizes = _things(1.0)
    sizes[0] = sizes[0] * 3
    assert size_contradictions(said, sizes) == ""
