"""The fitted spheres contain what MuJoCo collides, and block little else."""

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from armwright.core.errors import UsageError
from armwright.robots._fit_self import chain_frames, overlap
from armwright.robots.bake import baked_robot
from armwright.robots.fit import SPHERES, fit_kinematics, settle_gripper
from armwright.robots.registry import robot_names

FAST = ("franka", "ur5e")
ALL = [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in sorted(robot_names())]


@cache
def loaded(name):
    robot = baked_robot(name)
    model = mujoco.MjModel.from_xml_path(str(robot.xml_path))
    return robot, model


def joints_of(model, robot):
    return [model.joint(name).id for name in robot.spec.joints]


def link_of_geom(model, robot, geom):
    body = model.geom_bodyid[geom]
    names = list(robot.spec.joints)
    while body:
        for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
            if model.joint(joint).name in names:
                return names.index(model.joint(joint).name) + 1
        body = model.body_parentid[body]
    return 0


def surface_points(model, geom, rng, count=400):
    """Random points on a collision geom, in its own frame."""
    size = model.geom_size[geom]
    direction = rng.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    kind = model.geom_type[geom]
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return direction * size[0]
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        side = np.column_stack([direction[:, :2] / np.linalg.norm(direction[:, :2], axis=1)[:, None] * size[0]])
        along = rng.uniform(-size[1], size[1], count)
        caps = direction * size[0] + np.sign(direction[:, 2:]) * [0, 0, size[1]]
        return np.concatenate([np.column_stack([side, along]), caps])
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        angle, radius = rng.uniform(0, 2 * np.pi, count), size[0] * np.sqrt(rng.random(count))
        radius[::2] = size[0]
        z = np.where(np.arange(count) % 2, size[1] * rng.choice([-1, 1], count), rng.uniform(-size[1], size[1], count))
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        points = rng.uniform(-1, 1, (count, 3))
        points[np.arange(count), rng.integers(0, 3, count)] = rng.choice([-1, 1], count)
        return points * size
    assert kind == mujoco.mjtGeom.mjGEOM_MESH
    mesh = model.geom_dataid[geom]
    first = model.mesh_vertadr[mesh]
    corners = model.mesh_vert[first : first + model.mesh_vertnum[mesh]].astype(float)
    hull = ConvexHull(corners)
    triangles = hull.points[hull.simplices]
    area = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    pick = rng.choice(len(triangles), count, p=area / area.sum())
    weights = rng.dirichlet([1, 1, 1], count)
    return np.einsum("ck,ckd->cd", weights, triangles[pick])


def inside_another(model, data, geom, points):
    """Whether points in the world lie inside another hull of the same welded bodies: nothing can touch them there."""
    inside = np.zeros(len(points), bool)
    weld = model.body_weldid[model.geom_bodyid]
    for other in range(model.ngeom):
        collides = model.geom_contype[other] or model.geom_conaffinity[other]
        if other == geom or weld[other] != weld[geom] or not collides:
            continue
        local = (points - data.geom_xpos[other]) @ data.geom_xmat[other].reshape(3, 3)
        if model.geom_type[other] == mujoco.mjtGeom.mjGEOM_BOX:
            inside |= (np.abs(local) < model.geom_size[other] - 1e-4).all(axis=1)
        elif model.geom_type[other] == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = model.geom_dataid[other]
            first = model.mesh_vertadr[mesh]
            faces = ConvexHull(model.mesh_vert[first : first + model.mesh_vertnum[mesh]].astype(float)).equations
            inside |= (local @ faces[:, :3].T + faces[:, 3] < -1e-4).all(axis=1)
    return inside


def self_contacts(robot, model, poses):
    """Per pose, the link pairs that MuJoCo sees overlap."""
    data = mujoco.MjData(model)
    data.qpos[:] = settle_gripper(model, robot.spec.gripper, robot.spec.gripper.opening_m[1])
    addresses = model.jnt_qposadr[joints_of(model, robot)]
    link = np.array([link_of_geom(model, robot, geom) for geom in range(model.ngeom)])
    found = []
    for q in poses:
        data.qpos[addresses] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        ends = np.sort(link[data.contact.geom], axis=1)
        found.append({(a, b) for (a, b), d in zip(ends.tolist(), data.contact.dist) if a != b and d < 0})
    return found


@pytest.mark.parametrize("name", ALL)
def test_every_collision_geom_lies_in_spheres(name):
    robot, model = loaded(name)
    rng = np.random.default_rng(0)
    kinematics = robot.kinematics
    low, high = robot.spec.gripper.opening_m
    for opening in (high, 0.37 * high + 0.63 * low, low):
        data = mujoco.MjData(model)
        data.qpos[:] = settle_gripper(model, robot.spec.gripper, opening)
        data.qpos[model.jnt_qposadr[joints_of(model, robot)]] = kinematics.home_rad
        mujoco.mj_kinematics(model, data)
        frames = chain_frames(kinematics.offset, kinematics.home_rad[None])[0]
        spheres = kinematics.spheres_at(opening)
        placed = np.einsum("sij,sj->si", frames[spheres.link, :3, :3], spheres.center_m) + frames[spheres.link, :3, 3]
        base = data.body("base")
        for geom in range(model.ngeom):
            if not (model.geom_contype[geom] or model.geom_conaffinity[geom]):
                continue
            points = surface_points(model, geom, rng) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            points = points[~inside_another(model, data, geom, points)]
            points = (points - base.xpos) @ base.xmat.reshape(3, 3)
            if len(points) == 0:
                continue
            gap = np.linalg.norm(points[:, None] - placed[None], axis=2) - spheres.radius_m
            # Where three spheres meet a notch may stay; between two sampled gaps a finger swings on an arc while its
            # spheres go straight.
            allowed = 5e-4 if opening in (low, high) else 1e-3
            assert gap.min(axis=1).max() < allowed, (model.geom(geom).name, opening, gap.min(axis=1).max())


@pytest.mark.parametrize("name", ALL)
def test_the_budget_of_spheres_is_kept_and_links_are_sorted(name):
    kinematics = loaded(name)[0].kinematics
    sets = list(kinematics.spheres.values())
    assert len(sets) == 5
    for spheres in sets:
        assert len(spheres.radius_m) <= SPHERES
        assert (spheres.radius_m > 0).all() and (np.diff(spheres.link) >= 0).all()
        np.testing.assert_array_equal(spheres.radius_m, sets[0].radius_m)
        assert set(spheres.link[spheres.finger]) == {kinematics.dof}
    moved = np.linalg.norm(sets[0].center_m - sets[-1].center_m, axis=1)
    assert moved[sets[0].finger].min() > 1e-4 and moved[~sets[0].finger].max() < 1e-9


@pytest.mark.parametrize("name", ALL)
def test_the_chain_agrees_with_mujoco(name):
    robot, model = loaded(name)
    kinematics = robot.kinematics
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    poses = rng.uniform(kinematics.lower_rad, kinematics.upper_rad, (40, kinematics.dof))
    tools = chain_frames(kinematics.offset, poses)[:, -1] @ kinematics.tool
    for q, tool in zip(poses, tools):
        data.qpos[model.jnt_qposadr[joints_of(model, robot)]] = q
        mujoco.mj_kinematics(model, data)
        base = data.body("base")
        rotation = base.xmat.reshape(3, 3).T
        np.testing.assert_allclose(rotation @ (data.site("tool").xpos - base.xpos), tool[:3, 3], atol=1e-7)
        np.testing.assert_allclose(rotation @ data.site("tool").xmat.reshape(3, 3), tool[:3, :3], atol=1e-7)


@pytest.mark.parametrize("name", ALL)
def test_self_collision_misses_no_contact_and_blocks_few_free_poses(name):
    robot, model = loaded(name)
    kinematics = robot.kinematics
    rng = np.random.default_rng(7)
    poses = rng.uniform(kinematics.lower_rad, kinematics.upper_rad, (1500, kinematics.dof))
    contacts = self_contacts(robot, model, poses)
    spheres = kinematics.spheres_at(robot.spec.gripper.opening_m[1])
    blocked = np.zeros(len(poses), bool)
    tested = [tuple(map(int, pair)) for pair in kinematics.self_pairs]
    for pair, slack in zip(tested, kinematics.self_slack_m):
        depth = np.concatenate([overlap(kinematics.offset, spheres, pair, part) for part in np.split(poses, 15)])
        blocked |= depth > slack
    touching = np.array([bool(c) for c in contacts])
    assert touching.sum() > 20
    assert {pair for c in contacts for pair in c} <= set(tested)
    assert not (touching & ~blocked).any()
    assert blocked[~touching].mean() < 0.08


def test_without_slack_many_more_free_poses_are_blocked():
    robot, model = loaded("franka")
    kinematics = robot.kinematics
    poses = np.random.default_rng(3).uniform(kinematics.lower_rad, kinematics.upper_rad, (600, kinematics.dof))
    free = poses[[not c for c in self_contacts(robot, model, poses)]]
    spheres = kinematics.spheres_at(1.0)
    depths = [overlap(kinematics.offset, spheres, tuple(map(int, p)), free) for p in kinematics.self_pairs]
    with_slack = np.any([d > s for d, s in zip(depths, kinematics.self_slack_m)], axis=0).mean()
    without = np.any([d > 0 for d in depths], axis=0).mean()
    assert with_slack < 0.7 * without


def test_the_fit_is_repeatable_and_what_the_bake_stored():
    robot, _ = loaded("franka")
    fitted = fit_kinematics(robot.xml_path, robot.spec)
    stored = robot.kinematics
    for gap, spheres in fitted.spheres.items():
        kept = stored.spheres_at(gap)
        np.testing.assert_allclose(spheres.center_m, kept.center_m, atol=1e-12)
        np.testing.assert_array_equal(spheres.finger, kept.finger)
    np.testing.assert_array_equal(fitted.self_pairs, stored.self_pairs)
    np.testing.assert_allclose(fitted.self_slack_m, stored.self_slack_m, atol=1e-12)


def test_a_spec_that_does_not_fit_the_model_is_refused():
    robot, _ = loaded("franka")
    spec = robot.spec
    for change, word in (
        ({"actuator": "nothing"}, "nothing"),
        ({"joints": ("nowhere",)}, "nowhere"),
        ({"table": ()}, "bake"),
    ):
        wrong = spec.model_copy(update={"gripper": spec.gripper.model_copy(update=change)})
        with pytest.raises(UsageError, match=word):
            fit_kinematics(robot.xml_path, wrong)
    with pytest.raises(UsageError, match="elbow"):
        fit_kinematics(robot.xml_path, spec.model_copy(update={"joints": ("elbow", *spec.joints[1:])}))


def test_spheres_at_clamps_and_interpolates():
    kinematics = loaded("franka")[0].kinematics
    gaps = sorted(kinematics.spheres)
    assert kinematics.spheres_at(9.0) is kinematics.spheres[gaps[-1]]
    assert kinematics.spheres_at(-1.0) is kinematics.spheres[gaps[0]]
    middle = kinematics.spheres_at(0.5 * (gaps[1] + gaps[2])).center_m
    np.testing.assert_allclose(
        middle, 0.5 * (kinematics.spheres[gaps[1]].center_m + kinematics.spheres[gaps[2]].center_m)
    )
    only = replace(kinematics, spheres={0.04: kinematics.spheres[gaps[0]]})
    assert only.spheres_at(0.01) is only.spheres[0.04]
