"""Stage 2 of grasp selection (AffordSim §3.2): score by the planner, keep what the next step can use."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.grasping.types import GraspCandidate
from armwright.planning.types import GraspEvaluation, PlanStatus
from armwright.skills.context import GraspTrace, SkillContext
from armwright.skills.frames import attached_spheres, pose_tool_pads

# Ends the search for a grasp that the next step can use; deeper ranks are long detours.
LOOK_AHEAD_RANKS = 40


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


Usable = Callable[[Pose], bool]


def evaluate(ctx: SkillContext, trace: GraspTrace, pose_world_object: Pose) -> GraspEvaluation:
    """Score every candidate of a trace from the arm's present configuration.

    Candidates are grouped by the gap they approach with, since the hand's collision spheres depend on it.
    """
    started = time.perf_counter()
    candidates = trace.grasps.candidates
    start = ctx.arm.state().target_rad
    pose_base_object = ctx.pose_base(pose_world_object)
    ctx.planner.set_world(ctx.scene.world_spec(targets=(trace.query.object,)))
    status: list[PlanStatus] = ["ik_fail"] * len(candidates)
    score = np.zeros(len(candidates))
    n = len(start)
    q_pre, q_grasp = np.zeros((len(candidates), n)), np.zeros((len(candidates), n))
    empty = np.zeros((0, n))
    paths: list[Array] = [empty] * len(candidates)
    approaches: list[Array] = [empty] * len(candidates)
    for opening_m, members in _by_opening(candidates, tuple(ctx.planner.kinematics.spheres)):
        ctx.planner.set_opening(opening_m)
        poses = np.stack([(pose_base_object @ tool_pose(ctx, candidates[i])).matrix() for i in members])
        part = ctx.planner.evaluate_grasps(start, poses, pregrasp_m=ctx.options.pregrasp_m)
        for row, i in enumerate(members):
            status[i] = part.status[row]
            paths[i] = part.path_rad[row]
            approaches[i] = part.approach_rad[row]
        score[members] = part.score
        q_pre[members], q_grasp[members] = part.q_pregrasp_rad, part.q_grasp_rad
    ctx.add_time("evaluate grasps", time.perf_counter() - started)
    return GraspEvaluation(tuple(status), score, paths, q_pre, q_grasp, approaches)


def tool_pose(ctx: SkillContext, candidate: GraspCandidate) -> Pose:
    """Return the tool frame in the object's frame for a candidate, with the pads closed on the object."""
    return candidate.pose_object_pads @ pose_tool_pads(ctx.gripper, candidate.width_m).inverse()


def ranked(ctx: SkillContext, trace: GraspTrace, usable: Usable | None) -> list[RankedGrasp]:
    """Return the executable candidates, best score first, those that the next step can use before all others.

    ``usable`` is asked, best first, until enough for every attempt are found; ones it refuses are dropped.
    """
    evaluation = trace.evaluation
    assert evaluation is not None
    started = time.perf_counter()
    found: list[RankedGrasp] = []
    order = sorted(
        np.flatnonzero(evaluation.score > 0),
        key=lambda i: (-float(evaluation.score[i]), -trace.grasps.candidates[i].quality),
    )
    feasible = [False] * len(trace.grasps.candidates)
    for rank, i in enumerate(map(int, order)):
        candidate = trace.grasps.candidates[i]
        pose_tool_object = tool_pose(ctx, candidate).inverse()
        if usable is not None:
            if rank >= LOOK_AHEAD_RANKS and found:
                break
            if not usable(pose_tool_object):
                continue
        feasible[i] = True
        found.append(
            RankedGrasp(
                int(i),
                candidate,
                pose_tool_object,
                candidate.opening_m,
                float(evaluation.score[i]),
                evaluation.path_rad[i],
                evaluation.approach_rad[i],
            )
        )
        if len(found) >= ctx.options.max_attempts:
            break
    trace.place_feasible = tuple(feasible)
    ctx.add_time("look ahead", time.perf_counter() - started)
    return found


def attach(ctx: SkillContext, object_id: str, pose_tool_object: Pose) -> None:
    """Let the planner carry the object's shape with the tool."""
    cloud = ctx.scene.cloud(object_id)
    centers, radii = attached_spheres(
        pose_tool_object.transform(cloud.points_m), pose_tool_object.rotate(cloud.normals)
    )
    ctx.planner.attach(centers, radii)


def _by_opening(
    candidates: Sequence[GraspCandidate], openings_m: Sequence[float]
) -> list[tuple[float, NDArray[np.int64]]]:
    sampled = np.sort(np.asarray(openings_m))
    wanted = np.array([c.opening_m for c in candidates])
    group = np.minimum(np.searchsorted(sampled, wanted - 1e-9), len(sampled) - 1)
    return [(float(sampled[g]), np.flatnonzero(group == g)) for g in np.unique(group)]


def with_contact_pose(ranked_grasp: RankedGrasp, pose_tool_object: Pose) -> RankedGrasp:
    """Return the same grasp with the object's pose as it was found after closing."""
    return replace(ranked_grasp, pose_tool_object=pose_tool_object)
