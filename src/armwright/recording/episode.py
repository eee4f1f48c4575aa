"""One recorded demonstration as plain data: columns at the dataset's rate, images as iterators, and its story."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.control.protocols import ArmState, StageReport
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose

Image = NDArray[np.uint8]


def continuous_quats(quats_wxyz: ArrayLike) -> Array:
    """Return (t, 4) unit quaternions with signs chosen so that neighbours are near and the first has w >= 0."""
    q = np.array(quats_wxyz, dtype=np.float64)
    if len(q) == 0:
        return q
    if q[0, 0] < 0:
        q[0] = -q[0]
    flips = np.sign(np.einsum("ij,ij->i", q[:-1], q[1:]))
    flips[flips == 0] = 1.0
    q[1:] *= np.cumprod(flips)[:, None]
    return q


@dataclass(frozen=True, eq=False)
class ArmLog:
    """What the arm did and was told, t rows at the dataset's rate, in its base frame.

    Attributes:
        position_rad: (t, n) joint positions.
        opening_m: (t,) gap between the pads.
        tool_pose: (t, 7) measured tool pose: position [m] and quaternion wxyz.
        action_pose: (t, 7) commanded tool pose for the next step.
        action_opening_m: (t,) commanded gap for the next step.
        joint_target_rad: (t, n) commanded joint positions for the next step.
    """

    position_rad: Array
    opening_m: Array
    tool_pose: Array
    action_pose: Array
    action_opening_m: Array
    joint_target_rad: Array

    def __post_init__(self) -> None:
        t, n = np.shape(self.position_rad)
        expected = {
            "opening_m": (t,),
            "tool_pose": (t, 7),
            "action_pose": (t, 7),
            "action_opening_m": (t,),
            "joint_target_rad": (t, n),
        }
        for name, shape in expected.items():
            if np.shape(getattr(self, name)) != shape:
                raise UsageError(f"{name} is {np.shape(getattr(self, name))}; with {t} rows it must be {shape}.")
        if t == 0:
            raise UsageError("an episode needs at least one row.")

    @classmethod
    def from_states(
        cls, states: Sequence[ArmState], *, forward: Callable[[Array], Pose], fps: int = 20, tolerance_s: float = 2e-3
    ) -> ArmLog:
        """Build the log from an arm's state stream.

        The action of row t is the command that holds at row t + 1; the last row repeats its own.

        Args:
            states: Samples at ``fps``, oldest first.
            forward: Joint positions (n,) -> tool pose in the base frame.
            fps: Rate of the samples.
            tolerance_s: How far a stamp may be off the grid of ``1 / fps``.

        Raises:
            UsageError: No samples, or stamps off the grid.
        """
        if not states:
            raise UsageError("the state stream is empty; there is nothing to record.")
        stamps = np.array([state.stamp_s for state in states])
        off = np.abs(stamps - stamps[0] - np.arange(len(stamps)) / fps)
        if off.max() > tolerance_s:
            row = int(off.argmax())
            raise UsageError(
                f"sample {row} is {off[row]:.4f} s off the {fps} Hz grid (allowed {tolerance_s} s).",
                hint="Read the stream at the dataset's rate.",
            )
        following = [*states[1:], states[-1]]
        target = np.array([state.target_rad for state in following])
        return cls(
            position_rad=np.array([state.position_rad for state in states]),
            opening_m=np.array([state.opening_m for state in states]),
            tool_pose=_pose_rows([state.pose_base_tool for state in states]),
            action_pose=_pose_rows([forward(row) for row in target]),
            action_opening_m=np.array([state.target_opening_m for state in following]),
            joint_target_rad=target,
        )


def _pose_rows(poses: Sequence[Pose]) -> Array:
    rows = np.array([pose.to_list() for pose in poses])
    rows[:, 3:] = continuous_quats(rows[:, 3:])
    return rows


class WorldSample(Protocol):
    """The world's state at one moment, as a state stream gives it."""

    @property
    def stamp_s(self) -> float: ...

    @property
    def qpos(self) -> Array: ...

    @property
    def qvel(self) -> Array: ...

    @property
    def ctrl(self) -> Array: ...


@dataclass(frozen=True, eq=False)
class WorldLog:
    """The simulated world's whole state per row, enough to set it frame by frame.

    Attributes:
        time_s: (t,) world time.
        qpos: (t, nq).
        qvel: (t, nv).
        ctrl: (t, nu).
        model_hash: SHA-256 of the compiled model; states of one model mean nothing in another.
    """

    time_s: Array
    qpos: Array
    qvel: Array
    ctrl: Array
    model_hash: str = ""

    @classmethod
    def from_samples(cls, samples: Sequence[WorldSample], *, model_hash: str = "") -> WorldLog:
        """Stack a world's state stream."""
        return cls(
            time_s=np.array([sample.stamp_s for sample in samples]),
            qpos=np.array([sample.qpos for sample in samples]),
            qvel=np.array([sample.qvel for sample in samples]),
            ctrl=np.array([sample.ctrl for sample in samples]),
            model_hash=model_hash,
        )


@dataclass(frozen=True, eq=False)
class EpisodeData:
    """One episode.

    Attributes:
        instruction: The sentence that was asked for; stored with the seed it ran under.
        seed: Seed of the episode; a seed and an instruction occur once in a dataset.
        arm: What the arm did.
        world: The world's states, or None on a real robot.
        images: Camera name -> iterable of (H, W, 3) uint8 frames, one per row; read once, never held together.
        success: Judged success of the task.
        compliance: Judged compliance with the named region; None where the sentence implies none.
        stages: What the judges and skills said, in order.
        scene: Solved scene as JSON.
        task: Parsed task as JSON.
        versions: What it was made with.
        extra: Anything else that is JSON.
    """

    instruction: str
    seed: int
    arm: ArmLog
    world: WorldLog | None = None
    images: Mapping[str, Iterable[Image]] = field(default_factory=dict)
    success: bool = False
    compliance: bool | None = None
    stages: tuple[StageReport, ...] = ()
    scene: Mapping[str, Any] = field(default_factory=dict)
    task: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str | None] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.instruction.strip():
            raise UsageError("an episode needs the sentence that it carried out.")
        if self.seed < 0:
            raise UsageError(f"a seed is a number from 0, got {self.seed}.")
        if self.world is not None:
            for name in ("time_s", "qpos", "qvel", "ctrl"):
                rows = len(getattr(self.world, name))
                if rows != len(self):
                    raise UsageError(f"world.{name} has {rows} rows, the arm has {len(self)}.")

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.arm.opening_m)

    def vectors(self) -> dict[str, NDArray[np.float32]]:
        """Return the dataset's vector features, (t, k) float32 each."""
        arm = self.arm
        action = arm.action_pose.copy()
        action[:, 3:] = continuous_quats(action[:, 3:])
        tool = arm.tool_pose.copy()
        tool[:, 3:] = continuous_quats(tool[:, 3:])
        columns = {
            "observation.state": np.column_stack([arm.position_rad, arm.opening_m]),
            "observation.tool_pose": tool,
            "action": np.column_stack([action, arm.action_opening_m]),
            "action.joint_target": arm.joint_target_rad,
        }
        return {key: np.asarray(value, dtype=np.float32) for key, value in columns.items()}
