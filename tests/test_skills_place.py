"""Place and hold against a real arm: guarded lowering, release, refusals, and what guards do to motions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from armwright.assets.footprint import Footprint
from armwright.assets.library import default_library
from armwright.assets.placement import TableBounds
from armwright.control.protocols import Guard
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery
from armwright.planning.types import Obstacle, WorldSpec
from armwright.skills.context import SkillOptions
from armwright.skills.let_go import RELEASES_M, plan_release, straight
from armwright.skills.motion import move_straight, move_to_any
from armwright.skills.pick import pick
from armwright.skills.place import (
    _WayDown,
    grasp_key,
    hold,
    place,
    sunk_m,
    usable_for,
)
from armwright.skills.places import placement_poses, room_left
from armwright.skills.rank import tool_pose
from armwright.skills.verifying import clear_share, touching, verify_lift
from skill_scenes import Bench, bench
from test_skills_pick import shove

BLOCK = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05)])

PLACES = ((0.55, 0.0), (0.40, -0.28), (0.65, 0.30), (0.35, 0.30))


def picked(stage: Bench, object_id: str) -> Bench:
    """Return the bench with an object in the hand."""
    query = AffordanceQuery(object=object_id, region="Graspable Body", role="grasp")
    report = pick(stage.ctx, query)
    assert report.ok, report
    return stage


@pytest.mark.parametrize(("skill", "name"), [(place, "place"), (hold, "hold")])
def test_nothing_in_the_hand_is_refused_without_a_motion(session_of, skill, name):
    stage = bench(session_of("franka"), can="can", plate="plate")
    before = stage.world.clock.now_s
    report = skill(stage.ctx, "plate", "on")
    assert (report.name, report.ok, report.status) == (name, False, "nothing_held")
    assert stage.world.clock.now_s == before


def test_placing_lowers_until_contact_and_lets_go(session_of):
    stage = picked(bench(session_of("franka"), can="can", plate="plate"), "can")
    report = place(stage.ctx, "plate", "on")
    assert report.ok and report.status == "done", report
    stage.world.clock.sleep(1.0)
    truth = stage.world.truth
    assert truth.supported_by("can") == {"plate"} and not truth.touched_by_robot("can")
    assert stage.ctx.held is None
    wanted = np.array(report.data["pose"][:3])
    assert np.linalg.norm((truth.pose("can").position_m - wanted)[:2]) < 0.015
    assert np.linalg.norm(truth.velocity("can")[0]) < 0.01


def test_the_descent_does_not_press_the_object_into_the_table(session_of):
    """The guard ends the descent: never is the can pushed up by much more than its weight and the guard's force."""
    stage = picked(bench(session_of("franka"), can="can", plate="plate"), "can")
    began = stage.world.clock.now_s
    assert place(stage.ctx, None, "on").ok
    world, pushes = stage.world, []
    for sample in world.stream(began):
        world.set_state(time_s=sample.stamp_s, qpos=sample.qpos, qvel=sample.qvel, ctrl=sample.ctrl)
        contacts = [c for c in world.truth.contacts() if set(c.objects) == {"can", "table"}]
        pushes.append(sum(abs(float(c.force_n[2])) for c in contacts))
    weight = 9.81 * stage.models["can"].mass_kg
    assert weight * 0.5 < max(pushes) < weight + 25.0
    assert stage.world.truth.pose("can").position_m[2] == pytest.approx(0.0, abs=0.003)


def test_no_room_is_said_and_nothing_is_dropped(session_of):
    stage = picked(bench(session_of("franka"), can="can", cube="cube"), "can")
    report = place(stage.ctx, "cube", "in")
    assert (report.ok, report.status) == (False, "no_place")
    assert "cube" in report.detail
    assert stage.ctx.held is not None and stage.world.truth.is_held("can")


def test_no_room_leaves_the_choice_of_grasp_free(session_of):
    stage = bench(session_of("franka"), can="can", cube="cube", plate="plate")
    assert usable_for(stage.ctx, "can", "cube", "in", gap_m=0.02) is None
    assert usable_for(stage.ctx, "can", "plate", "on", gap_m=0.02) is not None


def test_a_place_out_of_reach_is_said(session_of):
    stage = picked(bench(session_of("franka"), places={"plate": (1.0, 0.65)}, can="can", plate="plate"), "can")
    report = place(stage.ctx, "plate", "on")
    assert (report.ok, report.status) == (False, "ik_fail")
    assert report.detail == "none of 12 poses can be reached"


@pytest.mark.parametrize("skill", [place, hold])
def test_what_was_knocked_out_of_the_hand_is_reported(session_of, skill):
    stage = picked(bench(session_of("franka"), can="can", tray="tray"), "can")
    shove(stage, "can", 0.0, -0.35)
    stage.world.clock.sleep(0.3)
    report = skill(stage.ctx, "tray", "on" if skill is place else "above")
    assert (report.ok, report.status) == (False, "dropped")


def test_holding_keeps_it_there(session_of):
    stage = picked(bench(session_of("franka"), can="can", tray="tray"), "can")
    began = stage.world.clock.now_s
    report = hold(stage.ctx, "tray", "above")
    assert report.ok and report.status == "done"
    assert stage.world.clock.now_s - began >= stage.ctx.options.hold_s
    assert stage.world.truth.is_held("can") and not stage.world.truth.supported_by("can")
    assert stage.ctx.held is not None


def test_holding_where_it_is_does_not_travel(session_of):
    stage = picked(bench(session_of("franka"), can="can"), "can")
    before = stage.world.truth.pose("can")
    assert hold(stage.ctx, None, None).ok
    assert stage.world.truth.pose("can").distance_to(before) < 0.004


def test_placements_avoid_other_objects(session_of):
    stage = bench(session_of("franka"), can="can", tray="tray", mug="mug")
    stand = stage.ctx.scene.pose_world("can")
    mug = stage.ctx.scene.pose_world("mug")
    poses = placement_poses(stage.ctx, "can", None, "on", stand=stand)
    assert poses and all(np.linalg.norm((p.position_m - mug.position_m)[:2]) > 0.06 for p in poses)


def test_placements_avoid_what_the_object_leaves_behind(session_of):
    stage = bench(session_of("franka"), places={"kettle": (0.5, 0.0)}, kettle="kettle")
    ctx, stand = stage.ctx, stage.ctx.scene.pose_world("kettle")
    assert ctx.scene.model("kettle").left_behind == {"stand"}
    ctx.bounds = TableBounds(x_m=(0.3, 0.7), y_m=(-0.2, 0.2))
    poses = placement_poses(ctx, "kettle", None, "on", stand=stand)
    assert poses and all(np.linalg.norm((p.position_m - stand.position_m)[:2]) > 0.12 for p in poses)


def test_a_contact_guard_stops_a_descent_on_the_table(session_of):
    stage = bench(session_of("franka"), places={"can": (0.45, 0.4)}, can="can")
    arm = stage.world.arm
    arm.grip(width_m=0.0)
    down = arm.state().pose_base_tool.position_m[2]
    report = move_straight(stage.ctx, (0.0, 0.0, -down - 0.05), guard=Guard(contact_n=8.0), speed_m_s=0.1)
    assert report.ok and report.status == "guard"
    assert abs(arm.state().pose_base_tool.position_m[2]) < 0.02, "it stops at the table's top"
    free = move_straight(stage.ctx, (0.0, 0.0, 0.10), guard=Guard(distance_m=0.03))
    assert free.status == "guard"
    timed = move_straight(stage.ctx, (0.0, 0.0, 0.10), guard=Guard(timeout_s=0.1))
    assert timed.status == "guard"
    done = move_straight(stage.ctx, (0.0, 0.0, 0.02), guard=Guard(contact_n=8.0, distance_m=0.5, timeout_s=9.0))
    assert done.ok and done.status == "done"


def test_a_blocked_straight_motion_is_not_reached(session_of):
    stage = bench(session_of("franka"), places={"can": (0.45, 0.4)}, can="can")
    stage.world.arm.grip(width_m=0.0)
    down = stage.world.arm.state().pose_base_tool.position_m[2]
    report = move_straight(stage.ctx, (0.0, 0.0, -down - 0.06), speed_m_s=0.1)
    assert not report.ok and report.status in ("not_reached", "no_ik"), report


def test_moves_to_poses_name_what_is_wrong(session_of):
    stage = bench(session_of("franka"), can="can")
    stage.ctx.planner.set_world(stage.ctx.scene.world_spec())
    down = np.array([0.0, 1.0, 0.0, 0.0])
    far, chosen = move_to_any(stage.ctx, [Pose(np.array([2.0, 0.0, 0.5]), down)], name="far")
    assert (far.ok, far.status, chosen) == (False, "ik_fail", -1)
    below, chosen = move_to_any(stage.ctx, [Pose(np.array([0.45, 0.2, -0.06]), down)], name="below")
    assert (below.ok, below.status, chosen) == (False, "goal_collision", -1)
    assert "with table" in below.detail or "table with" in below.detail, below.detail
    wanted = [Pose(np.array([2.0, 0.0, 0.5]), down), Pose(np.array([0.45, 0.2, 0.3]), down)]
    there, chosen = move_to_any(stage.ctx, wanted, name="there")
    assert there.ok and chosen == 1
    assert stage.world.arm.state().pose_base_tool.distance_to(wanted[1]) < 0.01


def test_a_hand_opens_less_beside_something_and_leaves_where_it_is_free(session_of):
    """Walls are let down around the opened fingers until only a narrower gap is free, and then none."""
    stage = picked(bench(session_of("franka"), verified=True, can="can"), "can")
    ctx, q = stage.ctx, stage.ctx.arm.state().target_rad
    assert plan_release(ctx, q).extra_m == RELEASES_M[0]
    tool, gap = ctx.arm.state().pose_base_tool, ctx.arm.state().opening_m
    found = []
    for room in (0.10, 0.020, 0.016, 0.0):
        # A finger's outer side is some way from its pad; walls move in from there.
        walls = [
            Obstacle(f"wall{side}", tool @ Pose([0.0, side * (0.5 * gap + 0.016 + 0.5 * room + 0.05), 0.04]), (BLOCK,))
            for side in (-1, 1)
        ]
        ctx.held.world, ctx.held.verifier = WorldSpec(tuple(walls)), None
        release = plan_release(ctx, q)
        found.append(None if release is None else release.extra_m)
    assert found[0] == RELEASES_M[0] and found[-1] is None
    known = [extra for extra in found if extra is not None]
    assert known == sorted(known, reverse=True)


def test_a_lift_into_something_is_refused_before_anything_moves(session_of):
    """The board is hidden from grasps and planner; the verifier alone knows what the lift would meet."""
    stage = bench(session_of("franka"), verified=True, can="can")
    ctx, began = stage.ctx, stage.world.clock.now_s
    q = ctx.arm.state().target_rad
    ctx.planner.set_world(ctx.scene.world_spec(targets=("can",)))
    path = straight(ctx, q, np.array([0.0, 0.0, 0.1]))
    pose_tool_can = ctx.arm.state().pose_base_tool.inverse() @ ctx.pose_base(ctx.scene.pose_world("can"))
    free = verify_lift(ctx, path, object_id="can", pose_tool_object=pose_tool_can, opening_m=0.06)
    assert free.ok and clear_share(path, free) == 1.0
    top = ctx.scene.pose_world("can").position_m + np.array([0.0, 0.0, stage.models["can"].bounds_m[1][2] + 0.06])
    roof = Obstacle("roof", ctx.pose_base(Pose(top)), (BLOCK * [1.0, 1.0, 0.2],))
    spec = ctx.planner.world
    ctx.planner.set_world(WorldSpec((*spec.obstacles, roof), spec.targets))
    refused = verify_lift(ctx, path, object_id="can", pose_tool_object=pose_tool_can, opening_m=0.06)
    assert not refused.ok and "roof" in refused.colliding and 0.0 < clear_share(path, refused) < 0.6
    assert stage.world.clock.now_s == began


def test_what_an_object_stands_on_is_what_its_hulls_meet(session_of):
    stage = bench(session_of("franka"), can="can", plate="plate")
    world = stage.ctx.scene.world_spec()
    assert touching(world, frozenset({"can"})) == {"table"}


def test_the_places_that_a_grasp_was_chosen_for_are_among_those_offered(session_of):
    stage = bench(session_of("franka"), mug="apple", plate="bowl")
    query = AffordanceQuery(object="mug", region="Graspable Body", role="grasp")
    serves = usable_for(stage.ctx, "mug", "plate", "in", gap_m=stage.ctx.options.place_gap_m)
    assert pick(stage.ctx, query, usable=serves).ok
    tested = tool_pose(stage.ctx, stage.ctx.held.candidate).inverse()
    foreseen = stage.ctx.foreseen["mug", "plate", "in"][grasp_key(tested)]
    assert foreseen
    assert serves(Pose([0.0, 0.0, 3.0])) == 0.0, "another grasp, tested after it, serves nothing"
    report = place(stage.ctx, "plate", "in")
    assert report.ok and int(report.detail.split()[-1]) > len(foreseen)
    assert not stage.ctx.foreseen.get(("mug", "plate", "in"))


def test_places_in_a_container_are_found_though_something_lies_in_it_and_more_is_to_come(session_of):
    stage = bench(
        session_of("franka"), fruit="apple", bowl="bowl", other="lemon", places={"other": (0.50, 0.20, 0.05)}, seed=1
    )
    stand = stage.ctx.scene.pose_world("fruit")
    assert placement_poses(stage.ctx, "fruit", "bowl", "in", stand=stand, then=("other",))


def test_a_way_down_that_the_arm_cannot_go_to_its_end_is_none(session_of):
    stage = bench(session_of("franka"), options=SkillOptions(place_gap_m=1.5), mug="mug")
    q_rad = stage.ctx.arm.state().target_rad
    short = straight(stage.ctx, q_rad, np.array([0.0, 0.0, -0.02]))
    assert sunk_m(stage.ctx, short) == pytest.approx(0.02, abs=1e-4)
    assert 0.1 < sunk_m(stage.ctx, straight(stage.ctx, q_rad, np.array([0.0, 0.0, -1.5]))) < 1.4
    assert "reach ends" in _WayDown(stage.ctx, ("table",), drop=False).objection(q_rad, 0)


@pytest.mark.slow
def test_the_first_of_several_leaves_room_for_all_that_come_after_it():
    """In the middle of a tray a cup leaves room for another, and none for the bowl that comes last."""
    build = default_library().build
    models = {"tray": build("tray", instance=17), "a": build("cup", instance=4), "b": build("cup", instance=20)}
    models["bowl"] = build("bowl", instance=2)
    stands = {name: Pose([x, y, 0.0]) for name, (x, y) in zip(models, PLACES, strict=True)}
    scene = SimpleNamespace(model=models.__getitem__, pose_world=stands.__getitem__, objects=lambda: tuple(models))
    ctx = SimpleNamespace(scene=scene, rng=np.random.default_rng(1), bounds=None)

    def room(pose: Pose) -> int:
        return room_left(ctx, ("b", "bowl"), "tray", "on", [Footprint.from_model(models["a"], pose)])

    assert room(Pose([0.55, 0.0, 0.0])) == 1
    first = placement_poses(ctx, "a", "tray", "on", stand=stands["a"], then=("b", "bowl"))
    assert first and {room(pose) for pose in first} == {2}
