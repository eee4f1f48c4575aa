"""Scenes with pushes and pulls: the way of the object must be free, and its end within reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from armwright.assets.footprint import Footprint
from armwright.assets.model import ObjectModel
from armwright.assets.scene import ParsedTask
from armwright.assets.shifting import shift_goal, swept_shift
from armwright.core.pose import Array, Pose
from armwright.skills.pusher import tilted_hands

# A push shorter than the tolerance that it is judged with asks for nothing.
SHORTEST_SHIFT_M = 0.06
# Half a finger's depth behind an object, and the height of the pads over the table.
HAND_M, HAND_Z_M = 0.02, 0.04
# Tilts of a pushing hand from the direction of the push towards the table, and how far it comes in along its fingers.
# One that leans over the object has no room for its palm where that is tall.
TILTS_RAD = (0.5, 0.9, 1.2, 1.57)
COMING_IN_M = 0.08


def shifts(
    object_id: str, parsed: ParsedTask, models: Mapping[str, ObjectModel], poses: Mapping[str, Pose]
) -> list[tuple[Footprint, Array]]:
    """Return what an object's first push or pull sweeps, and the goal (3,) of its middle; nothing if it has none.

    Args:
        object_id: Which object.
        parsed: The task.
        models: Geometry by id.
        poses: Poses in the world, as the arm's base at the origin sees it; without the target's nothing is known yet.
    """
    step = next((p for p in parsed.primitives if p.object == object_id and p.name in ("push", "pull")), None)
    if step is None or models[object_id].static or (step.target is not None and step.target not in poses):
        return []
    model, pose = models[object_id], poses[object_id]
    own = Footprint.from_model(model, pose)
    target = Footprint.from_model(models[step.target], poses[step.target]) if step.target is not None else None
    goal = shift_goal(step, own, target, Pose())
    low, high = model.bounds_m
    height = float(pose.transform(0.5 * (low + high))[2])
    return [(swept_shift(model, pose, goal), np.array([*goal, height]))]


def behind(object_id: str, parsed: ParsedTask, own: Footprint, goal_m: Array) -> Array:
    """Return where the hand has to be to begin the object's push, (3,): low, behind it. A pull begins at its middle."""
    pull = any(p.object == object_id and p.name == "pull" for p in parsed.primitives)
    way = goal_m[:2] - own.center_m
    way = way / max(float(np.linalg.norm(way)), 1e-9)
    back = 0.0 if pull else float(((own.outline_m - own.center_m) @ -way).max()) + HAND_M
    return np.array([*(own.center_m - back * way), own.z_m[0] + HAND_Z_M])


def strokes(start_m: Array, goal_m: Array, own: Footprint) -> Sequence[Sequence[Array]]:
    """Return the ways of pushing an object: the tool's poses (4, 4) before the stroke, at its start and at its end.

    Args:
        start_m: (3,) where the hand begins, as from `behind`.
        goal_m: (2,) or more, where the middle of the object's footprint is to come to.
        own: What the object covers before.
    """
    way = goal_m[:2] - own.center_m
    length = max(float(np.linalg.norm(way)), 1e-9)
    u, up = np.array([*(way / length), 0.0]), np.array([0.0, 0.0, 1.0])
    found = []
    for rotation in tilted_hands(u, up, TILTS_RAD):
        stops = (start_m - COMING_IN_M * rotation[:, 2], start_m, start_m + length * u)
        found.append([Pose.from_rotation(rotation, stop).matrix() for stop in stops])
    return found
