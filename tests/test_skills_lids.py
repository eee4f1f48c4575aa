"""Loose lids: parts of their own while they are off, put on and taken off, and what does not count as either."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armwright.assets.library import default_library
from armwright.assets.parts import is_seated, loose_lids, part_model, seat_poses, without
from armwright.assets.scene import ObjectSpec, ParsedTask, PoseSpec, SceneSpec
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery, Primitive
from armwright.generate.solve import solve_scene
from armwright.generate.swings import start_joints
from armwright.sim.oracle import OracleSource
from armwright.sim.world import World
from armwright.skills.dispatch import perform
from armwright.skills.places import placement_poses
from armwright.tasks.evidence import Evidence, ObjectEvidence, observe
from armwright.tasks.judge import EpisodeJudge
from armwright.tasks.lids import LidWatch, lid_closed, lid_opened, lids_resting
from sim_scenes import at, franka
from skill_scenes import bench

POT = default_library().build("pot", instance=3)
LID = POT.links[1]
QUERY = AffordanceQuery(object="pot", region="Graspable Lid", role="grasp")
# A lid that lies on the table stands on its plug.
LOW_M = -float(LID.vertices_m[:, 2].min())


def shifted(x: float = 0.0, z: float = 0.0, tilt: float = 0.0, yaw: float = 0.0) -> Pose:
    tip = Pose(np.zeros(3), np.array([np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0]))
    return Pose(np.array([x, 0.0, z])) @ tip @ Pose.from_yaw(np.zeros(3), yaw)


def seen(lid: Pose, *, root: Pose | None = None, speed: float = 0.0) -> Evidence:
    root = root or Pose()
    one = ObjectEvidence(root, 0.0, 0.0, frozenset({"table"}), False, False, POT)
    return Evidence({"pot": replace(one, loose={"lid": lid}, loose_speeds={"lid": speed})}, Pose())


@pytest.mark.parametrize("category", ["pot", "teapot", "jar"])
def test_loose_lids_are_those_that_the_region_is_on(category):
    model = default_library().build(category, instance=1)
    (lid,) = loose_lids(model)
    assert part_model(model, "lid") is part_model(model, "lid") and part_model(model, "lid").links[0].name == "lid"
    assert [link.name for link in without(model, {"lid"}).links] == ["base"] and without(model, set()) is model
    # A round lid may be turned at will, and every turn is a seat.
    assert len(seat_poses(lid)) > 12 and all(is_seated(lid, pose) for pose in seat_poses(lid))


@pytest.mark.parametrize("category", ["kettle", "microwave", "mug", "can"])
def test_what_only_stands_apart_hinges_or_is_fast_is_no_loose_lid(category):
    assert loose_lids(default_library().build(category, instance=1)) == ()


@pytest.mark.parametrize("lid", [shifted(x=0.012), shifted(z=0.004), shifted(tilt=0.08), shifted(x=0.3, z=LOW_M)])
def test_a_lid_that_lies_askew_is_not_on(lid):
    assert lid_closed(seen(shifted(yaw=2.0)), "pot").ok
    assert not lid_closed(seen(lid), "pot").ok


def test_a_lid_is_off_when_it_lies_beside_the_right_way_up():
    assert lid_opened(seen(shifted(x=0.3, z=LOW_M)), "pot").ok
    assert not lid_opened(seen(shifted(x=0.05, z=0.004, tilt=0.1)), "pot").ok
    assert not lid_opened(seen(shifted(x=0.9, z=LOW_M - 0.4)), "pot").ok  # It lies on the floor.
    assert not lid_opened(seen(shifted(x=0.3, z=0.2, tilt=np.pi)), "pot").ok
    assert not lid_opened(seen(shifted()), "pot").ok


def test_a_toppled_pot_and_a_lid_that_rolls_count_as_nothing():
    toppled = shifted(tilt=np.pi / 2)
    assert not lid_closed(seen(toppled, root=toppled), "pot").ok
    assert not lid_opened(seen(shifted(x=0.3, z=LOW_M), root=toppled), "pot").ok
    assert (
        lids_resting(seen(shifted(), speed=0.001), "pot").ok and not lids_resting(seen(shifted(), speed=0.1), "pot").ok
    )


def apart() -> World:
    laid = PoseSpec(position_m=(0.5, -0.2, LOW_M))
    node = ObjectSpec(id="pot", category="pot", instance=3, pose=at(0.5, 0.2), parts={"lid": laid})
    return World(SceneSpec(objects=(node,)), objects={"pot": POT}, robot=franka())


def test_a_lid_off_its_seat_is_a_thing_of_its_own():
    scene = OracleSource(apart())
    assert scene.objects() == ("pot", "pot/lid")
    assert scene.pose_world("pot/lid").position_m[1] == pytest.approx(-0.2)
    assert [link.name for link in scene.model("pot").links] == ["base"]
    assert set(scene.cloud("pot").link) == {"base"} and set(scene.cloud("pot/lid").link) == {"lid"}
    assert scene.mass_kg("pot/lid") == pytest.approx(LID.mass_kg)
    assert {o.name for o in scene.world_spec(exclude=("pot/lid",)).obstacles} == {"table", "pot"}
    assert {o.name for o in scene.world_spec(exclude=("pot",)).obstacles} == {"table", "pot/lid"}


def test_a_lid_on_its_seat_can_be_asked_for_but_belongs_to_its_pot(session_of):
    stage = bench(session_of("franka"), pot="pot")
    scene = stage.ctx.scene
    assert scene.objects() == ("pot",) and len(scene.model("pot").links) == 2
    assert {o.name for o in scene.world_spec(exclude=("pot/lid",)).obstacles} == {"table", "pot"}
    assert {o.name for o in scene.world_spec(exclude=("pot",)).obstacles} == {"table"}
    poses = placement_poses(stage.ctx, "pot/lid", "pot", "on", stand=scene.pose_world("pot/lid"))
    assert poses[0].distance_to(scene.pose_world("pot")) < 0.002


def test_what_is_to_be_covered_starts_with_its_lid_beside(session_of):
    session = session_of("franka")
    scene = SceneSpec(objects=(ObjectSpec(id="pot", category="pot", manipulated=True),))
    for name, off in (("close", True), ("open", False)):
        task = ParsedTask(sentence="", scene=scene, primitives=(Primitive(name=name, object="pot"),), queries=(QUERY,))
        solved = solve_scene(task, session.library, seed=4, reach=session.reach)
        (node,) = solved.scene.objects
        assert bool(node.parts) is off and len(solved.objects["pot"].links) == 2
        if off:
            lid = loose_lids(solved.objects["pot"])[0]
            low = node.parts["lid"].to_pose().transform(lid.vertices_m)[:, 2].min()
            assert low == pytest.approx(0.0, abs=1e-6)


class _Still:
    """A pot that stands, with its lid somewhere at rest."""

    def __init__(self, lid: Pose) -> None:
        self.lid = lid

    def pose(self, object_id: str, link: str = "") -> Pose:
        return self.lid if link else Pose()

    def velocity(self, object_id: str, link: str = ""):
        return np.zeros(3), np.zeros(3)

    def is_held(self, object_id: str) -> bool:
        return False

    def pad_contacts(self, object_id: str):
        return {}


def test_a_nudged_lid_was_not_taken_off_and_one_that_was_off_is_not_opened():
    on, aside = shifted(), shifted(x=0.3, z=LOW_M)
    watch = LidWatch(POT, Pose(), {"lid": on})
    watch.observe(_Still(shifted(x=0.012)), "pot")
    assert not watch.was_open(None, 0.0) and not watch.is_open(None)
    watch.observe(_Still(aside), "pot")
    assert watch.was_open(None, 0.0) and watch.is_open(None)
    watch = LidWatch(POT, Pose(), {"lid": aside})
    watch.observe(_Still(aside), "pot")
    assert not watch.was_shut and not watch.is_open(None)
    watch.observe(_Still(on), "pot")
    assert watch.was_shut and watch.is_shut_again(None)


def test_a_lid_that_is_off_is_looked_at_on_the_whole_as_it_was_made():
    scene = OracleSource(apart())
    whole = scene.canonical("pot/lid")
    assert set(whole.link) == {"base", "lid"} and whole.category == "pot"
    lid = whole.points_m[whole.link == "lid"]
    assert lid[:, 2].max() > whole.points_m[whole.link == "base"][:, 2].max()


@pytest.mark.slow
def test_a_lid_is_laid_beside_its_pot_and_put_on_again(session_of):
    stage = bench(session_of("franka"), places={"pot": (0.5, 0.0)}, verified=True, pot="pot")
    world, ctx = stage.world, stage.ctx
    steps = (Primitive(name="open", object="pot"), Primitive(name="close", object="pot"))
    for k, check in enumerate((lid_opened, lid_closed)):
        judge = EpisodeJudge(steps[k : k + 1], [QUERY], world.objects, world.arm.pose_world_base)
        begun = world.clock.now_s
        report = perform(ctx, steps[k], steps[k + 1 :], [QUERY])
        assert report.ok, report
        world.clock.sleep(1.0)
        assert check(observe(world.truth, world.objects, world.arm.pose_world_base), "pot").ok
        now = world.snapshot()
        for sample in world.stream(begun - 1e-9):
            world.set_state(time_s=sample.stamp_s, qpos=sample.qpos, qvel=sample.qvel, ctrl=sample.ctrl)
            judge.observe(world.truth)
        graded = judge.finish(world.truth)
        world.restore(now)
        assert graded.success and graded.compliance, graded
        again = perform(ctx, steps[k], (), [QUERY])
        assert again.ok and again.status == "done" and ("off already" in again.detail or "is on" in again.detail)


@pytest.mark.parametrize(
    ("steps", "share"),
    [
        (["place"], (0.85, 0.95)),
        (["place", "close"], (0.85, 0.95)),
        (["open", "place"], (0.0, 0.0)),
        (["close", "open", "place"], (0.45, 0.85)),
    ],
)
def test_what_is_loaded_before_it_is_opened_starts_wide_open(steps, share):
    names = {"place": {"object": "can", "target": "it", "relation": "in"}, "open": {"object": "it"}}
    primitives = tuple(Primitive(name=name, **names.get(name, {"object": "it"})) for name in steps)
    nodes = (ObjectSpec(id="it", category="microwave"), ObjectSpec(id="can", category="can", manipulated=True))
    task = ParsedTask(sentence="", scene=SceneSpec(objects=nodes), primitives=primitives, queries=())
    models = {node.id: default_library().build(node.category, instance=1) for node in nodes}
    value = start_joints(task, models, 5).get("it", {}).get("door", 0.0)
    assert share[0] <= value / models["it"].links[1].joint.range[1] <= share[1]
