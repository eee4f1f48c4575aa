"""The beak of a jug: two walls that meet in a keel, over the two wedges that its collision wall leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armwright.assets import solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._hollow import Hollow
from armwright.core.pose import Array

GAP = (5, 6)
"""Wedges of twelve that the beak stands in for: 30 degrees to both sides of -x."""
_GAP_HALF_RAD = np.radians(30.0)
_HALF_ANGLE_RAD = np.radians(27.0)
_THIN_M = 0.0026
_MIRROR = np.array([1.0, -1.0, 1.0])


@dataclass(frozen=True)
class Beak:
    """A beak on the -x side of a turned vessel.

    Attributes:
        shape: The vessel.
        top_m: Its radius at the rim [m].
        wall_m: Its wall [m].
        reach_m: How far the nose stands out of the rim [m].
        depth_m: How far below the rim the keel begins [m].
    """

    shape: Hollow
    top_m: float
    wall_m: float
    reach_m: float
    depth_m: float = 0.045

    @property
    def keel_z_m(self) -> float:
        """Height where the keel begins; the collision walls below it are whole [m]."""
        return self.shape.top_z_m - self.depth_m

    @property
    def _corners(self) -> Array:
        root = self.top_m - 0.3 * self.wall_m
        return np.array([-root * np.cos(_HALF_ANGLE_RAD), root * np.sin(_HALF_ANGLE_RAD), self.shape.top_z_m])

    @property
    def _low(self) -> Array:
        return np.array([-(self.shape.radius(self.keel_z_m) - 0.3 * self.wall_m), 0.0, self.keel_z_m])

    @property
    def _nose(self) -> Array:
        return np.array([-self.top_m - self.reach_m, 0.0035, self.shape.top_z_m + 0.002])

    def add(self, builder: LinkBuilder, *, part: str = "spout") -> None:
        """Add the solid beak; call it before the cavity is cut."""
        corners, nose, low = self._corners, self._nose, self._low
        keel_half = np.array([0.0, 0.002, 0.0])
        points = np.stack([corners, corners * _MIRROR, nose, nose * _MIRROR, low + keel_half, low - keel_half])
        builder.add(part, solids.convex(points))

    def cut(self, builder: LinkBuilder, *, part: str = "spout") -> None:
        """Cut the channel through it and the vessel's wall; call it after the cavity is cut."""
        rim, keel, top = self.shape.top_z_m, self.keel_z_m, self.top_m
        corners, low = self._corners, self._low
        inner = corners + np.array([0.0, -_THIN_M, 0.0])
        nose = np.array([self._nose[0] - 0.002, 0.0012, rim + 0.0025])
        up = np.array([0.0, 0.0, 0.012])
        channel = np.stack([inner, inner * _MIRROR, nose, nose * _MIRROR, low + np.array([0.001, 0.0, 0.005])])
        back: Any = [[-0.3 * top, corners[1], rim], [-0.3 * top, -corners[1], rim], [-0.3 * top, 0.0, keel]]
        back = np.array(back) + np.array([[0, -_THIN_M, 0], [0, _THIN_M, 0], [0, 0, 0.006]])
        builder.cut(part, solids.convex(np.concatenate([channel, channel[:4] + up, back, back[:2] + up])))

    def collide(self, builder: LinkBuilder, *, part: str = "spout") -> None:
        """Add a hull for each of the two walls, and for what is left of the vessel's wall below each."""
        corners, nose, low = self._corners, self._nose, self._low
        inward = np.array([0.0, -_THIN_M, 0.0])
        side = np.stack([corners, nose, low, corners + inward, nose + inward, low + np.array([0.004, 0.0, 0.004])])
        builder.collide(part, [side, side * _MIRROR])
        below = self._below()
        builder.collide("body", [below, below * _MIRROR])

    def _below(self) -> Array:
        """The vessel's wall between the beak's edge, the ring under the keel and the next wedge of the ring above."""
        keel, rim = self.keel_z_m, self.shape.top_z_m
        edges = [(keel, 0.0), (keel, _GAP_HALF_RAD), (rim, _HALF_ANGLE_RAD), (rim, _GAP_HALF_RAD)]
        return np.array(
            [
                [-(self.shape.radius(z) - depth) * np.cos(turn), (self.shape.radius(z) - depth) * np.sin(turn), z]
                for z, turn in edges
                for depth in (0.0, self.wall_m)
            ]
        )
