"""The planner plug point: what a backend must offer, and how one is found by name."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from armwright.core.errors import UnknownNameError
from armwright.core.pose import Array
from armwright.planning.types import Bools, GraspEvaluation, IkResult, PathReport, WorldSpec
from armwright.robots.kinematics import Kinematics

GROUP = "armwright.planners"
BUILT_IN = "numba"


@runtime_checkable
class PlanningBackend(Protocol):
    """A planner for one arm: plain arrays in and out, batch first, poses in the arm's base frame.

    `Planner` documents each method; a backend on a GPU copies once per call and answers in the same shapes.

    Attributes:
        seed: Of every random choice; set before each episode.
    """

    seed: int

    @property
    def kinematics(self) -> Kinematics: ...

    @property
    def opening_m(self) -> float: ...

    @property
    def world(self) -> WorldSpec: ...

    def set_world(self, world: WorldSpec) -> None: ...

    def set_opening(self, opening_m: float) -> None: ...

    def attach(self, center_tool_m: ArrayLike, radius_m: ArrayLike, *, name: str | None = None) -> None: ...

    def detach(self) -> None: ...

    def fk(self, q_rad: ArrayLike) -> Array: ...

    def ik(
        self,
        poses_base_tool: ArrayLike,
        *,
        seeds: ArrayLike | None = None,
        n_seeds: int = 16,
        max_solutions: int = 8,
    ) -> IkResult: ...

    def check(self, q_rad: ArrayLike, *, without_targets: bool = False) -> Bools: ...

    def clearance(self, q_rad: ArrayLike, *, without_targets: bool = False) -> Array: ...

    def colliding_pair(self, q_rad: ArrayLike, *, without_targets: bool = False) -> tuple[str, str] | None: ...

    def first_collision(
        self, q_rad: ArrayLike, *, without_targets: bool = False
    ) -> tuple[int, tuple[str, str]] | None: ...

    def check_edges(
        self, a_rad: ArrayLike, b_rad: ArrayLike, *, resolution_rad: float = 0.03, without_targets: bool = False
    ) -> Bools: ...

    def plan(
        self,
        start_rad: ArrayLike,
        goals_rad: ArrayLike,
        *,
        max_iterations: int = ...,
        without_targets: bool = False,
    ) -> PathReport: ...

    def linear(
        self,
        start_rad: ArrayLike,
        pose_base_goal: ArrayLike,
        *,
        step_m: float = 0.01,
        check: bool = True,
        without_targets: bool = True,
        max_joint_step_rad: float = 0.25,
    ) -> PathReport: ...

    def evaluate_grasps(
        self,
        start_rad: ArrayLike,
        poses_base_grasp: ArrayLike,
        *,
        pregrasp_m: float = 0.10,
        max_iterations: int = ...,
        n_seeds: int = 16,
    ) -> GraspEvaluation: ...


def backend_names() -> tuple[str, ...]:
    """Return the names of all planner backends that are installed."""
    return tuple(sorted({BUILT_IN, *(point.name for point in entry_points(group=GROUP))}))


def make_planner(
    kinematics: Kinematics, *, opening_m: float, seed: int = 0, backend: str = BUILT_IN
) -> PlanningBackend:
    """Build a planner by name.

    Others register a factory with the signature of `Planner` under the entry-point group ``armwright.planners``.

    Raises:
        UnknownNameError: No backend of that name is installed.
    """
    if backend == BUILT_IN:
        from armwright.planning.planner import Planner

        return Planner(kinematics, opening_m=opening_m, seed=seed)
    for point in entry_points(group=GROUP):
        if point.name == backend:
            made: PlanningBackend = point.load()(kinematics, opening_m=opening_m, seed=seed)
            return made
    raise UnknownNameError("planner backend", backend, backend_names())
