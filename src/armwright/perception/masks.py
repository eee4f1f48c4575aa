"""From an image mask to what it shows in the world: its points, its box, its sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.perception.boxes import points_box, upright_extent

MIN_PIXELS = 30
_BIN_M = 0.01
_GAP_BINS = 3
_MOST_POINTS = 4000
_OUTSIDE_PX = 3
_NEARER_M = 0.01
# Nearer than anything: beyond the picture.
_EDGE_M = 1e-3


@dataclass(frozen=True, eq=False)
class Patch:
    """What a mask shows.

    Attributes:
        rows, columns: The window of the image that holds the mask.
        kept: (rows, columns) bool pixels of the window that lie on the object.
        points_m: (n, 3) of them in the world, thinned.
        box_m: (2, 3) around them.
        extent_m: (3,) sides, height last.
    """

    rows: slice
    columns: slice
    kept: NDArray[np.bool_]
    points_m: Array
    box_m: Array
    extent_m: Array


def patch(frame: RgbdFrame, mask: NDArray[np.bool_], *, max_depth_m: float = 10.0) -> Patch | None:
    """Return what a mask shows, or None where fewer than `MIN_PIXELS` pixels have depth.

    A mask that bleeds over the object's edge holds depth of the background: of the runs of depth with 3 cm of nothing
    between them only the one with most pixels is kept.

    Args:
        frame: What the camera saw.
        mask: (H, W).
        max_depth_m: Readings beyond are left out.

    Raises:
        UsageError: A mask of another size than the image.
    """
    if mask.shape != frame.depth_m.shape:
        raise UsageError(
            f"a mask is {mask.shape}, the depth image {frame.depth_m.shape}.", hint="Masks are (H, W) bool."
        )
    mask = mask.astype(bool, copy=False)
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if len(rows) == 0:
        return None
    window = slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)
    depth = frame.depth_m[window]
    kept = mask[window] & (depth > 0) & (depth < max_depth_m)
    if kept.sum() < MIN_PIXELS:
        return None
    near, far = _main_run(depth[kept])
    kept &= (depth >= near) & (depth < far)
    v, u = np.nonzero(kept)
    if len(v) < MIN_PIXELS:
        return None
    step = -(-len(v) // _MOST_POINTS)
    v, u = v[::step], u[::step]
    points = frame.camera.deproject(u + window[1].start, v + window[0].start, depth[v, u])
    return Patch(*window, kept, points, points_box(points), upright_extent(points))


def covered(frame: RgbdFrame, mask: NDArray[np.bool_], *, up: Array) -> Array:
    """Return (4,) how far a thing's left, right, lower and upper outline is no edge of its own, 0 to 1.

    It is not where what lies just outside is nearer by a centimetre or more, or where the picture ends. Sides are those
    that somebody sees who looks from the camera, upright.

    Args:
        frame: What the camera saw.
        mask: (H, W).
        up: (3,) in the world.
    """
    depth = frame.depth_m
    padded = np.pad(mask, _OUTSIDE_PX)
    around = np.pad(depth, _OUTSIDE_PX, constant_values=_EDGE_M)
    height, width = mask.shape
    sides = []
    for dv, du in ((0, -1), (0, 1), (1, 0), (-1, 0)):

        def moved(image: NDArray[np.generic], by: int, dv: int = dv, du: int = du) -> NDArray[np.generic]:
            v, u = _OUTSIDE_PX + dv * by, _OUTSIDE_PX + du * by
            return image[v : v + height, u : u + width]

        outline = mask & (depth > 0) & ~moved(padded, 1).astype(bool)
        beyond = moved(around, _OUTSIDE_PX).astype(float)[outline]
        nearer = (beyond > 0) & (beyond < depth[outline] - _NEARER_M)
        sides.append(float(nearer.mean()) if len(nearer) else 0.0)
    # Up in the picture: where it does not point up, the sides change places.
    x, y, _ = frame.camera.pose_world_camera.inverse().rotate(up)
    turns = round(float(np.arctan2(x, -y)) / (np.pi / 2)) % 4
    left, right, lower, upper = sides
    ring = [upper, right, lower, left]
    ring = ring[turns:] + ring[:turns]
    return np.array([ring[3], ring[1], ring[2], ring[0]])


def _main_run(depths_m: NDArray[np.float32]) -> tuple[float, float]:
    """Return where the fullest run of depths begins and ends [m]; sparse bins count as empty."""
    first = float(depths_m.min())
    bins = ((depths_m - first) / _BIN_M).astype(np.int64)
    counts = np.bincount(bins)
    full = np.flatnonzero(counts >= max(1, len(depths_m) // 500))
    breaks = np.flatnonzero(np.diff(full) > _GAP_BINS) + 1
    runs = np.split(full, breaks)
    best = max(runs, key=lambda run: int(counts[run].sum()))
    return first + (int(best[0]) - 0.5) * _BIN_M, first + (int(best[-1]) + 1.5) * _BIN_M
