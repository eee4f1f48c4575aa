"""The pegs of a hook region: where each begins, how it runs, where it ends, how thick it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from armwright.affordance.protocol import AffordanceMask, ObjectCloud
from armwright.core.pose import Array, Pose

# Points of one peg lie nearer to each other than this, in a cloud as dense as `SceneSource.close_up` gives.
NEAR_M = 0.004
# Points this near to the rest of the object, measured from the nearest one, are a peg's root.
ROOT_M = 0.005
# Shorter pegs hold nothing.
MIN_LENGTH_M = 0.015
SLICES = 12


@dataclass(frozen=True, eq=False)
class Peg:
    """One peg.

    Attributes:
        line_m: (k, 3) middle line from the root to the tip.
        radius_m: Half its thickness.
    """

    line_m: Array
    radius_m: float

    def at(self, pose: Pose) -> Peg:
        """Return the peg of the object at a pose."""
        return Peg(pose.transform(self.line_m), self.radius_m)


def pegs_of(cloud: ObjectCloud, mask: AffordanceMask) -> list[Peg]:
    """Find the pegs of a region such as the "Hook" of a rack.

    Args:
        cloud: Points of the object in its frame, dense around the region.
        mask: The queried region on it.
    """
    region, rest = cloud.points_m[mask.mask], cloud.points_m[~mask.mask]
    if len(region) < 16 or len(rest) == 0:
        return []
    near = cKDTree(region).query_pairs(NEAR_M, output_type="ndarray")
    shape = (len(region), len(region))
    count, owner = connected_components(coo_array((np.ones(len(near)), near.T), shape=shape), directed=False)
    to_rest = cKDTree(rest).query(region)[0]
    found = [_peg(region[owner == k], to_rest[owner == k]) for k in range(count) if (owner == k).sum() >= 16]
    return [peg for peg in found if peg is not None]


def _peg(points_m: Array, to_rest_m: Array) -> Peg | None:
    root = points_m[to_rest_m < to_rest_m.min() + ROOT_M].mean(0)
    away = np.linalg.norm(points_m - root, axis=1)
    length = float(away.max())
    if length < MIN_LENGTH_M:
        return None
    rows = np.minimum((away / length * SLICES).astype(int), SLICES - 1)
    middles = [points_m[rows == k].mean(0) for k in range(SLICES) if (rows == k).sum() >= 3]
    if len(middles) < 3:
        return None
    line = np.array([root, *middles[1:]])
    radius = float(np.median(_to_line(points_m, line)))
    # The last slice's middle lies short of the end.
    tip = line[-1] - line[-2]
    tip /= np.linalg.norm(tip)
    line[-1] += tip * max(float(((points_m - line[-1]) @ tip).max()), 0.0)
    return Peg(line, radius)


def _to_line(points_m: Array, line_m: Array) -> Array:
    a, along = line_m[:-1], np.diff(line_m, axis=0)
    share = np.clip(((points_m[:, None] - a) * along).sum(-1) / (along**2).sum(-1), 0, 1)
    return np.asarray(np.linalg.norm(points_m[:, None] - (a + share[..., None] * along), axis=-1).min(axis=1))
