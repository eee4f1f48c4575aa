"""Convex collision hulls for a closed shell: cut where that saves most empty space, until little is left."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import manifold3d
import numpy as np

from armwright.assets.importers.mend import Shell
from armwright.core.pose import Array

MAX_HULLS = 40
WEDGES = 12
"""Pieces around a vessel: within 3 mm of a circle of 80 mm radius."""
_MOST_BANDS = 4
_BAND_CUTS = np.linspace(0.1, 0.9, 9)
_WORTH = 0.05
"""A further band must save this share of a wall's volume in empty space."""
_EMPTY_SHARE = 0.025
"""A piece whose hull holds less empty space than this share of the whole solid's volume is convex enough."""
_ABOVE_FLOOR_M = 5e-5
_SLIVER_SHARE = 2e-4
_FOR_THE_REST = 14
"""Hulls that a vessel gets beside those of its wall: for foot, handle, spout."""
_CUTS = (0.12, 0.3, 0.5, 0.7, 0.88)
_SIMPLIFY_SHARE, _SIMPLIFY_VESSEL_SHARE = 0.004, 0.0001
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


def _hulled(solids: list[Any]) -> float:
    return sum(float(solid.hull().volume()) for solid in solids)


def _cut(pieces: list[Any], normal: Array, offset: float) -> list[Any]:
    """Return all pieces on both sides of a plane."""
    halves = [half for piece in pieces for half in piece.split_by_plane(normal, offset)]
    return [part for half in halves if not half.is_empty() for part in half.decompose() if part.volume() > 0]


def vessel_pieces(solid: Any, center_m: Array, floor_z_m: float) -> list[Any]:
    """Cut a vessel at its floor, around its axis into wedges, and those into bands where its wall is curved.

    Args:
        solid: The vessel.
        center_m: (2,) where its upright axis passes [m].
        floor_z_m: Height of the floor inside [m].
    """
    up = np.array([0.0, 0.0, 1.0])
    above, below = solid.split_by_plane(up, floor_z_m + _ABOVE_FLOOR_M)
    base = [part for part in below.decompose() if part.volume() > 0] if not below.is_empty() else []
    wall = [above] if not above.is_empty() else []
    for k in range(WEDGES // 2):
        turn = 2 * np.pi * k / WEDGES
        normal = np.array([-np.sin(turn), np.cos(turn), 0.0])
        wall = _cut(wall, normal, float(normal[:2] @ center_m))
    cuts: list[float] = []
    held = _hulled(wall)
    volume = sum(float(piece.volume()) for piece in wall)
    high = max((float(piece.bounding_box()[5]) for piece in wall), default=floor_z_m)
    while len(cuts) < _MOST_BANDS - 1:
        levels = [floor_z_m + share * (high - floor_z_m) for share in _BAND_CUTS]
        trials = [(_hulled(_cut(wall, up, level)), level) for level in levels if level not in cuts]
        best, level = min(trials)
        if held - best < _WORTH * volume:
            break
        held, wall = best, _cut(wall, up, level)
        cuts.append(level)
    return base + wall


def convex_pieces(
    shell: Shell, *, most: int = MAX_HULLS, center_m: Array | None = None, floor_z_m: float = 0.0
) -> tuple[Array, ...]:
    """Return hulls that cover a shell, (k, 3) float [m] each.

    Args:
        shell: A closed piece of surface.
        most: Hulls up to which pieces are cut further.
        center_m: (2,) axis of the cavity it lines, None where it lines none [m].
        floor_z_m: Floor of that cavity [m].
    """
    solid = solid_of(shell)
    if solid is None:
        return (shell.vertices_m,)
    size = float(np.ptp(shell.vertices_m, axis=0).max())
    # A vessel is cut at its floor, which must not have moved.
    plain = solid.simplify((_SIMPLIFY_SHARE if center_m is None else _SIMPLIFY_VESSEL_SHARE) * size)
    solid = plain if not plain.is_empty() and plain.volume() > 0 else solid
    limit = _EMPTY_SHARE * float(solid.volume())
    vessel = center_m is not None and _empty(solid) > limit
    start = vessel_pieces(solid, center_m, floor_z_m) if vessel and center_m is not None else solid.decompose()
    if vessel:
        most = max(most, len(start) + _FOR_THE_REST)
    number = itertools.count()
    queue = [(-_empty(piece), next(number), piece) for piece in start]
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
    least = _SLIVER_SHARE * float(solid.volume())
    pieces = [piece for piece in done + [piece for _, _, piece in queue] if piece.volume() > least]
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
