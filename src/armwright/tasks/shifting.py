"""Success predicates of pushes and pulls: near the goal, never lifted, not tipped, what stands there left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from armwright.assets.footprint import Footprint
from armwright.assets.model import ObjectModel
from armwright.assets.shifting import shift_goal
from armwright.core.pose import Array, Pose
from armwright.core.task import TABLE, Primitive
from armwright.tasks.evidence import Evidence
from armwright.tasks.predicates import STILL_SPEED_M_S, Verdict

WITHIN_M = 0.03
LIFTED_M = 0.015
"""What leaves its support by this much is carried, not pushed."""
LEFT_ALONE_M = 0.02
SET_OUT_M = 0.01
"""What has moved by this much has been pushed; less may be a touch in passing."""


class ShiftTruth(Protocol):
    """What is watched of an object that is pushed or pulled."""

    def pose(self, object_id: str) -> Pose: ...

    def velocity(self, object_id: str) -> tuple[Array, Array]: ...

    def supported_by(self, object_id: str) -> frozenset[str]: ...

    def is_held(self, object_id: str) -> bool: ...

    def touched_by_robot(self, object_id: str) -> bool: ...


@dataclass(eq=False)
class Rest:
    """Where an object rested before its pushes, and where everything stood when it left there."""

    pose_world: Pose
    around: dict[str, Pose]


class ShiftWatch:
    """Remembers from where an object's pushes and pulls began: from its first place, and from each it was put down at.

    What it is pushed towards counts as it stood when the object set out, since it may have been moved until then.

    Args:
        pose_world: The object's pose at the start.
        around: Poses of the other objects that matter, at the start.
    """

    def __init__(self, pose_world: Pose, around: Mapping[str, Pose]) -> None:
        self.rests = [Rest(pose_world, dict(around))]
        self._carried = self._gone = False

    def observe(self, truth: ShiftTruth, object_id: str) -> None:
        """Take in the present state of the world."""
        pose, rest = truth.pose(object_id), self.rests[-1]
        if self._carried:
            if _put_down(truth, object_id):
                self.rests.append(Rest(pose, {name: truth.pose(name) for name in rest.around}))
                self._carried = self._gone = False
            return
        rise = float(pose.position_m[2] - rest.pose_world.position_m[2])
        if rise > LIFTED_M and truth.is_held(object_id) and not truth.supported_by(object_id):
            self._carried = True
        elif not self._gone:
            self._gone = float(np.linalg.norm(pose.position_m - rest.pose_world.position_m)) > SET_OUT_M
            if not self._gone:
                rest.around = {name: truth.pose(name) for name in rest.around}


def _put_down(truth: ShiftTruth, object_id: str) -> bool:
    return (
        not truth.is_held(object_id)
        and not truth.touched_by_robot(object_id)
        and bool(truth.supported_by(object_id))
        and float(np.linalg.norm(truth.velocity(object_id)[0])) < STILL_SPEED_M_S
    )


def began(watch: ShiftWatch, earlier: Sequence[Primitive], subject: str) -> Rest | None:
    """Return where a push or pull began that comes after other primitives, or None if it never came to that."""
    picked = sum(p.object == subject and p.name == "pick" for p in earlier)
    return watch.rests[picked] if picked < len(watch.rests) else None


def goal_of(
    rest: Rest, models: Mapping[str, ObjectModel], primitives: Sequence[Primitive], subject: str, pose_world_base: Pose
) -> Array:
    """Return the goal (2,) of the last of an object's primitives, a push or pull.

    Those of it since it was last put down count on from each other: each begins where the one before should have ended.

    Args:
        rest: Where the object rested before them.
        models: Geometry by id.
        primitives: The task up to and with the push or pull.
        subject: Object id.
        pose_world_base: Where the arm stands.
    """
    own = Footprint.from_model(models[subject], rest.pose_world)
    center: Array = own.center_m
    mine = [p for p in primitives if p.object == subject]
    last_pick = max((k for k, p in enumerate(mine) if p.name == "pick"), default=-1)
    for primitive in mine[last_pick + 1 :]:
        if primitive.name in ("push", "pull"):
            other = rest.around.get(primitive.target or TABLE)
            target = Footprint.from_model(models[str(primitive.target)], other) if other is not None else None
            center = shift_goal(primitive, own, target, pose_world_base, center_m=center)
    return center


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


def left_alone(rest: Rest, last: Evidence, target: str) -> Verdict:
    """The target is where it was when the subject set out towards it."""
    name = f"left_alone({target})"
    if target not in rest.around:
        return Verdict(True, name)
    moved = rest.around[target].distance_to(last.objects[target].pose_world)
    return Verdict(moved < LEFT_ALONE_M, name, f"it moved by {100 * moved:.1f} cm")
