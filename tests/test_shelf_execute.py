"""A target is taken from the table and put into the shelf, in physics, with a true map; slow."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.pose import Pose
from armwright.planning.types import Obstacle
from armwright.planning.verify import Verifier
from armwright.shelf.candidates import sample_candidates
from armwright.shelf.execute import execute
from armwright.shelf.grading import SETTLE_S, grade, truth_of
from armwright.shelf.grasps import sample_grasps
from armwright.shelf.obstacles import TARGET, MapObstacles
from armwright.shelf.perceived import PerceivedScene, skill_context
from armwright.shelf.placing import decide
from armwright.shelf.product_models import product_model
from armwright.shelf.scenes import scene
from armwright.shelf.target import fit_target
from armwright.shelf.worlds import open_scene
from armwright.sim.oracle import object_cloud

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("layout", "seed"), [("single-row", 14), ("multi-row", 13)])
def test_a_whole_placing(layout, seed):
    drawn = scene(layout, seed)
    world = open_scene(drawn, noise="none")
    base, hand = world.arm.pose_world_base, world.robot.spec.gripper
    pose = world.world.truth.pose(TARGET)
    cloud = object_cloud(world.world, TARGET)
    points, normals = pose.transform(cloud.points_m), pose.rotate(cloud.normals)
    shown = points[:, 2] > 0.005
    fit = fit_target(points[shown], normals[shown], table_z_m=0.0, packaging=drawn.target.packaging)
    assert fit.solid.size_m[2] == pytest.approx(product_model(drawn.target).bounds_m[1][2], abs=0.004)
    own = Obstacle(TARGET, base.inverse() @ fit.pose_world_target, fit.solid.hulls)
    pose_base_shelf = base.inverse() @ world.pose_world_shelf
    obstacles = MapObstacles(world.planner_world(), pose_base_shelf, drawn.records(), target=own)
    target = fit.record(drawn.target.nature("upright"))
    free = sample_candidates(drawn.shelf, [o.box for o in drawn.objects], target, orientations=["upright"])
    ctx = skill_context(
        PerceivedScene(fit, obstacles, base),
        arm=world.arm,
        clock=world.clock,
        gripper=hand,
        planner=world.planner,
        verifier=lambda spec, gap: Verifier(world.robot.xml_path, world.robot.spec, spec, opening_m=gap),
    )
    grasps = sample_grasps(fit.solid, hand, rng=np.random.default_rng(seed))
    order = np.argsort(-free.board, kind="stable")
    decision = decide(ctx, fit, grasps, free, np.ones(len(free)), order, obstacles)
    assert decision.ok, decision.summary()
    assert decision.motion is not None
    assert decision.motion.planned is not None
    assert decision.box is not None
    before = truth_of(world)
    report = execute(ctx, decision.motion.planned, home_rad=np.array(world.robot.spec.home_rad))
    world.clock.sleep(SETTLE_S)
    score = grade(before, truth_of(world), decision.box, executed=report.ok)
    assert report.ok, report.failed
    assert score.success
    assert score.upright
    assert score.neighbours_still
    assert score.error_m < 0.03
    assert isinstance(report.pose_world_believed, Pose)
