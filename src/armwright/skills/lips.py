"""Where a vessel is poured from and into: lips, beaks and openings, from points and regions alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.protocol import AffordanceMask, ObjectCloud
from armwright.core.pose import Array, Pose
from armwright.skills.beaks import beak_of

# The wall must slope outwards by this in the end: grains slide down a smooth wall at half of it.
DRAIN_SLOPE_RAD = np.deg2rad(32.0)
# In the corner between the two walls of a beak they slide down less easily.
BEAK_SLOPE_RAD = np.deg2rad(8.0)
# A wall's slope is known to lie in this range, whatever a cloud makes of handles and shoulders.
WALL_SLOPE_RAD = (np.deg2rad(60.0), np.deg2rad(95.0))
# Height of the rim, below its lowest point when it is tilted, over which contents come out at once.
STREAM_DEPTH_M = 0.006
LIP_DIRECTIONS = 12
# A region that is seen in this share of all directions around the axis runs all the way around.
RING_SHARE = 0.7
# One that is seen in no more than this share of them is a spout and nothing else.
ARC_SHARE = 0.4
# A vessel's outline is looked at so far above and below its rim for a beak that the region leaves out.
LEVEL_M = 0.012


@dataclass(frozen=True, eq=False)
class Opening:
    """Where the receiver takes in: the middle of its rim in the world [m] and the rim's inner radius [m]."""

    center_world_m: Array
    radius_m: float


@dataclass(frozen=True, eq=False)
class Lip:
    """A place that the source can pour over: a point and the horizontal way out, in the source's frame.

    ``width_m`` is how wide the contents come over it; ``beak`` says that two walls meet there.
    """

    point_m: Array
    outward: Array
    width_m: float = 0.0
    beak: bool = False


def opening_of(cloud: ObjectCloud, mask: AffordanceMask, pose_world_object: Pose) -> Opening | None:
    """Find the receiver's opening from the region that takes in ("Pour In").

    Args:
        cloud: Points of the receiver in its frame.
        mask: The queried region on it.
        pose_world_object: Where the receiver stands.

    Returns:
        The opening, or None where the mask is empty.
    """
    points = pose_world_object.transform(cloud.points_m[mask.mask])
    if len(points) < 8:
        return None
    rim_m = float(np.quantile(points[:, 2], 0.98))
    near = points[points[:, 2] > rim_m - 0.01]
    low, high = near[:, :2].min(0), near[:, :2].max(0)
    center = 0.5 * (low + high)
    return Opening(np.array([*center, rim_m]), float(np.median(np.linalg.norm(near[:, :2] - center, axis=1))))


def lips_of(
    cloud: ObjectCloud, mask: AffordanceMask, up_object: Array, *, handle: NDArray[np.bool_] | None = None
) -> list[Lip]:
    """Find where a source can be poured from: one lip for a spout or beak, many around a round rim.

    A region that runs around the rim is searched for a beak, where its outline stands out, and so is the vessel's
    outline at the height of the rim: what has a beak is poured over it, whatever else belongs to the region.

    Args:
        cloud: Points of the source in its frame.
        mask: The queried region on it ("Pour Out").
        up_object: (3,) the world's up in the source's frame while it stands.
        handle: (n,) bool, what it is held by: this stands out as well, and nothing is poured over it.
    """
    region = cloud.points_m[mask.mask]
    if len(region) < 8:
        return []
    x, y = _across(up_object)
    middle = 0.5 * (region.min(0) + region.max(0))
    flat = np.stack([(region - middle) @ x, (region - middle) @ y], axis=1)
    # The median point of the whole surface lies within a vessel whatever sticks out of it.
    body = np.median(cloud.points_m, axis=0)
    turn = np.arctan2((region - body) @ y, (region - body) @ x)
    bins = np.floor((turn + np.pi) / (2 * np.pi) * LIP_DIRECTIONS).astype(int) % LIP_DIRECTIONS
    around = len(np.unique(bins)) / LIP_DIRECTIONS
    beak = _beak(cloud, mask.mask, handle, up_object) if around >= ARC_SHARE else None
    if beak is not None or around < RING_SHARE:
        return [_spout(region if beak is None else beak, cloud.points_m, x, y, up_object)]
    lips = []
    height = region @ up_object
    for k in range(LIP_DIRECTIONS):
        angle = 2 * np.pi * k / LIP_DIRECTIONS
        along = flat @ np.array([np.cos(angle), np.sin(angle)])
        across = np.abs(flat @ np.array([-np.sin(angle), np.cos(angle)]))
        side = (along > 0) & (across < 0.3 * along + 0.002)
        if not side.any():
            continue
        top = side & (height > height[side].max() - 0.003)
        outward = np.cos(angle) * x + np.sin(angle) * y
        reach = float(np.quantile(along[top], 0.8))
        point = middle + reach * outward
        point = point + (float(height[side].max()) - float(point @ up_object)) * up_object
        upper = height > height[side].max() - 0.006
        spread = flat[upper & (along > along[upper].max() - STREAM_DEPTH_M)]
        lips.append(Lip(point, outward, float(np.ptp(spread @ np.array([-np.sin(angle), np.cos(angle)])))))
    return lips


def _beak(cloud: ObjectCloud, region: NDArray[np.bool_], handle: NDArray[np.bool_] | None, up: Array) -> Array | None:
    """Return the points (m, 3) of the beak in a rim's outline, or of the vessel's at the rim's height, or None."""
    x, y = _across(up)
    points = cloud.points_m
    flat = np.stack([points @ x, points @ y], axis=1)
    held = np.zeros(len(points), bool) if handle is None else handle & ~region
    middle = np.median(flat, axis=0)
    height = points @ up
    level = np.abs(height - np.quantile(height[region], 0.9)) < LEVEL_M
    outlines = [np.flatnonzero(region)]
    if held.any():  # what stands out of a vessel of which no handle is known may be its handle
        outlines.append(np.flatnonzero(level & ~held))
    for rows in outlines:
        found = beak_of(flat[rows], middle, flat[held])
        if found is not None:
            beak: Array = points[rows[found]]
            return beak
    return None


def _spout(region: Array, points: Array, x: Array, y: Array, up: Array) -> Lip:
    """The far upper end of a region that lies on one side of the object."""
    offset = np.median(region, axis=0) - np.median(points, axis=0)
    outward = (offset @ x) * x + (offset @ y) * y
    outward = outward / max(float(np.linalg.norm(outward)), 1e-9)
    along = region @ outward
    tip = region[along > np.quantile(along, 0.9)]
    return Lip(tip[np.argmax(tip @ up)], outward, beak=True)


def full_tilt(points_m: Array, lip: Lip, up_object: Array) -> float:
    """Return the tilt [rad] at which everything slides out: the wall's slope and the angle of a smooth slide.

    The slope is taken beside the lip, on the side that sticks out less: handles and spouts stick out more.

    Args:
        points_m: (n, 3) points of the source in its frame.
        lip: Where it is poured over.
        up_object: (3,) the world's up in the source's frame while it stands.
    """
    across = np.cross(up_object, lip.outward)
    height, reach = points_m @ up_object, (points_m - lip.point_m) @ across
    top = float(lip.point_m @ up_object)
    low = float(height.min()) + 0.25 * (top - float(height.min()))
    slopes = []
    for sign in (1.0, -1.0):
        upper = np.abs(height - top) < 0.15 * (top - low)
        lower = np.abs(height - low) < 0.15 * (top - low)
        if upper.any() and lower.any():
            widens = float((sign * reach[upper]).max() - (sign * reach[lower]).max())
            slopes.append((float((sign * reach[upper]).max()), float(np.arctan2(top - low, widens))))
    slope = min(slopes)[1] if slopes else np.pi / 2
    drain = DRAIN_SLOPE_RAD + (BEAK_SLOPE_RAD if lip.beak else 0.0)
    return float(np.clip(slope, *WALL_SLOPE_RAD)) + float(drain)


def _across(up: Array) -> tuple[Array, Array]:
    helper = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = helper - (helper @ up) * up
    x /= np.linalg.norm(x)
    return x, np.cross(up, x)
