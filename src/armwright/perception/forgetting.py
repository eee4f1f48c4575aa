"""What the map should not have believed: instances that views looked at and did not find again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.perception.instances import Instance, InstanceMap
from armwright.perception.surface import near_surface

FOUND_SHARE = 0.34
"""An instance found in fewer of the views that show it is none: two of six, one of three."""
_SAME_DEPTH_M = 0.015
_SHOWN_SHARE = 0.3
_FEWEST_POINTS = 20


@dataclass(frozen=True)
class Recall:
    """How often an instance was found where it should have been.

    Attributes:
        number: The instance.
        shown: Views that show at least 30 % of what is known of its surface, or in which it was found.
        found: Views in which it was.
    """

    number: int
    shown: int
    found: int

    @property
    def share(self) -> float:
        """Of those that show it."""
        return self.found / max(self.shown, 1)


def shown_share(points_m: Array, frame: RgbdFrame) -> float:
    """Return which share of surface points (n, 3) in the world a frame shows: inside it, and at the depth it reads."""
    pixels, depth = frame.camera.project(points_m)
    height, width = frame.depth_m.shape
    inside = (depth > 0) & (pixels >= 0).all(1) & (pixels[:, 0] < width) & (pixels[:, 1] < height)
    at = pixels[inside].astype(int)
    seen = np.abs(frame.depth_m[at[:, 1], at[:, 0]] - depth[inside]) < _SAME_DEPTH_M
    return float(seen.sum() / max(len(points_m), 1))


def recall(instance: Instance, frames: Sequence[RgbdFrame]) -> Recall:
    """Return how often an instance was found in the frames that show it."""
    points = near_surface(instance.volume)
    if len(points) < _FEWEST_POINTS:
        return Recall(instance.number, len(frames), len(set(instance.views)))
    shown = {k for k, frame in enumerate(frames) if shown_share(points, frame) >= _SHOWN_SHARE}
    return Recall(instance.number, len(shown | set(instance.views)), len(set(instance.views)))


def forget(scene: InstanceMap, frames: Sequence[RgbdFrame], *, found_share: float = FOUND_SHARE) -> list[Recall]:
    """Drop what too few of the views that show it found again; return what was dropped.

    Args:
        scene: Changed.
        frames: All that it was made from, in order.
        found_share: Least share of the views.

    Raises:
        UsageError: Other frames than the map has seen.
    """
    if len(frames) != scene.frames:
        raise UsageError(f"the map has seen {scene.frames} frames, got {len(frames)}.", hint="Give all of them.")
    all_of_them = [recall(instance, frames) for instance in scene.instances.values()]
    gone = [one for one in all_of_them if one.share < found_share]
    for one in gone:
        del scene.instances[one.number]
    return gone
