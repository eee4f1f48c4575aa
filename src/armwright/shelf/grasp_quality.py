"""The geometric quality of a grasp, G_qual in [0, 1], and its factors (OMAR §IV-C).

The paper names what G_qual favours and gives no formula; forms and numbers are ours. All functions work on arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from armwright.core.pose import Array

FRICTION = 0.5
"""Contacts whose normal leaves this cone about the closing axis count nothing."""
ENOUGH_COVER = 0.5
"""Share of a pad that must touch before more is no better."""
EASY = 0.75
"""Up to this share of the widest opening an object is enclosed with room to spare."""
VERTICAL = 0.25
"""What the least vertical approach loses."""
LEVER_M = 0.06
"""Level distance of the mass centre from the pads at which a grasp is worth half."""


def alignment(cos_normal: ArrayLike) -> Array:
    """Return how antipodal a grasp is: 1 with both normals along the closing axis, 0 outside the cone (§IV-C).

    Args:
        cos_normal: Least cosine of the two contacts' normals with the closing axis.
    """
    least = 1 / np.sqrt(1 + FRICTION**2)
    return np.asarray(np.clip((np.asarray(cos_normal, float) - least) / (1 - least), 0.0, 1.0))


def centring(off: ArrayLike, cover: ArrayLike) -> Array:
    """Return how well the pads meet the object with their middle (§IV-C, finger-pad centring).

    Args:
        off: (..., 2) distance of the touched patch's middle from the pad's, in half pads, across and along.
        cover: Share of the pad that touches, on the worse side.
    """
    aside = np.clip(np.asarray(off, float), 0.0, 1.0)
    part = np.clip(np.asarray(cover, float) / ENOUGH_COVER, 0.0, 1.0)
    return np.asarray((1 - 0.5 * aside[..., 0] ** 2) * (1 - 0.5 * aside[..., 1] ** 2) * part)


def aperture(width_m: ArrayLike, widest_m: float) -> Array:
    """Return how comfortably the opened hand encloses the object (§IV-C, object enclosing aperture).

    1 up to ``EASY`` of the widest opening, falling to 0 where nothing is left to spare.
    """
    share = np.asarray(width_m, float) / widest_m
    return np.asarray(np.clip((1 - share) / (1 - EASY), 0.0, 1.0) * (share > 0))


def vertical_preference(approach_z: ArrayLike) -> Array:
    """Return the preference for approaches from above (§IV-C): 1 straight down, 1 - ``VERTICAL`` where level.

    Args:
        approach_z: z of the unit approach direction in the world.
    """
    return np.asarray(1 - VERTICAL * (1 + np.clip(np.asarray(approach_z, float), -1.0, 0.0)))


def balance(lever_m: ArrayLike) -> Array:
    """Return how well what is held hangs, by the level distance of its middle from the pads [m]; our addition."""
    return np.asarray(1 / (1 + (np.asarray(lever_m, float) / LEVER_M) ** 2))


def grasp_quality(aligned: Array, centred: Array, enclosed: Array, vertical: Array, balanced: Array) -> Array:
    """Return G_qual: the product of its factors, each in [0, 1] (§IV-C)."""
    return np.asarray(aligned * centred * enclosed * vertical * balanced)
