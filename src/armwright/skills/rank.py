"""Stage 2 of grasp selection (AffordSim §3.2): score by the planner, keep what the next step can use."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.core.task import TABLE
from armwright.grasping.types import GraspCandidate
from armwright.planning.types import GraspEvaluation, PlanStatus, WorldSpec
from armwright.skills.context import Cover, GraspTrace, SkillContext
from armwright.skills.frames import covering_spheres, pose_tool_pads
from armwright.skills.verifying import STRAIGHT_STEP_RAD, verify

# Pads that reach beyond the region may end up touching only what is beside it; such grasps come last.
WHOLLY_ON_REGION = 0.995
# What is touched farther than this from the pads' middle, in pad widths, may slide or turn out at their edge.
CENTRED = 0.2
# Closing on one side of a round thing's middle squeezes it out; by more than this share of a pad's force it creeps.
WEDGED = 0.3
# Grasps that are not firm are told apart in steps of this.
LOOSE_STEP = 0.03
# Gripper openings are told apart in steps of this, so that few sets of collision spheres are needed.
OPENING_STEP_M = 0.005
# Ends the search for a grasp that the next step can use; deeper ranks are long detours.
LOOK_AHEAD_RANKS = 80
# Looked at after the first that will do, for one that does so without a price.
BETTER_RANKS = 12


@dataclass(frozen=True, eq=False)
class RankedGrasp:
    """A candidate with its motion, ready to execute.

    Attributes:
        index: Which candidate of the set.
        pose_tool_object: The object in the tool frame once grasped.
        transit_rad: Way points from the start to the pre-grasp.
        approach_rad: Way points of the straight approach.
    """

    index: int
    candidate: GraspCandidate
    pose_tool_object: Pose
    opening_m: float
    score: float
    transit_rad: Array
    approach_rad: Array


Usable = Callable[[Pose], float]
"""The object in the tool frame, the planner's hand closed on it -> 0: no use, 1: full use, in between: at a price."""


def evaluate(
    ctx: SkillContext,
    trace: GraspTrace,
    pose_world_object: Pose,
    *,
    world: WorldSpec | None = None,
    pregrasp_m: float | None = None,
) -> GraspEvaluation:
    """Score every candidate of a trace from the arm's present configuration.

    Candidates are grouped by the gap they approach with, since the hand's collision spheres depend on it.

    Args:
        ctx: Arm, planner, scene.
        trace: The candidates.
        pose_world_object: Where the object is.
        world: What to plan in; None takes the scene, where all of the object may be touched.
        pregrasp_m: Length of the straight approach; None takes that of the options.
    """
    length_m = ctx.options.pregrasp_m if pregrasp_m is None else pregrasp_m
    started = time.perf_counter()
    candidates = trace.grasps.candidates
    pose_base_object = ctx.pose_base(pose_world_object)
    ctx.planner.set_world(world or ctx.scene.world_spec(targets=(trace.query.object,)))
    evaluation = _evaluate(ctx, candidates, range(len(candidates)), pose_base_object, length_m)
    if world is None and not (evaluation.score > 0).any():
        evaluation = _grazing(ctx, candidates, pose_base_object, evaluation, length_m)
    ctx.add_time("evaluate grasps", time.perf_counter() - started)
    return evaluation


def _evaluate(
    ctx: SkillContext,
    candidates: Sequence[GraspCandidate],
    rows: Sequence[int],
    pose_base_object: Pose,
    length_m: float,
) -> GraspEvaluation:
    """Score the candidates of some rows in the planner's world; the others count as out of reach."""
    start = ctx.arm.state().target_rad
    status: list[PlanStatus] = ["ik_fail"] * len(candidates)
    score = np.zeros(len(candidates))
    n = len(start)
    q_pre, q_grasp = np.zeros((len(candidates), n)), np.zeros((len(candidates), n))
    empty = np.zeros((0, n))
    paths: list[Array] = [empty] * len(candidates)
    approaches: list[Array] = [empty] * len(candidates)
    detail: list[str] = [""] * len(candidates)
    for opening_m, members in _by_opening([candidates[i] for i in rows], ctx.gripper.opening_m[1]):
        members = np.asarray(rows)[members]
        ctx.planner.set_opening(opening_m)
        poses = np.stack([(pose_base_object @ tool_pose(ctx, candidates[i])).matrix() for i in members])
        part = ctx.planner.evaluate_grasps(start, poses, pregrasp_m=length_m)
        for row, i in enumerate(members):
            status[i] = part.status[row]
            paths[i] = part.path_rad[row]
            approaches[i] = part.approach_rad[row]
            detail[i] = part.detail[row] if part.detail else ""
        score[members] = part.score
        q_pre[members], q_grasp[members] = part.q_pregrasp_rad, part.q_grasp_rad
    return GraspEvaluation(tuple(status), score, paths, q_pre, q_grasp, approaches, tuple(detail))


def _grazing(
    ctx: SkillContext,
    candidates: Sequence[GraspCandidate],
    pose_base_object: Pose,
    strict: GraspEvaluation,
    length_m: float,
) -> GraspEvaluation:
    """Score again what the planner's spheres, which stick out of the fingertips, keep off the table.

    What lies flat is grasped with the tips a hair above the table. The verifier, which knows the fingers' shape, says
    which of these grasps touch it; the planner's world then has the table among its targets. Unchanged if none is free.
    """
    rows = [i for i, status in enumerate(strict.status) if status in ("goal_collision", "approach_collision")]
    if ctx.verifier is None or not rows:
        return strict
    world = ctx.planner.world
    ctx.planner.set_world(WorldSpec(world.obstacles, world.targets | {TABLE}))
    found = _evaluate(ctx, candidates, rows, pose_base_object, length_m)
    own = world.targets
    score = found.score.copy()
    for i in map(int, np.flatnonzero(found.score > 0)):
        path = found.approach_rad[i]
        if not verify(ctx, path, touchable=own, opening_m=candidates[i].opening_m, step_rad=STRAIGHT_STEP_RAD).ok:
            score[i] = 0.0
    if not (score > 0).any():
        ctx.planner.set_world(world)
        return strict
    status = [now if free else before for now, before, free in zip(found.status, strict.status, score > 0, strict=True)]
    return replace(found, status=tuple(status), score=score)


def tool_pose(ctx: SkillContext, candidate: GraspCandidate) -> Pose:
    """Return the tool frame in the object's frame for a candidate, with the pads closed on the object."""
    return candidate.pose_object_pads @ pose_tool_pads(ctx.gripper, candidate.width_m).inverse()


def best_grasp(
    ctx: SkillContext, trace: GraspTrace, usable: Usable | None, *, blocked: Set[int] = frozenset()
) -> RankedGrasp | None:
    """Return the first executable candidate of `reached_in_order` that the next step can use, or None.

    ``blocked`` ones were tried. One that the next step can only use at a price is taken if the next few are no better.
    """
    evaluation = trace.evaluation
    assert evaluation is not None
    started = time.perf_counter()
    candidates = trace.grasps.candidates
    order = [i for i in reached_in_order(trace) if i not in blocked]
    found, worth, last = None, 0.0, LOOK_AHEAD_RANKS
    world, opening_m = ctx.planner.world, ctx.planner.opening_m
    for rank, i in enumerate(order[:LOOK_AHEAD_RANKS]):
        if rank >= last:
            break
        pose_tool_object = tool_pose(ctx, candidates[i]).inverse()
        ctx.planner.set_opening(known_opening(candidates[i].width_m, ctx.gripper.opening_m[1]))
        value = 1.0 if usable is None else float(usable(pose_tool_object))
        if value > worth:
            if found is None:
                last = min(last, rank + 1 + BETTER_RANKS)
            worth = value
            found = RankedGrasp(
                i,
                candidates[i],
                pose_tool_object,
                candidates[i].opening_m,
                float(evaluation.score[i]),
                evaluation.path_rad[i],
                evaluation.approach_rad[i],
            )
        if worth >= 1.0:
            break
    ctx.planner.set_opening(opening_m)
    ctx.planner.set_world(world)  # looking ahead took the object away, and the way to it must not hit it
    ctx.add_time("look ahead", time.perf_counter() - started)
    return found


def reached_in_order(trace: GraspTrace) -> list[int]:
    """Return the candidates that can be reached, in the order in which they are to be tried.

    By the motion's score, those whose pads lie wholly on the region before all others, and of each those that are
    firm, the others the less firm the later; or as the source ranks them.
    """
    evaluation, candidates = trace.evaluation, trace.grasps.candidates
    assert evaluation is not None
    reached = [int(i) for i in np.flatnonzero(evaluation.score > 0)]
    if trace.grasps.order == "source":
        return reached
    return sorted(
        reached,
        key=lambda i: (
            candidates[i].region_share < WHOLLY_ON_REGION,
            looseness(candidates[i]),
            -float(evaluation.score[i]),
            -candidates[i].quality,
        ),
    )


def is_firm(candidate: GraspCandidate) -> bool:
    """Tell whether the pads are on the object with their middle, not with an edge, and do not squeeze it out."""
    return candidate.aside <= CENTRED and candidate.wedge <= WEDGED


def looseness(candidate: GraspCandidate) -> int:
    """Return 0 for a grasp that is firm, more the farther the pads are from that."""
    if is_firm(candidate):
        return 0
    return 1 + int(max(candidate.aside - CENTRED, candidate.wedge - WEDGED, 0.0) / LOOSE_STEP)


def attach(
    ctx: SkillContext, object_id: str, pose_tool_object: Pose, *, grow_m: float = 0.0, by_name: bool = False
) -> None:
    """Let the planner carry the object's shape with the tool.

    Args:
        ctx: Planner and scene.
        object_id: What is carried.
        pose_tool_object: How.
        grow_m: Added to the radii of its spheres: thin things slip between them otherwise.
        by_name: Tell the planner which object it is: it then keeps clear of the targets, except in checks without
            them, which let it, but not the arm, touch them.
    """
    cloud = ctx.scene.cloud(object_id)
    known = ctx.covers.get(object_id)
    if known is None or known.points_m is not cloud.points_m:
        points, normals = cloud.points_m, cloud.normals
        stays = ctx.scene.model(object_id).left_behind
        if stays and cloud.link is not None:
            goes = ~np.isin(cloud.link, list(stays))
            points, normals = points[goes], normals[goes]
        known = ctx.covers[object_id] = Cover(cloud.points_m, *covering_spheres(points, normals))
    ctx.planner.attach(
        pose_tool_object.transform(known.center_m), known.radius_m + grow_m, name=object_id if by_name else None
    )


def known_opening(opening_m: float, widest_m: float) -> float:
    """Return the gap rounded up to one of the few for which the planner keeps the hand's spheres [m]."""
    return min(float(np.ceil(opening_m / OPENING_STEP_M - 1e-6)) * OPENING_STEP_M, widest_m)


def _by_opening(candidates: Sequence[GraspCandidate], widest_m: float) -> list[tuple[float, NDArray[np.int64]]]:
    """Group candidates by the gap they approach with, rounded up to what the hand's spheres are worth telling apart."""
    rounded = np.array([known_opening(c.opening_m, widest_m) for c in candidates])
    return [(float(gap), np.flatnonzero(rounded == gap)) for gap in np.unique(rounded)]
