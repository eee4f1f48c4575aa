"""Kinematics: an arm as plain arrays (chain constants, limits, collision spheres) that compiled kernels read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class SphereSet:
    """Collision spheres in link frames, sorted by link.

    Attributes:
        center_m: (s, 3) float.
        radius_m: (s,) float.
        link: (s,) int; link k moves with joints 1..k, link 0 is the base.
        finger: (s,) bool, true for spheres of the moving fingers, which may touch what is grasped.
    """

    center_m: Array
    radius_m: Array
    link: Ints
    finger: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Kinematics:
    """A serial chain whose joint k turns about the z axis of frame k.

    Frame k+1 in frame k at joint value q is ``offset[k] @ Rz(q[k])``; the base frame is the arm's base (x forward,
    z up, on the mounting surface). ``tool`` is the tool frame in the last link's frame: z out of the palm, y along
    the closing motion, origin in the middle between the pads when they are 30 mm apart.

    Attributes:
        offset: (n, 4, 4).
        tool: (4, 4).
        lower_rad, upper_rad: (n,).
        velocity_rad_s, acceleration_rad_s2: (n,).
        home_rad: (n,).
        spheres: Gap between the pads [m] -> spheres of arm and gripper at a few sampled gaps, the same spheres in the
            same order in each; ``spheres_at`` gives them for any gap.
        self_pairs: (p, 2) link pairs whose spheres may collide.
        self_slack_m: (p,) how deep the pair's spheres may overlap before the links touch [m]; None stands for zeros.
    """

    name: str
    offset: Array
    tool: Array
    lower_rad: Array
    upper_rad: Array
    velocity_rad_s: Array
    acceleration_rad_s2: Array
    home_rad: Array
    spheres: Mapping[float, SphereSet]
    self_pairs: Ints
    self_slack_m: Array | None = None

    @property
    def dof(self) -> int:
        """Number of joints."""
        return int(self.offset.shape[0])

    def spheres_at(self, opening_m: float) -> SphereSet:
        """Return the spheres for a gap between the pads [m], centres interpolated between the sampled gaps."""
        gaps = sorted(self.spheres)
        gap = min(max(opening_m, gaps[0]), gaps[-1])
        above = next(g for g in gaps if g >= gap - 1e-12)
        below = gaps[max(gaps.index(above) - 1, 0)]
        if above - gap < 1e-9 or above == below:
            return self.spheres[above]
        weight = (gap - below) / (above - below)
        low, high = self.spheres[below], self.spheres[above]
        center = (1 - weight) * low.center_m + weight * high.center_m
        return SphereSet(center, high.radius_m, high.link, high.finger)
