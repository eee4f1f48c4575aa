"""Give a path its timing, and check what came out: limits and collisions, at every sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from armwright.control.protocols import Trajectory
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.planning._blend import Motion, Polyline, corner_speeds, run
from armwright.planning.types import Bools, TimedReport
from armwright.robots.kinematics import Kinematics

FirstCollision = Callable[[Array], tuple[int, tuple[str, str]] | None]
TimingMethod = Literal["blend", "toppra", "ruckig"]

# Averaging window: longer rounds corners at more speed, and lengthens every motion by itself.
WINDOW_S = 0.10
# Aim below the limits, so that sampling does not exceed them; over OVER_LIMIT nothing passes.
AIM = 0.98
OVER_LIMIT = 1.02
# Motions are computed in steps of this [s] and checked and returned at multiples of it.
FINE_S = 0.002
# A corner that collides even below this speed is met exactly, by resting on it.
CORNER_FLOOR_RAD_S = 0.15
_ROUNDS = 12


def time_path(
    path_rad: ArrayLike,
    kinematics: Kinematics,
    *,
    velocity_scale: float = 1.0,
    acceleration_scale: float = 1.0,
    step_s: float = 0.004,
    first_collision: FirstCollision | None = None,
    method: TimingMethod = "blend",
) -> TimedReport:
    """Time a path (w, n) from rest to rest within the arm's limits.

    ``blend`` runs along the path at trapezoidal speed and rounds its corners in time; a corner whose rounding collides
    or exceeds a limit is taken slower, in the end with a rest on it, which follows the path exactly. ``toppra`` puts a
    spline through the way points, and falls back to ``ruckig``, which rests at every way point.

    Args:
        path_rad: (w, n) way points; w = 1 gives a motion of no length.
        kinematics: Whose limits count.
        velocity_scale, acceleration_scale: Shares of the limits to use, in (0, 1].
        step_s: Between samples of the trajectory [s].
        first_collision: Given positions (t, n), returns the first row that collides and the pair, or None
            (`ArmInWorld.first_collision`); every sample is checked with it.
        method: How.

    Returns:
        A trajectory that was checked at every sample, or which limit or pair stands against it.
    """
    path = np.asarray(path_rad, float)
    if path.ndim != 2 or path.shape[1] != kinematics.dof or len(path) == 0 or not np.isfinite(path).all():
        raise UsageError(f"a path is (w >= 1, {kinematics.dof}) finite joint angles [rad], got shape {path.shape}.")
    if not (0 < velocity_scale <= 1 and 0 < acceleration_scale <= 1 and step_s > 0):
        raise UsageError(
            f"scales must be in (0, 1] and the step positive, got {velocity_scale}, {acceleration_scale}, {step_s}."
        )
    velocity = kinematics.velocity_rad_s * velocity_scale
    acceleration = kinematics.acceleration_rad_s2 * acceleration_scale
    line = Polyline.of(path)
    if len(line.point) == 1:
        still = np.repeat(line.point, 2, 0)
        return TimedReport(True, "ok", Trajectory(np.array([0.0, step_s]), still, np.zeros_like(still)), method)
    if method != "blend":
        from armwright.planning.timing_peers import time_with_ruckig, time_with_toppra

        timed = time_with_toppra if method == "toppra" else time_with_ruckig
        report = _judge(
            timed(line.point, velocity, acceleration, step_s), method, velocity, acceleration, first_collision
        )
        if report.ok or method == "ruckig":
            return report
        exact = time_with_ruckig(line.point, velocity, acceleration, step_s)
        return _judge(exact, "ruckig", velocity, acceleration, first_collision)
    return _blend(line, velocity, acceleration, step_s, first_collision)


def _blend(
    line: Polyline, velocity: Array, acceleration: Array, step_s: float, first_collision: FirstCollision | None
) -> TimedReport:
    every = max(1, round(step_s / FINE_S))
    fine_s = step_s / every
    aim_velocity, aim = velocity * AIM, acceleration * AIM
    speed = corner_speeds(line, velocity=aim_velocity, acceleration=aim, window_s=WINDOW_S)
    ease = np.ones(len(line.length))
    rest = np.zeros(len(speed), bool)
    report = TimedReport(False, "timing_fail", None, "blend")
    for attempt in range(_ROUNDS):
        if attempt == _ROUNDS - 1:
            # Corners that would not settle are met exactly.
            rest[1:-1] = True
        motion = run(line, speed, ease, rest, velocity=aim_velocity, acceleration=aim, window_s=WINDOW_S, step_s=fine_s)
        over = np.max(np.abs(motion.acceleration) / acceleration, axis=1)
        slow = _corners_near(motion, np.flatnonzero(over > 1.0).astype(float) * fine_s, rest)
        if slow.any():
            # What is too much is a corner and the ramps beside it at once.
            factor = max(0.5, min(0.9, 1 / float(over.max())))
            speed[slow] *= factor
            ease[slow[1:] | slow[:-1]] *= factor
            continue
        report = _sampled(motion, every, step_s, velocity, acceleration, first_collision)
        if report.status != "verify_collision":
            return report
        rows = _colliding_rows(motion.position[::every], first_collision)
        slow = _corners_near(motion, rows * step_s, rest)
        if not slow.any():
            return report
        rest |= slow & (speed < CORNER_FLOOR_RAD_S)
        speed[slow] *= 0.4
    return report


def _corners_near(motion: Motion, times_s: Array, rest: Bools) -> Bools:
    """Return (w,) which inner way points, not rested at yet, have one of ``times_s`` within a window."""
    inner = np.zeros(len(rest), bool)
    if len(times_s):
        near = np.abs(motion.corner_s[:, None] - times_s[None]).min(1) < WINDOW_S
        inner[1:-1] = near[1:-1] & ~rest[1:-1]
    return inner


def _colliding_rows(position: Array, first_collision: FirstCollision | None) -> Array:
    """Return the rows of position (t, n) that begin a collision, one per stretch of a twentieth of a second."""
    rows: list[int] = []
    start = 0
    while first_collision is not None and start < len(position):
        found = first_collision(position[start:])
        if found is None:
            break
        rows.append(start + found[0])
        start = rows[-1] + 12
    return np.array(rows, float)


def _sampled(
    motion: Motion,
    every: int,
    step_s: float,
    velocity: Array,
    acceleration: Array,
    first_collision: FirstCollision | None,
) -> TimedReport:
    position, rate = motion.position[::every], motion.velocity[::every]
    if (len(motion.position) - 1) % every:
        position = np.concatenate([position, motion.position[-1:]])
        rate = np.concatenate([rate, np.zeros_like(rate[:1])])
    time: Array = np.arange(len(position), dtype=float) * step_s
    return _judge(Trajectory(time, position, rate), "blend", velocity, acceleration, first_collision)


def _judge(
    trajectory: Trajectory,
    method: TimingMethod,
    velocity: Array,
    acceleration: Array,
    first_collision: FirstCollision | None,
) -> TimedReport:
    """Check every sample of a trajectory; one that is only too quick is slowed down as a whole."""
    ratio_v, ratio_a, joint = limit_ratios(trajectory, velocity, acceleration)
    stretch = max(ratio_v, np.sqrt(ratio_a))
    if stretch > 1.5:
        return TimedReport(
            False,
            "verify_limits",
            None,
            method,
            detail=f"joint {joint + 1} would need {ratio_v:.2f} of its speed and {ratio_a:.2f} of its acceleration.",
        )
    if stretch > OVER_LIMIT:
        trajectory = Trajectory(
            trajectory.time_s * stretch, trajectory.position_rad, trajectory.velocity_rad_s / stretch
        )
    found = first_collision(trajectory.position_rad) if first_collision else None
    if found:
        row, pair = found
        return TimedReport(
            False,
            "verify_collision",
            None,
            method,
            colliding=pair,
            detail=f"{pair[0]} and {pair[1]} touch {trajectory.time_s[row]:.2f} s into the motion.",
        )
    return TimedReport(True, "ok", trajectory, method)


def limit_ratios(trajectory: Trajectory, velocity: Array, acceleration: Array) -> tuple[float, float, int]:
    """Return the largest shares of the velocity and acceleration limits (n,), and the joint that is worst off.

    Both come from the sampled positions as well as from the sampled velocities.
    """
    step = np.diff(trajectory.time_s)[:, None]
    share_v = np.abs(trajectory.velocity_rad_s).max(0) / velocity
    share_v = np.maximum(share_v, np.abs(np.diff(trajectory.position_rad, axis=0) / step).max(0) / velocity)
    share_a = np.abs(np.diff(trajectory.velocity_rad_s, axis=0) / step).max(0) / acceleration
    return float(share_v.max()), float(share_a.max()), int(np.argmax(np.maximum(share_v, share_a)))
