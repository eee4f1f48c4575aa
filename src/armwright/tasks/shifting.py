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
from armwright.tasks.evidence import Evidence, ObjectEvidence
from armwright.tasks.predicates import STILL_SPEED_M_S, Verdict

WITHIN_M = 0.03
LIFTED_M = 0.015
"""What leaves its support by this much is carried, not pushed."""
LEFT_ALONE_M = 0.02
SET_OUT_M = 0.01
"""What has moved by this much has been pushed; less may be a touch in passing."""
FELL_M = 0.01
"""What ends this much lower was pushed off what it stood on; what rests sinks by far less."""


class ShiftTruth(Protocol):
    """What is watched of an object that is pushed or pulled."""

    def pose(self, object_id: str) -> Pose: ...

    def velocity(self, object_id: str) -> tuple[Array, Array]: ...

    def supported_by(self, object_id: str) -> frozenset[str]: ...

    def is_held(self, object_id: str) -> bool: ...

    def touched_by_robot(self, object_id: str) -> bool: ...


@dataclass(eq=False)
class Rest:
    """Where an object rested before its pushes, and where everything stood when it left there.

    Attributes:
        pose_world: Its pose at rest.
        around: Poses of what it may be pushed towards, when it set out.
        supported_by: Ids of what carried it directly.
        low_m: Height of its lowest point at rest.
        rise_m, fall_m: How far that point has come above and below since.
    """

    pose_world: Pose
    around: dict[str, Pose]
    supported_by: frozenset[str]
    low_m: float
    rise_m: float = 0.0
    fall_m: float = 0.0


class ShiftWatch:
    """Remembers from where an object's pushes and pulls began: from its first place, and from each it was put down at.

    What it is pushed towards counts as it stood when the object set out, since it may have been moved until then.

    A grasp that slips puts it down as well, so the number of rests is not the number of picks.

    Args:
        seen: The object at the start.
        around: Poses of the other objects that matter, at the start.
    """

    def __init__(self, seen: ObjectEvidence, around: Mapping[str, Pose]) -> None:
        self._vertices_m = seen.model.root.vertices_m
        self.rests = [Rest(seen.pose_world, dict(around), seen.supported_by, self._low(seen.pose_world))]
        self.carried = self._gone = False

    def observe(self, truth: ShiftTruth, object_id: str) -> None:
        """Take in the present state of the world."""
        pose, rest = truth.pose(object_id), self.rests[-1]
        if self.carried:
            if _put_down(truth, object_id):
                around = {name: truth.pose(name) for name in rest.around}
                self.rests.append(Rest(pose, around, truth.supported_by(object_id), self._low(pose)))
                self.carried = self._gone = False
            return
        rise = self._low(pose) - rest.low_m
        rest.rise_m, rest.fall_m = max(rest.rise_m, rise), max(rest.fall_m, -rise)
        if rise > LIFTED_M and truth.is_held(object_id) and not truth.supported_by(object_id):
            self.carried = True
        elif not self._gone:
            self._gone = float(np.linalg.norm(pose.position_m - rest.pose_world.position_m)) > SET_OUT_M
            if not self._gone:
                rest.around = {name: truth.pose(name) for name in rest.around}

    def _low(self, pose_world: Pose) -> float:
        return float(pose_world.transform(self._vertices_m)[:, 2].min())


def _put_down(truth: ShiftTruth, object_id: str) -> bool:
    return (
        not truth.is_held(object_id)
        and not truth.touched_by_robot(object_id)
        and bool(truth.supported_by(object_id))
        and float(np.linalg.norm(truth.velocity(object_id)[0])) < STILL_SPEED_M_S
    )


def began(watch: ShiftWatch, earlier: Sequence[Primitive], subject: str) -> Rest | None:
    """Return where the pushes that go on now began, or None if the object was not put down for them.

    That is where it last rested before it set out without being held.

    Args:
        watch: What was seen of the object until now.
        earlier: The task before the push or pull.
        subject: Object id.
    """
    picked = any(p.object == subject and p.name == "pick" for p in earlier)
    return None if watch.carried or (picked and len(watch.rests) == 1) else watch.rests[-1]


def counted(watch: ShiftWatch, earlier: Sequence[Primitive], subject: str) -> Sequence[Rest]:
    """Return the rests between which an object must not be lifted for the pushes that go on now.

    What was to be taken up before counts from where it was put down last, all else from the start.

    Args:
        watch, earlier, subject: As in `began`.
    """
    picked = any(p.object == subject and p.name == "pick" for p in earlier)
    return watch.rests[-1:] if picked else watch.rests


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


def on_its_support(evidence: Evidence, subject: str, rests: Sequence[Rest]) -> Verdict:
    """The subject never left what it stood on, neither lifted nor pushed over its edge.

    Args:
        evidence: The moment to judge.
        subject: Object id.
        rests: Where it rested since its pushes began; how far it strayed up and down is noted there.
    """
    name, before, now = f"on_its_support({subject})", rests[0].supported_by, evidence.objects[subject].supported_by
    rise_m, fall_m = max(rest.rise_m for rest in rests), max(rest.fall_m for rest in rests)
    if before and not before & now:
        now_on = ", ".join(sorted(now)) or "nothing"
        return Verdict(False, name, f"it stood on {', '.join(sorted(before))} and is on {now_on}")
    if fall_m >= FELL_M:
        return Verdict(False, name, f"it fell by {1000 * fall_m:.0f} mm")
    return Verdict(rise_m < LIFTED_M, name, f"it rose by {1000 * rise_m:.0f} mm")


def left_alone(rest: Rest, last: Evidence, target: str) -> Verdict:
    """The target is where it was when the subject set out towards it."""
    name = f"left_alone({target})"
    if target not in rest.around:
        return Verdict(True, name)
    moved = rest.around[target].distance_to(last.objects[target].pose_world)
    return Verdict(moved < LEFT_ALONE_M, name, f"it moved by {100 * moved:.1f} cm")
