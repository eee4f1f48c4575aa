"""How thick an object is between the pads of a given grasp."""

from __future__ import annotations

import numpy as np

from armwright.core.pose import Array
from armwright.grasping.request import GraspRequest

# Surfaces farther apart than this along the closing axis are two things, and the hand closes on the middle one.
_GAP_M = 0.012
_BIN_M = 0.001


def span_between(request: GraspRequest, position_m: Array, rotation: Array) -> tuple[float, float]:
    """Return lowest and highest coordinate [m] along the closing axis of the piece that the pads close on.

    The piece is the one nearest to the middle between the pads, out to where the surface faces a pad; (0, 0) where
    there is nothing between the fingers.

    Args:
        request: The cloud and the hand.
        position_m, rotation: The pads' frame in the object's frame.
    """
    local = (request.points_m - position_m) @ rotation
    facing = request.normals @ rotation[:, 1]
    pad_x, pad_z = request.gripper.pad_size_m
    reach = 0.5 * request.gripper.opening_m[1]
    near = (np.abs(local[:, 0]) < 0.5 * pad_x) & (np.abs(local[:, 2]) < 0.5 * pad_z) & (np.abs(local[:, 1]) < reach)
    y, out = local[near, 1], facing[near]
    lows, highs = np.sort(y[out < -0.35]), np.sort(y[out > 0.35])
    if len(lows) == 0 or len(highs) == 0:
        return 0.0, 0.0
    high, low = _first(highs), -_first(-lows[::-1])
    return (low, high) if high > low else (0.0, 0.0)


def _first(values: Array) -> float:
    """Return the end of the first run of sorted values at or beyond the middle, or else the last before it."""
    beyond = values[values >= -_BIN_M]
    if len(beyond) == 0:
        return float(values[-1])
    breaks = np.flatnonzero(np.diff(beyond) > _GAP_M)
    return float(beyond[breaks[0]] if len(breaks) else beyond[-1])
