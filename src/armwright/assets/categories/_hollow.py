"""Hollow ware: a vessel turned from an outer and an inner profile, its cavity, its collision walls."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.core.pose import Array

_DIP_M = 1e-3


def between(profile_rz_m: ArrayLike, low_m: float, high_m: float) -> Array:
    """Return the stretch of a profile that rises with z between two heights, cut exactly at both."""
    profile = np.asarray(profile_rz_m, float)
    z = profile[:, 1]
    inside = profile[(z > low_m + 1e-9) & (z < high_m - 1e-9)]
    ends = [[float(np.interp(height, z, profile[:, 0])), height] for height in (low_m, high_m)]
    return np.concatenate([ends[:1], inside, ends[1:]])


def offset_profile(profile_rz_m: ArrayLike, wall_m: float) -> Array:
    """Return a profile moved towards the axis by ``wall_m``, square to itself."""
    profile = np.asarray(profile_rz_m, float)
    step = np.diff(profile, axis=0)
    normal = np.stack([-step[:, 1], step[:, 0]], 1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    at_points = np.concatenate([normal[:1], normal[:-1] + normal[1:], normal[-1:]])
    at_points /= np.linalg.norm(at_points, axis=1, keepdims=True)
    return np.asarray(profile + wall_m * at_points)


@dataclass(frozen=True)
class Hollow:
    """A turned vessel open at the top.

    Attributes:
        outer, inner: (k, 2) profiles rising from the bottom edge, and from the floor, to the rim [m].
        rim_z_m: Where the wall begins to be called rim.
        bevel: Inner points that round the corner between floor and wall; collision walls leave them out, or they
            would fill the cavity along the chord from the floor to the next band.
        facets: Facets around.
    """

    outer: Array
    inner: Array
    rim_z_m: float
    bevel: int = 1
    facets: int = solids.SEGMENTS

    @property
    def floor_z_m(self) -> float:
        """Height of the floor inside [m]."""
        return float(self.inner[0, 1])

    @property
    def top_z_m(self) -> float:
        """Height of the rim [m]."""
        return float(self.outer[-1, 1])

    def radius(self, z_m: float) -> float:
        """Return the outer radius at a height [m]."""
        return float(np.interp(z_m, self.outer[:, 1], self.outer[:, 0]))

    def add(self, builder: LinkBuilder, *, body: str = "body", rim: str = "rim") -> None:
        """Add the full outer shape; what is added later may reach into it."""
        top, bottom = self.top_z_m, float(self.outer[0, 1])
        lower = between(self.outer, bottom, self.rim_z_m)
        upper = between(self.outer, self.rim_z_m, top)
        builder.add(body, solids.lathe([[0, bottom], *lower, [0, self.rim_z_m]], segments=self.facets))
        # The ring dips into the body inside its edge: the two meet in one circle and share no face.
        inset = upper[0] - [_DIP_M / 2, _DIP_M]
        builder.add(rim, solids.lathe([[0, inset[1]], inset, *upper, [0, top]], segments=self.facets))

    def cut(self, builder: LinkBuilder, *, interior: str = "interior", rim: str = "rim") -> None:
        """Cut the cavity: rim first, then the interior below it."""
        top = float(self.inner[-1, 1])
        upper = between(self.inner, self.rim_z_m, top)
        lower = between(self.inner, self.floor_z_m, self.rim_z_m)
        above = upper[-1] + [0.0, 0.01]
        builder.cut(rim, solids.lathe([[0, self.rim_z_m], *upper, above, [0, above[1]]], segments=self.facets))
        inset = lower[-1] + [-_DIP_M / 2, _DIP_M]
        hollow = [[0, self.floor_z_m], *lower, inset, [0, inset[1]]]
        builder.cut(interior, solids.lathe(hollow, segments=self.facets))

    def collide(
        self,
        builder: LinkBuilder,
        *,
        bands_m: Sequence[float] = (),
        segments: int | Sequence[int] = 12,
        gap: Sequence[int] = (),
    ) -> None:
        """Add the floor disc and rings of wedges between the floor, ``bands_m`` and the rim.

        Args:
            builder: Takes the hulls.
            bands_m: Heights where one ring ends and the next begins [m].
            segments: Wedges per ring; one number for all, or one per ring from the floor up.
            gap: Wedges left out of the highest ring, for a spout.
        """
        floor, bottom = self.floor_z_m, float(self.outer[0, 1])
        builder.collide("body", [hulls.turned(between(self.outer, bottom, floor), segments=16)])
        stops = [floor, *bands_m, self.top_z_m]
        inner = np.concatenate([[[self.inner[self.bevel, 0], floor]], self.inner[max(self.bevel, 1) :]])
        per_ring = [segments] * (len(stops) - 1) if isinstance(segments, int) else segments
        for (low, high), count in zip(itertools.pairwise(stops), per_ring, strict=True):
            section = np.concatenate([between(self.outer, low, high), between(inner, low, high)])
            part = "rim" if low >= self.rim_z_m - 1e-9 else "body"
            wedges = hulls.turned_ring(section, segments=count)
            left_out = gap if high == self.top_z_m else ()
            builder.collide(part, [wedge for i, wedge in enumerate(wedges) if i not in left_out])


def walled(
    outer_rz_m: ArrayLike, *, wall_m: float, floor_m: float, rim_m: float, facets: int = solids.SEGMENTS
) -> Hollow:
    """Return a vessel with an even wall from its outer profile, which ends one lip below the rim."""
    outer = np.asarray(outer_rz_m, float)
    lip = 0.35 * wall_m
    high = float(outer[-1, 1]) + lip
    inside = offset_profile(outer, wall_m)
    inside = inside[(inside[:, 1] > floor_m + 0.003) & (inside[:, 1] < high - 0.003)]
    start = float(np.interp(floor_m, outer[:, 1], outer[:, 0])) - wall_m - 0.002
    top = float(outer[-1, 0])
    inner = np.array([[start, floor_m], *inside, [top - wall_m, high - lip], [top - wall_m + lip, high]])
    return Hollow(np.array([*outer, [top - lip, high]]), inner, high - rim_m, bevel=0, facets=facets)
