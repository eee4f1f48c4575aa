"""Plan a whole placing before anything moves: reach, grasp, lift, carry, insert, leave; best S first (OMAR §IV-D)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armwright.core.pose import Array, Pose
from armwright.grasping.types import GraspCandidate
from armwright.planning.types import Obstacle, PathReport, WorldSpec
from armwright.shelf.feasibility import RELEASE_M, Pair
from armwright.shelf.obstacles import TARGET, MapObstacles
from armwright.skills.context import SkillContext
from armwright.skills.rank import attach, known_opening

MotionStage = Literal["approach", "lift", "insert", "leave", "carry", "reach", "home"]
PREGRASP_M = 0.08
LIFT_M = 0.06
OUT_M = 0.04
"""How far before the shelf's front the target's rear is when it begins to go in."""
LEAST_OUT_M = 0.005
HAND_M = 0.16
"""How far the hand draws back from the shelf's front once it has let go."""
ITERATIONS = 4000
PATIENCE = 4
"""Failures of one place, or of one grasp, before others are tried."""
_AT_TARGET = ("approach", "lift", "reach")


@dataclass(frozen=True, eq=False)
class PlannedPlacing:
    """A placing that was planned from here to the end.

    Attributes:
        pair, candidate: What is done.
        reach_rad: (w, n) from where the arm is to before the target.
        approach_rad: Straight on to it.
        carry_rad: From above the table to before the shelf.
        insert_rad: Straight into the compartment, above the board.
        leave_m: Straight steps (3,) by which the empty hand leaves, in the base frame.
    """

    pair: Pair
    candidate: GraspCandidate
    reach_rad: Array
    approach_rad: Array
    carry_rad: Array
    insert_rad: Array
    leave_m: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class PlanningReport:
    """Which pair was planned, or what stopped each.

    Attributes:
        planned: The first pair that could be planned, or None.
        tried: How many pairs were looked at.
        stopped: Stage -> how many pairs it stopped.
        detail: Of the last one that failed.
    """

    planned: PlannedPlacing | None
    tried: int
    stopped: dict[MotionStage, int]
    detail: str = ""


def plan_best(
    ctx: SkillContext,
    pairs: Sequence[Pair],
    grasps: Sequence[GraspCandidate],
    obstacles: MapObstacles,
    *,
    rear_m: Sequence[float],
    most: int = 60,
) -> PlanningReport:
    """Plan pairs in descending S until one can be done (OMAR §IV-D end).

    Args:
        ctx: Arm, planner, perceived scene.
        pairs: Best first.
        grasps: What ``pair.grasp`` counts.
        obstacles: What stands where, the target included.
        rear_m: How deep in the shelf the target's rear will be, for each pair [m].
        most: Pairs to look at, at most.
    """
    stopped: Counter[MotionStage] = Counter()
    failed: Counter[tuple[str, int]] = Counter()
    detail = ""
    tried = 0
    # What failed again and again with one place or one grasp is left for when the others have been tried.
    later: list[int] = []
    queue = list(range(len(pairs)))
    while (queue or later) and tried < most:
        if not queue:
            queue, later, failed = later, [], Counter()
        k = queue.pop(0)
        pair, rear = pairs[k], rear_m[k]
        if max(failed["place", pair.place], failed["grasp", pair.grasp]) >= PATIENCE:
            later.append(k)
            continue
        tried += 1
        found = plan_pair(ctx, pair, grasps[pair.grasp], obstacles, rear_m=float(rear))
        if isinstance(found, PlannedPlacing):
            return PlanningReport(found, tried, dict(stopped))
        stage, detail = found
        stopped[stage] += 1
        failed["grasp" if stage in _AT_TARGET else "place", pair.grasp if stage in _AT_TARGET else pair.place] += 1
    return PlanningReport(None, tried, dict(stopped), detail)


def plan_pair(
    ctx: SkillContext, pair: Pair, candidate: GraspCandidate, obstacles: MapObstacles, *, rear_m: float
) -> PlannedPlacing | tuple[MotionStage, str]:
    """Plan all motions of a pair, or say which stage is not possible and why.

    Args:
        ctx: Arm, planner, perceived scene.
        pair: What goes where.
        candidate: The grasp.
        obstacles: What stands where.
        rear_m: How deep in the shelf the target's rear will be [m].
    """
    planner, widest = ctx.planner, ctx.gripper.opening_m[1]
    out = -obstacles.pose_base_shelf.rotation[:, 0]
    start = ctx.arm.state().target_rad
    bare = obstacles.without_target()
    # Ways to the target.
    planner.detach()
    planner.set_world(obstacles.with_target())
    planner.set_opening(known_opening(candidate.opening_m, widest))
    approaches = []
    why = ""
    for q in pair.grasp_rad:
        tool = planner.fk(q[None])[0]
        line = _line(ctx, q, -PREGRASP_M * tool[:3, 2], check=True)
        if line.ok and bool(planner.check(line.path_rad[-1:])[0]):
            approaches.append((q, line.path_rad[::-1]))
        why = why or line.detail
    if not approaches:
        return "approach", why
    # Into the compartment, thought from its end.
    planner.set_world(bare)
    planner.set_opening(known_opening(candidate.width_m, widest))
    attach(ctx, TARGET, pair.pose_target_tool.inverse())
    inserts = []
    stage: MotionStage = "insert"
    for q in pair.place_rad:
        up = _line(ctx, q, np.array([0.0, 0.0, pair.over_m]), check=False)
        if not up.ok:
            why = up.detail
            continue
        line = _line(ctx, up.path_rad[-1], (rear_m + OUT_M) * out, check=True)
        gone = _gone(ctx, line.path_rad, out)
        if not line.ok and gone < rear_m + LEAST_OUT_M:
            why = f"{line.detail} {' with '.join(line.colliding or ())}"
            continue
        inserts.append((q, line.path_rad[::-1]))
    if not inserts:
        return stage, why
    # Out again with an empty hand, the target left standing.
    planner.detach()
    own = Obstacle(TARGET, pair.pose_base_placed, ctx.scene.model(TARGET).root.hulls)
    planner.set_world(WorldSpec((*bare.obstacles, own), frozenset({TARGET})))
    planner.set_opening(known_opening(candidate.width_m + RELEASE_M, widest))
    leaves = []
    up_m = np.array([0.0, 0.0, pair.over_m])
    for q, insert in inserts:
        for steps in ((), (up_m,)):
            here = q
            for step in steps:
                risen = _line(ctx, here, step, check=True)
                here = risen.path_rad[-1] if risen.ok else None
                if here is None:
                    break
            if here is None:
                why = risen.detail
                continue
            line = _line(ctx, here, (rear_m + HAND_M) * out, check=True)
            gone = _gone(ctx, line.path_rad, out)
            if line.ok or gone > rear_m + OUT_M:
                leaves.append((insert, (*steps, gone * out)))
                break
            why = line.detail
    if not leaves:
        return "leave", why
    # From above the table to before the shelf.
    planner.set_world(bare)
    planner.set_opening(known_opening(candidate.width_m, widest))
    attach(ctx, TARGET, pair.pose_target_tool.inverse())
    stage = "lift"
    ends = np.array([way[0][0] for way in leaves])
    approaches.sort(key=lambda row: float(np.abs(ends - row[0]).max(1).min()))
    for q, approach in approaches:
        lift = _line(ctx, q, np.array([0.0, 0.0, LIFT_M]), check=False)
        if not lift.ok or not planner.check(lift.path_rad[1:]).all():
            why = lift.detail or "the way up from the table is not free"
            continue
        plan = planner.plan(lift.path_rad[-1], ends, max_iterations=ITERATIONS)
        if not plan.ok:
            stage, why = "carry", plan.detail
            continue
        insert, leave = leaves[plan.goal]
        planner.detach()
        planner.set_world(obstacles.with_target())
        planner.set_opening(known_opening(candidate.opening_m, widest))
        reach = planner.plan(start, approach[:1], max_iterations=ITERATIONS)
        if not reach.ok:
            return "reach", reach.detail
        return PlannedPlacing(pair, candidate, reach.path_rad, approach, plan.path_rad, insert, leave)
    planner.detach()
    return stage, why


def _line(ctx: SkillContext, q_rad: Array, offset_base_m: Array, *, check: bool) -> PathReport:
    pose = Pose.from_matrix(ctx.planner.fk(q_rad[None])[0])
    goal = Pose(pose.position_m + offset_base_m, pose.quat_wxyz)
    return ctx.planner.linear(q_rad, goal.matrix(), check=check)


def _gone(ctx: SkillContext, path_rad: Array, direction: Array) -> float:
    """Return how far the tool comes along a direction on a path [m]."""
    if len(path_rad) < 2:
        return 0.0
    ends = ctx.planner.fk(path_rad[[0, -1]])[:, :3, 3]
    return float((ends[1] - ends[0]) @ direction)
