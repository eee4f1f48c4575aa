"""Convex collision hulls written down from the same profile as the mesh: a few vertices each, no decomposition."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from armwright.core.pose import Array


def chord_balance(segments: int) -> float:
    """Return the radius factor that makes a regular polygon miss its circle equally inwards and outwards."""
    return float(2.0 / (1.0 + np.cos(np.pi / segments)))


def turned(section_rz_m: ArrayLike, *, segments: int = 16) -> Array:
    """Return one hull around a convex section turned fully about z.

    Args:
        section_rz_m: (k, 2) float radius and height [m]; points on the axis become one vertex each.
        segments: Facets around.

    Returns:
        (m, 3) float vertices [m].
    """
    section = np.asarray(section_rz_m, float)
    angle = 2 * np.pi * np.arange(segments) / segments
    circle = np.stack([np.cos(angle), np.sin(angle)], 1) * chord_balance(segments)
    points = [
        np.array([[0.0, 0.0, z]]) if r <= 1e-9 else np.column_stack([r * circle, np.full(segments, z)])
        for r, z in section
    ]
    return np.concatenate(points)


def turned_ring(section_rz_m: ArrayLike, *, segments: int = 12) -> tuple[Array, ...]:
    """Return wedges that make up a wall turned about z: one per segment, each the hull of the section at two angles.

    Args:
        section_rz_m: (k, 2) float, the wall's cross section away from the axis [m].
        segments: Wedges around.
    """
    section = np.asarray(section_rz_m, float)
    angle = 2 * np.pi * np.arange(segments + 1) / segments
    circle = np.stack([np.cos(angle), np.sin(angle)], 1) * chord_balance(segments)
    loops = np.stack([np.column_stack([section[:, :1] * direction, section[:, 1]]) for direction in circle])
    return tuple(np.concatenate([loops[i], loops[i + 1]]) for i in range(segments))


def walls(loops_m: Sequence[ArrayLike]) -> tuple[Array, ...]:
    """Return the wall pieces between loops of equally many points: piece i spans points i and i + 1 of every loop.

    Args:
        loops_m: Two or more (n, 3) float loops [m], for example outer and inner edge at floor and rim.
    """
    loops = np.stack([np.asarray(loop, float) for loop in loops_m])
    following = np.roll(loops, -1, axis=1)
    return tuple(np.concatenate([loops[:, i], following[:, i]]) for i in range(loops.shape[1]))


def chain(rings_m: ArrayLike, *, every: Sequence[int] | None = None) -> tuple[Array, ...]:
    """Return one hull per stretch of a swept bar, around all the rings of the stretch.

    Args:
        rings_m: (k, n, 3) float, the sweep's cross sections in order [m].
        every: Ring indices where hulls begin and end; all of them if None.
    """
    rings = np.asarray(rings_m, float)
    stops = list(range(len(rings))) if every is None else list(every)
    return tuple(rings[a : b + 1].reshape(-1, 3) for a, b in itertools.pairwise(stops))


FOOT_M = 3e-4
"""How far the rest of a base stands above its four feet: more than a soft contact sinks in, less than anyone sees."""


def on_four_feet(hull_m: ArrayLike, ground_m: float) -> Array:
    """Raise all but four of the vertices that a hull stands on.

    A simulator keeps about four contacts of a flat base. With more vertices than that at one height it keeps others in
    every step, and what should be at rest rocks for ever.

    Args:
        hull_m: (k, 3) float vertices [m].
        ground_m: Height that the hull stands at; a hull that is higher comes back as it is.

    Returns:
        (k, 3) float: the four corners of the widest of two squares of directions stay, the others rise by ``FOOT_M``.
    """
    hull = np.array(hull_m, float)
    base = np.nonzero(hull[:, 2] < ground_m + 1e-6)[0]
    if len(base) <= 4:
        return hull
    points = hull[base, :2] - hull[base, :2].mean(0)
    points /= np.maximum(np.ptp(points, axis=0), 1e-9)
    best = np.empty(0, dtype=np.int64)
    widest = 0.0
    for turn in (0.0, np.pi / 4):
        angle = turn + np.arange(4) * np.pi / 2
        feet = np.argmax(points @ np.stack([np.cos(angle), np.sin(angle)]), axis=0)
        x, y = points[feet].T
        area = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
        if area > widest:
            widest, best = area, feet
    raised = np.ones(len(base), dtype=bool)
    raised[best] = False
    hull[base[raised], 2] += FOOT_M
    return hull
