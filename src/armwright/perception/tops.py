"""Caps and lids that were cut off from what they close: what sits on another and is narrower is a part of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from armwright.core.pose import Array
from armwright.perception.boxes import points_box
from armwright.perception.instances import Instance, InstanceMap, join
from armwright.perception.surface import near_surface

GAP_M = 0.015
"""A top begins this near to where what is below ends."""
NARROWER = 0.75
"""A top is at most this wide beside what it closes; a thing stacked on its like is as wide."""
WITHIN = 0.8
"""Share of a top's own footprint that lies over what it closes."""


def join_tops(scene: InstanceMap, *, box_of: Callable[[Instance], Array | None] | None = None) -> list[tuple[int, int]]:
    """Join instances that are the tops of others, the lowest first; return (number kept, number gone).

    Segmenters part a package where its outline narrows, so that a bottle's cap becomes a thing of its own. It is the
    top of another if it begins where that ends, lies over it, and is clearly narrower.

    Args:
        scene: Changed.
        box_of: The (2, 3) box of an instance in a frame whose z is up, None where it has none; by default that around
            what was seen of it, in the world. Of things seen from one side, give completed boxes.
    """
    measure = box_of or _seen_box
    boxes = {n: box for n, i in scene.instances.items() if (box := measure(i)) is not None}
    done: list[tuple[int, int]] = []
    while pair := next(
        (
            (below, top)
            for top in sorted(boxes, key=lambda n: float(boxes[n][0, 2]))
            for below in boxes
            if below != top and is_top(boxes[top], boxes[below])
        ),
        None,
    ):
        join(scene, *pair)
        kept, gone = pair
        # What it closes is as wide as before, but higher.
        boxes[kept][1, 2] = boxes.pop(gone)[1, 2]
        done.append(pair)
    return done


def _seen_box(instance: Instance) -> Array | None:
    points = near_surface(instance.volume)
    return points_box(points) if len(points) else None


def is_top(top_m: Array, below_m: Array) -> bool:
    """Return whether a box (2, 3), z up, is the narrower top of another."""
    if not (abs(top_m[0, 2] - below_m[1, 2]) <= GAP_M and top_m[0, 2] > below_m[0, 2] + GAP_M):
        return False
    own, under = top_m[1, :2] - top_m[0, :2], below_m[1, :2] - below_m[0, :2]
    both = np.minimum(top_m[1, :2], below_m[1, :2]) - np.maximum(top_m[0, :2], below_m[0, :2])
    covered = float(np.prod(np.maximum(both, 0)) / max(np.prod(own), 1e-9))
    return bool(own.max() <= NARROWER * under.max() and covered >= WITHIN)
