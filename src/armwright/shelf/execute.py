"""Do a planned placing: grasp from the table, carry, insert from the front, lower until it touches, let go, leave.

Only the control protocols are used: what the arm does not feel or the map does not hold is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery
from armwright.shelf.motions import ITERATIONS, LIFT_M, SAME_BRANCH_RAD, PlannedPlacing
from armwright.shelf.obstacles import TARGET
from armwright.shelf.perceived import PerceivedScene
from armwright.skills.context import Held, SkillContext
from armwright.skills.grip import grip_force
from armwright.skills.held import lost
from armwright.skills.motion import back_away, follow_path, move_straight
from armwright.skills.rank import attach, known_opening

APPROACH_N = 25.0
"""A finger that meets this on the way to the target has hit it."""
INSERT_N = 20.0
"""What is carried into the shelf has hit something at this."""
TOUCH_N = 6.0
"""The board is felt at this."""
DEEPER_M = 0.012
"""How far below its expected height the board is felt for: the target is known to a few millimetres."""
LOWER_M_S = 0.03
NEAR_M = 0.012
"""Height from which it goes down slowly."""
SETTLE_S = 0.3


@dataclass(frozen=True, eq=False)
class PlacingReport:
    """How a placing went.

    Attributes:
        ok: Every stage did its part.
        stages: In order; the last one that was tried comes last.
        pose_world_believed: Where the robot takes the target to stand, as far as it let go of it.
    """

    ok: bool
    stages: tuple[StageReport, ...]
    pose_world_believed: Pose | None = None

    @property
    def failed(self) -> str:
        """The name of the stage that failed, or nothing."""
        return next((s.name for s in self.stages if not s.ok), "")


def execute(ctx: SkillContext, plan: PlannedPlacing, *, home_rad: Array | None = None) -> PlacingReport:
    """Execute a planned placing from where the arm is.

    Args:
        ctx: Over a `PerceivedScene`.
        plan: From `motions.plan_best`, made from the arm's present configuration.
        home_rad: Where to end; None stays before the shelf.
    """
    stages: list[StageReport] = []

    def did(name: str, act: Callable[[], StageReport]) -> bool:
        report = act()
        stages.append(StageReport(name, report.ok, report.status, report.detail, report.data))
        return report.ok

    done = (
        did("reach", lambda: _reach(ctx, plan))
        and did("approach", lambda: _approach(ctx, plan))
        and did("grasp", lambda: _grasp(ctx, plan))
        and did("lift", lambda: _lift(ctx, plan))
        and did("carry", lambda: _carry(ctx, plan))
        and did("insert", lambda: _insert(ctx, plan))
        and did("lower", lambda: _lower(ctx, plan))
    )
    if not done:
        return PlacingReport(False, tuple(stages))
    believed = ctx.arm.pose_world_base @ ctx.arm.state().pose_base_tool @ plan.pair.pose_target_tool.inverse()
    done = did("release", lambda: _release(ctx, plan, believed)) and did("leave", lambda: _leave(ctx, plan))
    if done and home_rad is not None:
        done = did("home", lambda: _home(ctx, home_rad))
    return PlacingReport(done, tuple(stages), believed)


def _reach(ctx: SkillContext, plan: PlannedPlacing) -> StageReport:
    ctx.planner.detach()
    ctx.planner.set_opening(known_opening(plan.candidate.opening_m, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(ctx.scene.world_spec(targets=(TARGET,)))
    ctx.arm.grip(width_m=plan.candidate.opening_m)
    return follow_path(ctx, plan.reach_rad, name="reach")


def _approach(ctx: SkillContext, plan: PlannedPlacing) -> StageReport:
    moved = follow_path(ctx, plan.approach_rad, name="approach", guard=Guard(contact_n=APPROACH_N), fine=True)
    if moved.status == "guard":
        return StageReport("approach", False, "blocked", f"something was hit: {moved.detail}")
    return moved


def _grasp(ctx: SkillContext, plan: PlannedPlacing) -> StageReport:
    force_n = grip_force(ctx, TARGET, plan.candidate.pose_object_pads)
    closed = ctx.arm.grip(width_m=0.0, force_n=force_n)
    if not closed.holding or closed.opening_m < ctx.options.min_hold_m:
        return StageReport("grasp", False, "missed", f"the gripper closed to {1000 * closed.opening_m:.0f} mm")
    return StageReport("grasp", True, "done", f"{1000 * closed.opening_m:.0f} mm wide, {closed.force_n:.0f} N")


def _lift(ctx: SkillContext, plan: PlannedPlacing) -> StageReport:
    lifted = move_straight(ctx, (0.0, 0.0, LIFT_M))
    if not lifted.ok:
        return lifted
    if lost(ctx):
        return StageReport("lift", False, "dropped", "it slipped out while it was lifted")
    pose_tool_target = plan.pair.pose_target_tool.inverse()
    query = AffordanceQuery(object=TARGET, region="Graspable Body", role="grasp")
    # Gently: what swings pushes the coupled fingers aside, and stands beside the hand's middle when they open.
    stand = ctx.scene.pose_world(TARGET)
    ctx.held = Held(TARGET, pose_tool_target, plan.candidate, query, stand, by_the_tips=True)
    ctx.planner.set_opening(known_opening(ctx.arm.state().opening_m, ctx.gripper.opening_m[1]))
    ctx.planner.set_world(ctx.scene.world_spec(exclude=(TARGET,)))
    ctx.held.world = ctx.planner.world
    attach(ctx, TARGET, pose_tool_target)
    return lifted


def _carry(ctx: SkillContext, plan: PlannedPlacing) -> StageReport:
    """Go before the shelf as planned, from where the lift truly ended; by another way where that is far off."""
    here, path = ctx.arm.state().target_rad, plan.carry_rad
    if np.abs(here - path[0]).max() < SAME_BRANCH_RAD:
        path = np.concatenate([here[None], path[1:]])
    else:
        anew = ctx.planner.plan(here, plan.insert_rad[:1], max_iterations=ITERATIONS)
        if not anew.ok:
            return StageReport("carry", False, anew.status, anew.detail)
        path = anew.path_rad
    moved = follow_path(ctx, path, name="carry")
    if moved.ok and lost(ctx):
        return StageReport("carry", False, "dropped", "it was lost on the way")
    return moved


def _insert(ctx: SkillContext, plan: PlannedPlacing) -> StageReport:
    moved = follow_path(ctx, plan.insert_rad, name="insert", guard=Guard(contact_n=INSERT_N), fine=True)
    if moved.status == "guard":
        return StageReport("insert", False, "blocked", f"something was hit on the way in: {moved.detail}")
    return moved


def _lower(ctx: SkillContext, plan: PlannedPlacing) -> StageReport:
    """Go down, the last of it slowly, until the board is felt."""
    high_m = plan.pair.over_m - NEAR_M
    if high_m > 0:
        moved = move_straight(ctx, (0.0, 0.0, -high_m), guard=Guard(contact_n=INSERT_N))
        if not moved.ok or moved.status == "guard":
            return StageReport("lower", False, "blocked", moved.detail)
    deep_m = min(plan.pair.over_m, NEAR_M) + DEEPER_M
    moved = move_straight(ctx, (0.0, 0.0, -deep_m), guard=Guard(contact_n=TOUCH_N), speed_m_s=LOWER_M_S)
    if moved.ok and moved.status != "guard":
        told = f"the board was not felt down to {1000 * DEEPER_M:.0f} mm below where it should be"
        return StageReport("lower", True, "not_felt", told, moved.data)
    return moved


def _release(ctx: SkillContext, plan: PlannedPlacing, believed: Pose) -> StageReport:
    state = ctx.arm.state()
    opening = min(state.opening_m + plan.opened_m, ctx.gripper.opening_m[1])
    ctx.arm.grip(width_m=opening)
    ctx.planner.detach()
    ctx.held = None
    ctx.planner.set_opening(known_opening(opening, ctx.gripper.opening_m[1]))
    if isinstance(ctx.scene, PerceivedScene):
        ctx.scene.put(believed)
    ctx.planner.set_world(ctx.scene.world_spec(targets=(TARGET,)))
    ctx.clock.sleep(SETTLE_S)
    return StageReport("release", True, "done")


def _leave(ctx: SkillContext, plan: PlannedPlacing) -> StageReport:
    report = StageReport("leave", True, "done")
    for step in plan.leave_m:
        far_m = float(np.linalg.norm(step))
        if far_m < 1e-3:
            continue
        report = back_away(ctx, far_m, direction_base=step / far_m, name="leave")
        if not report.ok:
            break
    return report


def _home(ctx: SkillContext, home_rad: Array) -> StageReport:
    path = ctx.planner.plan(ctx.arm.state().target_rad, home_rad[None], max_iterations=ITERATIONS)
    if not path.ok:
        return StageReport("home", False, path.status, path.detail)
    return follow_path(ctx, path.path_rad, name="home")
