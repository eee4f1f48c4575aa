"""The closed hand as a pusher: which way it may point, and which of its points then goes first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.robots.kinematics import Kinematics

# Tilts of the hand's approach from the direction of the push: towards the table, and to both sides [rad].
DOWN_RAD = (0.0, 0.45, 0.9)
SIDE_RAD = (-0.6, 0.6)
ROLLS = 4
# The fingers must lead the rest of the hand by this much, or a knuckle pushes.
LEAD_M = 0.006
# Points of the fingers this near to the foremost one touch a wall with it.
FRONT_M = 0.004


@dataclass(frozen=True, eq=False)
class Pusher:
    """One way of pointing the closed hand.

    Attributes:
        rotation: (3, 3) the tool's axes in the frame that the direction was given in.
        tip_tool_m: (3,) the point that goes first, in the tool frame.
    """

    rotation: Array
    tip_tool_m: Array

    def pose(self, contact_m: Array) -> Pose:
        """Return the tool's pose with the tip at a point, in the direction's frame."""
        return Pose.from_rotation(self.rotation, np.asarray(contact_m, float) - self.rotation @ self.tip_tool_m)


def hand_spheres(kinematics: Kinematics, gap_m: float) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return the hand's spheres in the tool frame: centres (k, 3), radii (k,), whether on a finger (k,) bool."""
    spheres = kinematics.spheres_at(gap_m)
    own = spheres.link == kinematics.dof
    center = (spheres.center_m[own] - kinematics.tool[:3, 3]) @ kinematics.tool[:3, :3]
    finger = np.ones(int(own.sum()), bool) if spheres.finger is None else spheres.finger[own]
    return center, spheres.radius_m[own], finger


def pushers(kinematics: Kinematics, direction: Array, up: Array, *, gap_m: float = 0.0) -> list[Pusher]:
    """Return the ways of pointing the hand in which a finger goes first along a direction.

    Args:
        kinematics: The arm.
        direction: (3,) unit vector of the push.
        up: (3,) unit vector away from the table.
        gap_m: Gap between the pads [m].
    """
    center, radius, finger = hand_spheres(kinematics, gap_m)
    across = np.cross(up, direction)
    if np.linalg.norm(across) < 0.2:
        return []
    across /= np.linalg.norm(across)
    rise = np.cross(direction, across)
    aims = [np.cos(t) * direction - np.sin(t) * rise for t in DOWN_RAD]
    aims += [np.cos(t) * direction + np.sin(t) * across for t in SIDE_RAD]
    found = []
    for z in aims:
        x0 = np.cross(rise if abs(z @ rise) < 0.8 else across, z)
        x0 /= np.linalg.norm(x0)
        for k in range(ROLLS):
            angle = 2 * np.pi * k / ROLLS
            x = np.cos(angle) * x0 + np.sin(angle) * np.cross(z, x0)
            rotation = np.stack([x, np.cross(z, x), z], axis=1)
            ahead = rotation.T @ direction
            reach = center @ ahead + radius
            first = int(np.argmax(np.where(finger, reach, -np.inf)))
            if (reach[~finger] > reach[first] - LEAD_M).any():
                continue
            found.append(Pusher(rotation, center[first] + radius[first] * ahead))
    return found


def tilted_hands(
    direction: Array, up: Array, tilts_rad: tuple[float, ...], *, sides_rad: tuple[float, ...] = (0.0,)
) -> list[Array]:
    """Return the (3, 3) orientations of a hand that pushes with both fingers, two rolls for each tilt.

    Args:
        direction: (3,) unit vector of the push, along the table.
        up: (3,) unit vector away from the table.
        tilts_rad: Tilts of the hand's approach from the direction towards the table; a right angle points down.
        sides_rad: Turns about the direction after that: the hand then comes from beside, one finger above the other.
    """
    across = np.cross(up, direction)
    found = []
    for tilt, side in product(tilts_rad, sides_rad):
        ahead = np.cos(tilt) * direction
        z = ahead - np.sin(tilt) * (np.cos(side) * up - np.sin(side) * across)
        level = np.cos(side) * across + np.sin(side) * up
        found += [np.stack([np.cross(y, z), y, z], axis=1) for y in (level, -level)]
    return found


def broad_pushers(
    kinematics: Kinematics,
    direction: Array,
    up: Array,
    *,
    gap_m: float,
    tilts_rad: tuple[float, ...],
    top_m: float,
    sides_rad: tuple[float, ...] = (0.0,),
) -> list[Pusher]:
    """Return the ways of pushing with both fingers side by side, which keeps a thing from turning away.

    The lowest of the foremost points of the fingers goes first, in the middle between them.

    Args:
        kinematics: The arm.
        direction: (3,) unit vector of the push, along the table.
        up: (3,) unit vector away from the table.
        gap_m: Gap between the pads [m].
        tilts_rad: Tilts of the hand's approach from the direction towards the table; a right angle points down.
        top_m: How far the thing reaches up from where it is touched; the palm must not touch it there.
        sides_rad: As for `tilted_hands`.
    """
    center, radius, finger = hand_spheres(kinematics, gap_m)
    found = []
    for rotation in tilted_hands(direction, up, tilts_rad, sides_rad=sides_rad):
        ahead, above = rotation.T @ direction, rotation.T @ up
        reach, height = center @ ahead + radius, center @ above
        front = finger & (reach > np.max(reach[finger]) - FRONT_M)
        first = int(np.argmin(np.where(front, height, np.inf)))
        beside = ~finger & (height - radius < height[first] + top_m)
        if (reach[beside] > np.max(reach[finger]) - LEAD_M).any():
            continue
        tip = center[first] + float(np.max(reach[finger]) - center[first] @ ahead) * ahead
        found.append(Pusher(rotation, tip * np.array([1.0, 0.0, 1.0])))
    return found
