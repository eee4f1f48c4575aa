"""What the planner must avoid of a mapped shelf: fixtures, mapped objects, what else the map holds, the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.planning.types import Obstacle, WorldSpec
from armwright.shelf.records import Box, ShelfObject

TARGET = "target"
TABLE = "table"
COARSE = "unknown"
_NONE = np.zeros((0, 2, 3))


@dataclass(frozen=True, eq=False)
class MapObstacles:
    """A shelf scene as obstacles in the arm's base frame.

    Attributes:
        fixtures: What the robot knows beforehand: table, shelf.
        pose_base_shelf: The shelf frame.
        objects: The map, boxes in the shelf frame.
        coarse_m: (k, 2, 3) corners of boxes in the base frame that the coarse map holds besides (`map_leftovers`).
        target: The target where it stands, named ``target``; None where there is none yet.
    """

    fixtures: WorldSpec
    pose_base_shelf: Pose
    objects: Sequence[ShelfObject]
    coarse_m: Array = field(default_factory=lambda: _NONE)
    target: Obstacle | None = None
    _built: dict[str, WorldSpec] = field(default_factory=dict, repr=False)

    def without_target(self) -> WorldSpec:
        """Return everything but the target."""
        return self._world("bare", ())

    def with_target(self) -> WorldSpec:
        """Return everything; what may be touched on request is the target."""
        return self._world("whole", () if self.target is None else (self.target,))

    def boxes(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return boxes around all but the target in the shelf frame: low, high (b, 3), and which are fixtures (b,)."""
        back = self.pose_base_shelf.inverse()
        corners = [(np.array(o.box.low_m), np.array(o.box.high_m)) for o in self.objects]
        for low, high in self.coarse_m:
            points = back.transform(_corners(low, high))
            corners.append((points.min(0), points.max(0)))
        things = len(corners)
        for obstacle in self.fixtures.obstacles:
            frame = back @ obstacle.pose_base_obstacle
            for hull in obstacle.hulls:
                points = frame.transform(hull)
                corners.append((points.min(0), points.max(0)))
        if not corners:
            return np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, bool)
        low, high = (np.array(side) for side in zip(*corners, strict=True))
        return low, high, np.arange(len(corners)) >= things

    def _world(self, name: str, more: tuple[Obstacle, ...]) -> WorldSpec:
        if name not in self._built:
            mapped = tuple(
                Obstacle(f"on_shelf/{o.id}", self.pose_base_shelf, (_corners(o.box.low_m, o.box.high_m),))
                for o in self.objects
            )
            left = tuple(_corners(low, high) for low, high in self.coarse_m)
            coarse = (Obstacle(COARSE, Pose(), left),) if left else ()
            targets = frozenset(o.name for o in more)
            self._built[name] = WorldSpec((*self.fixtures.obstacles, *mapped, *coarse, *more), targets)
        return self._built[name]


def map_leftovers(coarse_m: Array, pose_base_map: Pose, known: Sequence[Box], pose_base_shelf: Pose) -> Array:
    """Return the coarse map's boxes that no mapped object explains, in the base frame (k, 2, 3).

    Args:
        coarse_m: (n, 2, 3) from `perception.space.occupied_boxes`, fixtures and target carved out before.
        pose_base_map: The map's frame.
        known: Boxes of mapped objects in the shelf frame.
        pose_base_shelf: The shelf frame.
    """
    found = []
    back = pose_base_shelf.inverse() @ pose_base_map
    low = np.array([b.low_m for b in known]).reshape(-1, 3) - _CELL_M
    high = np.array([b.high_m for b in known]).reshape(-1, 3) + _CELL_M
    for a, b in np.asarray(coarse_m, float):
        points = back.transform(_corners(a, b))
        if ((low <= points.min(0)) & (points.max(0) <= high)).all(1).any():
            continue
        base = pose_base_map.transform(_corners(a, b))
        found.append((base.min(0), base.max(0)))
    return np.array(found).reshape(-1, 2, 3)


_CELL_M = 0.016


def _corners(low: object, high: object) -> Array:
    return np.array(list(product(*zip(np.asarray(low, float), np.asarray(high, float), strict=True))), float)
