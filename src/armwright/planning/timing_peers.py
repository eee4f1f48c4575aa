"""Timing by published libraries: toppra through a spline, ruckig from way point to way point."""

from __future__ import annotations

import logging
from itertools import pairwise

import numpy as np

from armwright.control.protocols import Trajectory
from armwright.core.pose import Array

# toppra exceeds acceleration limits between the points of its grid.
SPLINE_AIM = 0.93
GRID_POINTS = 100


def time_with_toppra(path_rad: Array, velocity: Array, acceleration: Array, step_s: float) -> Trajectory:
    """Time a cubic spline through path (w >= 2, n), from rest to rest; it leaves the straight lines between them."""
    import toppra
    from toppra import algorithm, constraint

    logging.getLogger("toppra").setLevel(logging.ERROR)
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path_rad, axis=0), axis=1))])
    spline = toppra.SplineInterpolator(arc / arc[-1], path_rad)
    limits = [
        constraint.JointVelocityConstraint(np.stack([-velocity, velocity], 1)),
        constraint.JointAccelerationConstraint(np.stack([-acceleration, acceleration], 1) * SPLINE_AIM),
    ]
    grid = np.linspace(0, 1, GRID_POINTS + 1)
    timed = algorithm.TOPPRA(limits, spline, gridpoints=grid, parametrizer="ParametrizeConstAccel").compute_trajectory()
    if timed is None:
        return time_with_ruckig(path_rad, velocity, acceleration, step_s)
    time = np.append(np.arange(0.0, timed.duration, step_s), timed.duration)
    return Trajectory(time, np.asarray(timed(time)), np.asarray(timed(time, 1)))


def time_with_ruckig(path_rad: Array, velocity: Array, acceleration: Array, step_s: float) -> Trajectory:
    """Time path (w >= 2, n) resting at every way point, all joints in phase, so that straight lines stay straight."""
    import ruckig

    n = path_rad.shape[1]
    solver = ruckig.Ruckig(n)
    times, positions, velocities = [np.zeros(1)], [path_rad[:1]], [np.zeros((1, n))]
    begin = 0.0
    for a, b in pairwise(path_rad):
        request = ruckig.InputParameter(n)
        request.current_position, request.target_position = list(a), list(b)
        request.max_velocity, request.max_acceleration = list(velocity), list(acceleration)
        # Full acceleration within a twentieth of a second.
        request.max_jerk = list(acceleration * 20.0)
        request.synchronization = ruckig.Synchronization.Phase
        piece = ruckig.Trajectory(n)
        solver.calculate(request, piece)
        time = np.append(np.arange(step_s, piece.duration - step_s / 4, step_s), piece.duration)
        states = [piece.at_time(float(t)) for t in time]
        times.append(begin + time)
        positions.append(np.array([s[0] for s in states]))
        velocities.append(np.array([s[1] for s in states]))
        begin += piece.duration
    return Trajectory(np.concatenate(times), np.concatenate(positions), np.concatenate(velocities))
