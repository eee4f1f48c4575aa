"""Boxes: the overlap over the smaller box, and sides that do not depend on how a thing stands."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.core.errors import ArmwrightError
from armwright.perception.boxes import MIN_SIDE_M, box_center, box_overlap, box_volume, points_box, upright_extent

metres = st.floats(-2, 2, allow_nan=False)
sides = st.floats(0.01, 1.5)
boxes = st.builds(
    lambda low, size: np.array([low, np.add(low, size)]),
    st.tuples(metres, metres, metres),
    st.tuples(sides, sides, sides),
)


@settings(deadline=None)
@given(boxes, boxes, st.tuples(metres, metres, metres))
def test_overlap_is_symmetric_bounded_and_does_not_move(a, b, shift):
    share = float(box_overlap(a, b))
    assert 0 <= share <= 1
    assert share == pytest.approx(float(box_overlap(b, a)))
    assert share == pytest.approx(float(box_overlap(a + shift, b + shift)), abs=1e-6)


@settings(deadline=None)
@given(boxes, st.tuples(*[st.floats(0, 0.45)] * 6))
def test_a_box_inside_another_overlaps_wholly(outer, inset):
    size = outer[1] - outer[0]
    inner = np.stack([outer[0] + size * inset[:3], outer[1] - size * inset[3:]])
    assert float(box_overlap(inner, outer)) == pytest.approx(1)
    assert float(box_overlap(outer, outer)) == pytest.approx(1)


@settings(deadline=None)
@given(boxes, boxes)
def test_boxes_apart_do_not_overlap(a, b):
    moved = b - b[0] + [a[1, 0], 0, 0]
    assert float(box_overlap(a, moved)) == pytest.approx(0, abs=1e-9)


def test_half_shared_and_empty():
    a = np.array([[0, 0, 0], [1, 1, 1.0]])
    assert float(box_overlap(a, a + np.array([0.5, 0, 0]))) == pytest.approx(0.5)
    assert float(box_overlap(a, a[::-1])) == 0
    assert box_overlap(np.stack([a, a])[:, None], np.stack([a, a, a])[None]).shape == (2, 3)
    assert np.allclose(box_center(a), 0.5) and float(box_volume(a)) == 1


def test_a_flat_front_still_has_volume():
    rng = np.random.default_rng(0)
    front = np.column_stack([np.zeros(500), rng.uniform(-0.1, 0.1, (500, 2))])
    box = points_box(front)
    assert box[1, 0] - box[0, 0] == pytest.approx(MIN_SIDE_M)
    assert box[1, 1] - box[0, 1] == pytest.approx(0.2, abs=0.01)


@settings(deadline=None)
@given(st.floats(0, 3.14), st.tuples(*[st.floats(0.03, 0.3)] * 3))
def test_the_extent_of_a_box_does_not_depend_on_its_yaw(yaw, size):
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 9)] * 3), -1).reshape(-1, 3) * size
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    extent = upright_extent(grid @ turn.T, trim=0.0)
    assert extent[2] == pytest.approx(size[2])
    # Turns are tried every 5 degrees: at most half a step off, a side gains sin 2.5° of the other.
    assert np.abs(np.sort(extent[:2]) - np.sort(size[:2])).max() < 0.05 * max(size[:2]) + 1e-9


def test_no_points():
    for measure in (points_box, upright_extent):
        with pytest.raises(ArmwrightError, match="at least one point"):
            measure(np.zeros((0, 3)))
