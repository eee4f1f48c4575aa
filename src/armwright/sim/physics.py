"""The stepping core of a world: model and data, a stream of stamped state samples, and a guard against divergence."""

from __future__ import annotations

import copy
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armwright.assets.scene import SceneSpec
from armwright.core.errors import ArmwrightError, UsageError
from armwright.core.pose import Array
from armwright.sim.build import BuiltScene, place_objects
from armwright.sim.shake import Shake


class DivergedError(ArmwrightError):
    """The simulation blew up; the world must be reset or restored before it can go on."""

    exit_code = 1


class StreamLostError(ArmwrightError):
    """Samples that somebody asks for are older than what the stream keeps."""

    exit_code = 1


@dataclass(frozen=True, eq=False)
class Sample:
    """The state at one moment of the stream.

    Attributes:
        stamp_s: World time.
        qpos, qvel, ctrl: Copies of MuJoCo's arrays.
        arm: What the arm noted beside them (commands, torques, grip force).
    """

    stamp_s: float
    qpos: Array
    qvel: Array
    ctrl: Array
    arm: Array


@dataclass(frozen=True, eq=False)
class PhysicsState:
    """All that decides how the world goes on, sleepers and scheduled shakes included; restoring it is bit-exact."""

    data: Any
    steps: int
    shakes: tuple[tuple[Shake, int], ...] = ()


class Physics:
    """Owns a copy of the compiled model, its data and scratch data; nothing outside the room sees them.

    Args:
        built: The compiled scene.
        sample_hz: Rate of the state stream; must divide the stepping rate.
        keep_s: How much of the stream is kept.
    """

    def __init__(self, built: BuiltScene, *, sample_hz: float, keep_s: float) -> None:
        import mujoco

        self._mj = mujoco
        _silence(mujoco)
        self.built = built
        self.model = copy.copy(built.model)
        self.data = mujoco.MjData(self.model)
        self._fresh = mujoco.MjData(self.model)
        self._drawn = mujoco.MjData(self.model)
        self.timestep_s = float(self.model.opt.timestep)
        every = 1.0 / (sample_hz * self.timestep_s)
        if every < 1 or abs(every - round(every)) > 1e-6:
            raise UsageError(
                f"a stream of {sample_hz} Hz does not fit a step of {self.timestep_s} s.",
                hint="The time between samples must be a whole number of steps, as with 20, 25, 50 or 100 Hz.",
            )
        self._every = round(every)
        self.stream: deque[Sample] = deque(maxlen=max(2, int(keep_s * sample_hz)))
        self._keep_s = keep_s
        self._lost_s = float("-inf")
        self._shakes: list[tuple[Shake, int]] = []
        self._resets = 0
        self._note_arm: Callable[[], Callable[[], Array] | None] = lambda: None
        self._steps = 0
        self._version = 0
        self._fresh_version = -1
        self._drawn_stamp: tuple[int, float] | None = None
        w = mujoco.mjtWarning
        self._fatal = [int(k) for k in (w.mjWARN_BADQPOS, w.mjWARN_BADQVEL, w.mjWARN_BADQACC, w.mjWARN_BADCTRL)]

    @property
    def now_s(self) -> float:
        """World time [s]."""
        return float(self.data.time)

    @property
    def version(self) -> int:
        """A number that changes whenever the state does."""
        return self._version

    @property
    def resets(self) -> int:
        """How often the world was reset; what was read before a reset says nothing of what came after."""
        return self._resets

    def reset(self, scene: SceneSpec) -> None:
        """Put all objects where the scene says, at time 0, and empty the stream; the arm is set by its owner."""
        place_objects(self.built, self.model, self.data, scene)
        for scratch in (self._fresh, self._drawn):
            self._mj.mj_resetData(self.model, scratch)
        self._steps = 0
        self._resets += 1
        self._shakes.clear()
        self._lost_s = float("-inf")
        self.stream.clear()
        self.touch()

    def let_arm_note(self, note: Callable[[], Array]) -> None:
        """Let a bound method add what the arm knows to every sample.

        It is held weakly: a cycle would keep the world's megabytes, which Python's collector cannot see, for long.
        """
        self._note_arm = weakref.WeakMethod(note)

    def touch(self) -> None:
        """Note that the state was written to."""
        self._version += 1
        self._drawn_stamp = None

    def sample(self) -> None:
        """Append the present state to the stream."""
        d = self.data
        note = self._note_arm()
        extra = note() if note is not None else np.zeros(0)
        if len(self.stream) == self.stream.maxlen:
            self._lost_s = self.stream[0].stamp_s
        self.stream.append(Sample(float(d.time), d.qpos.copy(), d.qvel.copy(), d.ctrl.copy(), extra))

    def since(self, since_s: float) -> list[Sample]:
        """Return the samples after ``since_s``, oldest first; minus infinity takes whatever is kept.

        Raises:
            StreamLostError: Samples after ``since_s`` were dropped, because the stream keeps no more.
        """
        if self._lost_s > since_s > float("-inf"):
            raise StreamLostError(
                f"the stream keeps the last {self._keep_s:g} s; samples from {since_s:.2f} s to {self._lost_s:.2f} s "
                "are gone.",
                hint="Make the world with a larger WorldOptions.keep_s, or read the stream more often.",
            )
        return [sample for sample in self.stream if sample.stamp_s > since_s]

    def step(self, n: int) -> None:
        """Advance by n steps, sampling on the way.

        Raises:
            DivergedError: A position, velocity or acceleration is not finite or absurdly large.
        """
        left = int(n)
        while left > 0:
            chunk = min(left, self._every - self._steps % self._every)
            if self._shakes:
                chunk = 1 if self._shake() else chunk
            try:
                self._mj.mj_step(self.model, self.data, chunk)
            except self._mj.FatalError as error:
                raise self._diverged(str(error)) from error
            finally:
                self._version += 1
            self._steps += chunk
            left -= chunk
            self.check()
            if self._steps % self._every == 0:
                self.sample()

    def schedule(self, shake: Shake, body: int) -> None:
        """Let a body feel a shake when its time comes; a reset, or a return to before it was scheduled, forgets it."""
        self._shakes.append((shake, body))

    def _shake(self) -> bool:
        """Set what shaken bodies feel at the present time; say whether one is near its time."""
        d, near = self.data, False
        for shake, body in self._shakes:
            d.xfrc_applied[body, :3] = self.model.body_subtreemass[body] * shake.acceleration(self.now_s)
            near = near or shake.start_s - self._every * self.timestep_s < self.now_s < shake.end_s + 1e-6
        return near

    def check(self) -> None:
        """Raise if the last steps left MuJoCo with numbers that it warned about."""
        warning = self.data.warning
        bad = [k for k in self._fatal if warning[k].number]
        if bad:
            raise self._diverged(", ".join(self._mj.mjtWarning(k).name.removeprefix("mjWARN_") for k in bad))

    def _diverged(self, why: str) -> DivergedError:
        return DivergedError(
            f"the simulation diverged at {self.now_s:.3f} s ({why}).",
            hint="Reset the world or restore an earlier state; an overlap at the start is the usual cause.",
        )

    def fresh(self) -> Any:
        """Return scratch data with poses, contacts and contact forces of the present state, sleepers included."""
        if self._fresh_version != self._version:
            self._copy_state(self.data, self._fresh)
            self._mj.mj_forward(self.model, self._fresh)
            self._fresh_version = self._version
        return self._fresh

    def posed(self, sample: Sample | None = None) -> Any:
        """Return scratch data with the body and camera poses of a sample, or of the present; for drawing only."""
        stamp, qpos = (self.now_s, self.data.qpos) if sample is None else (sample.stamp_s, sample.qpos)
        key = (self._version if sample is None else -1, stamp)
        if self._drawn_stamp != key:
            d = self._drawn
            d.qpos[:] = qpos
            d.time = stamp
            self._mj.mj_kinematics(self.model, d)
            self._mj.mj_comPos(self.model, d)
            self._mj.mj_camlight(self.model, d)
            self._drawn_stamp = key
        return self._drawn

    def snapshot(self) -> PhysicsState:
        """Copy the whole state."""
        return PhysicsState(copy.copy(self.data), self._steps, tuple(self._shakes))

    def restore(self, state: PhysicsState) -> None:
        """Go back to a copied state; samples later than it are dropped from the stream."""
        self._mj.mj_copyData(self.data, self.model, state.data)
        self._steps = state.steps
        self._shakes = list(state.shakes)
        while self.stream and self.stream[-1].stamp_s > self.now_s + 1e-9:
            self.stream.pop()
        self.touch()

    def set_state(self, *, time_s: float, qpos: Array, qvel: Array, ctrl: Array) -> None:
        """Write a recorded state; what follows from it is computed without any memory of the state before."""
        d = self.data
        d.time = time_s
        d.qpos[:], d.qvel[:], d.ctrl[:] = qpos, qvel, ctrl
        d.qacc_warmstart[:] = 0.0
        self._steps = round(time_s / self.timestep_s)
        self._shake()
        self.touch()

    def _copy_state(self, source: Any, target: Any) -> None:
        self._mj.mj_copyState(self.model, source, target, int(self._mj.mjtState.mjSTATE_INTEGRATION))


def _silence(mujoco: Any) -> None:
    """Keep MuJoCo from writing MUJOCO_LOG.TXT into the user's folder: every warning is checked after stepping."""
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(lambda message: None)
