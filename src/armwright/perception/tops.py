"""Caps and lids that were cut off from what they close: what sits on another and is narrower is a part of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from armwright.core.pose import Array
from armwright.perception.boards import plan_axes
from armwright.perception.boxes import points_box
from armwright.perception.instances import InstanceMap, join
from armwright.perception.surface import near_surface

GAP_M = 0.015
"""A top begins this near to where what is below ends."""
NARROWER = 0.75
"""A top is at most this wide beside what it closes; a thing stacked on its like is as wide."""
WITHIN = 0.8
"""Share of a top's own footprint that lies over what it closes."""


def join_tops(scene: InstanceMap, *, up: ArrayLike = (0.0, 0.0, 1.0)) -> list[tuple[int, int]]:
    """Join instances that are the tops of others, the lowest first; return (number kept, number gone).

    Segmenters part a package where its outline narrows, so that a bottle's cap becomes a thing of its own. It is the
    top of another if it begins where that ends, lies over it, and is clearly narrower.

    Args:
        scene: Changed.
        up: (3,) the vertical in the world.
    """
    axis = np.asarray(up, float) / np.linalg.norm(up)
    frame = np.stack([*plan_axes(axis), axis])
    done: list[tuple[int, int]] = []
    while True:
        boxes = {n: points_box(p @ frame.T) for n, i in scene.instances.items() if len(p := near_surface(i.volume))}
        pair = next(
            (
                (below, top)
                for top in sorted(boxes, key=lambda n: float(boxes[n][0, 2]))
                for below in boxes
                if below != top and is_top(boxes[top], boxes[below])
            ),
            None,
        )
        if pair is None:
            return done
        join(scene, *pair)
        done.append(pair)


def is_top(top_m: Array, below_m: Array) -> bool:
    """Return whether a box (2, 3), z up, is the narrower top of another."""
    if not (abs(top_m[0, 2] - below_m[1, 2]) <= GAP_M and top_m[0, 2] > below_m[0, 2] + GAP_M):
        return False
    own, under = top_m[1, :2] - top_m[0, :2], below_m[1, :2] - below_m[0, :2]
    both = np.minimum(top_m[1, :2], below_m[1, :2]) - np.maximum(top_m[0, :2], below_m[0, :2])
    covered = float(np.prod(np.maximum(both, 0)) / max(np.prod(own), 1e-9))
    return bool(own.max() <= NARROWER * under.max() and covered >= WITHIN)
