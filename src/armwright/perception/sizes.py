"""A check of the camera against common sense: things whose package is known should measure what such packages do."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from armwright.core.pose import Array
from armwright.perception.descriptions import Description

TYPICAL_M = MappingProxyType(
    {
        "box": (0.13, 0.17),
        "bottle": (0.075, 0.21),
        "can": (0.078, 0.11),
        "carton": (0.085, 0.17),
        "tube": (0.05, 0.15),
    }
)
"""Packaging -> usual width and height of such packages in kitchens and bathrooms [m]."""
SPREAD = 0.4
"""How much such sides differ, as the standard deviation of their logarithm."""
FEWEST = 6
"""Of fewer things nothing is concluded."""
_FACTOR = 1.25
_ERRORS = 3.0


def size_contradictions(described: Sequence[Description], extents_m: Sequence[Array]) -> str:
    """Return a warning where things measure far from what their packages usually do, else an empty text.

    The logarithms of measured over usual width and height are averaged over all things of known packaging. Wrong
    intrinsics, or depth in another unit, shift all of them alike; odd products shift one.

    Args:
        described: Packaging and orientation; lying things and those of unknown packaging are left out.
        extents_m: (3,) of each, height last [m], of things seen whole.
    """
    logs = []
    for one, extent in zip(described, extents_m, strict=True):
        usual = TYPICAL_M.get(one.packaging)
        sides = np.asarray(extent, float)
        if usual is None or one.orientation == "lying" or not (np.isfinite(sides).all() and (sides > 0).all()):
            continue
        logs.append((np.log(sides[:2].max() / usual[0]) + np.log(sides[2] / usual[1])) / 2)
    if len(logs) < FEWEST:
        return ""
    shift = float(np.median(logs))
    # The median of few varies a quarter more than their mean.
    if abs(shift) < max(np.log(_FACTOR), _ERRORS * 1.25 * SPREAD / np.sqrt(2 * len(logs))):
        return ""
    return (
        f"{len(logs)} packages measure {np.exp(shift):.2f} times what such packages usually do. "
        "Check the camera's intrinsics (their resolution must be the pictures') and the unit of depth."
    )
