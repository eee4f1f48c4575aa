"""Convex collision hulls for a closed shell: cut where that saves most empty space, until little is left."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import manifold3d
import numpy as np

from armwright.assets.importers.mend import Shell
from armwright.core.pose import Array

MAX_HULLS = 28
_EMPTY_SHARE = 0.012
"""A piece whose hull holds less empty space than this share of the whole hull is convex enough."""
_CUTS = (0.12, 0.3, 0.5, 0.7, 0.88)
_SIMPLIFY_SHARE = 0.004
MIN_THICKNESS_M = 0.002


def _points(solid: Any) -> Array:
    return np.array(solid.to_mesh64().vert_properties[:, :3], dtype=float)


def _empty(solid: Any) -> float:
    return float(solid.hull().volume() - solid.volume())


def _best_cut(solid: Any) -> list[Any]:
    """Return the two sides of the axis-aligned cut whose hulls hold the least."""
    box = np.array(solid.bounding_box(), float).reshape(2, 3)
    best: tuple[float, list[Any]] = (np.inf, [])
    for axis, share in itertools.product(range(3), _CUTS):
        normal = np.eye(3)[axis]
        offset = float(box[0, axis] + share * (box[1, axis] - box[0, axis]))
        sides = [side for side in solid.split_by_plane(normal, offset) if not side.is_empty() and side.volume() > 0]
        held = sum(float(side.hull().volume()) for side in sides)
        if len(sides) == 2 and held < best[0]:
            best = (held, sides)
    return best[1]


def solid_of(shell: Shell) -> Any | None:
    """Return a shell as a solid, or None where it is not one."""
    solid = manifold3d.Manifold(manifold3d.Mesh64(shell.vertices_m, np.ascontiguousarray(shell.faces, dtype=np.uint64)))
    return None if solid.is_empty() or solid.volume() <= 0 else solid


def convex_pieces(shell: Shell, *, most: int = MAX_HULLS) -> tuple[Array, ...]:
    """Return hulls that cover a shell, (k, 3) float [m] each, at most about ``most``."""
    solid = solid_of(shell)
    if solid is None:
        return (shell.vertices_m,)
    size = float(np.ptp(shell.vertices_m, axis=0).max())
    plain = solid.simplify(_SIMPLIFY_SHARE * size)
    solid = plain if not plain.is_empty() and plain.volume() > 0 else solid
    limit = _EMPTY_SHARE * float(solid.hull().volume())
    number = itertools.count()
    queue = [(-_empty(piece), next(number), piece) for piece in solid.decompose()]
    heapq.heapify(queue)
    done: list[Any] = []
    while queue and len(queue) + len(done) < most:
        empty, _, piece = heapq.heappop(queue)
        sides = _best_cut(piece) if -empty > limit else []
        if not sides:
            done.append(piece)
            continue
        for side in sides:
            for part in side.decompose():
                heapq.heappush(queue, (-_empty(part), next(number), part))
    pieces = done + [piece for _, _, piece in queue]
    return tuple(_points(piece.hull()) for piece in pieces)


def at_least_thick(hull_m: Array, thickness_m: float = MIN_THICKNESS_M) -> tuple[Array, bool]:
    """Return a hull no thinner than ``thickness_m`` in any direction of its own axes, and whether it was thinner."""
    middle = hull_m.mean(0)
    axes = np.linalg.svd(hull_m - middle, full_matrices=True)[2]
    local = (hull_m - middle) @ axes.T
    extent = np.ptp(local, axis=0)
    thin = extent < 0.5 * thickness_m
    if not thin.any():
        return hull_m, False
    for axis in np.nonzero(thin)[0]:
        local = np.concatenate([local, local])
        half = len(local) // 2
        local[:half, axis] -= 0.5 * (thickness_m - extent[axis])
        local[half:, axis] += 0.5 * (thickness_m - extent[axis])
    return local @ axes + middle, True
