"""Ways to stand the target at a place: the turns that leave it as the place says, and its frame then (OMAR §III)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armwright.core.pose import Array, Pose
from armwright.shelf.records import Orientation
from armwright.shelf.target_solids import Solid

ROUND_TURNS_RAD = (0.0, 0.45, -0.45)
"""A round target may be turned at will: the hand comes straight from the front, or this much from the side."""
_QUARTER = np.pi / 2
_LAID = {
    # On its back, label up and top to the rear; or stood up again.
    ("upright", "lying"): np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    ("lying", "upright"): np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
}


@dataclass(frozen=True, eq=False)
class Placing:
    """A way to stand at a place.

    Attributes:
        rotation: (3, 3) the target's frame in the shelf frame.
        offset_m: (3,) its origin, from the middle of the place's footprint.
        turn_rad: Its turn about the vertical, from where its front faces the shelf's.
    """

    rotation: Array
    offset_m: Array
    turn_rad: float


def placings(
    solid: Solid,
    as_found: Orientation,
    wanted: Orientation,
    *,
    front_known: bool = False,
    toward_rad: float = 0.0,
) -> tuple[Placing, ...]:
    """Return the ways in which a target may stand where a place wants it.

    Args:
        solid: The target, -x its front.
        as_found: How it stands in its own frame.
        wanted: How it is to stand.
        front_known: Its front has to face the shelf's front; else it may be turned by what leaves its outline.
        toward_rad: For a round one, which turn of its own brings the hand straight to the front.
    """
    if as_found == "upright" and wanted == "lying" and solid.size_m[0] > 1.02 * solid.size_m[1]:
        return ()  # its front was turned aside (`target.for_hand`); on its back it would lie on an edge
    laid = np.eye(3) if as_found == wanted else _LAID[as_found, wanted]
    if not solid.turns_rad and as_found == wanted:
        turns = tuple(toward_rad + t for t in ROUND_TURNS_RAD)
    elif front_known:
        turns = (0.0,)
    else:
        turns = tuple(t for t in solid.turns_rad or (0.0, np.pi) if as_found == wanted or abs(abs(t) - _QUARTER) > 0.1)
    found = []
    for turn in turns:
        rotation = Pose.from_yaw(np.zeros(3), turn).rotation @ laid
        corners = solid.vertices_m @ rotation.T
        low, high = corners.min(0), corners.max(0)
        offset = -np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
        found.append(Placing(rotation, offset, float(turn)))
    return tuple(found)
