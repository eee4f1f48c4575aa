"""What the planner is given and what it gives back; every array is batch first, in the arm's base frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armwright.control.protocols import Trajectory
from armwright.core.pose import Array, Pose

PlanStatus = Literal[
    "ok",
    "ik_fail",
    "start_collision",
    "goal_collision",
    "approach_collision",
    "no_path",
    "timeout",
    "timing_fail",
    "verify_collision",
    "verify_limits",
]

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A body of the planner's world: convex hulls that move together.

    Attributes:
        name: Scene id (``mug_1``, ``table``).
        pose_base_obstacle: Its pose in the arm's base frame.
        hulls: Convex hulls, each (k, 3) float [m], in the obstacle's frame.
    """

    name: str
    pose_base_obstacle: Pose
    hulls: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class WorldSpec:
    """All obstacles, and the names that may be ignored on request (the object about to be grasped, or its support)."""

    obstacles: tuple[Obstacle, ...]
    targets: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, eq=False)
class IkResult:
    """Solutions of inverse kinematics.

    Attributes:
        q_rad: (b, k, n) float; rows past ``count`` are meaningless.
        count: (b,) int, solutions found per pose.
        nearest_rad: (b, n) the best attempt, also where nothing was found.
        error_m, error_rad: (b,) how far its tool is from the pose asked for.
    """

    q_rad: Array
    count: NDArray[np.int64]
    nearest_rad: Array = field(default_factory=lambda: np.zeros((0, 0)))
    error_m: Array = field(default_factory=lambda: np.zeros(0))
    error_rad: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class PathReport:
    """One planned path.

    Attributes:
        ok, status: What came of it, naming the failing stage.
        path_rad: (w, n) way points, empty unless ok.
        length_rad: Joint-space arc length [rad].
        goal: Index of the goal of the set that was reached.
        colliding: The pair that collides, by name, where the status is a collision.
        iterations: Tree growths used.
        detail: What would help.
    """

    ok: bool
    status: PlanStatus
    path_rad: Array
    length_rad: float = 0.0
    goal: int = -1
    colliding: tuple[str, str] | None = None
    iterations: int = 0
    detail: str = ""


@dataclass(frozen=True, eq=False)
class TimedReport:
    """A path with timing, every sample of which was checked against the limits and by the caller's collision check."""

    ok: bool
    status: PlanStatus
    trajectory: Trajectory | None
    method: Literal["blend", "toppra", "ruckig", "none"] = "none"
    colliding: tuple[str, str] | None = None
    detail: str = ""


@dataclass(frozen=True, eq=False)
class GraspEvaluation:
    """Stage 2 of the paper's grasp selection for a batch of candidates.

    Attributes:
        status: One per candidate.
        score: (c,) 1 / joint-space arc length [1/rad] from start to pre-grasp, 0 where it fails (§3.2).
        path_rad: Way points from the start to the pre-grasp, per candidate (empty where it fails).
        q_pregrasp_rad, q_grasp_rad: (c, n) the two ends of the approach edge.
        approach_rad: Way points of the straight approach from pre-grasp to grasp, per candidate.
        detail: What stopped each failed candidate, and what would help.
    """

    status: tuple[PlanStatus, ...]
    score: Array
    path_rad: Sequence[Array]
    q_pregrasp_rad: Array
    q_grasp_rad: Array
    approach_rad: Sequence[Array]
    detail: tuple[str, ...] = ()
