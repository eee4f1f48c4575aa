from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armwright.assets.library import default_library
from armwright.assets.scene import ObjectSpec, SceneSpec
from armwright.core.errors import UsageError
from armwright.sim.build import MODELS, build_model, model_digest
from armwright.sim.world import World
from sim_scenes import at, box_model, clutter, franka, scene_of, world_of


@pytest.fixture(scope="module")
def built():
    scene, models = clutter()
    return build_model(scene, models, franka())


def test_masses_and_inertias_are_those_of_the_meshes(built):
    from armwright.assets.export import link_inertia

    for object_id, model in built.objects.items():
        body = built.links[object_id, model.root.name].body
        center, inertia = link_inertia(model.root)
        assert built.model.body_mass[body] == pytest.approx(model.root.mass_kg)
        np.testing.assert_allclose(built.model.body_ipos[body], center, atol=1e-6)
        np.testing.assert_allclose(
            np.sort(built.model.body_inertia[body]), np.sort(np.linalg.eigvalsh(inertia)), rtol=1e-4
        )


def test_one_visual_per_part_and_one_collider_per_hull(built):
    m = built.model
    for object_id, model in built.objects.items():
        body = built.links[object_id, model.root.name].body
        geoms = np.flatnonzero(m.geom_bodyid == body)
        hulls = geoms[m.geom_group[geoms] == 3]
        assert len(hulls) == len(model.root.hulls)
        assert [built.geom_part[g] for g in hulls] == list(model.root.hull_part)
        assert (m.geom_contype[geoms[m.geom_group[geoms] == 2]] == 0).all()
        assert (m.geom_contype[hulls] == 1).all()
        lowest, highest = model.bounds_m
        for g in geoms[m.geom_group[geoms] == 2]:
            assert m.geom_group[g] == 2
        drawn = np.concatenate([_vertices(m, g) for g in geoms[m.geom_group[geoms] == 2]])
        np.testing.assert_allclose(drawn.min(0), lowest, atol=1e-5)
        np.testing.assert_allclose(drawn.max(0), highest, atol=1e-5)


def _vertices(m, g):
    import mujoco

    mesh = m.geom_dataid[g]
    points = m.mesh_vert[m.mesh_vertadr[mesh] : m.mesh_vertadr[mesh] + m.mesh_vertnum[mesh]]
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, m.geom_quat[g])
    return points @ rotation.reshape(3, 3).T + m.geom_pos[g]


def test_models_are_compiled_once_per_instances():
    MODELS.clear()
    box = box_model((0.04, 0.05, 0.06))
    a = world_of({"box_1": box}, box_1=at(0.5, 0.0))
    b = world_of({"box_1": box}, box_1=at(0.4, 0.2))
    assert a.built.model is b.built.model
    same = box_model((0.04, 0.05, 0.06))
    assert world_of({"box_1": same}, box_1=at(0.4, 0.2)).built.model is a.built.model
    other = box_model((0.04, 0.05, 0.061))
    assert world_of({"box_1": other}, box_1=at(0.4, 0.2)).built.model is not a.built.model


@pytest.mark.parametrize(
    "change",
    [
        lambda m: replace(m, friction=0.5),
        lambda m: replace(m, static=True),
        lambda m: replace(m, links=(replace(m.root, mass_kg=0.31),)),
        lambda m: replace(m, links=(replace(m.root, part_rgba={"body": (0, 1, 0, 1)}),)),
        lambda m: replace(m, links=(replace(m.root, hulls=(m.root.hulls[0] * 0.99,)),)),
    ],
)
def test_digest_sees_every_change(change):
    model = box_model((0.04, 0.05, 0.06))
    assert model_digest(change(model)) != model_digest(model)
    assert model_digest(box_model((0.04, 0.05, 0.06))) == model_digest(model)


def test_static_objects_are_moved_without_touching_the_shared_model():
    block = box_model((0.1, 0.1, 0.05), static=True)
    a = world_of({"block": block}, block=at(0.5, 0.0))
    b = world_of({"block": block}, block=at(0.6, 0.2, yaw=0.7))
    assert a.built.model is b.built.model
    np.testing.assert_allclose(a.truth.pose("block").position_m, [0.5, 0.0, 0.0])
    np.testing.assert_allclose(b.truth.pose("block").position_m, [0.6, 0.2, 0.0])
    a.reset(scene_of(block=at(0.45, -0.1)))
    drop = world_of(
        {"block": block, "cube": box_model((0.04, 0.04, 0.04))}, block=at(0.5, 0.2), cube=at(0.5, 0.2, 0.051)
    )
    drop.step(300)
    assert drop.truth.pose("cube").position_m[2] == pytest.approx(0.05, abs=1e-3)
    drop.reset(scene_of(block=at(0.5, -0.2), cube=at(0.5, 0.2, 0.01)))
    drop.step(300)
    assert drop.truth.pose("cube").position_m[2] == pytest.approx(0.0, abs=1e-3)
    assert drop.truth.supported_by("cube") == {"table"}


def test_what_cannot_be_built_says_why():
    box = box_model((0.04, 0.05, 0.06))
    with pytest.raises(UsageError, match="no model"):
        World(scene_of(a=at(0.5, 0)), objects={}, robot=franka())
    with pytest.raises(UsageError, match="reserved"):
        World(scene_of(table=at(0.5, 0)), objects={"table": box}, robot=franka())
    with pytest.raises(UsageError, match="no pose"):
        World(SceneSpec(objects=(ObjectSpec(id="a", category="box"),)), objects={"a": box}, robot=franka())


def test_drawers_slide_and_loose_lids_lie_on_their_pots():
    library = default_library()
    models = {"cabinet_1": library.build("cabinet", instance=1), "pot_1": library.build("pot", instance=1)}
    scene = SceneSpec(
        objects=(
            ObjectSpec(id="cabinet_1", category="cabinet", pose=at(0.75, 0.35), joints={"drawer_1": 0.05}),
            ObjectSpec(id="pot_1", category="pot", pose=at(0.5, -0.2)),
        )
    )
    world = World(scene, objects=models, robot=franka())
    jointed = [link.name for link in models["cabinet_1"].links if link.joint is not None]
    assert jointed
    loose = [link.name for link in models["pot_1"].links[1:] if link.joint is None]
    assert loose
    world.step(500)
    for name in loose:
        height = world.truth.pose("pot_1", name).position_m[2] - world.truth.pose("pot_1").position_m[2]
        assert abs(height) < 0.004
    first = jointed[0]
    world.reset(
        scene.model_copy(
            update={"objects": (scene.objects[0].model_copy(update={"joints": {first: 0.08}}), scene.objects[1])}
        )
    )
    world.step(250)
    link = next(link for link in models["cabinet_1"].links if link.name == first)
    assert world.truth.joint("cabinet_1", first) == pytest.approx(min(0.08, link.joint.range[1]), abs=2e-3)
    moved = world.truth.pose("cabinet_1").inverse() @ world.truth.pose("cabinet_1", first)
    if link.joint.kind == "slide":
        np.testing.assert_allclose(moved.position_m, world.truth.joint("cabinet_1", first) * link.joint.axis, atol=1e-6)
