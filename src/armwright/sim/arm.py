"""The simulated arm: what `control.protocols.Arm` offers, by stepping the world inside each call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armwright.control.protocols import ArmState, GripReport, Guard, MotionReport, MotionStatus, Trajectory
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.sim._armmap import ArmMap, ContactReading, open_fingers
from armwright.sim._guards import Watch
from armwright.sim._servo import servo_of
from armwright.sim.build import ARM_PREFIX
from armwright.sim.physics import DivergedError, Physics, Sample

# Once the fingers have felt the force that was asked for they trim the gap this much slower, and give way where they
# squeeze by so much more.
_TRIM = 0.05
_OVER = 1.2


@dataclass(frozen=True)
class ArmOptions:
    """How the arm is driven.

    Attributes:
        control_hz: Rate of commands and guards.
        settle_s: Longest wait at the end of a motion for the tool to come to rest.
        settle_m: Tool error [m] at which a motion counts as settled.
        reached_m, reached_rad: Tool error beyond which a motion was not reached.
        jump_rad: Largest distance between the commanded joints and a trajectory's start.
        acceleration_m_s2: Of straight motions.
        turn_rad_s: Largest rotation speed of straight motions.
        grip_m_s: Speed of the pads' gap.
    """

    control_hz: float = 100.0
    settle_s: float = 0.4
    settle_m: float = 0.001
    reached_m: float = 0.005
    reached_rad: float = 0.03
    jump_rad: float = 0.1
    acceleration_m_s2: float = 1.0
    turn_rad_s: float = 1.5
    grip_m_s: float = 0.15


class SimulatedArm:
    """One arm in a stepped world.

    Args:
        physics: The world's stepping core.
        options: How it is driven.
    """

    def __init__(self, physics: Physics, options: ArmOptions | None = None) -> None:
        self._physics = physics
        self._o = options or ArmOptions()
        self.map = ArmMap(physics.built)
        self._robot = physics.built.robot
        self._servo = servo_of(self._robot.kinematics)
        self._base = physics.built.pose_world_base
        steps = 1.0 / (self._o.control_hz * physics.timestep_s)
        self._steps = round(steps)
        if self._steps < 1 or abs(steps - self._steps) > 1e-6:
            raise UsageError(f"a control rate of {self._o.control_hz} Hz does not fit steps of {physics.timestep_s} s.")
        self._period_s = self._steps * physics.timestep_s
        self._target = np.array(self._robot.spec.home_rad, float)
        self._stopped = False
        physics.let_arm_note(self._note)

    @property
    def name(self) -> str:
        """Name of the arm's spec."""
        return self._robot.spec.name

    @property
    def pose_world_base(self) -> Pose:
        """Pose of the arm's base in the world."""
        return self._base

    def go_home(self) -> None:
        """Put the arm at home with open fingers, at once: part of a reset, not a motion."""
        spec, model, data = self._robot.spec, self._physics.model, self._physics.data
        opening = self.map.control_for(spec.gripper.opening_m[1])
        fingers = open_fingers(
            str(self._robot.xml_path), self._robot.digest, spec.joints, spec.gripper.actuator, opening
        )
        self._target = np.array(spec.home_rad, float)
        data.qpos[self.map.qpos] = self._target
        data.ctrl[self.map.act] = self._target
        for name, value in fingers.items():
            data.qpos[int(model.joint(ARM_PREFIX + name).qposadr[0])] = value
        data.ctrl[self.map.gripper_act] = opening
        self._physics.touch()

    def command(self) -> Array:
        """Return the commanded joints (n,), part of the world's state beside what MuJoCo keeps."""
        return self._target.copy()

    def set_command(self, target_rad: Array) -> None:
        """Restore a commanded configuration."""
        self._target = np.array(target_rad, float)

    def state(self) -> ArmState:
        """Measure the arm."""
        data = self._physics.data
        reading = self.map.readings(data)
        return self._state(
            self._physics.now_s, data.qpos, data.qvel, self._note(reading), self.map.gap(self._physics.posed())
        )

    def states(self, since_s: float = float("-inf")) -> Sequence[ArmState]:
        """Return the sampled states of the stream after ``since_s``, oldest first."""
        return [self._from_sample(s) for s in self._physics.since(since_s)]

    def follow(self, trajectory: Trajectory, guard: Guard | None = None) -> MotionReport:
        """Follow a timed joint path and come to rest at its end.

        Args:
            trajectory: Must start where the arm is commanded to be.
            guard: Stops the motion when it becomes true.
        """
        path = np.asarray(trajectory.position_rad, float)
        if path.ndim != 2 or path.shape[1] != len(self._target) or len(path) != len(trajectory.time_s):
            raise UsageError(
                f"a trajectory of {self.name} is (t, {len(self._target)}) with t times, got {path.shape} "
                f"and {len(trajectory.time_s)}."
            )
        kin = self._robot.kinematics
        over = np.maximum(path - kin.upper_rad, kin.lower_rad - path).max()
        if over > 1e-3:
            return self._refuse("limit", f"a joint would go {over:.3f} rad beyond its limit.")
        away = float(np.abs(path[0] - self._target).max())
        if away > self._o.jump_rad:
            return self._refuse("limit", f"the trajectory starts {away:.3f} rad away from where the arm is commanded.")
        grid = np.arange(1, int(np.ceil(trajectory.duration_s / self._period_s - 1e-9)) + 1) * self._period_s
        q = np.stack([np.interp(grid, trajectory.time_s, column) for column in path.T], 1)
        v = np.stack(
            [np.interp(grid, trajectory.time_s, column) for column in np.asarray(trajectory.velocity_rad_s).T], 1
        )
        if len(grid) and grid[-1] > trajectory.duration_s - 1e-9:
            v[-1] = 0.0
        return self._run(q, v, guard)

    def move_linear(self, pose_base_tool: Pose, guard: Guard | None = None, *, speed_m_s: float = 0.15) -> MotionReport:
        """Move the tool along a straight line with a trapezoid of speed.

        Args:
            pose_base_tool: Where the tool should end, in the base frame.
            guard: Stops the motion when it becomes true.
            speed_m_s: Largest speed of the tool.
        """
        if speed_m_s <= 0:
            raise UsageError(f"a speed is positive, got {speed_m_s} m/s.")
        start = self._servo.tool_pose(self._target)
        length, angle = start.distance_to(pose_base_tool), start.angle_to(pose_base_tool)
        # One path coordinate for both: metres, or the metres that the turn is worth.
        reach = max(length, angle * speed_m_s / self._o.turn_rad_s, 1e-6)
        path, why = self._servo.line(self._target, pose_base_tool)
        if path is None:
            return self._refuse("no_ik", f"the straight line of {length:.3f} m breaks off: {why}")
        steps = len(path) - 1
        limit = self._robot.kinematics.velocity_rad_s
        per_metre = np.abs(np.diff(path, axis=0)).max(0) * steps / reach
        speed = min(speed_m_s, float((0.9 * limit / np.maximum(per_metre, 1e-9)).min()))
        along = _trapezoid(reach, speed, self._o.acceleration_m_s2, self._period_s) / reach
        rows = np.linspace(0.0, 1.0, steps + 1)
        q = np.stack([np.interp(along, rows, column) for column in path.T], 1)
        v = np.gradient(np.vstack([self._target, q]), self._period_s, axis=0)[1:]
        v[-1] = 0.0
        return self._run(q, v, guard)

    def track(self, pose_base_tool: Pose, *, opening_m: float, duration_s: float) -> MotionReport:
        """Obey one streamed end-effector command, as a policy or a recorded episode gives at 20 Hz.

        The joints nearest the last command that realise the pose are approached linearly over ``duration_s``, within
        their speed limits; the motion does not settle at the end.
        """
        goal = self._servo.near(pose_base_tool, self._target)
        if goal is None:
            return self._refuse("no_ik", "the arm cannot put the tool there from where it is.")
        n = max(1, round(duration_s / self._period_s))
        step = (goal - self._target) / n
        most = self._robot.kinematics.velocity_rad_s * self._period_s
        step *= min(1.0, float((most / np.maximum(np.abs(step), 1e-12)).min()))
        q = self._target + np.arange(1, n + 1)[:, None] * step
        v = np.repeat(step[None] / self._period_s, n, 0)
        control = np.linspace(self._gripper_control, self.map.control_for(opening_m), n + 1)[1:]
        return self._run(q, v, None, gripper=control, settle=False)

    def grip(self, *, width_m: float, force_n: float | None = None, timeout_s: float = 1.5) -> GripReport:
        """Open or close the pads to a gap, or until they squeeze something.

        Args:
            width_m: Gap to reach [m].
            force_n: Stop tightening at this force per side [N]; None uses all that the gripper has.
            timeout_s: Longest wait in world time.
        """
        gripper = self._robot.spec.gripper
        width = float(np.clip(width_m, *gripper.opening_m))
        start, end = self.map.gap_for(self._gripper_control), width
        closing = end < start
        cap = min(force_n, gripper.force_n) if force_n is not None and force_n > 0 else None
        gap, rest, t, felt = start, 0.0, 0.0, False
        last = self._gap()
        try:
            while t < timeout_s:
                reading = self.map.readings(self._physics.data)
                squeezed = closing and cap is not None and reading.grip_n >= cap and reading.both
                felt = felt or squeezed
                most = self._o.grip_m_s * self._period_s * (_TRIM if felt else 1.0)
                if squeezed and cap is not None and reading.grip_n > _OVER * cap:
                    # The fingers lag behind and go on closing: what is meant to be held gently would be crushed.
                    gap = min(gap + most, start)
                    self._physics.data.ctrl[self.map.gripper_act] = self.map.control_for(gap)
                elif not squeezed and gap != end:
                    gap = end if abs(end - gap) <= most else gap + float(np.copysign(most, end - gap))
                    self._physics.data.ctrl[self.map.gripper_act] = self.map.control_for(gap)
                self._physics.step(self._steps)
                t += self._period_s
                now = self._gap()
                still = abs(now - last) < 5e-5
                last = now
                rest = rest + self._period_s if still and (squeezed or gap == end) else 0.0
                if rest >= 0.05:
                    break
        except DivergedError as error:
            return GripReport(False, False, last, 0.0, str(error))
        reading = self.map.readings(self._physics.data)
        holding = closing and reading.both and bool(reading.held)
        reached = abs(last - width) < 0.002
        detail = f"gap {1e3 * last:.1f} mm, {reading.grip_n:.1f} N"
        if not (holding or reached):
            detail += f"; {1e3 * width:.1f} mm was not reached in {timeout_s} s"
        return GripReport(holding or reached, holding, last, reading.grip_n, detail)

    def stop(self) -> None:
        """Stop where the arm is, and end the motion that is under way at its next control tick."""
        self._hold_here()
        self._stopped = True

    @property
    def _gripper_control(self) -> float:
        return float(self._physics.data.ctrl[self.map.gripper_act])

    def _gap(self) -> float:
        return self.map.gap(self._physics.posed())

    def _hold_here(self) -> None:
        data = self._physics.data
        self._target = data.qpos[self.map.qpos].copy()
        data.ctrl[self.map.act] = self._target
        self._physics.touch()

    def _run(
        self, q: Array, v: Array, guard: Guard | None, *, gripper: Array | None = None, settle: bool = True
    ) -> MotionReport:
        """Command each row for one control period; the last row is where the motion should end."""
        physics, data, m = self._physics, self._physics.data, self.map
        command = q + v * m.lead_s
        watch = Watch(guard, physics, self._servo, m, self.state) if guard is not None else None
        self._stopped = False
        worst = 0.0
        goal = q[-1].copy() if len(q) else self._target.copy()
        try:
            for i in range(len(q)):
                data.ctrl[m.act] = command[i]
                if gripper is not None:
                    data.ctrl[m.gripper_act] = gripper[i]
                self._target = q[i]
                physics.step(self._steps)
                worst = max(worst, float(np.abs(data.qpos[m.qpos] - q[i]).max()))
                if self._stopped:
                    return self._ended("stopped", goal, "stop() was called.")
                if watch is not None and (why := watch.check()):
                    self._hold_here()
                    physics.step(self._steps)
                    return self._ended("guard", goal, watch.detail, guard=why)
            if len(q):
                data.ctrl[m.act] = goal
            self._target = goal
            if settle:
                why = self._settle(goal, watch)
                if why:
                    self._hold_here()
                    return self._ended("guard", goal, watch.detail if watch else "", guard=why)
        except DivergedError as error:
            return self._ended("diverged", goal, str(error))
        return self._ended("done", goal, f"joints within {worst:.4f} rad of the command", check=settle)

    def _settle(self, goal: Array, watch: Watch | None) -> str | None:
        physics, m = self._physics, self.map
        end = self._servo.tool(goal)[:3, 3]
        for _ in range(int(self._o.settle_s / self._period_s)):
            speed = float(np.abs(physics.data.qvel[m.dof]).max())
            if (
                speed < 0.02
                and np.linalg.norm(self._servo.tool(physics.data.qpos[m.qpos])[:3, 3] - end) < self._o.settle_m
            ):
                break
            physics.step(self._steps)
            if watch is not None and (why := watch.check()):
                return why
        return None

    def _ended(
        self, status: MotionStatus, goal: Array, detail: str, *, guard: str | None = None, check: bool = False
    ) -> MotionReport:
        here = self._servo.tool_pose(self._physics.data.qpos[self.map.qpos]) if status != "diverged" else Pose()
        there = self._servo.tool_pose(goal)
        error_m, error_rad = here.distance_to(there), here.angle_to(there)
        if status == "done" and check and (error_m > self._o.reached_m or error_rad > self._o.reached_rad):
            status, detail = (
                "not_reached",
                f"the tool stopped {1e3 * error_m:.1f} mm, {error_rad:.3f} rad short. {detail}",
            )
        return MotionReport(
            status in ("done", "guard"), status, self._last_state(status), guard, error_m, error_rad, detail
        )

    def _refuse(self, status: MotionStatus, detail: str) -> MotionReport:
        return MotionReport(False, status, self.state(), None, 0.0, 0.0, detail)

    def _last_state(self, status: MotionStatus) -> ArmState:
        stream = self._physics.stream
        return self._from_sample(stream[-1]) if status == "diverged" and stream else self.state()

    def _note(self, reading: ContactReading | None = None) -> Array:
        """Pack what cannot be recomputed from a sample: torques, commanded joints, commanded gap, grip force."""
        data, m = self._physics.data, self.map
        felt = reading or m.readings(data)
        torque = data.qfrc_actuator[m.dof] + data.qfrc_gravcomp[m.dof] - data.qfrc_bias[m.dof]
        return np.concatenate([torque, self._target, [m.gap_for(self._gripper_control), felt.grip_n]])

    def _from_sample(self, sample: Sample) -> ArmState:
        return self._state(
            sample.stamp_s, sample.qpos, sample.qvel, sample.arm, self.map.gap(self._physics.posed(sample))
        )

    def _state(self, stamp_s: float, qpos: Array, qvel: Array, note: Array, gap: float) -> ArmState:
        n = len(self._target)
        q = qpos[self.map.qpos].copy()
        return ArmState(
            stamp_s=stamp_s,
            position_rad=q,
            velocity_rad_s=qvel[self.map.dof].copy(),
            torque_nm=note[:n].copy(),
            pose_base_tool=self._servo.tool_pose(q),
            opening_m=gap,
            grip_force_n=float(note[2 * n + 1]),
            target_rad=note[n : 2 * n].copy(),
            target_opening_m=float(note[2 * n]),
        )


def _trapezoid(length: float, speed: float, acceleration: float, period: float) -> Array:
    """Return the distance gone at each control tick, the last one being ``length``."""
    ramp = min(speed / acceleration, float(np.sqrt(length / acceleration)))
    top = acceleration * ramp
    cruise = max(0.0, length / top - ramp)
    total = 2 * ramp + cruise
    t = np.minimum(np.arange(1, int(np.ceil(total / period)) + 1) * period, total)
    rising = 0.5 * acceleration * t**2
    steady = 0.5 * acceleration * ramp**2 + top * (t - ramp)
    falling = length - 0.5 * acceleration * (total - t) ** 2
    return np.asarray(np.where(t < ramp, rising, np.where(t < ramp + cruise, steady, falling)))
