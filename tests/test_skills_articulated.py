"""Open and close against real physics: the drawer that is meant, by the handle, shut again, and what stops them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armwright.affordance.registry import affordance_model
from armwright.assets.placement import TableBounds
from armwright.assets.scene import ObjectSpec, PoseSpec, SceneSpec
from armwright.core.errors import SceneError
from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.core.task import AffordanceQuery, Primitive
from armwright.generate.session import Session
from armwright.generate.solve import Workspace, solve_scene
from armwright.generate.swings import can_swing
from armwright.grasping.sources import grasp_source
from armwright.sim.oracle import OracleSource
from armwright.sim.world import World
from armwright.skills.articulated import open_part
from armwright.skills.context import SkillContext, SkillOptions
from armwright.skills.dispatch import perform
from armwright.skills.leaves import in_order, leaves_of
from armwright.skills.pusher import broad_pushers, hand_spheres, pushers
from armwright.skills.shut import close_part
from armwright.tasks.articulation import leaves, share_open
from armwright.tasks.judge import EpisodeJudge, Graded
from skill_scenes import bench

HANDLE = AffordanceQuery(object="it", region="Openable Handle", role="grasp")
UP = np.array([0.0, 0.0, 1.0])


def furniture(
    session: Session, category: str, *, instance: int = 2, front_m: float = 0.60, yaw: float = 0.3, **shares: float
) -> tuple[World, SkillContext]:
    """Return a cabinet or microwave before the arm, its links open by shares of their travel."""
    model = session.library.build(category, instance=instance)
    joints = {
        link.name: link.joint.range[0] + shares.get(link.name, 0.0) * (link.joint.range[1] - link.joint.range[0])
        for link in model.links
        if link.joint is not None
    }
    away = front_m - float(model.bounds_m[0][0])
    pose = Pose.from_yaw([away * np.cos(yaw), away * np.sin(yaw), 0.0], yaw)
    node = ObjectSpec(id="it", category=category, instance=instance, pose=PoseSpec.from_pose(pose), joints=joints)
    world = World(SceneSpec(objects=(node,)), objects={"it": model}, robot=session.robot, options=session.options)
    world.clock.sleep(0.3)
    session.planner.seed = 0
    session.planner.detach()
    space = Workspace.of(session.robot.spec)
    ctx = SkillContext(
        arm=world.arm,
        clock=world.clock,
        gripper=session.robot.spec.gripper,
        planner=session.planner,
        scene=OracleSource(world),
        affordance=affordance_model("oracle"),
        grasp_source=grasp_source("affordance"),
        rng=rng_for(0, "skills"),
        bounds=TableBounds(space.x_m, space.y_m),
        verifier=session.verifier,
    )
    return world, ctx


def share(world: World, link: str) -> float:
    joint = next(one.joint for one in world.objects["it"].links if one.name == link)
    assert joint is not None
    return share_open(joint, world.truth.joint("it", link))


def grade(world: World, *primitives: Primitive) -> Graded:
    world.clock.sleep(1.0)
    judge = EpisodeJudge(primitives, [HANDLE], world.objects, world.arm.pose_world_base)
    end = world.snapshot()
    for sample in world.stream():
        world.set_state(time_s=sample.stamp_s, qpos=sample.qpos, qvel=sample.qvel, ctrl=sample.ctrl)
        judge.observe(world.truth)
    world.restore(end)
    return judge.finish(world.truth)


@pytest.mark.parametrize("spot", ["middle", "top"])
def test_the_drawer_that_is_meant_is_pulled_open_by_its_handle(session_of, spot):
    world, ctx = furniture(session_of("franka"), "cabinet")
    report = open_part(ctx, HANDLE, which=spot)
    meant = leaves(world.objects["it"])[{"middle": 1, "top": -1}[spot]].name
    assert report.ok and report.data["link"] == meant and share(world, meant) > 0.6
    graded = grade(world, Primitive(name="open", object="it", spot=spot))
    assert graded.success and graded.compliance, graded


def test_a_door_opens_and_shuts_again(session_of):
    world, ctx = furniture(session_of("franka"), "microwave", instance=1)
    assert open_part(ctx, HANDLE).ok and share(world, "door") > 0.6
    report = close_part(ctx, HANDLE)
    assert report.ok and share(world, "door") < 0.02, report
    assert grade(world, Primitive(name="open", object="it"), Primitive(name="close", object="it")).success


def test_the_bottom_drawer_is_pushed_shut_and_nothing_else_moves(session_of):
    world, ctx = furniture(session_of("franka"), "cabinet", drawer_1=0.7)
    report = close_part(ctx, HANDLE)
    assert report.ok and share(world, "drawer_1") < 0.02, report
    assert grade(world, Primitive(name="close", object="it")).success


def test_what_is_shut_needs_no_push_and_what_is_open_no_pull(session_of):
    world, ctx = furniture(session_of("franka"), "microwave", instance=1)
    before = world.clock.now_s
    assert close_part(ctx, HANDLE).ok and world.clock.now_s == before
    world, ctx = furniture(session_of("franka"), "microwave", instance=1, door=0.9)
    before = world.clock.now_s
    assert open_part(ctx, HANDLE).ok and world.clock.now_s == before


def test_of_drawers_that_are_all_but_shut_the_one_that_is_not_is_closed(session_of):
    """An upper drawer within the stop's play comes before none that the judge would call open."""
    _, ctx = furniture(session_of("franka"), "cabinet", drawer_1=0.045, drawer_3=0.007)
    cloud, _, found = leaves_of(ctx, HANDLE)
    assert [leaf.link.name for leaf in in_order(found, cloud, opening=False)] == ["drawer_1"]


def test_each_drawer_that_is_meant_has_its_own_attempts_and_the_others_stay(session_of):
    world, ctx = furniture(session_of("franka"), "cabinet", drawer_1=0.3, drawer_3=0.5)
    ctx.options = SkillOptions(max_attempts=1)
    report = close_part(ctx, HANDLE, which="top")
    assert report.ok and share(world, "drawer_3") < 0.02 and share(world, "drawer_1") > 0.25, report
    assert report.data["attempts"] == 1
    world, ctx = furniture(session_of("franka"), "cabinet", drawer_1=0.3, drawer_3=0.5)
    ctx.options = SkillOptions(max_attempts=1)
    report = close_part(ctx, HANDLE)
    assert report.ok and report.data["attempts"] == 2, report


class Losing:
    """The true regions, none of which is seen any more on a drawer that is less open than a share."""

    name = "losing"

    def __init__(self, world: World, link: str, least: float) -> None:
        self._world, self._link, self._least = world, link, least
        self._true = affordance_model("oracle")

    def predict(self, cloud, query):
        mask = self._true.predict(cloud, query)
        if share(self._world, self._link) >= self._least:
            return mask
        return replace(mask, mask=mask.mask & (np.asarray(cloud.link) != self._link))


def test_a_region_that_is_lost_on_the_way_is_told(session_of):
    world, ctx = furniture(session_of("franka"), "cabinet", drawer_1=0.7)
    ctx.affordance = Losing(world, "drawer_1", 0.5)
    report = close_part(ctx, HANDLE)
    assert (report.ok, report.status) == (False, "no_region")
    assert "is seen on it near its stop" in report.detail and "still open: drawer_1" in report.detail


@pytest.mark.parametrize("name", ["open", "close"])
def test_what_has_no_leaf_is_told_before_anything_moves(session_of, name):
    stage = bench(session_of("franka"), kettle="kettle", banana="banana")
    before = stage.world.clock.now_s
    for thing, region in (("kettle", "Graspable Lid"), ("banana", "Graspable Body")):
        query = AffordanceQuery(object=thing, region=region, role="grasp")
        report = perform(stage.ctx, Primitive(name=name, object=thing), (), [query])
        assert (report.name, report.ok, report.status) == (f"{name} {thing}", False, "no_leaf")
        assert report.detail == f"{thing} has no hinged or sliding part, and no lid that comes off"
    assert stage.world.clock.now_s == before


def test_a_door_out_of_reach_is_refused_before_anything_moves(session_of):
    world, ctx = furniture(session_of("franka"), "microwave", front_m=1.2)
    before = world.truth.joint("it", "door")
    report = open_part(ctx, HANDLE)
    assert not report.ok and report.status == "no_arc" and world.truth.joint("it", "door") == pytest.approx(before)


def test_what_has_no_handle_is_told(session_of):
    _, ctx = furniture(session_of("franka"), "shelf")
    for act in (open_part, close_part):
        report = act(ctx, HANDLE)
        assert not report.ok and report.status == "no_region"


def test_leaves_open_along_their_joints(session_of):
    _, ctx = furniture(session_of("franka"), "cabinet", drawer_1=0.5)
    cloud, _, found = leaves_of(ctx, HANDLE)
    half = next(leaf for leaf in found if leaf.link.name == "drawer_1")
    assert half.share == pytest.approx(0.5, abs=0.02)
    assert np.allclose(half.opening_directions(cloud.points_m[half.own]), half.joint.axis)
    assert half.moved(half.joint.range[0]).position_m @ half.joint.axis == pytest.approx(-half.value)


@pytest.mark.parametrize("robot", ["franka", "ur5e"])
def test_a_finger_goes_first_when_the_hand_pushes(session_of, robot):
    kinematics = session_of(robot).planner.kinematics
    push = np.array([0.6, 0.8, 0.0])
    center, radius, finger = hand_spheres(kinematics, 0.0)
    found = pushers(kinematics, push, UP)
    assert found
    for one in found:
        tip = one.pose(np.zeros(3)).transform(one.tip_tool_m)
        reach = one.pose(np.zeros(3)).transform(center) @ push + radius
        assert np.allclose(tip, 0, atol=1e-9)
        assert reach[finger].max() == pytest.approx(0.0, abs=1e-6) and (reach[~finger] < 0).all()
    broad = broad_pushers(kinematics, push, UP, gap_m=0.03, tilts_rad=(0.9, 1.2), top_m=0.1)
    assert broad and all(abs(one.rotation[:, 1] @ push) < 1e-9 for one in broad)
    beside = broad_pushers(kinematics, push, UP, gap_m=0.03, tilts_rad=(0.9, 1.2), top_m=0.1, sides_rad=(0.5, -0.9))
    assert beside and all(abs(one.rotation[:, 1] @ push) < 1e-9 for one in beside)
    leaning = {round(float(one.rotation[:, 2] @ np.cross(UP, push)), 2) for one in beside}
    assert min(leaning) < -0.3 and max(leaning) > 0.3


@pytest.mark.parametrize(("spot", "fits"), [("top", True), ("bottom", False)])
def test_a_scene_is_refused_whose_drawer_leaves_no_room_for_the_hand(session_of, spot, fits):
    session = session_of("franka")
    world, ctx = furniture(session, "cabinet")
    step = Primitive(name="open", object="it", spot=spot)
    pose_base_object = ctx.pose_base(ctx.scene.pose_world("it"))
    assert can_swing(world.objects["it"], pose_base_object, [step], {}, session.follow) is fits
    shut = Primitive(name="close", object="it", spot=spot)
    assert can_swing(world.objects["it"], pose_base_object, [shut], {}, session.follow)


@pytest.mark.slow
def test_a_hand_too_wide_for_the_lowest_drawer_says_so_before_anything_moves(session_of):
    world, ctx = furniture(session_of("franka"), "cabinet")
    before = world.arm.state().target_rad
    report = open_part(ctx, HANDLE, which="bottom")
    assert not report.ok and report.status == "no_arc"
    assert np.allclose(world.arm.state().target_rad, before) and share(world, "drawer_1") == pytest.approx(0, abs=1e-3)


@pytest.mark.slow
def test_no_scene_is_made_of_a_drawer_that_the_hand_cannot_open(session_of, task):
    session = session_of("franka")
    parsed = task("open the bottom drawer of the cabinet")
    node = parsed.scene.objects[0].model_copy(update={"instance": 2})
    parsed = parsed.model_copy(update={"scene": parsed.scene.model_copy(update={"objects": (node,)})})
    with pytest.raises(SceneError, match="the arm cannot follow its arc"):
        solve_scene(parsed, session.library, seed=7, reach=session.reach, follow=session.follow)
