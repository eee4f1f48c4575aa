"""Tests of hanging: the skill on a real mug and rack, what it sees, the predicate's near misses, the shake."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from armwright.affordance.holes import hole_of
from armwright.affordance.pegs import pegs_of
from armwright.affordance.protocol import ObjectCloud
from armwright.affordance.registry import affordance_model
from armwright.assets.cloud import sample_cloud
from armwright.assets.library import default_library
from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery, Primitive
from armwright.generate.episode import EpisodeRequest, run_episode
from armwright.skills.hooking import ways_to_hook
from armwright.tasks.evidence import observe
from armwright.tasks.hanging import hung, hung_objects, pierces

SENTENCE = "hang the red mug on the mug rack"


@pytest.fixture(scope="module")
def episode(session_of, task):
    return run_episode(session_of("franka"), EpisodeRequest(parsed=task(SENTENCE), seed=7000))


@pytest.fixture(scope="module")
def evidence(episode):
    return observe(episode.world.truth, episode.world.objects, episode.world.arm.pose_world_base)


def _seen(category, region, instance=0, n=20_000):
    model = default_library().build(category, instance=instance, attributes={})
    points, normals, part, link = sample_cloud(model, n, rng=np.random.default_rng(0))
    cloud = ObjectCloud(category, category, points, normals, part, link)
    return model, cloud, affordance_model("oracle").predict(cloud, _query(category, region))


def _query(category, region):
    return AffordanceQuery(object=category, region=region, role="use")


def test_a_mug_hangs_by_its_handle_after_a_shake(episode):
    assert episode.success, episode.graded.detail
    assert [s.name.split()[0] for s in episode.stages] == ["pick", "hang"]
    (shake,) = episode.shakes
    released = episode.times_s[-1][1]
    assert shake.object_id == "mug_1" and released < shake.start_s < shake.end_s < episode.world.clock.now_s
    assert episode.world.truth.touching("mug_1") == {"mug_rack_1"}


def _changed(evidence, **changes):
    mug = replace(evidence.objects["mug_1"], **changes)
    return replace(evidence, objects={**evidence.objects, "mug_1": mug})


def test_hung_fails_on_near_misses(evidence):
    assert hung(evidence, "mug_1", "mug_rack_1").ok
    pose = evidence.objects["mug_1"].pose_world
    rack = evidence.objects["mug_rack_1"].pose_world
    held = _changed(evidence, held=True, touched=True, touching=frozenset({"mug_rack_1", "robot"}))
    assert "robot" in hung(held, "mug_1", "mug_rack_1").detail
    both = frozenset({"mug_rack_1", "table"})
    leaning = _changed(
        evidence, pose_world=Pose(rack.position_m + np.array([0.08, 0, 0])), touching=both, supported_by=both
    )
    assert "table" in hung(leaning, "mug_1", "mug_rack_1").detail
    table = frozenset({"table"})
    lying = _changed(evidence, pose_world=Pose([0.4, 0, 0.04]), touching=table, supported_by=table)
    assert not hung(lying, "mug_1", "mug_rack_1").ok
    nothing = frozenset()
    assert not hung(_changed(evidence, touching=nothing, supported_by=nothing), "mug_1", "mug_rack_1").ok
    for step in np.eye(3):
        for sign in (-1.0, 1.0):
            if abs(step[2]) and sign < 0:
                continue  # the handle is longer than that: the peg is still inside
            beside = _changed(evidence, pose_world=Pose(pose.position_m + 0.12 * sign * step, pose.quat_wxyz))
            assert "no peg" in hung(beside, "mug_1", "mug_rack_1").detail


def test_the_judge_wants_what_hangs_to_be_released_and_at_rest(episode, evidence):
    from armwright.tasks.judge import EpisodeJudge

    parsed = episode.request.parsed
    judge = EpisodeJudge(parsed.primitives, parsed.queries, episode.world.objects, episode.world.arm.pose_world_base)
    hanging = parsed.primitives[-1]
    assert judge._judge(evidence, hanging, 1).ok
    swinging = _changed(evidence, speed_m_s=0.1)
    assert judge._judge(swinging, hanging, 1).predicate == "still(mug_1)"
    held = _changed(evidence, touched=True)
    assert judge._judge(held, hanging, 1).predicate == "released(mug_1)"


@pytest.mark.parametrize(("category", "low", "high"), [("mug", 0.0115, 0.018), ("tape", 0.012, 0.022)])
@pytest.mark.parametrize("instance", [0, 1, 2])
def test_the_hole_is_where_light_shines_through(category, low, high, instance):
    model, cloud, mask = _seen(category, "Hanging Handle", instance)
    hole = hole_of(cloud, mask)
    assert hole is not None and low < hole.radius_m < high
    line = hole.center_m + np.linspace(-0.2, 0.2, 801)[:, None] * hole.normal
    inside = [np.linalg.norm(cloud.points_m - point, axis=1).min() for point in line]
    assert min(inside) > 0.85 * hole.radius_m
    assert hole.holds(hole.center_m) and not hole.holds(hole.center_m + 0.3 * np.cross(hole.normal, [0.3, 0.5, 0.8]))
    if category == "mug":
        assert abs(hole.normal[1]) > 0.99 and hole.center_m[0] > model.params["base_radius_m"]


def test_a_region_that_encloses_nothing_has_no_hole():
    for category, region in (("pan", "Graspable Handle"), ("mug", "Graspable Body"), ("knife", "Graspable Handle")):
        _, cloud, mask = _seen(category, region)
        assert hole_of(cloud, mask) is None


@pytest.mark.parametrize("instance", [0, 1, 2])
def test_a_rack_has_three_pegs_that_rise_outwards(instance):
    model, cloud, mask = _seen("mug_rack", "Hook", instance)
    pegs = pegs_of(cloud, mask)
    assert len(pegs) == 3
    for peg in pegs:
        assert abs(peg.radius_m - model.params["hook_radius_m"]) < 0.001
        assert np.hypot(*peg.line_m[0, :2]) < 0.02 < 0.05 < np.hypot(*peg.line_m[-1, :2])
        assert (np.diff(peg.line_m[:, 2]) > 0).all()
    assert pegs_of(cloud, replace(mask, mask=np.zeros_like(mask.mask))) == []


def test_ways_over_a_peg_end_pierced_and_begin_beside_it():
    _, mug, handle = _seen("mug", "Hanging Handle")
    _, rack, hook = _seen("mug_rack", "Hook")
    hole, pegs = hole_of(mug, handle), pegs_of(rack, hook)
    found = ways_to_hook(hole, pegs, mug.points_m, rack.points_m)
    assert len(found.drop_m) > 20 and (found.drop_m >= 0).all()
    for way in found.poses_world_object:
        assert not any(pierces(peg.line_m, hole.at(Pose.from_matrix(way[0]))) for peg in pegs)
        assert any(pierces(peg.line_m, hole.at(Pose.from_matrix(way[-1]))) for peg in pegs)
    narrow = replace(hole, radius_m=0.004)
    assert len(ways_to_hook(narrow, pegs, mug.points_m, rack.points_m).drop_m) == 0


def test_only_what_a_task_leaves_hanging_is_shaken():
    def step(name, **more):
        return Primitive(name=name, object="m", **more)

    hang = step("hang", target="r", relation="on")
    assert hung_objects([step("pick"), hang]) == ("m",)
    assert hung_objects([step("pick"), hang, step("pick"), step("place", relation="on")]) == ()
    assert hung_objects([step("pick")]) == ()


def test_a_shake_moves_one_object_and_is_over_in_time(episode):
    world = episode.world
    state, before = world.snapshot(), world.truth.pose("mug_1")
    shake = world.truth.shake("mug_1")
    world.clock.sleep(0.1)
    assert np.count_nonzero(world.truth.data.xfrc_applied.any(axis=1)) == 1
    assert world.truth.pose("mug_1").distance_to(before) > 0.002
    world.clock.sleep(shake.end_s - world.clock.now_s + 0.01)
    assert not world.truth.data.xfrc_applied.any()
    world.restore(state)


def test_what_is_fixed_cannot_be_shaken(episode):
    with pytest.raises(UsageError, match="mug_rack_1 is fixed"):
        episode.world.truth.shake("mug_rack_1")


@pytest.mark.slow
def test_a_replay_shakes_alike(cli, tmp_path):
    made = cli("generate", SENTENCE, "-n", 1, "--seed", 7, "--out", tmp_path / "set", "--no-images", "--json")
    assert made.code in (0, 1), made.err
    ran = cli("dataset", "replay", tmp_path / "set", "--json")
    report = json.loads(ran.out)
    assert (report["states_identical"], report["actions_same_grade"]) == (1, 1), report["different"]
