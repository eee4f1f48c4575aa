"""What a skill works with: an arm, a planner, a view of the scene, and the sources of masks and grasps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from armwright.affordance.protocol import AffordanceMask, AffordanceModel, ObjectCloud
from armwright.assets.model import ObjectModel
from armwright.assets.placement import TableBounds
from armwright.control.protocols import Arm, Clock
from armwright.core.camera import CameraModel
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery, RelationName
from armwright.grasping.sources import GraspSource
from armwright.grasping.types import GraspCandidate, GraspSet
from armwright.planning.backend import PlanningBackend
from armwright.planning.types import GraspEvaluation, WorldSpec
from armwright.planning.verify import VerifyReport
from armwright.robots.spec import GripperSpec


@runtime_checkable
class SceneSource(Protocol):
    """Where skills learn what stands where: ``oracle`` (from the simulator's truth) or ``perceived``."""

    @property
    def name(self) -> str: ...

    def objects(self) -> tuple[str, ...]: ...

    def pose_world(self, object_id: str) -> Pose: ...

    def pose_world_link(self, object_id: str, link: str) -> Pose: ...

    def joint(self, object_id: str, link: str) -> float: ...

    def model(self, object_id: str) -> ObjectModel: ...

    def mass_kg(self, object_id: str) -> float: ...

    def fill_share(self, object_id: str) -> float: ...

    def cloud(self, object_id: str) -> ObjectCloud: ...

    def canonical(self, object_id: str) -> ObjectCloud: ...

    def close_up(self, object_id: str, center_m: Array, radius_m: float) -> ObjectCloud: ...

    def world_spec(self, *, exclude: tuple[str, ...] = (), targets: tuple[str, ...] = ()) -> WorldSpec: ...


@dataclass(frozen=True)
class SkillOptions:
    """Numbers that skills share, with the reason for each.

    Attributes:
        pregrasp_m: Length of the straight approach: longer than a finger, so that the planner's transit ends clear.
        lift_m: How far an object is lifted before it travels.
        place_gap_m: Height above the resting pose at which the collision-checked path ends.
        descend_m: Longest guarded descent after that; covers the gap and the pose error of the held object.
        contact_n: Force that ends a guarded motion.
        retreat_m: Straight way back after release.
        max_attempts: Grasps tried in execution before a pick fails.
        min_hold_m: A gripper that closed to less than this holds nothing.
        hold_s: How long a held object is kept still.
        grip_force_n: Closing force; None asks for what an object weighs (`skills.grip`).
        transit_speed, fine_speed: Share of the joint speed limits on planned paths and on the approach.
        speed_m_s: Speed of straight tool motions.
        fine_speed_m_s: Speed of guarded motions.
    """

    pregrasp_m: float = 0.10
    lift_m: float = 0.10
    place_gap_m: float = 0.02
    descend_m: float = 0.045
    contact_n: float = 4.0
    retreat_m: float = 0.10
    max_attempts: int = 4
    min_hold_m: float = 0.002
    speed_m_s: float = 0.25
    fine_speed_m_s: float = 0.06
    hold_s: float = 1.0
    grip_force_n: float | None = None
    transit_speed: float = 0.9
    fine_speed: float = 0.3


@dataclass(eq=False)
class GraspTrace:
    """What stage 1 and stage 2 found for one query; kept for the report."""

    query: AffordanceQuery
    cloud: ObjectCloud
    mask: AffordanceMask
    grasps: GraspSet
    evaluation: GraspEvaluation | None = None
    chosen: int = -1


@dataclass(frozen=True, eq=False)
class Cover:
    """Spheres that stand for an object in the hand, in its frame, and the points that they were made from."""

    points_m: Array
    center_m: Array
    radius_m: Array


class PathVerifier(Protocol):
    """An independent judge of joint paths, such as `planning.verify.Verifier`."""

    def check_path(
        self,
        q_rad: Array,
        *,
        ignore: frozenset[str] = ...,
        held_ignore: frozenset[str] = ...,
        attached: Sequence[Array] | None = ...,
        pose_tool_attached: Pose | None = ...,
        step_rad: float = ...,
    ) -> VerifyReport: ...

    def set_opening(self, opening_m: float) -> None: ...


MakeVerifier = Callable[[WorldSpec, float], PathVerifier]
"""World and opening [m] -> a verifier of that world."""


@dataclass(eq=False)
class Held:
    """What the gripper holds, and how: the object's frame in the tool frame.

    ``by_the_tips`` says that the pads got around little of it; it is carried gently then.
    ``world`` and ``verifier`` are what motions are verified with while it is carried; the first one makes them.
    """

    object_id: str
    pose_tool_object: Pose
    candidate: GraspCandidate
    query: AffordanceQuery
    stand_pose_world: Pose
    by_the_tips: bool = False
    world: WorldSpec | None = None
    verifier: PathVerifier | None = None


@dataclass(eq=False)
class SkillContext:
    """Everything a skill may touch; it never sees the simulator.

    ``foreseen`` holds the resting poses that grasps were tested with, by object, target and relation, then by grasp
    (`skills.place.grasp_key`).
    ``camera`` is the station's third-person camera, for grasp sources that look through one.
    """

    arm: Arm
    clock: Clock
    gripper: GripperSpec
    planner: PlanningBackend
    scene: SceneSource
    affordance: AffordanceModel
    grasp_source: GraspSource
    rng: np.random.Generator
    bounds: TableBounds | None = None
    verifier: MakeVerifier | None = None
    camera: CameraModel | None = None
    options: SkillOptions = field(default_factory=SkillOptions)
    held: Held | None = None
    traces: list[GraspTrace] = field(default_factory=list)
    covers: dict[str, Cover] = field(default_factory=dict)
    foreseen: dict[tuple[str, str | None, RelationName], dict[bytes, tuple[Pose, ...]]] = field(default_factory=dict)
    timing: dict[str, float] = field(default_factory=dict)

    def add_time(self, name: str, seconds: float) -> None:
        """Add wall time to a named account of the computing time."""
        self.timing[name] = self.timing.get(name, 0.0) + seconds

    def pose_base(self, pose_world: Pose) -> Pose:
        """Express a world pose in the arm's base frame."""
        return self.arm.pose_world_base.inverse() @ pose_world
