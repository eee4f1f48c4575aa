"""What skills need of a robot, real or simulated: `Arm`, `Gripper`, `Camera`, `Clock`, guards and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.pose import Array, Pose

MotionStatus = Literal["done", "guard", "not_reached", "limit", "no_ik", "diverged", "stopped"]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A timed joint path.

    Attributes:
        time_s: (t,) float, from 0, rising.
        position_rad: (t, n) float; linear between samples.
        velocity_rad_s: (t, n) float.
    """

    time_s: Array
    position_rad: Array
    velocity_rad_s: Array

    @property
    def duration_s(self) -> float:
        """Length in time [s]."""
        return float(self.time_s[-1])


@dataclass(frozen=True, eq=False)
class ArmState:
    """What the arm reports about itself at ``stamp_s``.

    Attributes:
        position_rad, velocity_rad_s, torque_nm: (n,) float; torque is what the joints exert beyond gravity.
        pose_base_tool: Tool frame in the base frame.
        opening_m: Gap between the pads [m].
        grip_force_n: Closing force at the pads [N], 0 when nothing is squeezed.
        target_rad: (n,) commanded joint positions.
        target_opening_m: Commanded gap [m].
    """

    stamp_s: float
    position_rad: Array
    velocity_rad_s: Array
    torque_nm: Array
    pose_base_tool: Pose
    opening_m: float
    grip_force_n: float
    target_rad: Array
    target_opening_m: float


@dataclass(frozen=True)
class Guard:
    """A condition checked at control rate; the motion stops when it becomes true.

    Attributes:
        contact_n: Stop when the tool feels more than this force beyond its own weight [N].
        contact_s: The force must last this long: what slides before the fingers chatters, what jams keeps pressing.
        timeout_s: Stop after this much world time.
        distance_m: Stop after the tool has travelled this far.
        predicate: Any further condition on the arm's state; with its name.
    """

    contact_n: float | None = None
    contact_s: float = 0.0
    timeout_s: float | None = None
    distance_m: float | None = None
    predicate: Callable[[ArmState], bool] | None = None
    predicate_name: str = "predicate"


@dataclass(frozen=True, eq=False)
class MotionReport:
    """How a motion ended.

    Attributes:
        ok: It did what was asked: reached the end, or stopped at a guard.
        status: ``guard`` means that ``guard`` stopped it.
        guard: Which guard: ``contact``, ``timeout``, ``distance`` or the predicate's name.
        state: The arm's state at the end.
        error_m, error_rad: Distance of the tool from the commanded end.
        detail: One sentence.
    """

    ok: bool
    status: MotionStatus
    state: ArmState
    guard: str | None = None
    error_m: float = 0.0
    error_rad: float = 0.0
    detail: str = ""


@dataclass(frozen=True, eq=False)
class GripReport:
    """What closing or opening led to; ``holding`` says that the fingers stopped on something."""

    ok: bool
    holding: bool
    opening_m: float
    force_n: float
    detail: str = ""


@runtime_checkable
class Clock(Protocol):
    """World time; ``sleep`` lets the world go on."""

    @property
    def now_s(self) -> float: ...

    def sleep(self, duration_s: float) -> None: ...


@runtime_checkable
class Camera(Protocol):
    """A camera whose frames are kept in a stamped ring buffer."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> CameraModel: ...

    def capture(self) -> RgbdFrame: ...

    def frames(self, since_s: float = float("-inf")) -> Sequence[RgbdFrame]: ...


@runtime_checkable
class Gripper(Protocol):
    """A parallel gripper."""

    def grip(self, *, width_m: float, force_n: float | None = None, timeout_s: float = 1.5) -> GripReport: ...


@runtime_checkable
class Arm(Gripper, Protocol):
    """An arm with a gripper; poses are of the tool frame in the arm's base frame."""

    @property
    def name(self) -> str: ...

    @property
    def pose_world_base(self) -> Pose: ...

    def state(self) -> ArmState: ...

    def states(self, since_s: float = float("-inf")) -> Sequence[ArmState]: ...

    def follow(self, trajectory: Trajectory, guard: Guard | None = None) -> MotionReport: ...

    def move_linear(
        self, pose_base_tool: Pose, guard: Guard | None = None, *, speed_m_s: float = 0.15
    ) -> MotionReport: ...

    def stop(self) -> None: ...


@dataclass(frozen=True)
class StageReport:
    """One stage of a skill or a task: its name, whether it worked, its status and what would help."""

    name: str
    ok: bool
    status: str
    detail: str = ""
    data: dict[str, object] = field(default_factory=dict)
