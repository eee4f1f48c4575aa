"""The judge of an episode against real physics: what must fail does, and a replay of the states gets the same grade."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from armwright.control.protocols import Guard
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery, Primitive, RegionName, RelationName
from armwright.sim.world import World
from armwright.skills.motion import move_straight, move_to_any
from armwright.skills.pick import pick
from armwright.skills.place import hold, place, release, tool_goals
from armwright.tasks.judge import EpisodeJudge, Graded
from skill_scenes import Bench, bench
from test_skills_pick import shove

PICK = Primitive(name="pick", object="mug")
PLACE = Primitive(name="place", object="mug", target="plate", relation="on")
HOLD = Primitive(name="hold", object="mug", target="plate", relation="above")


def grasp(region: RegionName) -> AffordanceQuery:
    return AffordanceQuery(object="mug", region=region, role="grasp")


def grade(
    stage: Bench, *primitives: Primitive, region: RegionName | None = "Graspable Handle", world: World | None = None
) -> Graded:
    """Grade the whole stream of a bench, on its own world or on another of the same objects."""
    where = world or stage.world
    queries = [grasp(region)] if region is not None else []
    judge = EpisodeJudge(primitives, queries, stage.models, where.arm.pose_world_base)
    for sample in stage.world.stream():
        where.set_state(time_s=sample.stamp_s, qpos=sample.qpos, qvel=sample.qvel, ctrl=sample.ctrl)
        judge.observe(where.truth)
    return judge.finish(where.truth)


@pytest.fixture
def held(session_of) -> Callable[..., Bench]:
    """Return a bench with a mug in the hand, picked at a region, a plate beside it."""

    def make(region: RegionName = "Graspable Handle") -> Bench:
        stage = bench(session_of("franka"), mug="mug", plate="plate")
        report = pick(stage.ctx, grasp(region))
        assert report.ok, report
        return stage

    return make


def carry(stage: Bench, beside_m: float, above_m: float, *, of: str = "plate") -> None:
    """Carry the mug upright to ``beside_m`` from the plate's middle, its bottom ``above_m`` over the plate's."""
    carried = stage.ctx.held
    assert carried is not None
    plate = stage.world.truth.pose(of)
    poses = []
    for angle in np.linspace(-np.pi, np.pi, 16, endpoint=False):
        xy = plate.position_m[:2] + beside_m * np.array([np.cos(angle), np.sin(angle)])
        poses.append(Pose(np.array([*xy, plate.position_m[2] + above_m]), carried.stand_pose_world.quat_wxyz))
    goals = tool_goals(stage.ctx, poses, carried.pose_tool_object, 0.0)
    moved, _ = move_to_any(stage.ctx, goals, name="carry")
    assert moved.ok, moved


def radius(stage: Bench, object_id: str) -> float:
    low, high = stage.models[object_id].bounds_m
    return float((high - low)[:2].max()) / 2


def plate_top(stage: Bench) -> float:
    return float(stage.models["plate"].supports[0].pose_object_surface.position_m[2])


def test_the_plain_case_succeeds_and_complies(held):
    stage = held()
    assert place(stage.ctx, "plate", "on").ok
    stage.world.clock.sleep(1.0)
    graded = grade(stage, PICK, PLACE)
    assert graded.success and graded.compliance is True and graded.detail == ""
    assert graded.shares["mug"] >= 0.8
    assert [s.primitive for s in graded.stages] == [PICK, PLACE]


def test_let_go_three_centimetres_beside_the_plate_fails(held):
    stage = held()
    carry(stage, radius(stage, "plate") + radius(stage, "mug") + 0.03, 0.03)
    release(stage.ctx)
    stage.world.clock.sleep(1.0)
    graded = grade(stage, PICK, PLACE)
    assert not graded.success
    assert "on(mug, plate)" in graded.detail and "table" in graded.detail


def test_left_on_the_rim_fails(held):
    stage = held()
    carry(stage, radius(stage, "plate") + 0.01, plate_top(stage) + 0.03)
    release(stage.ctx)
    stage.world.clock.sleep(1.5)
    graded = grade(stage, PICK, PLACE)
    assert not graded.success, stage.world.truth.pose("mug")


def test_still_in_the_hand_over_the_plate_fails(held):
    stage = held()
    carry(stage, 0.0, plate_top(stage) + 0.03)
    stage.world.clock.sleep(1.0)
    graded = grade(stage, PICK, PLACE)
    assert not graded.success and graded.detail.startswith("released(mug)")


def test_put_down_but_not_let_go_fails(held):
    stage = held()
    carry(stage, 0.0, plate_top(stage) + 0.02)
    assert move_straight(stage.ctx, (0.0, 0.0, -0.045), guard=Guard(contact_n=4.0), speed_m_s=0.06).status == "guard"
    stage.world.clock.sleep(1.0)
    assert stage.world.truth.supported_by("mug") == {"plate"}
    graded = grade(stage, PICK, PLACE)
    assert not graded.success and graded.detail.startswith("released(mug)")


def test_still_sliding_fails(held):
    stage = held()
    assert place(stage.ctx, "plate", "on").ok
    stage.world.clock.sleep(1.0)
    state, link = stage.world.snapshot(), stage.world.built.links["mug", "base"]
    qvel = state.qvel.copy()
    qvel[link.dof : link.dof + 2] = (0.05, 0.0)
    stage.world.set_state(time_s=state.time_s, qpos=state.qpos, qvel=qvel, ctrl=state.ctrl)
    judge = EpisodeJudge((PICK, PLACE), (), stage.models, stage.world.arm.pose_world_base)
    now = stage.world.snapshot()
    for sample in stage.world.stream():
        stage.world.set_state(time_s=sample.stamp_s, qpos=sample.qpos, qvel=sample.qvel, ctrl=sample.ctrl)
        judge.observe(stage.world.truth)
    stage.world.restore(now)
    graded = judge.finish(stage.world.truth)
    assert not graded.success and "still(mug)" in graded.detail


def test_knocked_over_on_the_plate_fails(held):
    stage = held()
    assert place(stage.ctx, "plate", "on").ok
    state, link = stage.world.snapshot(), stage.world.built.links["mug", "base"]
    qpos = state.qpos.copy()
    lying = Pose.from_rotation(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]))
    qpos[link.qpos + 2] += 0.05
    qpos[link.qpos + 3 : link.qpos + 7] = lying.quat_wxyz
    stage.world.set_state(time_s=state.time_s, qpos=qpos, qvel=0 * state.qvel, ctrl=state.ctrl)
    stage.world.clock.sleep(2.0)
    assert not grade(stage, PICK, PLACE).success


def test_the_right_place_by_the_wrong_part_succeeds_but_does_not_comply(held):
    stage = held("Graspable Body")
    assert place(stage.ctx, "plate", "on").ok
    stage.world.clock.sleep(1.0)
    graded = grade(stage, PICK, PLACE, region="Graspable Handle")
    assert graded.success and graded.compliance is False
    assert graded.shares["mug"] < 0.2
    assert grade(stage, PICK, PLACE, region="Graspable Body").compliance is True
    unasked = grade(stage, PICK, PLACE, region=None)
    assert unasked.success and unasked.compliance is None and unasked.shares == {}


def test_set_on_the_plate_by_nobody_is_no_pick(session_of):
    """The state at the end is right, but nothing was ever lifted."""
    stage = bench(session_of("franka"), mug="mug", plate="plate")
    plate = stage.world.truth.pose("plate").position_m
    mug = stage.world.truth.pose("mug").position_m
    state, link = stage.world.snapshot(), stage.world.built.links["mug", "base"]
    qpos = state.qpos.copy()
    qpos[link.qpos : link.qpos + 3] = [plate[0], plate[1], plate_top(stage) + mug[2] + 0.002]
    stage.world.set_state(time_s=state.time_s, qpos=qpos, qvel=state.qvel, ctrl=state.ctrl)
    stage.world.clock.sleep(1.0)
    assert grade(stage, PLACE, region=None).success, "the place alone is right"
    graded = grade(stage, PICK, PLACE)
    assert not graded.success and graded.detail.startswith("lifted(mug)")
    assert graded.compliance is False


def test_a_pick_must_end_in_the_air(held):
    stage = held()
    stage.world.clock.sleep(1.0)
    assert grade(stage, PICK).success
    release(stage.ctx)
    stage.world.clock.sleep(1.0)
    graded = grade(stage, PICK)
    assert not graded.success and "not held" in graded.detail


def test_holding_above_is_not_standing_on(held):
    stage = held()
    assert hold(stage.ctx, "plate", "above").ok
    assert grade(stage, PICK, HOLD).success
    assert not grade(stage, PICK, PLACE).success
    release(stage.ctx)
    stage.world.clock.sleep(1.0)
    assert not grade(stage, PICK, HOLD).success


@pytest.mark.parametrize("relation", ["left_of", "right_of"])
def test_the_wrong_side_fails(held, relation: RelationName):
    stage = held()
    assert place(stage.ctx, "plate", relation).ok
    stage.world.clock.sleep(1.0)
    other: RelationName = "right_of" if relation == "left_of" else "left_of"
    assert grade(stage, PICK, PLACE.model_copy(update={"relation": relation})).success
    assert not grade(stage, PICK, PLACE.model_copy(update={"relation": other})).success
    assert not grade(stage, PICK, PLACE).success


def test_pushed_away_during_the_last_second_fails(held):
    stage = held()
    assert place(stage.ctx, "plate", "on").ok
    stage.world.clock.sleep(0.5)
    shove(stage, "mug", -0.25, -0.25)
    stage.world.clock.sleep(1.0)
    assert not grade(stage, PICK, PLACE).success


def test_primitives_without_a_skill_never_succeed(held):
    stage = held()
    graded = grade(stage, PICK, Primitive(name="pour", object="mug"))
    assert not graded.success and "skill_not_available" in graded.detail


def test_what_has_no_hook_never_has_anything_hung_on_it(held):
    stage = held()
    assert place(stage.ctx, "plate", "on").ok
    stage.world.clock.sleep(1.0)
    graded = grade(stage, PICK, Primitive(name="hang", object="mug", target="plate", relation="on"))
    assert not graded.success and "no peg goes through its handle" in graded.detail


def test_pouring_what_held_nothing_never_succeeds(held):
    graded = grade(held(), PICK, Primitive(name="pour", object="mug", target="plate"))
    assert not graded.success and "held nothing" in graded.detail


def test_nothing_to_do_is_no_success(held):
    assert not grade(held()).success


@pytest.mark.parametrize("region", ["Graspable Handle", "Graspable Body"])
def test_a_replay_of_the_states_in_a_fresh_world_gets_the_same_grade(session_of, held, region: RegionName):
    stage = held(region)
    assert place(stage.ctx, "plate", "on").ok
    stage.world.clock.sleep(1.0)
    fresh = World(stage.world.scene, objects=stage.models, robot=session_of("franka").robot)
    first = grade(stage, PICK, PLACE)
    assert first == grade(stage, PICK, PLACE, world=fresh) == grade(stage, PICK, PLACE)
