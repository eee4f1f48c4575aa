"""Pick against real arms in a stepped world: the next grasp after a failure, refusals that name the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from armwright.assets.model import ObjectModel
from armwright.control.protocols import GripReport
from armwright.core.task import AffordanceQuery
from armwright.sim.arm import SimulatedArm
from armwright.skills.context import SkillContext, SkillOptions
from armwright.skills.pick import find_grasps, pick
from skill_scenes import Bench, bench, down_the

BODY = "Graspable Body"


class Disturbed:
    """The real arm, beside which somebody does something to the world right before the fingers close."""

    def __init__(self, arm: SimulatedArm, before_closing: Callable[[int], None]) -> None:
        self._arm, self._before, self.closings = arm, before_closing, 0

    def __getattr__(self, name: str):
        return getattr(self._arm, name)

    def grip(self, *, width_m: float, force_n: float | None = None, timeout_s: float = 1.5) -> GripReport:
        if width_m == 0.0:
            self.closings += 1
            self._before(self.closings)
        return self._arm.grip(width_m=width_m, force_n=force_n, timeout_s=timeout_s)


def shove(stage: Bench, object_id: str, dx: float, dy: float) -> None:
    """Move a free object aside at once."""
    state, link = stage.world.snapshot(), stage.world.built.links[object_id, "base"]
    qpos = state.qpos.copy()
    qpos[link.qpos : link.qpos + 2] += (dx, dy)
    stage.world.set_state(time_s=state.time_s, qpos=qpos, qvel=state.qvel, ctrl=state.ctrl)


def query(object_id: str, region: str = BODY) -> AffordanceQuery:
    return AffordanceQuery(object=object_id, region=region, role="grasp")


def lifted_m(stage: Bench, object_id: str, before: float) -> float:
    return float(stage.world.truth.pose(object_id).position_m[2]) - before


def test_a_pick_lifts_and_knows_what_it_holds(session_of):
    stage = bench(session_of("franka"), can="can")
    before = float(stage.world.truth.pose("can").position_m[2])
    report = pick(stage.ctx, query("can"))
    assert report.ok and report.status == "done" and report.data["attempts"] == 1
    assert lifted_m(stage, "can", before) > 0.08
    assert stage.world.truth.is_held("can")
    held = stage.ctx.held
    assert held is not None and held.object_id == "can"
    pose = stage.ctx.arm.pose_world_base @ stage.ctx.arm.state().pose_base_tool @ held.pose_tool_object
    assert pose.distance_to(stage.world.truth.pose("can")) < 0.003
    assert report.data["lift_from_s"] < report.data["lift_to_s"]


def test_after_a_miss_the_next_grasp_is_tried_where_the_object_is_then(session_of):
    stage = bench(session_of("franka"), can="can")

    def bump(closing: int) -> None:
        if closing == 1:
            shove(stage, "can", -0.02, 0.16)

    stage.ctx.arm = Disturbed(stage.world.arm, bump)
    report = pick(stage.ctx, query("can"), usable=None)
    assert report.ok, report
    assert report.data["attempts"] == 2 and stage.ctx.arm.closings == 2
    assert stage.world.truth.is_held("can")
    assert report.data["grasp"] == stage.ctx.traces[-1].chosen


def test_a_pick_that_never_holds_gives_up_and_lists_every_attempt(session_of):
    stage = bench(session_of("franka"), options=SkillOptions(max_attempts=3), can="can")
    sides = {1: 0.15, 2: -0.15, 3: 0.15}
    stage.ctx.arm = Disturbed(stage.world.arm, lambda closing: shove(stage, "can", 0.0, sides[closing]))
    report = pick(stage.ctx, query("can"))
    assert not report.ok and report.status == "grasp_failed"
    assert report.detail.count("missed: the gripper closed to") == 3
    assert stage.ctx.held is None
    assert stage.ctx.arm.state().opening_m > 0.9 * stage.ctx.gripper.opening_m[1], "it backs off with open fingers"


def test_grasps_that_were_tried_are_not_tried_again(session_of):
    stage = bench(session_of("franka"), options=SkillOptions(max_attempts=3), can="can")
    chosen: list[int] = []

    def bump(closing: int) -> None:
        chosen.append(stage.ctx.traces[-1].chosen)
        shove(stage, "can", 0.0, 0.15 if closing % 2 else -0.15)

    stage.ctx.arm = Disturbed(stage.world.arm, bump)
    pick(stage.ctx, query("can"))
    assert len(chosen) == 3 and len(set(chosen)) == 3


@pytest.mark.parametrize("mass_kg", [15.0, 60.0])
def test_what_is_too_heavy_is_not_reported_as_held(session_of, mass_kg):
    def heavy(model: ObjectModel) -> ObjectModel:
        return replace(model, links=tuple(replace(link, mass_kg=mass_kg) for link in model.links))

    stage = bench(session_of("franka"), options=SkillOptions(max_attempts=2), change=heavy, can="can")
    report = pick(stage.ctx, query("can"))
    assert not report.ok, report
    assert report.status == "grasp_failed" and report.detail.count(";") == 1
    assert stage.ctx.held is None


def test_out_of_reach_is_said_with_counts(session_of):
    stage = bench(session_of("franka"), places={"can": (1.02, 0.72)}, can="can")
    start = stage.world.arm.state().position_rad
    report = pick(stage.ctx, query("can"))
    assert not report.ok and report.status == "ik_fail"
    count = len(stage.ctx.traces[-1].grasps.candidates)
    assert report.detail == f"of {count} candidates: {count} ik_fail"
    assert np.abs(stage.world.arm.state().position_rad - start).max() < 1e-3, "nothing moves"


def test_a_region_that_the_object_lacks_is_said(session_of):
    stage = bench(session_of("franka"), can="can")
    report = pick(stage.ctx, query("can", "Graspable Handle"))
    assert (report.ok, report.status) == (False, "no_region")
    assert "Graspable Handle" in report.detail


def test_no_grasp_that_the_next_step_can_use(session_of):
    stage = bench(session_of("franka"), can="can")
    report = pick(stage.ctx, query("can"), usable=lambda pose_tool_object: False)
    assert (report.ok, report.status) == (False, "no_usable_grasp")
    assert "grasps can be reached" in report.detail


def test_the_next_step_decides_between_grasps(session_of):
    """Only grasps from above are allowed; the one taken must be one."""
    stage = bench(session_of("franka"), box="box")
    report = pick(stage.ctx, query("box"), usable=lambda pose_tool_object: down_the(pose_tool_object) > 0.9)
    assert report.ok
    held = stage.ctx.held
    assert held is not None and down_the(held.pose_tool_object) > 0.85


def test_an_unseen_obstacle_stops_the_approach(session_of):
    """The scene source does not know of the board over the can, as a camera may not."""
    stage = bench(
        session_of("franka"),
        options=SkillOptions(max_attempts=1),
        places={"can": (0.5, 0.0), "board": (0.5, 0.0, 0.20)},
        hidden=("board",),
        can="can",
        board="board",
    )
    report = pick(stage.ctx, query("can"), usable=lambda pose_tool_object: down_the(pose_tool_object) > 0.95)
    assert not report.ok and report.status == "grasp_failed", report
    assert "blocked" in report.detail or "not_reached" in report.detail, report.detail


def test_contexts_find_grasps_in_the_asked_region_only(session_of):
    stage = bench(session_of("franka"), mug="mug")
    trace = find_grasps(stage.ctx, query("mug", "Graspable Handle"))
    assert trace.grasps.candidates and all(c.region_share > 0 for c in trace.grasps.candidates)
    masked = trace.cloud.points_m[trace.mask.mask]
    contact = np.array([c.pose_object_pads.position_m for c in trace.grasps.candidates])
    distance = np.linalg.norm(contact[:, None] - masked[None], axis=2).min(1)
    assert distance.max() < 0.03


def test_a_context_reads_like_a_real_robot(session_of):
    """Skills get the arm, its clock and a scene source; nothing of the simulator."""
    stage = bench(session_of("franka"), can="can")
    assert isinstance(stage.ctx, SkillContext)
    assert not hasattr(stage.ctx, "world") and not hasattr(stage.ctx.scene, "truth")


@pytest.mark.parametrize("robot", ["franka", "ur5e"])
def test_a_pen_that_lies_on_the_table_is_picked_by_the_tips(session_of, robot):
    stage = bench(session_of(robot), pen="pen", verified=True)
    before = float(stage.world.truth.pose("pen").position_m[2])
    report = pick(stage.ctx, query("pen"))
    assert report.ok, report
    assert lifted_m(stage, "pen", before) > 0.08
    assert stage.ctx.held is not None and stage.ctx.held.by_the_tips
