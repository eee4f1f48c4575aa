"""Time a polyline of joint positions: trapezoids along it, corners rounded by a moving average in time.

A moving average keeps every bound that its input keeps: positions stay between way points, velocities within limits.
What it changes is acceleration, which becomes the difference of two velocities one window apart, divided by the
window; a corner taken at speed then costs its change of velocity over the window instead of an infinite jerk. On
straight pieces the averaged path is the path itself; at a corner it cuts inside by at most an eighth of that change
times the window, so a corner that must be met exactly is one where the arm rests for a window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array

# Share of the acceleration limit that a curve of close way points may use, leaving the rest to ramps along it.
CURVE_SHARE = 0.7


@dataclass(frozen=True, eq=False)
class Polyline:
    """Way points (w, n) with the length and unit direction of each of the w - 1 pieces."""

    point: Array
    length: Array
    direction: Array

    @classmethod
    def of(cls, path_rad: Array) -> Polyline:
        """Build one, leaving out way points that repeat the one before."""
        keep = np.ones(len(path_rad), bool)
        keep[1:] = np.linalg.norm(np.diff(path_rad, axis=0), axis=1) > 1e-9
        point = path_rad[keep]
        step = np.diff(point, axis=0)
        length = np.linalg.norm(step, axis=1)
        return cls(point, length, step / np.maximum(length, 1e-12)[:, None])


@dataclass(frozen=True, eq=False)
class Motion:
    """A sampled motion at equal steps: position, velocity, acceleration (t, n), and when each way point is nearest."""

    position: Array
    velocity: Array
    acceleration: Array
    corner_s: Array


def corner_speeds(line: Polyline, *, velocity: Array, acceleration: Array, window_s: float) -> Array:
    """Return (w,) the largest speeds [rad/s along the path] that the window can absorb; 0 at both ends.

    A window centred on a corner sees half of the ramp before it, the corner's change of velocity, and half of the ramp
    after it. Way points closer than the arm goes in one window share it: there the bound is that on a curve.
    """
    speed = np.zeros(len(line.point))
    turn = np.maximum(np.abs(np.diff(line.direction, axis=0)), 1e-12)
    ramp = np.min(acceleration / np.maximum(np.abs(line.direction), 1e-12), axis=1)
    beside = np.maximum(ramp[:-1], ramp[1:])
    apart = np.minimum(line.length[:-1], line.length[1:])
    corner = window_s * np.maximum(np.min(acceleration / turn, axis=1) - beside / 2, 0.0)
    curve = np.sqrt(np.min(CURVE_SHARE * acceleration / turn, axis=1) * apart)
    cap = np.min(velocity / np.maximum(np.abs(line.direction), 1e-12), axis=1)
    speed[1:-1] = np.minimum(np.minimum(corner, curve), np.minimum(cap[:-1], cap[1:]))
    return speed


def run(
    line: Polyline,
    speed: Array,
    ease: Array,
    rest: NDArray[np.bool_],
    *,
    velocity: Array,
    acceleration: Array,
    window_s: float,
    step_s: float,
) -> Motion:
    """Run along ``line`` with at most ``speed`` (w,) at its way points.

    ``ease`` (w - 1,) in (0, 1] is the share of the acceleration limit that ramps on each piece may use; where ``rest``
    (w,) the arm rests for a window and so meets the way point exactly.
    """
    top = np.min(velocity / np.maximum(np.abs(line.direction), 1e-12), axis=1)
    ramp = ease * np.min(acceleration / np.maximum(np.abs(line.direction), 1e-12), axis=1)
    speed = np.where(rest, 0.0, speed)
    for i in range(len(line.length)):
        speed[i + 1] = min(speed[i + 1], np.sqrt(speed[i] ** 2 + 2 * ramp[i] * line.length[i]))
    for i in reversed(range(len(line.length))):
        speed[i] = min(speed[i], np.sqrt(speed[i + 1] ** 2 + 2 * ramp[i] * line.length[i]))
    # Knots (time, arc length, speed) between which acceleration is constant.
    knots: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)]
    corners = [0.0]
    for i, length in enumerate(line.length):
        time, arc, _ = knots[-1]
        before, after, a = speed[i], speed[i + 1], ramp[i]
        peak = min(top[i], float(np.sqrt(a * length + (before**2 + after**2) / 2)))
        up, down = (peak**2 - before**2) / (2 * a), (peak**2 - after**2) / (2 * a)
        knots.append((time + (peak - before) / a, arc + up, peak))
        cruise = max(length - up - down, 0.0)
        knots.append((knots[-1][0] + cruise / peak, arc + up + cruise, peak))
        knots.append((knots[-1][0] + (peak - after) / a, arc + length, after))
        corners.append(knots[-1][0])
        if rest[i + 1] and i + 1 < len(line.length):
            corners[-1] += window_s / 2
            knots.append((knots[-1][0] + window_s, arc + length, 0.0))
    time_k, arc_k, speed_k = np.array(knots).T
    half = max(1, round(window_s / step_s / 2))
    width = 2 * half
    count = int(np.ceil(time_k[-1] / step_s)) + 1
    inside = np.clip(np.arange(-half, count + half) * step_s, 0.0, time_k[-1])
    k = np.clip(np.searchsorted(time_k, inside, side="right") - 1, 0, len(time_k) - 2)
    since = inside - time_k[k]
    span = np.maximum(time_k[k + 1] - time_k[k], 1e-12)
    rate = (speed_k[k + 1] - speed_k[k]) / span
    along = arc_k[k] + speed_k[k] * since + rate * since**2 / 2
    at = np.concatenate([[0.0], np.cumsum(line.length)])
    piece = np.clip(np.searchsorted(at, along, side="right") - 1, 0, len(line.length) - 1)
    raw = line.point[piece] + np.minimum(along - at[piece], line.length[piece])[:, None] * line.direction[piece]
    # Hold both ends for half a window more, so that the average begins and ends at rest.
    raw = np.concatenate([np.repeat(raw[:1], half, 0), raw, np.repeat(raw[-1:], half, 0)])
    total = np.concatenate([np.zeros((1, raw.shape[1])), np.cumsum((raw[1:] + raw[:-1]) / 2, axis=0)])
    position = (total[width:] - total[:-width]) / width
    window = width * step_s
    velocity_out = (raw[width:] - raw[:-width]) / window
    slope = np.gradient(raw, step_s, axis=0)
    acceleration_out = (slope[width:] - slope[:-width]) / window
    position[0], position[-1] = line.point[0], line.point[-1]
    return Motion(position, velocity_out, acceleration_out, np.array(corners) + half * step_s)
