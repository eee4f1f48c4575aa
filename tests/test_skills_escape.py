"""Getting the hand out of where it touches something: what was let go, what stands around, and what cannot be left."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from armwright.control.protocols import Guard
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery
from armwright.planning.verify import VerifyReport
from armwright.skills.escape import _gaps, directions, escape
from armwright.skills.motion import back_away, move_to_any
from armwright.skills.pick import pick
from armwright.skills.rank import known_opening
from skill_scenes import Bench, bench


def let_go(stage: Bench) -> Bench:
    """Return the bench with the fingers opened by a little around a can that stands on the table."""
    ctx = stage.ctx
    assert pick(ctx, AffordanceQuery(object="can", region="Graspable Body", role="grasp")).ok
    pose = ctx.arm.state().pose_base_tool
    ctx.arm.move_linear(Pose(pose.position_m - np.array([0.0, 0.0, 0.11]), pose.quat_wxyz), Guard(contact_n=4.0))
    ctx.arm.grip(width_m=ctx.arm.state().opening_m + 0.001)
    ctx.held = None
    ctx.planner.detach()
    ctx.planner.set_world(ctx.scene.world_spec())
    ctx.planner.set_opening(known_opening(ctx.arm.state().opening_m, ctx.gripper.opening_m[1]))
    return stage


class Refusing:
    """A verifier that finds everything touching."""

    def check_path(self, q_rad, **asked) -> VerifyReport:
        return VerifyReport(False, "verify_collision", ("hand", "can"), 0, 0.001, 1, "touching")

    def set_opening(self, opening_m: float) -> None:
        pass


@pytest.mark.parametrize("verified", [True, False])
def test_a_hand_around_what_it_let_go_leaves_it_and_a_motion_can_be_planned(session_of, verified):
    ctx = let_go(bench(session_of("franka"), can="can", verified=verified)).ctx
    assert not ctx.planner.check(ctx.arm.state().target_rad[None])[0]
    stood = ctx.scene.pose_world("can")
    assert escape(ctx, touchable=("can",)).ok
    assert ctx.planner.check(ctx.arm.state().target_rad[None])[0]
    assert ctx.scene.pose_world("can").distance_to(stood) < 0.01
    above = Pose(ctx.arm.state().pose_base_tool.position_m + np.array([0.0, 0.1, 0.1]), [0.0, 1.0, 0.0, 0.0])
    assert move_to_any(ctx, [above], name="on")[0].ok


def test_a_free_hand_does_not_move(session_of):
    stage = bench(session_of("franka"), can="can")
    stage.ctx.planner.set_world(stage.ctx.scene.world_spec())
    before = stage.world.clock.now_s
    assert escape(stage.ctx).ok and stage.world.clock.now_s == before


def test_what_cannot_be_left_is_named_and_nothing_moves(session_of):
    stage = let_go(bench(session_of("franka"), can="can"))
    stage.ctx.verifier = lambda world, opening_m: Refusing()
    before = stage.world.clock.now_s
    report = escape(stage.ctx, touchable=("can",))
    assert (report.ok, report.status) == (False, "start_collision")
    assert "hand with can" in report.detail
    assert stage.world.clock.now_s == before
    moved, chosen = move_to_any(stage.ctx, [Pose()], name="on")
    assert (moved.status, chosen) == ("start_collision", -1) and "can" in moved.detail


def test_a_way_back_that_ends_at_the_arms_reach_is_gone_as_far_as_it_goes(session_of):
    """The hand starts among the planner's obstacles, so the way is felt; beyond its reach there is none."""
    stage = let_go(bench(session_of("franka"), can="can"))
    out = np.array([1.0, 0.0, 0.0])
    before = stage.ctx.arm.state().pose_base_tool.position_m
    up = back_away(stage.ctx, 0.15, direction_base=np.array([0.0, 0.0, 1.0]), name="up")
    gone = back_away(stage.ctx, 1.5, direction_base=out, name="out")
    assert up.ok and gone.ok, (up, gone)
    assert (stage.ctx.arm.state().pose_base_tool.position_m - before) @ out > 0.1


@pytest.mark.parametrize("wanted", [(), (0.08,), (0.08, 0.02), (0.05, 0.08)])
def test_the_present_opening_is_looked_at_last(wanted):
    """The verifier and the motion to come take the opening that was set last."""
    ctx = SimpleNamespace(
        held=None,
        arm=SimpleNamespace(state=lambda: SimpleNamespace(opening_m=0.08)),
        gripper=SimpleNamespace(opening_m=(0.0, 0.08)),
    )
    gaps = _gaps(ctx, wanted)  # type: ignore[arg-type]
    assert gaps[-1] == 0.08
    assert sorted(gaps) == pytest.approx(sorted({*wanted, 0.08}))


def test_directions_are_unit_vectors_none_twice_none_forward(session_of):
    ctx = bench(session_of("franka"), can="can").ctx
    q = ctx.arm.state().target_rad
    ways = np.array(directions(ctx, q))
    assert len(ways) > 12 and np.allclose(np.linalg.norm(ways, axis=1), 1.0)
    likeness = ways @ ways.T - np.eye(len(ways))
    assert likeness.max() < 0.9901
    forward = ctx.planner.fk(q[None])[0, :3, 2]
    assert (ways @ forward).max() < 1e-6
