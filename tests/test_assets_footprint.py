"""Outlines, gaps, height grids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.assets.footprint import Footprint, HeightGrid, convex_outline, outline_gap, surface_points
from armwright.assets.library import default_library
from armwright.core.errors import UsageError

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


@given(st.integers(0, 10_000), st.integers(3, 400))
@settings(max_examples=40, deadline=None)
def test_outline_is_convex_and_holds_every_point(seed, n):
    p = np.random.default_rng(seed).normal(size=(n, 2))
    outline = convex_outline(p)
    edge = np.roll(outline, -1, axis=0) - outline
    turn = edge[:, 0] * np.roll(edge[:, 1], -1) - edge[:, 1] * np.roll(edge[:, 0], -1)
    assert (turn > 0).all()
    for start, e in zip(outline, edge, strict=True):
        assert (e[0] * (p[:, 1] - start[1]) - e[1] * (p[:, 0] - start[0]) > -1e-5).all()


@given(st.floats(-3, 3), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_gap_of_two_squares(dx, dy):
    gap = outline_gap(SQUARE, SQUARE + np.array([dx, dy]))
    outside = np.maximum(np.abs([dx, dy]) - 1, 0)
    if (outside > 0).any():
        assert gap == pytest.approx(np.linalg.norm(outside), abs=1e-9)
    else:
        assert gap == pytest.approx(max(abs(dx), abs(dy)) - 1, abs=1e-9)


def test_overlap_needs_the_same_height():
    low, high = Footprint(SQUARE, (0.0, 0.1)), Footprint(SQUARE, (0.2, 0.3))
    assert not low.overlaps(high)
    assert low.overlaps(high, margin_m=0.15)
    assert low.overlaps(Footprint(SQUARE + 0.5, (0.05, 0.3)))
    assert not low.overlaps(Footprint(SQUARE + 2.0, (0.05, 0.3)))


def test_cube_let_down_on_a_box_rests_on_its_top():
    box, cube = (default_library().build(name, instance=1) for name in ("box", "cube"))
    grid = HeightGrid(surface_points(box))
    points = surface_points(cube)
    top = box.bounds_m[1][2]
    assert grid.rest_height(points) == pytest.approx(top - cube.bounds_m[0][2], abs=0.001)
    assert grid.rest_height(points + np.array([1.0, 0, 0])) == -np.inf
    assert grid.height(np.zeros(2)) == pytest.approx(top, abs=0.003)
    assert grid.height(np.array([5.0, 0.0])) == -np.inf


def test_surface_points_leave_no_hole_larger_than_a_cell():
    plate = default_library().build("plate", instance=0)
    grid = HeightGrid(surface_points(plate, cell_m=0.004), cell_m=0.004)
    r = 0.95 * plate.bounds_m[1][0]
    rng = np.random.default_rng(0)
    for angle, share in zip(rng.uniform(0, 6.28, 300), np.sqrt(rng.uniform(0, 1, 300)), strict=True):
        assert np.isfinite(grid.height(r * share * np.array([np.cos(angle), np.sin(angle)])))


def test_empty_grid_is_misuse():
    with pytest.raises(UsageError):
        HeightGrid(np.zeros((0, 3)))
