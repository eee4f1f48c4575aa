"""Plan motions of one arm in one world: paths, straight lines, grasps, places (AffordSim §3.2, stage 2)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.core.seeds import int_seed
from armwright.planning import kernels_approach as stages
from armwright.planning._jit import F32, F64, I64
from armwright.planning.kernels_check import new_scratch
from armwright.planning.kernels_edges import path_length
from armwright.planning.kernels_ik import new_ik_scratch, track_line
from armwright.planning.kernels_random import random_state
from armwright.planning.kernels_tree import plan_path
from armwright.planning.queries import START_SLACK_RAD, ArmInWorld
from armwright.planning.types import GraspEvaluation, PathReport, PlanStatus

# Edges are searched at this step of any joint and the result is checked at the finer one.
RESOLUTION_RAD = 0.03
FINE_RAD = 0.01
SHORTCUT_TRIES = 60
# Growths of a tree before a path is given up. Half of all searches through narrow places need under 300; what others
# cost is only spent on them. Ranking has many candidates, and leaves the hard ones.
MAX_ITERATIONS = 20_000
RANK_ITERATIONS = 2_000
# Farther than this in one step of a line is a jump to another branch.
MAX_JOINT_STEP_RAD = 0.25
LINE_STEP_M = 0.01
# Pre-grasps per candidate and goals per plan that the search gets to choose from, nearest first.
LINES_PER_CANDIDATE = 4
MAX_GOALS = 32
MAX_WAYPOINTS = 48

_STAGES: dict[int, tuple[PlanStatus, str]] = {
    stages.STAGE_IK: ("ik_fail", "the arm cannot reach the pose"),
    stages.STAGE_GOAL: ("goal_collision", "every configuration at the pose collides"),
    stages.STAGE_LINE: ("ik_fail", "the straight line leaves the joint range or jumps to another branch"),
    stages.STAGE_APPROACH: ("approach_collision", "the straight line collides"),
    stages.STAGE_PREGRASP: ("approach_collision", "the far end of the straight line collides"),
    stages.STAGE_PATH: ("no_path", "no free path was found to the far end of the straight line"),
}


@lru_cache(maxsize=64)
def _plan_seed(seed: int) -> int:
    return int_seed(seed, "plan")


class _Approaches(NamedTuple):
    """Straight lines to candidates: lines (c, k, w, n), how many of the k exist, and what stopped the others."""

    lines: F64
    size: I64
    stage: I64
    best: F64
    error: F64


class Planner(ArmInWorld):
    """The built-in planner backend, ``numba``: everything on one CPU core, batch first, the same answer every time."""

    def plan(
        self,
        start_rad: ArrayLike,
        goals_rad: ArrayLike,
        *,
        max_iterations: int = MAX_ITERATIONS,
        without_targets: bool = False,
    ) -> PathReport:
        """Plan from start (n,) to whichever of goals (k, n) is reached first, and shorten the path.

        The path is free every 0.01 rad in the spheres' sense. Goals are tried nearest first.
        """
        start = self._start(start_rad)
        goals = self._joints(goals_rad, "goals")
        if len(goals) == 0:
            raise UsageError("plan got no goals.", hint="Give at least one configuration; ik() finds them.")
        outside = (goals < self._chain.lower - 2e-4) | (goals > self._chain.upper + 2e-4)
        if outside.any():
            goal, joint = np.argwhere(outside)[0]
            raise UsageError(
                f"joint {joint + 1} of goal {goal} is at {goals[goal, joint]:.4f} rad, outside "
                f"[{self._chain.lower[joint]:.4f}, {self._chain.upper[joint]:.4f}]."
            )
        order = np.argsort(np.linalg.norm(goals - start, axis=1), kind="stable")[:MAX_GOALS]
        path, goal, iterations = plan_path(
            self._scene(without_targets),
            start[None].astype(np.float32),
            goals[order].astype(np.float32),
            RESOLUTION_RAD,
            FINE_RAD,
            max_iterations,
            SHORTCUT_TRIES,
            random_state(_plan_seed(self.seed)),
        )
        if goal == -2:
            return self._start_collision(start, without_targets=without_targets)
        nothing = np.zeros((0, self.kinematics.dof))
        if goal == -3:
            pair = self.colliding_pair(goals[order[0]], without_targets=without_targets)
            return PathReport(
                False, "goal_collision", nothing, colliding=pair, detail=f"all {len(goals)} goals collide."
            )
        if goal < 0:
            return PathReport(
                False,
                "no_path",
                nothing,
                iterations=iterations,
                detail=f"no path in {iterations} iterations; raise max_iterations or give more goals.",
            )
        chosen = int(order[goal])
        joints = path.astype(np.float64)
        joints[0], joints[-1] = start, goals[chosen]
        return PathReport(True, "ok", joints, float(path_length(path)), chosen, iterations=iterations)

    def linear(
        self,
        start_rad: ArrayLike,
        pose_base_goal: ArrayLike,
        *,
        step_m: float = LINE_STEP_M,
        check: bool = True,
        without_targets: bool = True,
        max_joint_step_rad: float = MAX_JOINT_STEP_RAD,
    ) -> PathReport:
        """Move the tool on a straight line from start (n,) to a pose (4, 4), without jumping between branches.

        A failed line still returns the way points up to where it stopped.
        """
        start = self._start(start_rad)
        goal = self._poses(np.asarray(pose_base_goal, float)[None], "pose_base_goal")[0]
        if step_m <= 0 or max_joint_step_rad <= 0:
            raise UsageError(f"steps must be positive, got {step_m} m and {max_joint_step_rad} rad.")
        here = self.fk(start[None])[0]
        length = float(np.linalg.norm(goal[:3, 3] - here[:3, 3]))
        cosine = float(np.clip((np.trace(here[:3, :3].T @ goal[:3, :3]) - 1) / 2, -1, 1))
        steps = max(1, int(np.ceil(max(length / step_m, float(np.arccos(cosine)) / 0.05))))
        line: F64 = np.empty((steps + 1, self.kinematics.dof))
        reached, jump = track_line(self._chain, start, goal, max_joint_step_rad, line, new_ik_scratch(len(start)))
        scene = self._scene(without_targets)
        if check and not self.check(start[None], without_targets=without_targets)[0]:
            return self._start_collision(start, without_targets=without_targets)
        if check:
            blocked = stages.line_free(scene, line, reached, FINE_RAD, new_scratch(len(start)))
            if blocked >= 0:
                pair = self.colliding_pair(line[blocked], without_targets=without_targets)
                return PathReport(
                    False,
                    "approach_collision",
                    line[:blocked].copy(),
                    colliding=pair,
                    detail=f"the line collides after {length * (blocked - 1) / steps:.3f} of {length:.3f} m.",
                )
        if reached <= steps:
            why = "would jump to another branch" if jump > max_joint_step_rad else "leaves the arm's reach or limits"
            return PathReport(
                False,
                "ik_fail",
                line[:reached].copy(),
                detail=f"the line {why} after {length * (reached - 1) / steps:.3f} of {length:.3f} m.",
            )
        return PathReport(True, "ok", line, float(path_length(line.astype(np.float32))), 0)

    def evaluate_grasps(
        self,
        start_rad: ArrayLike,
        poses_base_grasp: ArrayLike,
        *,
        pregrasp_m: float = 0.10,
        max_iterations: int = RANK_ITERATIONS,
        n_seeds: int = 16,
    ) -> GraspEvaluation:
        """Judge grasp candidates (c, 4, 4) by motion planning (AffordSim §3.2, stage 2).

        Each goes through inverse kinematics, a check of the grasp without the targets, the straight approach from
        ``pregrasp_m`` back along the tool's z, a check of its far end with the targets, a path from start (n,) to
        there, and shortening. The score is 1 / joint-space arc length [1/rad] of that path.
        """
        start = self._start(start_rad)
        poses = self._poses(poses_base_grasp, "poses_base_grasp")
        if pregrasp_m <= 0:
            raise UsageError(f"pregrasp_m must be positive, got {pregrasp_m}.")
        count, n = len(poses), self.kinematics.dof
        nothing = np.zeros((0, n))
        if count and not self.check(start[None])[0]:
            report = self._start_collision(start, without_targets=False)
            return GraspEvaluation(
                (report.status,) * count,
                np.zeros(count),
                [nothing] * count,
                np.zeros((count, n)),
                np.zeros((count, n)),
                [nothing] * count,
                (report.detail,) * count,
            )
        retreats = -pregrasp_m * poses[:, :3, 2]
        found = self._approach(start, poses, retreats, n_seeds=n_seeds)
        paths: F32 = np.empty((count, MAX_WAYPOINTS, n), np.float32)
        sizes: I64 = np.zeros(count, np.int64)
        length = np.zeros(count)
        chosen: I64 = np.zeros(count, np.int64)
        stages.plan_batch(
            self._scene(False),
            start.astype(np.float32),
            found.lines,
            found.size,
            RESOLUTION_RAD,
            FINE_RAD,
            max_iterations,
            SHORTCUT_TRIES,
            _plan_seed(self.seed),
            paths,
            sizes,
            length,
            chosen,
        )
        status: list[PlanStatus] = []
        detail: list[str] = []
        path_rad: list[Array] = []
        approach: list[Array] = []
        pre, grasp = np.zeros((count, n)), np.zeros((count, n))
        for c in range(count):
            if chosen[c] < 0:
                failed, why = self._explain(found, c)
                status.append(failed)
                detail.append(why)
                path_rad.append(nothing)
                approach.append(nothing)
                continue
            line = found.lines[c, chosen[c]]
            joints = paths[c, : sizes[c]].astype(np.float64)
            joints[0], joints[-1] = start, line[0]
            status.append("ok")
            detail.append("")
            path_rad.append(joints)
            approach.append(line.copy())
            pre[c], grasp[c] = line[0], line[-1]
        # A start that already is the pre-grasp has length 0 and could not be better.
        score = np.where(chosen >= 0, 1.0 / np.maximum(length, 1e-3), 0.0)
        return GraspEvaluation(tuple(status), score, path_rad, pre, grasp, approach, tuple(detail))

    def _approach(self, start: F64, poses: F64, retreats: F64, *, n_seeds: int) -> _Approaches:
        count, n = len(poses), self.kinematics.dof
        far = float(np.linalg.norm(retreats, axis=1).max(initial=0.0))
        steps = max(1, int(np.ceil(far / LINE_STEP_M)))
        found = _Approaches(
            np.empty((count, LINES_PER_CANDIDATE, steps + 1, n)),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            np.zeros((count, n)),
            np.zeros((count, 2)),
        )
        given = np.ascontiguousarray(np.stack([start, self.kinematics.home_rad])[: max(n_seeds, 1)], np.float64)
        stages.approach_batch(
            self._chain,
            self._scene(True),
            self._scene(False),
            given,
            poses,
            np.ascontiguousarray(retreats, np.float64),
            max(n_seeds - len(given), 0),
            FINE_RAD,
            MAX_JOINT_STEP_RAD,
            int_seed(self.seed, "approach"),
            *found,
        )
        return found

    def _explain(self, found: _Approaches, c: int) -> tuple[PlanStatus, str]:
        stage = int(found.stage[c])
        status, why = _STAGES[stage]
        if stage == stages.STAGE_IK:
            return status, f"{why}: nearest miss {found.error[c, 0]:.3f} m, {np.rad2deg(found.error[c, 1]):.1f} deg."
        if status in ("goal_collision", "approach_collision"):
            pair = self.colliding_pair(found.best[c], without_targets=stage != stages.STAGE_PREGRASP)
            if pair:
                return status, f"{why}: {pair[0]} and {pair[1]}."
        return status, f"{why}."

    def _start(self, start_rad: ArrayLike) -> F64:
        start = self._joints(np.asarray(start_rad, float)[None], "start")[0]
        low, high = self._chain.lower, self._chain.upper
        outside = (start < low - START_SLACK_RAD) | (start > high + START_SLACK_RAD)
        if outside.any():
            joint = int(np.argmax(outside))
            raise UsageError(
                f"joint {joint + 1} of the start is at {start[joint]:.3f} rad, outside "
                f"[{low[joint]:.3f}, {high[joint]:.3f}].",
                hint="Move the arm back inside its limits first.",
            )
        return np.asarray(start)

    def _start_collision(self, start: F64, *, without_targets: bool) -> PathReport:
        pair = self.colliding_pair(start, without_targets=without_targets)
        what = f"{pair[0]} touches {pair[1]}" if pair else "the arm touches something"
        return PathReport(
            False,
            "start_collision",
            np.zeros((0, self.kinematics.dof)),
            colliding=pair,
            detail=f"{what} at the start; back off along a straight line first.",
        )
