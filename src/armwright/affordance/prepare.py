"""A cloud made ready for the point networks: the points they look at, what each knows, and who neighbours whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import UsageError
from armwright.core.pose import Array

POINTS, MIDDLE, COARSE = 1536, 384, 96
"""Points at the three levels of the networks."""
NEIGHBOURS = 16
FEATURES: tuple[str, ...] = (
    *("x", "y", "z", "normal_x", "normal_y", "normal_z"),
    *("log_extent", "flatness", "slenderness", "height", "from_top", "from_axis", "faces_out"),
    *("linear", "planar", "round", "size", "smooth", "hollow"),
    *("wide_linear", "wide_planar", "wide_round", "wide_size", "wide_smooth", "wide_hollow"),
    *("thick", "clear", "above", "below", "enclosed", "nearest_wall", "mean_wall", "log_thick"),
)
"""What a point knows; x, y and the normal's x, y turn with the object, the rest does not."""

Index = NDArray[np.int64]
Float32 = NDArray[np.float32]

_NEAR, _WIDE = 12, 28
_SMALLEST_M = 1e-4
_AROUND_POINTS = 576
"""A multiple of twice `_kernels.LANES`."""
_SLACK = 0.028
_TURN = 0.05
"""How far apart opposite faces count as being, in halves: points of one wall do not answer for the other."""
_AS_NEAR = 0.004
"""Points nearer than this, in extents, count alike."""


@dataclass(frozen=True, eq=False)
class PreparedCloud:
    """What the encoders take in, for one cloud of n points.

    Attributes:
        features: (1536, 33) float32, `FEATURES`.
        middle, coarse: Indices of the points of the next level, (384,) into the finest, (96,) into the middle one.
        near_fine: (1536, 12) indices of neighbours among the finest points, and
        near_middle, near_coarse: (384, 16), (96, 16) of those of the level above them in the level below.
        up_middle, up_fine: (384, 3), (1536, 3) the nearest points of the level above, and
        weight_middle, weight_fine: their weights for interpolation.
        nearest: (n, 3) which of the 1536 stand for each point of the cloud, the nearest first, and
        weight_nearest: (n, 3) how much each counts; rows add up to 1.
        chosen: (1536,) indices into the cloud.
    """

    features: Float32
    middle: Index
    coarse: Index
    near_fine: Index
    near_middle: Index
    near_coarse: Index
    up_middle: Index
    weight_middle: Float32
    up_fine: Index
    weight_fine: Float32
    nearest: Index
    weight_nearest: Float32
    chosen: Index

    def spread(self, values: Float32) -> Float32:
        """Return (..., n) values on the cloud from (..., 1536) values on the points that were chosen."""
        out = values[..., self.nearest[:, 0]] * self.weight_nearest[:, 0]
        for k in (1, 2):
            out += values[..., self.nearest[:, k]] * self.weight_nearest[:, k]
        return np.asarray(out, np.float32)

    def inputs(self) -> dict[str, Any]:
        """Return the encoders' inputs by name, each with a leading batch axis."""
        names = ("features", "middle", "coarse", "near_fine", "near_middle", "near_coarse")
        above = ("up_middle", "weight_middle", "up_fine", "weight_fine")
        return {name: getattr(self, name)[None] for name in (*names, *above)}


def prepare(points_m: Array, normals: Array, *, seed: int = 0) -> PreparedCloud:
    """Choose points, describe them and link them.

    Flat walls are thinned out more than small and curved parts: one point is kept per cell of place and direction.

    Args:
        points_m: (n, 3) float in the object's frame, +z up [m].
        normals: (n, 3) outward unit normals.
        seed: Decides which point stands for a cell.

    Raises:
        UsageError: No points, arrays that do not fit, or values that are not finite.
    """
    from scipy.spatial import cKDTree

    from armwright.affordance._kernels import farthest_points

    points, outward = np.asarray(points_m, np.float64), np.asarray(normals, np.float64)
    if points.ndim != 2 or points.shape[1:] != (3,) or outward.shape != points.shape or len(points) == 0:
        raise UsageError(f"points and normals are (n, 3) with n > 0; got {points.shape} and {outward.shape}.")
    if not (np.isfinite(points).all() and np.isfinite(outward).all()):
        raise UsageError("points and normals must be finite numbers.")
    low, high = points.min(0), points.max(0)
    extent = max(float((high - low).max()), _SMALLEST_M)
    scaled = (points - [*(low[:2] + high[:2]) / 2, low[2]]) / extent
    chosen, stand_in = _choose(scaled, outward, np.random.default_rng(seed))
    at, n = np.ascontiguousarray(scaled[chosen]), np.ascontiguousarray(outward[chosen])
    tree = cKDTree(at)
    _, wide = tree.query(at, k=_WIDE)
    features = _describe(at, n, wide, extent, (high - low) / extent)
    middle = farthest_points(at, MIDDLE)
    coarse = farthest_points(at[middle], COARSE)
    middle_at = at[middle]
    coarse_at = middle_at[coarse]
    middle_tree = cKDTree(middle_at)
    up_fine, weight_fine = _interpolation(middle_tree.query(at, k=3))
    up_middle, weight_middle = _interpolation(cKDTree(coarse_at).query(middle_at, k=3))
    nearest, weight_nearest = _shares(at, n, scaled, outward, stand_in, wide[:, :NEIGHBOURS])
    return PreparedCloud(
        features=features,
        middle=middle,
        coarse=coarse,
        near_fine=np.asarray(wide[:, :_NEAR], np.int64),
        near_middle=np.asarray(wide[middle, :NEIGHBOURS], np.int64),
        near_coarse=np.asarray(middle_tree.query(coarse_at, k=NEIGHBOURS)[1], np.int64),
        up_middle=up_middle,
        weight_middle=weight_middle,
        up_fine=up_fine,
        weight_fine=weight_fine,
        nearest=nearest,
        weight_nearest=weight_nearest,
        chosen=chosen,
    )


def _choose(scaled: Array, normals: Array, rng: np.random.Generator) -> tuple[Index, Index]:
    """Return 1536 indices and, for each of the n points, which of the 1536 shares its cell (-1 where none does).

    One point is kept per cell of place and normal direction; points repeat where there are fewer.
    """
    from armwright.affordance._kernels import first_of_cells

    order = rng.permutation(len(scaled))
    stand_in = np.full(len(scaled), -1, np.int64)
    if len(scaled) <= POINTS:
        stand_in[order] = np.arange(len(order))
        return np.concatenate([order, rng.choice(order, POINTS - len(order))]), stand_in
    at, n = scaled[order], normals[order]
    axis = np.abs(n).argmax(1)
    side = 2 * axis + (n[np.arange(len(n)), axis] > 0)
    small, large = 0.004, 0.4
    first: Index = np.arange(len(order))
    cells: Index = np.arange(len(order))
    kept, cell_of = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    slots = np.empty(1 << (2 * len(order)).bit_length(), np.int32)
    for _ in range(9):
        size = np.sqrt(small * large)
        cell = np.floor((at + np.array([1.0, 1.0, 0.5])) / size).astype(np.int64)
        key = ((cell[:, 0] * 1024 + cell[:, 1]) * 1024 + cell[:, 2]) * 8 + side
        count = first_of_cells(key, slots, kept, cell_of)
        if count < POINTS:
            large = size
        else:
            small, first, cells = size, kept[:POINTS].copy(), cell_of.copy()
            if count < 1.03 * POINTS:
                break
    # The order is already random, so that the first places are a fair draw among the cells.
    stand_in[order] = np.where(cells < POINTS, cells, -1)
    return np.asarray(order[first[:POINTS]]), stand_in


def _shares(
    at: Array, n: Array, scaled: Array, outward: Array, stand_in: Index, neighbours: Index
) -> tuple[Index, Float32]:
    """Return which three of the chosen points answer for each point of the cloud, near in place and direction."""
    from scipy.spatial import cKDTree

    from armwright.affordance._kernels import nearest_three

    chosen, cloud = np.hstack([at, _TURN * n]), np.hstack([scaled, _TURN * outward])
    alone = stand_in < 0
    if alone.any():
        stand_in[alone] = cKDTree(chosen).query(cloud[alone])[1]
    found, squares = np.empty((len(cloud), 3), np.int64), np.empty((len(cloud), 3))
    nearest_three(chosen, cloud, stand_in, np.ascontiguousarray(neighbours), found, squares)
    weight = 1.0 / np.maximum(np.sqrt(squares), _AS_NEAR)
    return found, np.asarray(weight / weight.sum(1, keepdims=True), np.float32)


def _describe(at: Array, normals: Array, wide: Index, extent_m: float, sides: Array) -> Float32:
    from armwright.affordance._kernels import AROUND, LOCAL, local_shape, look_around

    n = len(at)
    near_shape, wide_shape = np.empty((n, len(LOCAL))), np.empty((n, len(LOCAL)))
    around = np.empty((n, len(AROUND)))
    local_shape(at, normals, wide[:, :_NEAR], near_shape)
    local_shape(at, normals, wide, wide_shape)
    at32, normals32 = at.astype(np.float32), normals.astype(np.float32)
    others = [np.ascontiguousarray(rows[:_AROUND_POINTS].T) for rows in (at32, normals32)]
    look_around(at32, normals32, *others, np.float32(_SLACK), around)
    flat = at[:, :2] - at[:, :2].mean(0)
    spread = np.sqrt(np.linalg.eigvalsh(flat.T @ flat / n).clip(0))
    away = np.linalg.norm(flat, axis=1)
    top = max(float(sides[2]), 1e-3)
    out = np.column_stack(
        [
            at - [0.0, 0.0, top / 2],
            normals,
            np.full(n, np.log(extent_m / 0.15) / 1.5),
            np.full(n, sides[2]),
            np.full(n, spread[0] / max(spread[1], 1e-6)),
            at[:, 2] / top,
            top - at[:, 2],
            away * 2,
            (flat * normals[:, :2]).sum(1) / np.maximum(away, 1e-6),
            near_shape * [1, 1, 1, 10, 1, 2],
            wide_shape * [1, 1, 1, 10, 1, 2],
            around,
            np.log(around[:, 0] * extent_m / 0.02 + 1e-3) / 2,
        ]
    )
    return out.astype(np.float32)


def _interpolation(found: tuple[Array, Index]) -> tuple[Index, Float32]:
    weight = 1.0 / np.maximum(found[0], 1e-4)
    return np.asarray(found[1], np.int64), np.asarray(weight / weight.sum(1, keepdims=True), np.float32)
