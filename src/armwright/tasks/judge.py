"""The judge of an episode: watches the states go by, then grades success and compliance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from armwright.assets.cloud import nearest_part
from armwright.assets.model import ObjectModel
from armwright.assets.parts import loose_lids
from armwright.assets.placement import standing
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery, Primitive
from armwright.tasks import articulation, predicates, shifting
from armwright.tasks.evidence import TABLE, Evidence, Truth, observe
from armwright.tasks.hanging import hung
from armwright.tasks.lids import LidWatch, lid_closed, lid_opened, lids_resting
from armwright.tasks.passing import Order
from armwright.tasks.pouring import PourWatch
from armwright.tasks.predicates import COMPLIANCE_SHARE, STILL_SPEED_M_S, Verdict

# The lift whose contacts count for compliance: from the moment an object is held and free until it is this high.
LIFT_WINDOW_M = 0.08
# How long a hold lasts at least, without a break: a lift is slow for an instant as well.
HOLD_S = 0.5


class JudgedTruth(Truth, Protocol):
    """What the judge reads besides the evidence: the time, where the pads touch, and what else the robot does."""

    @property
    def time_s(self) -> float: ...

    def robot_contacts(self) -> frozenset[str]: ...

    def pad_contacts(self, object_id: str) -> Mapping[str, Array]: ...


@dataclass(frozen=True)
class GradedStage:
    """What the judge says of one primitive."""

    primitive: Primitive
    verdict: Verdict


@dataclass(frozen=True)
class Graded:
    """The judge's grade of an episode.

    Attributes:
        success: Every primitive's predicate holds at the end, or held on the way if something else is done after it.
        compliance: Every picked object was held by its queried region; None if no region was queried.
        stages: One per primitive.
        shares: Object -> share of the pads' contacts during its lift that lie on the queried parts.
        detail: Why it failed, empty if it did not.
        touched: What the robot touched besides the objects it was to move (``table`` for the table).
    """

    success: bool
    compliance: bool | None
    stages: tuple[GradedStage, ...]
    shares: Mapping[str, float]
    detail: str = ""
    touched: tuple[str, ...] = ()


@dataclass(eq=False)
class _Lift:
    """Contacts of one object's lift, counted by part."""

    low_before_m: float
    stood: Pose
    parts: Counter[str] = field(default_factory=Counter)
    closed: bool = False


class EpisodeJudge:
    """Grades an episode from the true state of the world, one observation after the other.

    The grade is a function of the observed states alone, so that a replay of the recorded states gets the same.

    Args:
        primitives: What was to be done, in order.
        queries: The affordance queries; those of role ``grasp`` decide compliance.
        models: Geometry by object id.
        pose_world_base: Where the arm stands.
    """

    def __init__(
        self,
        primitives: Sequence[Primitive],
        queries: Sequence[AffordanceQuery],
        models: Mapping[str, ObjectModel],
        pose_world_base: Pose,
    ) -> None:
        self._primitives = tuple(primitives)
        self._models = dict(models)
        self._base = pose_world_base
        self._grasped = {q.object: q for q in queries if q.role == "grasp"}
        self._picked = tuple(dict.fromkeys(p.object for p in primitives if p.name == "pick"))
        self._swung = tuple(dict.fromkeys(p.object for p in primitives if p.name in ("open", "close")))
        self._lidded = frozenset(o for o in self._swung if o in self._models and loose_lids(self._models[o]))
        # A drawer or door may be pushed shut, a lid is held whatever is done with it.
        self._pulled = tuple(
            dict.fromkeys(
                p.object for p in primitives if p.name == "open" or (p.name == "close" and p.object in self._lidded)
            )
        )
        self._swings: dict[str, articulation.SwingWatch | LidWatch] = {}
        self._order = Order(primitives)
        self._held_once: dict[int, Verdict] = {}
        self._holds = tuple(k for k, p in enumerate(primitives) if p.name == "hold")
        self._holding: dict[int, tuple[float, float]] = {}
        self._pours = PourWatch(primitives)
        self._low_m: dict[str, float] = {}
        self._shifted = tuple(dict.fromkeys(p.object for p in primitives if p.name in ("push", "pull")))
        self._shifts: dict[str, shifting.ShiftWatch] = {}
        self._up: dict[str, Array] = {}
        self._lifts: dict[str, _Lift] = {}
        self._touched: set[str] = set()
        self._first: Evidence | None = None

    def observe(self, truth: JudgedTruth) -> None:
        """Take in the present state of the world."""
        if not self._up:
            first = self._first = observe(truth, self._models, self._base)
            for object_id, seen in first.objects.items():
                # What leans in a container is put down upright.
                stood = standing(self._models[object_id], seen.pose_world)
                self._up[object_id] = stood.inverse().rotate([0.0, 0.0, 1.0])
                self._low_m[object_id] = float(seen.low_m[2])
                self._lifts[object_id] = _Lift(float(seen.low_m[2]), seen.pose_world)
            for object_id in self._shifted:
                goals = {p.target for p in self._primitives if p.object == object_id and p.name in ("push", "pull")}
                around = {name: seen.pose_world for name, seen in first.objects.items() if name in goals}
                self._shifts[object_id] = shifting.ShiftWatch(first.objects[object_id], around)
            for object_id in self._swung:
                one, model = first.objects[object_id], self._models[object_id]
                self._swings[object_id] = (
                    LidWatch(model, one.pose_world, one.loose)
                    if object_id in self._lidded
                    else articulation.SwingWatch(model, one.joints)
                )
            return
        self._touched |= truth.robot_contacts()
        for object_id in self._picked:
            self._watch_lift(truth, object_id)
        for object_id, shift in self._shifts.items():
            shift.observe(truth, object_id)
        for object_id, swing in self._swings.items():
            swing.observe(truth, object_id)
        for index in self._holds:
            self._watch_hold(truth, index)
        for index, source in self._pours.waiting.items():
            if truth.is_held(source):
                self._pours.observe(self._observe(truth, self._pours.vessels(index)), index)
        for index in self._order.awaited():
            self._watch_passing(truth, index)

    def finish(self, truth: Truth) -> Graded:
        """Grade the episode from the present state, after release and settling."""
        evidence = observe(truth, self._models, self._base)
        stages = tuple(GradedStage(p, self._judge(evidence, p, k)) for k, p in enumerate(self._primitives))
        failed = next((s.verdict for s in stages if not s.verdict.ok), None)
        held = (*self._picked, *(o for o in self._pulled if o not in self._picked))
        shares = {object_id: self._share(object_id) for object_id in held if object_id in self._grasped}
        compliance = all(share >= COMPLIANCE_SHARE for share in shares.values()) if shares else None
        detail = "" if failed is None else f"{failed.predicate}: {failed.detail}"
        touched = tuple(sorted(self._touched - {p.object for p in self._primitives}))
        return Graded(failed is None and bool(stages), compliance, stages, shares, detail, touched)

    def _watch_lift(self, truth: JudgedTruth, object_id: str) -> None:
        lift = self._lifts[object_id]
        pose = truth.pose(object_id)
        # What has not moved at all since the start is not lifted; most of an episode passes like this.
        if lift.closed or _same(pose, lift.stood) or not truth.is_held(object_id):
            return
        model = self._models[object_id]
        rise = float(pose.transform(model.root.vertices_m)[:, 2].min()) - lift.low_before_m
        if rise > LIFT_WINDOW_M:
            lift.closed = True
        if truth.supported_by(object_id):
            return
        for points in truth.pad_contacts(object_id).values():
            lift.parts.update(str(part) for part in nearest_part(model, points))

    def _observe(self, truth: Truth, object_ids: Collection[str]) -> Evidence:
        near = {object_id: model for object_id, model in self._models.items() if object_id in object_ids}
        return observe(truth, near, self._base)

    def _watch_hold(self, truth: JudgedTruth, index: int) -> None:
        """Note since when a hold has lasted without a break; it begins after what passes before it."""
        primitive, subject = self._primitives[index], self._primitives[index].object
        if index in self._held_once or not self._order.is_awaited(index, subject):
            return
        if _at_rest(truth, subject) and truth.is_held(subject):
            seen = self._observe(truth, {subject, primitive.target or subject})
            if self._held(seen, primitive).ok:
                since, _ = self._holding.get(index, (truth.time_s, truth.time_s))
                self._holding[index] = (since, truth.time_s)
                return
        self._holding.pop(index, None)

    def _watch_passing(self, truth: JudgedTruth, index: int) -> None:
        """Remember a stage that something else is done after, once it holds: it is over when the task ends."""
        primitive, subject = self._primitives[index], self._primitives[index].object
        verdict = self._seen_now(truth, primitive, index)
        if verdict is None or not verdict.ok:
            return
        self._held_once[index] = replace(verdict, detail="moved again later")
        self._order.done(index)
        if primitive.name in ("open", "close"):
            self._swings[subject].count(primitive.spot)
        elif primitive.name not in ("pick", "hold"):
            vertices = self._models[subject].root.vertices_m
            self._low_m[subject] = float(truth.pose(subject).transform(vertices)[:, 2].min())

    def _seen_now(self, truth: JudgedTruth, primitive: Primitive, index: int) -> Verdict | None:
        """Judge a stage at this moment, or return None where a glance tells that it does not hold."""
        subject = primitive.object
        if primitive.name in ("open", "close"):
            swing, spot = self._swings[subject], primitive.spot
            name = "opened" if primitive.name == "open" else "closed"
            return Verdict(
                swing.is_open(spot) if primitive.name == "open" else swing.is_shut_again(spot), f"{name}({subject})"
            )
        if primitive.name == "hold":
            return self._lasting(primitive, index) if index in self._holding else None
        # What has not moved at all since the start was not moved by anyone.
        if _same(truth.pose(subject), self._lifts[subject].stood):
            return None
        if primitive.name == "pick":
            if not truth.is_held(subject):
                return None
            return predicates.lifted(self._observe(truth, {subject}), subject, self._low_m[subject])
        if not _at_rest(truth, subject) or truth.is_held(subject) or truth.touched_by_robot(subject):
            return None
        return self._now(observe(truth, self._models, self._base), primitive, index)

    def _share(self, object_id: str) -> float:
        watched = self._lifts[object_id] if object_id in self._picked else self._swings[object_id]
        counts = watched.parts
        wanted = set(self._models[object_id].regions.get(self._grasped[object_id].region, ()))
        total = sum(counts.values())
        return sum(counts[part] for part in wanted) / total if total else 0.0

    def _judge(self, evidence: Evidence, primitive: Primitive, index: int) -> Verdict:
        if primitive.name == "pour" or index not in self._order.passing:
            return self._now(evidence, primitive, index)
        if index in self._held_once:
            return self._held_once[index]
        end = self._now(evidence, primitive, index)
        detail = "not before what comes after it" if end.ok else f"never on the way; at the end {end.detail}"
        return Verdict(False, end.predicate, detail)

    def _now(self, evidence: Evidence, primitive: Primitive, index: int) -> Verdict:
        subject = primitive.object
        if primitive.name == "pick":
            return predicates.lifted(evidence, subject, self._low_m[subject])
        if primitive.name == "place":
            return self._placed(evidence, primitive)
        if primitive.name == "hold":
            held, lasting = self._held(evidence, primitive), self._lasting(primitive, index)
            return lasting if held.ok and not lasting.ok else held
        if primitive.name == "pour" and primitive.target is not None:
            later = {p.name for p in self._primitives[index + 1 :] if p.object == subject}
            return self._pours.judge(evidence, index, in_hand=not later & {"place", "hang"})
        if primitive.name == "hang" and primitive.target is not None:
            return self._hung(evidence, primitive)
        if primitive.name in ("open", "close"):
            return self._moved_leaf(evidence, primitive)
        if primitive.name in ("push", "pull"):
            return self._pushed(evidence, primitive, index)
        return Verdict(False, primitive.name, "skill_not_available")

    def _pushed(self, evidence: Evidence, primitive: Primitive, index: int) -> Verdict:
        subject, earlier, later = primitive.object, self._primitives[:index], self._primitives[index + 1 :]
        rest = shifting.began(self._shifts[subject], earlier, subject)
        if rest is None:
            return Verdict(False, f"shifted({subject})", "it was never put down to be pushed")
        goal = shifting.goal_of(rest, self._models, (*earlier, primitive), subject, self._base)
        verdicts = [
            predicates.released(evidence, subject),
            predicates.still(evidence, subject),
            shifting.shifted(evidence, subject, goal),
            predicates.upright(evidence, subject, self._up[subject]),
            shifting.on_its_support(evidence, subject, shifting.counted(self._shifts[subject], earlier, subject)),
        ]
        if primitive.target is not None and all(p.object != primitive.target for p in later):
            verdicts.append(shifting.left_alone(rest, evidence, primitive.target))
        return predicates.all_of(*verdicts)

    def _moved_leaf(self, evidence: Evidence, primitive: Primitive) -> Verdict:
        subject, spot, swing = primitive.object, primitive.spot, self._swings[primitive.object]
        name = f"{'opened' if primitive.name == 'open' else 'closed'}({subject})"
        if primitive.name == "close" and not swing.was_open(spot, articulation.WAS_OPEN_SHARE):
            return Verdict(False, name, "it was shut all along")
        if isinstance(swing, LidWatch):
            if primitive.name == "open" and not swing.was_shut:
                return Verdict(False, name, "its lid was off all along")
            verdict = lid_opened(evidence, subject) if primitive.name == "open" else lid_closed(evidence, subject)
            return predicates.all_of(verdict, lids_resting(evidence, subject), predicates.released(evidence, subject))
        others = {p.spot for p in self._primitives if p.object == subject and p.name in ("open", "close")} - {
            spot,
            None,
        }
        aside = {link.name for one in others for link in articulation.meant(self._models[subject], one)}
        verdict = (
            articulation.opened(evidence, subject, swing.before, spot, aside=aside)
            if primitive.name == "open"
            else articulation.closed(evidence, subject, spot)
        )
        return predicates.all_of(
            verdict, articulation.resting(evidence, subject), predicates.released(evidence, subject)
        )

    def _placed(self, evidence: Evidence, primitive: Primitive) -> Verdict:
        subject, target, relation = primitive.object, primitive.target or TABLE, primitive.relation or "on"
        seen = evidence
        if primitive.target is None and relation != "on" and self._first is not None:
            target = f"where {subject} stood"
            seen = Evidence({**evidence.objects, target: self._first.objects[subject]}, evidence.pose_world_base)
        verdicts = [
            predicates.released(evidence, subject),
            predicates.still(evidence, subject),
            predicates.relation_holds(seen, subject, relation, target),
        ]
        if relation != "in":
            verdicts.append(predicates.upright(evidence, subject, self._up[subject]))
        return predicates.all_of(*verdicts)

    def _hung(self, evidence: Evidence, primitive: Primitive) -> Verdict:
        subject, target = primitive.object, primitive.target
        assert target is not None
        return predicates.all_of(
            predicates.released(evidence, subject),
            hung(evidence, subject, target),
            predicates.still(evidence, subject),
        )

    def _held(self, evidence: Evidence, primitive: Primitive) -> Verdict:
        subject = primitive.object
        verdicts = [
            predicates.lifted(evidence, subject, self._low_m[subject]),
            predicates.still(evidence, subject),
        ]
        if primitive.target is not None and primitive.relation is not None:
            verdicts.append(predicates.relation_holds(evidence, subject, primitive.relation, primitive.target))
        return predicates.all_of(*verdicts)

    def _lasting(self, primitive: Primitive, index: int) -> Verdict:
        """The hold has lasted for long enough, up to what was seen last."""
        since, until = self._holding.get(index, (0.0, 0.0))
        # Half a step of any world's clock: 0.5 s in whole samples is enough.
        ok = until - since >= HOLD_S - 1e-3
        name = f"still({primitive.object})"
        if ok:
            relation = [f"{primitive.relation}({primitive.object}, {primitive.target})"] if primitive.target else []
            name = " and ".join([f"lifted({primitive.object})", name, *relation])
        return Verdict(ok, name, f"held still for {until - since:.1f} s of {HOLD_S:g} s")


def _at_rest(truth: Truth, object_id: str) -> bool:
    return float(np.linalg.norm(truth.velocity(object_id)[0])) < STILL_SPEED_M_S


def _same(a: Pose, b: Pose) -> bool:
    return bool((a.position_m == b.position_m).all() and (a.quat_wxyz == b.quat_wxyz).all())
