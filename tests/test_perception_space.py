"""Free, occupied, unknown: distances, and boxes that a planner takes as obstacles."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from armwright.core.errors import ArmwrightError
from armwright.core.pose import Pose
from armwright.perception.space import (
    FREE,
    OCCUPIED,
    UNKNOWN,
    Space,
    box_corners,
    clearance,
    distance_field,
    occupied_boxes,
    space_of,
)
from armwright.perception.tsdf import empty_tsdf, integrate, prepare_view, region_tsdf
from armwright.planning.types import Obstacle
from armwright.planning.world import ShapeCache
from perception_scenes import Thing, looking, render

BOX = Thing((0.0, 0.0, 0.0), (0.06, 0.08, 0.05))
WALL = Thing((0.3, 0.0, 0.0), (0.01, 1.0, 1.0))


@cache
def seen():
    volume = region_tsdf(np.full(3, -0.4), np.full(3, 0.4), 0.02)
    for eye in ((-0.7, 0.25, 0.3), (-0.7, -0.25, 0.3), (-0.7, 0.0, -0.3)):
        frame, _ = render([BOX, WALL], looking(eye, (0, 0, 0)))
        integrate(volume, prepare_view(frame))
    return space_of(volume)


def state_at(space, *point):
    i, j, k = np.floor((np.array(point) - space.low_m) / space.voxel_m).astype(int)
    return space.state[i, j, k]


def test_free_in_front_occupied_at_the_surface_unknown_behind():
    space = seen()
    assert state_at(space, -0.25, 0.0, 0.0) == FREE
    assert state_at(space, -0.05, 0.0, 0.0) == OCCUPIED
    assert state_at(space, 0.12, 0.0, 0.0) == UNKNOWN
    assert state_at(space, 0.15, 0.25, 0.0) == FREE
    assert state_at(space, 0.305, 0.3, 0.1) == OCCUPIED


def test_distances_and_clearance():
    careful, bold = distance_field(seen()), distance_field(seen(), unknown="free")
    ahead = [[-0.26, 0.0, 0.0]]
    assert clearance(bold, ahead)[0] == pytest.approx(0.2, abs=0.03)
    assert (careful.distance_m <= bold.distance_m).all()
    behind = [[0.12, 0.0, 0.0]]
    assert clearance(careful, behind)[0] == 0 and clearance(bold, behind)[0] > 0.02
    outside = [[-0.7, 0.0, 0.0]]
    assert clearance(careful, outside)[0] == 0
    assert 0 < clearance(bold, outside)[0] < 0.64
    # 1-Lipschitz: no step changes the distance by more than its length.
    line = np.column_stack([np.linspace(-0.39, -0.1, 200), np.full((200, 2), 0.013)])
    assert np.abs(np.diff(clearance(bold, line))).max() <= np.diff(line[:, 0]).max() * 1.01
    nothing = Space(np.zeros(3), 0.1, np.full((3, 3, 3), FREE, np.uint8))
    assert np.isinf(clearance(distance_field(nothing), [[0.15, 0.15, 0.15], [0.11, 0.2, 0.2]])).all()


@settings(max_examples=40, deadline=None)
@given(arrays(np.uint8, st.tuples(*[st.integers(1, 6)] * 3), elements=st.integers(0, 2)), st.booleans())
def test_boxes_cover_the_occupied_cubes_once_and_no_others(state, bold):
    space = Space(np.array([1.0, -2, 0]), 0.5, state)
    unknown = "free" if bold else "occupied"
    boxes = occupied_boxes(space, unknown=unknown)
    filled = np.zeros(state.shape, int)
    for low, high in np.rint((boxes - space.low_m) / space.voxel_m).astype(int):
        filled[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] += 1
    assert np.array_equal(filled, (state == OCCUPIED) | ((state == UNKNOWN) & (not bold)))


def test_a_carved_box_is_left_out():
    whole = occupied_boxes(seen())
    around = np.array([[-0.1, -0.1, -0.1], [0.1, 0.1, 0.1]])
    rest = occupied_boxes(seen(), carve_m=around)
    assert np.prod(rest[:, 1] - rest[:, 0], axis=1).sum() < np.prod(whole[:, 1] - whole[:, 0], axis=1).sum()
    middle = rest.mean(1)
    assert not ((middle > around[0]) & (middle < around[1])).all(1).any()


def test_a_planner_takes_the_boxes_and_sees_the_same_distances():
    boxes = occupied_boxes(seen())
    obstacle = Obstacle("map", Pose(), tuple(box_corners(boxes)))
    parts = ShapeCache().parts(obstacle)
    assert len(parts) == 1 and parts[0].nodes is not None
    part, field = parts[0], distance_field(seen(), unknown="free")
    grid = np.stack(np.meshgrid(*[np.arange(0, s, 4) for s in part.nodes.shape], indexing="ij"), -1).reshape(-1, 3)
    points = part.center_m - part.half_m + grid * part.spacing_m
    theirs = part.nodes[tuple(grid.T)]
    inside = (np.abs(points) < 0.37).all(1) & (theirs > 0.03)
    assert inside.sum() > 100
    assert np.abs(clearance(field, points[inside]) - theirs[inside]).max() < 0.75 * field.voxel_m * np.sqrt(3)


def test_misuse():
    with pytest.raises(ArmwrightError, match="holds nothing"):
        space_of(empty_tsdf(0.01))
    with pytest.raises(ArmwrightError, match="free or occupied"):
        distance_field(seen(), unknown="maybe")
