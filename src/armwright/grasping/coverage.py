"""Where on the pads an object is touched: at an edge, it slides or turns out of the hand."""

from __future__ import annotations

import numpy as np

from armwright.core.pose import Array

# Surface this near to a closed pad's plane is touched by a pad that yields, or lies around what is.
NEAR_M = 0.002
# What a hard pad meets first lies no deeper than this, and faces it.
TOUCHED_M = 0.0007
LEAST_FACING = 0.5


def touch_of(
    points_m: Array,
    normals: Array,
    position_m: Array,
    rotation: Array,
    width_m: Array,
    pad_size_m: tuple[float, float],
) -> tuple[Array, Array]:
    """Return where pads touch, and how much closing them pushes the object out from between them, per grasp.

    Args:
        points_m, normals: (n, 3) the object, normals outward.
        position_m: (c, 3) middles between the pads.
        rotation: (c, 3, 3) columns: finger width, closing axis, approach.
        width_m: (c,) thickness of the object between the pads.
        pad_size_m: Extents of a pad along the finger's width and length.

    Returns:
        How far beside the pads' middle, along the fingers' width, the touched surface is, on the worse side [m], and
        the net force across the closing axis per force of a pad on it, without friction: 0 for a grasp through the
        middle of a tube, more the farther to one side of it the pads close. Each (c,).
    """
    half_x, half_z = 0.5 * np.asarray(pad_size_m)
    aside, wedge = np.zeros(len(position_m)), np.zeros(len(position_m))
    for i, (middle, axes) in enumerate(zip(position_m, rotation, strict=True)):
        local = (points_m - middle) @ axes
        rows = np.flatnonzero((np.abs(local[:, 0]) < half_x) & (np.abs(local[:, 2]) < half_z))
        under, facing = local[rows], normals[rows] @ axes
        push = np.zeros(2)
        for side in (1.0, -1.0):
            y = side * under[:, 1]
            x = under[y > 0.5 * width_m[i] - NEAR_M, 0]
            aside[i] = max(aside[i], abs(0.5 * (x.min() + x.max())) if len(x) else half_x)
            first = (side * facing[:, 1] > LEAST_FACING) & (y > y.max(initial=-np.inf) - TOUCHED_M)
            if first.any():
                push += (facing[first][:, [0, 2]] / np.abs(facing[first][:, 1:2])).mean(axis=0)
        wedge[i] = np.linalg.norm(push)
    return aside, wedge
