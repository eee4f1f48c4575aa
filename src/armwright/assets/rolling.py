"""By how much a thing is tilted against how it lay, when what is round may have rolled."""

from __future__ import annotations

import numpy as np

from armwright.assets.footprint import all_vertices, convex_outline
from armwright.assets.model import ObjectModel
from armwright.core.pose import Array, Pose

# Round is what is nearly as wide in every direction across its axis, and by so much longer along it.
ROUND, SLENDER = 0.9, 1.2


def tilted_rad(model: ObjectModel, pose_world: Pose, up_before: Array) -> float:
    """Return the angle between the axis that pointed up before and up; of what is round, the change of its slope.

    Args:
        model: The object.
        pose_world: Where it is now.
        up_before: (3,) the world's up in the object's frame before.
    """
    up_now = pose_world.inverse().rotate([0.0, 0.0, 1.0])
    axis = round_about(model)
    if axis is None:
        return float(np.arccos(np.clip(up_now @ up_before, -1.0, 1.0)))
    return float(abs(np.subtract(*np.arcsin(np.clip([up_now @ axis, up_before @ axis], -1.0, 1.0)))))


def round_about(model: ObjectModel) -> Array | None:
    """Return (3,) the axis of an object's frame along which it is longest, if it is round about it, else None."""
    points = all_vertices(model)
    size = np.ptp(points, axis=0)
    longest = int(np.argmax(size))
    flat = np.delete(points, longest, axis=1)
    if size[longest] < SLENDER * np.delete(size, longest).max():
        return None
    outline = convex_outline(flat)
    turn = np.linspace(0.0, np.pi, 32, endpoint=False)
    width = np.ptp(outline @ np.stack([np.cos(turn), np.sin(turn)]), axis=0)
    return np.eye(3)[longest] if width.min() > ROUND * width.max() else None
