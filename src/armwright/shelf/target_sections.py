"""Fit stacked sections to a cloud: the outline by its sides, then how it narrows with height."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial import ConvexHull

from armwright.core.pose import Array
from armwright.shelf.target_solids import Outline

SLICES = 24
"""Sections of a round profile; at least 4 mm apart."""
_SIDE = 0.5
_SOFT_M = 0.003
_EDGE = 0.01
_THINNEST_M = 0.003
_FEW = 12
# How much an ellipse is drawn towards a circle: decides only where little of the way around was seen.
_ROUND = 0.12


@dataclass(frozen=True, eq=False)
class Prism:
    """An outline and a height.

    Attributes:
        center_m: x, y of its middle (2,) [m].
        yaw_rad: Its turn.
        half_m: Half extents along its own x and y (2,) [m].
        height_m: From its base to its top [m].
    """

    center_m: Array
    yaw_rad: float
    half_m: Array
    height_m: float


def fit_prism(outline: Outline, points: Array, normals: Array, *, base_m: float, same: bool = False) -> Prism:
    """Fit an upright prism or cylinder, the section being where the object is widest.

    Args:
        outline: Rectangle or ellipse.
        points, normals: (n, 3) cloud; z up.
        base_m: Height of its base.
        same: Both half extents are equal.
    """
    top = float(np.quantile(points[:, 2], 0.995)) if not (normals[:, 2] > 0.8).any() else _top(points, normals)
    middle, yaw, half = _tightest(points[:, :2])
    side = np.abs(normals[:, 2]) < _SIDE
    if side.sum() < _FEW or not normals.any():
        return Prism(middle, yaw, half, top - base_m)
    flat, facing = points[side, :2], normals[side, :2]
    facing = facing / np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-9)
    pull = 0.15 * np.sqrt(len(flat))
    round_ish = int(outline == "ellipse" and not same)

    def gaps(x: Array) -> Array:
        c, s = np.cos(x[2]), np.sin(x[2])
        turn = np.array([[c, s], [-s, c]])
        a = np.maximum(x[3:5] if not same else x[[3, 3]], _THINNEST_M)
        local, own = (flat - x[:2]) @ turn.T, facing @ turn.T
        if outline == "rectangle":
            first = np.abs(own[:, 0]) > np.abs(own[:, 1])
            axis = np.where(first, 0, 1)
            row = np.arange(len(local))
            gap = np.sign(own[row, axis]) * local[row, axis] - a[axis]
        else:
            rho = np.maximum(np.linalg.norm(local / a, axis=1), 1e-6)
            gap = np.linalg.norm(local, axis=1) * (1 - 1 / rho)
            # Necks and caps are inside of the widest section, and are not asked.
            gap = np.where(gap < -0.25 * a.min(), -0.25 * a.min(), gap)
        # Where a side was not seen, the top's rim still says how far it goes.
        all_local = (points[:, :2] - x[:2]) @ turn.T
        low, high = np.quantile(all_local, _EDGE, axis=0), np.quantile(all_local, 1 - _EDGE, axis=0)
        rim = np.concatenate([high - a, -low - a])
        # Nothing may stick out; that a side was not seen as far as it goes says little where the top is narrower.
        rim = np.where(rim > 0, rim, rim * (1.0 if outline == "rectangle" else 0.2))
        return np.concatenate([gap, 0.5 * pull * rim, [_ROUND * np.sqrt(len(flat)) * (a[0] - a[1])] * round_ish])

    start = np.array([*middle, yaw, *half])
    found = least_squares(gaps, start, loss="soft_l1", f_scale=_SOFT_M, max_nfev=60).x
    half = np.maximum(found[3:5] if not same else found[[3, 3]], _THINNEST_M)
    return Prism(found[:2], float(found[2]), half, max(top - base_m, _THINNEST_M))


def fit_profile(prism: Prism, local: Array, normals: Array) -> tuple[Array, Array, Array]:
    """Return heights and half extents (k,) of the sections of a round solid, in the prism's frame.

    Args:
        prism: Its widest section.
        local, normals: (n, 3) cloud in the prism's frame, its base at z = 0.
    """
    count = int(np.clip(prism.height_m / 0.004, 3, SLICES))
    edges = np.linspace(0.0, prism.height_m, count + 1)
    side = np.abs(normals[:, 2]) < 0.8
    middle = 0.5 * (edges[:-1] + edges[1:])
    half = np.full((count, 2), np.nan)
    for k in range(count):
        rows = side & (local[:, 2] >= edges[k]) & (local[:, 2] < edges[k + 1])
        if rows.sum() < _FEW:
            continue
        square = (local[rows, :2] / prism.half_m) ** 2
        # u² A + v² B = 1 with A and B drawn towards each other where only part of the way around is seen.
        weight = 0.05 * rows.sum()
        normal = square.T @ square + weight * np.array([[1.0, -1.0], [-1.0, 1.0]]) * square.mean() ** 2
        scale = np.linalg.solve(normal + 1e-9 * np.eye(2), square.sum(0))
        half[k] = prism.half_m / np.sqrt(np.clip(scale, 0.6, 1e3))
    known = np.isfinite(half[:, 0])
    if not known.any():
        return np.array([0.0, prism.height_m]), np.full(2, prism.half_m[0]), np.full(2, prism.half_m[1])
    half = np.stack([np.interp(middle, middle[known], half[known, i]) for i in range(2)], 1)
    z = np.array([0.0, *middle, prism.height_m])
    half = np.maximum(np.concatenate([half[:1], half, half[-1:]]), _THINNEST_M)
    return z, half[:, 0], half[:, 1]


def fit_ridge(prism: Prism, local: Array, normals: Array) -> tuple[Array, Array, Array] | None:
    """Return heights and half extents (3,) of a box with a gable, or None where nothing slants.

    Args:
        prism: The box.
        local, normals: (n, 3) cloud in its frame.
    """
    slanting = (normals[:, 2] > 0.25) & (normals[:, 2] < 0.93) & (local[:, 2] > 0.4 * prism.height_m)
    if slanting.sum() < 2 * _FEW:
        return None
    best: tuple[float, tuple[Array, Array, Array]] | None = None
    top = float(np.quantile(local[:, 2], 0.995))
    for axis in (0, 1):
        rows = slanting & (np.abs(normals[:, axis]) > np.abs(normals[:, 1 - axis]))
        if rows.sum() < 2 * _FEW:
            continue
        across, z = np.abs(local[rows, axis]), local[rows, 2]
        slope, at = np.polyfit(z, across, 1)
        if slope >= -0.05:
            continue
        shoulder = float(np.clip((prism.half_m[axis] - at) / slope, 0.4 * top, top - 0.004))
        end = float(np.clip(slope * top + at, _THINNEST_M, prism.half_m[axis]))
        gap = float(np.abs(across - (slope * z + at)).mean()) / rows.sum()
        half = np.tile(prism.half_m, (3, 1))
        half[2, axis] = end
        if best is None or gap < best[0]:
            best = gap, (np.array([0.0, shoulder, top]), half[:, 0], half[:, 1])
    return None if best is None else best[1]


def _top(points: Array, normals: Array) -> float:
    """Return the height of the uppermost level face, or of the topmost point where that is higher."""
    level = points[normals[:, 2] > 0.8, 2]
    highest = float(np.quantile(points[:, 2], 0.998))
    near = level[level > highest - 0.008]
    return float(np.median(near)) if len(near) >= _FEW else highest


def _tightest(flat: Array) -> tuple[Array, float, Array]:
    """Return middle, turn and half extents of the smallest rectangle around points (n, 2), a hundredth left out."""
    hull = flat[ConvexHull(flat).vertices]
    edge = np.diff(np.concatenate([hull, hull[:1]]), axis=0)
    angles = np.unique(np.round(np.arctan2(edge[:, 1], edge[:, 0]) % (np.pi / 2), 2))
    best = (np.inf, 0.0, np.zeros(2), np.zeros(2))
    for angle in angles:
        c, s = np.cos(angle), np.sin(angle)
        local = flat @ np.array([[c, -s], [s, c]])
        low, high = np.quantile(local, _EDGE, axis=0), np.quantile(local, 1 - _EDGE, axis=0)
        area = float(np.prod(high - low))
        if area < best[0]:
            best = (area, float(angle), np.array([[c, -s], [s, c]]) @ ((low + high) / 2), (high - low) / 2)
    return best[2], best[1], np.maximum(best[3], _THINNEST_M)
