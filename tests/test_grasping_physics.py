"""The best grasps hold in physics: a free gripper closes, lifts and shakes (the rig of benchmarks/grasp_stage1.py)."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from armwright.affordance.oracle import OracleAffordance
from armwright.affordance.protocol import ObjectCloud
from armwright.assets.cloud import nearest_part, sample_cloud
from armwright.assets.library import default_library
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery
from armwright.grasping.affordance import sample_grasps
from armwright.grasping.clearance import table_plane
from armwright.robots.registry import load_spec

RIG = Path(__file__).parents[1] / "benchmarks" / "_grasp_rig.py"


@pytest.fixture(scope="module")
def rig_class():
    spec = importlib.util.spec_from_file_location("_grasp_rig", RIG)
    module = importlib.util.module_from_spec(spec)
    sys.modules["_grasp_rig"] = module
    spec.loader.exec_module(module)
    yield module.Rig
    del sys.modules["_grasp_rig"]


def best(category, region, instance, rig_class):
    model = default_library().build(category, instance=instance)
    cloud = sample_cloud(model, 8192, rng=np.random.default_rng(instance))
    query = AffordanceQuery(object="it", region=region, role="grasp")
    mask = OracleAffordance().predict(ObjectCloud("it", category, *cloud), query).mask
    gripper = load_spec("franka").gripper
    rig = rig_class(model, gripper)
    plane = table_plane(rig.pose_world_object)
    found = sample_grasps(cloud.points_m, cloud.normals, mask, gripper, support_plane=plane)
    return model, rig, found.candidates[0]


@pytest.mark.parametrize(
    ("category", "region"),
    [
        ("mug", "Graspable Handle"),
        ("banana", "Graspable Body"),
        ("can", "Graspable Body"),
        ("bottle", "Graspable Body"),
        ("cup", "Graspable Body"),
    ],
)
def test_best_grasp_holds_on_the_region(category, region, rig_class):
    model, rig, candidate = best(category, region, 41, rig_class)
    trial = rig.run(candidate)
    assert trial.held
    on = np.isin(nearest_part(model, trial.contacts), model.regions[region])
    assert on.mean() >= 0.8


def test_rig_tells_a_bad_grasp(rig_class):
    """Beside the can, and above it, nothing is held."""
    _, rig, candidate = best("can", "Graspable Body", 41, rig_class)
    for shift in ([0.0, 0.0, 0.12], [0.0, 0.12, 0.0]):
        pose = Pose(candidate.pose_object_pads.position_m + np.array(shift), candidate.pose_object_pads.quat_wxyz)
        assert not rig.run(replace(candidate, pose_object_pads=pose)).held
