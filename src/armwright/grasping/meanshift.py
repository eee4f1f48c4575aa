"""Where to grasp: connected pieces of a mask, the modes of each, and the surface points nearest to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.grasping.options import GraspOptions

_MAX_SUPPORT = 400
_MAX_SEEDS = 32
_MIN_PIECE = 6
_MIN_CONTACTS = 4


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contact points on the masked surface.

    Attributes:
        index: (c,) int into the cloud.
        piece: (c,) int, connected piece of the mask.
        is_mode: (c,) bool, False for the fallback samples.
        piece_of_masked: (k,) int, the piece of every masked point, in the mask's order.
    """

    index: NDArray[np.int64]
    piece: NDArray[np.int64]
    is_mode: NDArray[np.bool_]
    piece_of_masked: NDArray[np.int64]


def spacing_m(points_m: Array) -> float:
    """Return 1 / sqrt(points per area) [m] of a surface sample, from the median nearest-neighbour distance."""
    from scipy.spatial import cKDTree

    if len(points_m) < 2:
        return 0.01
    some = points_m[:: max(1, len(points_m) // 400)]
    distance, _ = cKDTree(points_m).query(some, k=2)
    # For points strewn uniformly over a plane the median of that distance is sqrt(ln 2 / pi) = 0.47 spacings.
    return float(max(np.median(distance[:, 1]) / 0.47, 1e-4))


def connected_pieces(points_m: Array, *, gap_m: float) -> NDArray[np.int64]:
    """Return (n,) the piece of each point; points closer than about ``gap_m`` share one, largest piece first."""
    from scipy import ndimage

    cell = np.floor((points_m - points_m.min(0)) / gap_m).astype(int)
    grid = np.zeros(cell.max(0) + 1, bool)
    grid[tuple(cell.T)] = True
    label, _ = ndimage.label(grid, np.ones((3, 3, 3)))
    raw = label[tuple(cell.T)]
    names, count = np.unique(raw, return_counts=True)
    order = names[np.argsort(-count, kind="stable")]
    return np.asarray(np.argsort(order)[np.searchsorted(np.sort(order), raw)], np.int64)


def mean_shift(points_m: Array, *, bandwidth_m: float, iterations: int = 40) -> Array:
    """Return (k, 3) modes of a Gaussian kernel density, densest first; modes within a bandwidth are merged."""
    support = points_m[:: -(-len(points_m) // _MAX_SUPPORT)]
    seeds = support[:: -(-len(support) // _MAX_SEEDS)].copy()
    scale = -0.5 / bandwidth_m**2
    density = np.zeros(len(seeds))
    square = (support**2).sum(1)
    for _ in range(iterations):
        d2 = (seeds**2).sum(1)[:, None] + square[None] - 2 * seeds @ support.T
        weight = np.exp(scale * np.maximum(d2, 0))
        density = weight.sum(1)
        moved = weight @ support / density[:, None]
        step = float(np.abs(moved - seeds).max())
        seeds = moved
        if step < 0.03 * bandwidth_m:
            break
    modes: list[Array] = []
    for k in np.argsort(-density, kind="stable"):
        if all(np.linalg.norm(seeds[k] - mode) > bandwidth_m for mode in modes):
            modes.append(seeds[k])
    return np.array(modes)


def farthest_points(points_m: Array, *, start: Array, count: int) -> NDArray[np.int64]:
    """Return up to ``count`` indices, each farthest from all chosen before and from the ``start`` points (s, 3)."""
    nearest = np.linalg.norm(points_m[:, None] - start[None], axis=2).min(1)
    chosen: list[int] = []
    for _ in range(min(count, len(points_m))):
        k = int(np.argmax(nearest))
        if nearest[k] <= 1e-9:
            break
        chosen.append(k)
        nearest = np.minimum(nearest, np.linalg.norm(points_m - points_m[k], axis=1))
    return np.array(chosen, np.int64)


def find_contacts(points_m: Array, mask: NDArray[np.bool_], *, options: GraspOptions | None = None) -> Contacts:
    """Choose contact points on the masked surface (AffordSim §3.2, Stage 1; Appendix N for disconnected masks).

    Each connected piece gives its mean-shift modes, each mode the masked point nearest to it: the centroid of a
    mug's handle lies in the handle's hole, where nothing can be grasped. Farthest-point samples fill up to
    ``options.contacts`` over all pieces, so that one blocked mode does not end the search (an extension of the paper).

    Args:
        points_m: (n, 3) float, the object's cloud.
        mask: (n,) bool, the region.
        options: Choices; defaults where None.

    Returns:
        The contacts, the largest piece first and modes before samples; empty for an empty mask.
    """
    chosen = options or GraspOptions()
    where = np.flatnonzero(mask)
    if len(where) == 0:
        empty = np.zeros(0, np.int64)
        return Contacts(empty, empty, np.zeros(0, bool), empty)
    region = points_m[where]
    pieces = connected_pieces(region, gap_m=max(0.006, 2.5 * spacing_m(region)))
    index: list[int] = []
    piece_of: list[int] = []
    is_mode: list[bool] = []
    for piece in range(int(pieces.max()) + 1):
        local = np.flatnonzero(pieces == piece)
        if len(local) < _MIN_PIECE and piece > 0:
            continue
        pts = region[local]
        # Shares by size, so that two handles cost no more than one; a few each, so that none is left out.
        allowed = max(_MIN_CONTACTS, round(chosen.contacts * len(local) / len(where)))
        extent = float(np.ptp(pts, axis=0).max())
        modes = mean_shift(pts, bandwidth_m=max(chosen.bandwidth_min_m, chosen.bandwidth_ratio * extent))
        distance = np.linalg.norm(pts[None] - modes[:, None], axis=2)
        picks = list(dict.fromkeys(int(k) for k in distance.argmin(1)))[:allowed]
        mode_count = len(picks)
        if mode_count < allowed:
            picks += farthest_points(pts, start=pts[picks], count=allowed - mode_count).tolist()
        index += [int(where[local[k]]) for k in picks]
        piece_of += [piece] * len(picks)
        is_mode += [True] * mode_count + [False] * (len(picks) - mode_count)
    return Contacts(np.array(index, np.int64), np.array(piece_of, np.int64), np.array(is_mode, bool), pieces)
