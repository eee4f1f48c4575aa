"""Long things that lie: loops of points along x, from which a part and its collision hulls follow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.core.pose import Array

DRAWN_ON_M = 3e-4
"""How far a print, a screen or a key stands out of what carries it."""


def along_x(
    x_m: ArrayLike,
    half_y_m: ArrayLike,
    half_z_m: ArrayLike,
    *,
    z_m: ArrayLike | None = None,
    y_m: ArrayLike = 0.0,
    points: int = 12,
    square: bool = False,
) -> Array:
    """Return loops square to x, one per entry.

    Args:
        x_m: (k,) where they are.
        half_y_m, half_z_m: (k,) or scalar half extents.
        z_m: Heights of their middles; None lays each on z = 0.
        y_m: Their middles' y.
        points: Points per loop; with half a step of phase an ellipse stands on a facet.
        square: Rectangles with rounded corners instead of ellipses.

    Returns:
        (k, n, 3) float loops [m].
    """
    x = np.asarray(x_m, float)
    half_y, half_z, y = (np.broadcast_to(np.asarray(v, float), x.shape) for v in (half_y_m, half_z_m, y_m))
    loops = []
    for i in range(len(x)):
        if square:
            section = solids.rounded_rectangle(half_y[i], half_z[i], 0.42 * min(half_y[i], half_z[i]), per_corner=2)
        else:
            section = solids.ellipse(half_y[i], half_z[i], points=points, phase=0.5)
        middle = -section[:, 1].min() if z_m is None else np.broadcast_to(np.asarray(z_m, float), x.shape)[i]
        loops.append(np.column_stack([np.full(len(section), x[i]), section[:, 0] + y[i], section[:, 1] + middle]))
    return np.stack(loops)


def add_loft(
    builder: LinkBuilder, part: str, loops_m: Array, *, stops: Sequence[int] | None = None, convex: bool = False
) -> None:
    """Add a loft of loops with its hulls: one around all of it, or one per stretch between ``stops``."""
    shape = [loops_m.reshape(-1, 3)] if convex else hulls.chain(loops_m, every=stops)
    builder.add(part, solids.loft(loops_m), hulls=shape)


def add_slab(
    builder: LinkBuilder,
    part: str,
    outline_m: ArrayLike,
    low_m: float,
    high_m: float,
    *,
    center_m: Sequence[float] = (0.0, 0.0),
) -> None:
    """Add a level slab with a convex outline, (n, 2) float, between two heights, and its hull."""
    loops = np.stack([solids.at_height(outline_m, z, center_m=center_m) for z in (low_m, high_m)])
    builder.add(part, solids.loft(loops), hulls=[loops.reshape(-1, 3)])


def add_ring(
    builder: LinkBuilder,
    part: str,
    inner_m: float,
    outer_m: float,
    low_m: float,
    high_m: float,
    *,
    center_m: Sequence[float] = (0.0, 0.0),
    segments: int = 10,
    gap: Sequence[int] = (),
) -> None:
    """Add a level ring with rounded edges and its wedges, without those in ``gap`` (counted from +x)."""
    edge = 0.25 * min(high_m - low_m, outer_m - inner_m)
    section = np.array(
        [
            [inner_m, low_m + edge],
            [inner_m + edge, low_m],
            [outer_m - edge, low_m],
            [outer_m, low_m + edge],
            [outer_m, high_m - edge],
            [outer_m - edge, high_m],
            [inner_m + edge, high_m],
            [inner_m, high_m - edge],
        ]
    )
    shift = np.array([center_m[0], center_m[1], 0.0])
    wedges = [w + shift for i, w in enumerate(hulls.turned_ring(section, segments=segments)) if i not in gap]
    builder.add(part, solids.lathe(section, segments=2 * segments).translate(shift), hulls=wedges)
