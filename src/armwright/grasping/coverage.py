"""Where on the pads an object is touched: at an edge, it slides or turns out of the hand."""

from __future__ import annotations

import numpy as np

from armwright.core.pose import Array

# Surface this near to a closed pad's plane is touched by a pad that yields, or lies around what is.
NEAR_M = 0.002


def aside_m(
    points_m: Array, position_m: Array, rotation: Array, width_m: Array, pad_size_m: tuple[float, float]
) -> Array:
    """Return how far beside the pads' middle, along the fingers' width, the touched surface is (c,), on the worse side.

    Args:
        points_m: (n, 3) the object.
        position_m: (c, 3) middles between the pads.
        rotation: (c, 3, 3) columns: finger width, closing axis, approach.
        width_m: (c,) thickness of the object between the pads.
        pad_size_m: Extents of a pad along the finger's width and length.
    """
    half_x, half_z = 0.5 * np.asarray(pad_size_m)
    found = np.zeros(len(position_m))
    for i, (middle, axes) in enumerate(zip(position_m, rotation, strict=True)):
        local = (points_m - middle) @ axes
        under = local[(np.abs(local[:, 0]) < half_x) & (np.abs(local[:, 2]) < half_z)]
        for side in (1.0, -1.0):
            x = under[side * under[:, 1] > 0.5 * width_m[i] - NEAR_M, 0]
            found[i] = max(found[i], abs(0.5 * (x.min() + x.max())) if len(x) else half_x)
    return found
