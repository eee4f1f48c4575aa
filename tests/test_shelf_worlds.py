"""A drawn scene in the simulator: it stands still, looks as it was drawn, and the arm can look at all of it."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pose import Pose
from armwright.shelf.capture import look_around
from armwright.shelf.scenes import scene
from armwright.shelf.views import (
    MARGIN_PX,
    Blockers,
    Samples,
    cautious_world,
    plan_views,
    shelf_candidates,
    shelf_samples,
    visibility,
)
from armwright.shelf.worlds import TARGET, open_scene, panels_of, placed_pose

SEED = 21


@pytest.fixture(scope="module")
def world():
    return open_scene(scene("multi-row", SEED))


@pytest.fixture(scope="module")
def views(world):
    return plan_views(world, n_shelf=6, n_target=2)


def test_nothing_moves_and_boxes_are_as_drawn(world):
    before = {o.id: o for o in world.truth_objects()}
    world.world.step(500)
    for index, drawn in enumerate(world.scene.objects):
        now = next(o for o in world.truth_objects() if o.id == drawn.id)
        assert now.pose_world.distance_to(before[drawn.id].pose_world) < 1e-4
        assert now.pose_world.distance_to(world.pose_world_shelf @ placed_pose(world.scene, index)) < 0.002
        # The drawn box of a round package is that of a turned cuboid: a little wide.
        assert np.abs(np.array(now.box.center_m) - drawn.box.center_m).max() < 0.002
        assert (np.array(now.box.size_m) < np.array(drawn.box.size_m) + 0.002).all()


def test_the_target_stands_in_its_region_on_the_table(world):
    target = world.truth_objects()[-1]
    assert target.id == TARGET and target.product == world.scene.target
    points = world.pose_world_shelf.transform(np.array([target.box.low_m, target.box.high_m]))
    assert points[0, 2] == pytest.approx(0.0, abs=0.002)
    assert points[1, 2] < world.table.high_m[2]
    assert (np.abs(target.pose_world.position_m[:2] - world.table.center_m[:2]) < 0.081).all()


def test_the_planner_knows_fixtures_only(world):
    names = {obstacle.name for obstacle in world.planner_world().obstacles}
    assert names == {"table", *(panel.name for panel in panels_of(world.shelf))}
    closed = {obstacle.name for obstacle in cautious_world(world).obstacles} - names
    assert closed == {"unseen/shelf", "unseen/target"}


def test_a_scene_opens_with_an_empty_hand_whatever_the_last_one_left(world):
    planner = world.planner
    planner.set_world(world.planner_world())
    home = np.array(world.robot.spec.home_rad)[None]
    planner.set_opening(0.0)
    planner.attach(np.zeros((1, 3)), np.array([1.5]))
    assert not planner.check(home)[0]
    again = open_scene(scene("multi-row", SEED))
    again.planner.set_world(again.planner_world())
    assert again.planner is planner and planner.check(home)[0]
    assert planner.opening_m == world.robot.spec.gripper.opening_m[1]


def test_views_can_be_held_and_show_the_compartments(world, views):
    assert [view.of for view in views] == ["target"] * 2 + ["shelf"] * 6
    world.planner.set_world(cautious_world(world))
    samples = shelf_samples(world.shelf, world.pose_world_shelf)
    seen = np.zeros(len(samples.points_m))
    for view in views:
        assert world.planner.check(view.joints_rad).all()
        tool = world.planner.fk(view.joints_rad[:1])[0]
        camera = world.arm.pose_world_base @ Pose.from_matrix(tool) @ world.pose_tool_camera
        assert camera.distance_to(view.pose_world_camera) < 0.001
        assert camera.rotation[2, 1] < -0.5  # the picture is upright
        if view.of == "shelf":
            model = world.camera.model
            model = type(model)(640, 480, model.fx, model.fy, model.cx, model.cy, view.pose_world_camera)
            seen = np.maximum(seen, visibility(model, samples))
    assert (seen[samples.weight == 1] > 0.4).mean() > 0.65  # six views; nine are the default


def test_every_view_is_reached_and_drawn_from_where_it_was_planned(world, views):
    still = {o.id: o.pose_world for o in world.truth_objects()}
    seen = look_around(world, views)
    assert [stage.status for stage in seen.stages] == ["done"] * len(views)
    assert len(seen.of("target")) == 2 and len(seen.of("shelf")) == 6
    for frame in seen.frames:
        assert frame.rgb.shape == (480, 640, 3)
        where = frame.camera.pose_world_camera
        assert min(where.distance_to(view.pose_world_camera) for view in views) < 0.003
        assert 0.0 < (frame.depth_m == 0).mean() < 0.4  # holes at edges; beyond the shelf and the floor nothing is read
    assert all(o.pose_world.distance_to(still[o.id]) < 1e-4 for o in world.truth_objects())


def test_a_point_behind_a_board_or_at_the_edge_is_not_seen(world):
    point = np.array([[1.0, 0.0, 0.0]])
    samples = Samples(point, np.array([[-1.0, 0.0, 0.0]]), np.ones(1))
    looking = Pose.from_rotation(np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], float), (0.5, 0.0, 0.0))
    model = world.camera.model
    model = type(model)(640, 480, 600.0, 600.0, 320.0, 240.0, looking)
    assert visibility(model, samples)[0] > 0.9
    board = Blockers(Pose((0.7, 0.0, 0.0)), np.array([[(0.0, -0.1, -0.1), (0.02, 0.1, 0.1)]]))  # type: ignore[arg-type]
    assert visibility(model, samples, board)[0] == 0
    aside = Blockers(Pose((0.7, 0.2, 0.0)), board.boxes_m)  # type: ignore[arg-type]
    assert visibility(model, samples, aside)[0] > 0.9
    aside = model.width / 2 - MARGIN_PX / 2
    samples = Samples(np.array([[1.0, -aside / 600.0 * 0.5, 0.0]]), samples.normals, np.ones(1))
    assert visibility(model, samples)[0] == 0


def test_candidates_keep_their_distance(world):
    for pose in shelf_candidates(world.shelf, Pose())[::50]:
        assert pose.position_m[0] < -0.2


def test_misuse_is_named(world):
    with pytest.raises(UsageError, match="negative"):
        plan_views(world, n_shelf=-1)
    with pytest.raises(UnknownNameError):
        open_scene(world.scene, noise="perfect")
