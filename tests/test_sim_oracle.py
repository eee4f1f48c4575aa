from __future__ import annotations

import numpy as np
import pytest

from armwright.assets.cloud import nearest_faces
from armwright.assets.library import default_library
from armwright.assets.scene import ObjectSpec, SceneSpec
from armwright.core.errors import UnknownNameError
from armwright.sim.oracle import OracleSource, object_cloud, world_spec
from armwright.sim.world import World
from sim_scenes import at, clutter, franka


@pytest.fixture(scope="module")
def world():
    scene, models = clutter()
    return World(scene, objects=models, robot=franka())


def test_obstacles_stand_where_the_objects_do(world):
    spec = world_spec(world)
    assert {o.name for o in spec.obstacles} == {"table", *world.objects}
    base = world.arm.pose_world_base
    for obstacle in spec.obstacles:
        if obstacle.name == "table":
            corners = (base @ obstacle.pose_base_obstacle).transform(np.concatenate(obstacle.hulls))
            assert corners[:, 2].max() == pytest.approx(0.0)
            continue
        in_world = base @ obstacle.pose_base_obstacle
        assert in_world.distance_to(world.truth.pose(obstacle.name)) < 1e-9
        assert obstacle.hulls is world.objects[obstacle.name].root.hulls


def test_exclusion_and_targets(world):
    spec = world_spec(world, exclude=["mug_1"], targets=["plate_1", "table"])
    assert "mug_1" not in {o.name for o in spec.obstacles}
    assert spec.targets == {"plate_1", "table"}
    with pytest.raises(UnknownNameError, match="mug_1"):
        world_spec(world, exclude=["mug_2"])


def test_moved_drawers_are_obstacles_where_they_are():
    model = default_library().build("cabinet", instance=1)
    drawer = next(link for link in model.links if link.joint is not None)
    scene = SceneSpec(
        objects=(ObjectSpec(id="c", category="cabinet", pose=at(0.7, 0.2, yaw=0.4), joints={drawer.name: 0.1}),)
    )
    world = World(scene, objects={"c": model}, robot=franka())
    value = world.truth.joint("c", drawer.name)
    assert value > 0.02
    spec = world_spec(world, targets=["c"])
    names = {o.name for o in spec.obstacles}
    assert f"c/{drawer.name}" in names
    assert spec.targets == names - {"table"}
    closed, moved = model.root.vertices_m, None
    cloud = object_cloud(world, "c")
    moved = cloud.points_m[cloud.link == drawer.name]
    pose = world.truth.pose("c").inverse() @ world.truth.pose("c", drawer.name)
    part, distance = nearest_faces(model, pose.inverse().transform(moved), link=drawer.name)
    assert distance.max() < 1e-6
    assert (part == cloud.part[cloud.link == drawer.name]).all()
    assert len(closed)


def test_cloud_lies_on_the_labelled_surface_and_is_kept(world):
    cloud = object_cloud(world, "mug_1")
    model = world.objects["mug_1"]
    assert cloud.points_m.shape == (8192, 3)
    assert nearest_faces(model, cloud.points_m)[1].max() < 1e-6
    np.testing.assert_allclose(np.linalg.norm(cloud.normals, axis=1), 1.0)
    again = object_cloud(world, "mug_1")
    assert again.points_m is cloud.points_m
    other = object_cloud(world, "mug_1", n=100, rng=np.random.default_rng(1))
    assert other.points_m.shape == (100, 3)
    with pytest.raises(UnknownNameError):
        object_cloud(world, "nobody")


def test_source_answers_what_skills_ask(world):
    source = OracleSource(world)
    assert source.name == "oracle"
    assert source.objects() == tuple(world.objects)
    assert source.model("mug_1") is world.objects["mug_1"]
    assert source.pose_world("mug_1").distance_to(world.truth.pose("mug_1")) == 0
    assert source.cloud("mug_1").category == "mug"
    assert source.world_spec(exclude=("mug_1",)).obstacles
    with pytest.raises(UnknownNameError):
        source.model("nobody")
