"""Success predicates of pushes and pulls: near the goal, never lifted, not tipped, what stands there left alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armwright.assets.footprint import Footprint
from armwright.assets.shifting import shift_goal
from armwright.core.pose import Array
from armwright.core.task import TABLE, Primitive
from armwright.tasks.evidence import Evidence
from armwright.tasks.predicates import Verdict

WITHIN_M = 0.03
LIFTED_M = 0.015
"""What leaves its support by this much is carried, not pushed."""
LEFT_ALONE_M = 0.02


def goals_of(first: Evidence, primitives: Sequence[Primitive], subject: str) -> list[Array]:
    """Return the goals (2,) of an object's pushes and pulls, each from where the one before should have ended."""
    seen = first.objects[subject]
    own = Footprint.from_model(seen.model, seen.pose_world)
    center: Array = own.center_m
    goals = []
    for primitive in primitives:
        if primitive.object != subject or primitive.name not in ("push", "pull"):
            continue
        other = first.objects.get(primitive.target or TABLE)
        target = Footprint.from_model(other.model, other.pose_world) if other is not None else None
        center = shift_goal(primitive, own, target, first.pose_world_base, center_m=center)
        goals.append(center)
    return goals


def shifted(evidence: Evidence, subject: str, goal_m: Array) -> Verdict:
    """The middle of the subject's footprint is within 3 cm of the goal (2,)."""
    seen = evidence.objects[subject]
    here = Footprint.from_model(seen.model, seen.pose_world).center_m
    error = float(np.linalg.norm(here - goal_m))
    return Verdict(error <= WITHIN_M, f"shifted({subject})", f"{100 * error:.1f} cm from the goal")


def on_its_support(subject: str, rise_m: float) -> Verdict:
    """The subject never left what it stood on.

    Args:
        subject: Object id.
        rise_m: The most that its lowest point rose during the task [m].
    """
    return Verdict(rise_m < LIFTED_M, f"on_its_support({subject})", f"it rose by {1000 * rise_m:.0f} mm")


def left_alone(first: Evidence, last: Evidence, target: str) -> Verdict:
    """The target is where it was."""
    name = f"left_alone({target})"
    if target not in first.objects:
        return Verdict(True, name)
    moved = first.objects[target].pose_world.distance_to(last.objects[target].pose_world)
    return Verdict(moved < LEFT_ALONE_M, name, f"it moved by {100 * moved:.1f} cm")
