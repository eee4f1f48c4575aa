"""Success predicates: pure functions of the evidence, each with the number that decided it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armwright.assets.beneath import room_under
from armwright.assets.model import SupportSurface
from armwright.assets.rolling import tilted_rad
from armwright.core.pose import Array
from armwright.core.task import RelationName
from armwright.tasks.evidence import TABLE, Evidence, ObjectEvidence

# A resting object of this size drifts below 1 mm/s in the simulator; a rocking or sliding one is far above.
STILL_SPEED_M_S = 0.01
STILL_SPIN_RAD_S = 0.10
# Wider than any wobble of a settled object, narrower than the tilt at which a mug or a can starts to fall (~25 deg).
UPRIGHT_RAD = np.deg2rad(15.0)
# Compliant contacts let a resting object sink by well under this.
CONTACT_SLACK_M = 0.01
LIFTED_M = 0.03
ABOVE_MIN_M = 0.03
ABOVE_MAX_M = 0.35
BESIDE_MAX_GAP_M = 0.25
COMPLIANCE_SHARE = 0.80


@dataclass(frozen=True)
class Verdict:
    """Whether a predicate holds, and why."""

    ok: bool
    predicate: str
    detail: str = ""


def all_of(*verdicts: Verdict) -> Verdict:
    """Join verdicts: the first that fails speaks for the whole."""
    for verdict in verdicts:
        if not verdict.ok:
            return verdict
    return Verdict(True, " and ".join(v.predicate for v in verdicts))


def still(evidence: Evidence, subject: str) -> Verdict:
    """The subject does not move."""
    o = evidence.objects[subject]
    ok = o.speed_m_s < STILL_SPEED_M_S and o.spin_rad_s < STILL_SPIN_RAD_S
    return Verdict(ok, f"still({subject})", f"{o.speed_m_s * 1000:.1f} mm/s, {np.rad2deg(o.spin_rad_s):.1f} deg/s")


def released(evidence: Evidence, subject: str) -> Verdict:
    """No part of the robot touches the subject."""
    o = evidence.objects[subject]
    return Verdict(not (o.touched or o.held), f"released({subject})", "the robot still touches it" if o.touched else "")


def upright(evidence: Evidence, subject: str, up_before: Array) -> Verdict:
    """The subject stands as it stood before: its axis that pointed up then points up now.

    What is round about an axis, such as a carrot, may have rolled about it: its axis is as steep as it was.

    Args:
        evidence: The moment to judge.
        subject: Object id.
        up_before: (3,) the world's up in the subject's frame before the task.
    """
    seen = evidence.objects[subject]
    tilt = tilted_rad(seen.model, seen.pose_world, up_before)
    return Verdict(tilt < UPRIGHT_RAD, f"upright({subject})", f"tilted by {np.rad2deg(tilt):.0f} deg")


def lifted(evidence: Evidence, subject: str, low_before_m: float) -> Verdict:
    """The subject is held by both pads and clear of where it stood."""
    o = evidence.objects[subject]
    rise = float(o.low_m[2]) - low_before_m
    ok = o.held and not o.supported_by and rise > LIFTED_M
    return Verdict(ok, f"lifted({subject})", f"{'held' if o.held else 'not held'}, raised by {rise * 1000:.0f} mm")


def on(evidence: Evidence, subject: str, target: str) -> Verdict:
    """The subject rests on the target, its mass over the target's surface.

    Things carry each other on, so that a cube on a cube on a plate is on the plate; on the table is only what stands on
    it directly, since all that stands anywhere does so through others.
    """
    name = f"on({subject}, {target})"
    o = evidence.objects[subject]
    if target not in (o.supported_by if target == TABLE else evidence.carriers(subject)):
        return Verdict(False, name, f"carried by {', '.join(sorted(o.supported_by)) or 'nothing'}")
    if target == TABLE:
        return Verdict(True, name)
    t = evidence.objects[target]
    if not t.model.supports:
        local = t.pose_world.inverse().transform(o.center_m)
        low, high = t.model.bounds_m
        ok = bool((local[:2] > low[:2]).all() and (local[:2] < high[:2]).all())
        return Verdict(ok, name, "its mass is beside the target")
    surface = surface_below(o, t, t.model.supports)
    if surface is not None:
        return Verdict(True, name, f"on {surface}")
    return Verdict(False, name, "it touches the target, but rests on none of its surfaces")


def surface_below(o: ObjectEvidence, t: ObjectEvidence, surfaces: Sequence[SupportSurface]) -> str | None:
    """Return the name of the surface that the object's mass is over and its lowest point at, or None."""
    local = t.pose_world.inverse().transform(o.center_m)
    for surface in surfaces:
        inside = surface.pose_object_surface.inverse().transform(local)
        top = float(t.pose_world.transform(surface.pose_object_surface.position_m)[2])
        half = np.asarray(surface.half_extents_m)
        if (np.abs(inside[:2]) <= half).all() and abs(float(o.low_m[2]) - top) < 2 * CONTACT_SLACK_M:
            return surface.name
    return None


def inside(evidence: Evidence, subject: str, target: str) -> Verdict:
    """The subject lies in a cavity of the target and is carried by the target."""
    name = f"in({subject}, {target})"
    o, t = evidence.objects[subject], evidence.objects[target]
    if target not in evidence.carriers(subject):
        return Verdict(False, name, f"carried by {', '.join(sorted(o.supported_by)) or 'nothing'}")
    local = t.pose_world.inverse().transform(o.center_m)
    points = t.pose_world.inverse().transform(o.pose_world.transform(o.model.root.vertices_m))
    for cavity in t.model.containers:
        half = np.asarray(cavity.half_extents_m)
        centred = bool((np.abs(local[:2] - np.asarray(cavity.center_m)[:2]) <= half).all())
        deep = float(points[:, 2].min()) < cavity.rim_z_m - CONTACT_SLACK_M
        if centred and deep:
            return Verdict(True, name, f"in {cavity.part}")
    return Verdict(False, name, "its middle is outside, or it lies on the rim")


def _gap_along(a: ObjectEvidence, b: ObjectEvidence, axis: Array) -> float:
    pa = a.pose_world.transform(a.model.root.vertices_m) @ axis
    pb = b.pose_world.transform(b.model.root.vertices_m) @ axis
    return float(pa.min() - pb.max())


def beside(evidence: Evidence, subject: str, target: str, relation: RelationName) -> Verdict:
    """The subject stands left of, right of, in front of, behind or next to the target, on the same support.

    Directions are seen from the arm's base: left is its +y, behind its +x. The target must be within 45 degrees of
    the direction, and the gap between the two at most 25 cm.
    """
    name = f"{relation}({subject}, {target})"
    o, t = evidence.objects[subject], evidence.objects[target]
    if not (o.supported_by and o.supported_by & t.supported_by):
        return Verdict(
            False,
            name,
            f"it stands on {', '.join(sorted(o.supported_by)) or 'nothing'}, the target on "
            f"{', '.join(sorted(t.supported_by)) or 'nothing'}",
        )
    forward, left = evidence.pose_world_base.rotation[:, 0], evidence.pose_world_base.rotation[:, 1]
    directions = {"left_of": left, "right_of": -left, "behind": forward, "in_front_of": -forward}
    delta = (o.low_m + o.high_m - t.low_m - t.high_m) / 2
    for axis in [directions[relation]] if relation in directions else list(directions.values()):
        along = float(delta @ axis)
        across = float(np.linalg.norm((delta - along * axis)[:2]))
        gap = _gap_along(o, t, axis)
        if along > 0 and across <= along and -CONTACT_SLACK_M < gap < BESIDE_MAX_GAP_M:
            return Verdict(True, name, f"gap {gap * 100:.1f} cm")
    offset = f"{delta @ forward * 100:+.1f} cm behind, {delta @ left * 100:+.1f} cm to the left"
    return Verdict(False, name, f"it stands {offset}")


def above(evidence: Evidence, subject: str, target: str) -> Verdict:
    """The subject hangs free over the target's top, its middle within the target's outline."""
    name = f"above({subject}, {target})"
    o, t = evidence.objects[subject], evidence.objects[target]
    if o.supported_by:
        return Verdict(False, name, f"carried by {', '.join(sorted(o.supported_by))}")
    height = float(o.low_m[2] - t.high_m[2])
    if not ABOVE_MIN_M <= height <= ABOVE_MAX_M:
        return Verdict(False, name, f"{height * 100:.1f} cm above it")
    local = t.pose_world.inverse().transform(o.center_m)
    low, high = t.model.bounds_m
    ok = bool((local[:2] > low[:2]).all() and (local[:2] < high[:2]).all())
    return Verdict(ok, name, f"{height * 100:.1f} cm above it" if ok else "beside it")


def under(evidence: Evidence, subject: str, target: str) -> Verdict:
    """Some part of the target is over the subject's middle, wholly above it.

    Where the target goes down to the ground the subject stands on the target's own lowest covered surface: a mug under
    the coffee machine is on its tray, below the spout. Elsewhere the target does not carry it.
    """
    name = f"under({subject}, {target})"
    o, t = evidence.objects[subject], evidence.objects[target]
    room = room_under(t.model)
    if target in evidence.carriers(subject) and surface_below(o, t, room.surfaces) is None:
        return Verdict(False, name, "it stands on the target, not below it")
    local = t.pose_world.inverse().transform(o.center_m)
    top = float(t.pose_world.inverse().transform([*o.center_m[:2], o.high_m[2]])[2])
    ok = room.covers(local[:2], top - CONTACT_SLACK_M)
    return Verdict(ok, name, "" if ok else "nothing of the target is over its middle")


def relation_holds(evidence: Evidence, subject: str, relation: RelationName, target: str) -> Verdict:
    """Judge any spatial relation by its name."""
    if relation == "on":
        return on(evidence, subject, target)
    if relation == "in":
        return inside(evidence, subject, target)
    if relation == "above":
        return above(evidence, subject, target)
    if relation == "under":
        return under(evidence, subject, target)
    return beside(evidence, subject, target, relation)
