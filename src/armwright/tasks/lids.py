"""Success predicates of loose lids: on their seat or laid aside, at rest, and by what they were carried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from armwright.assets.cloud import nearest_part
from armwright.assets.footprint import convex_outline, outline_gap
from armwright.assets.model import LinkModel, ObjectModel
from armwright.assets.parts import is_seated, loose_lids
from armwright.core.pose import Array, Pose
from armwright.core.task import SpotName
from armwright.tasks.evidence import Evidence, ObjectEvidence
from armwright.tasks.predicates import STILL_SPEED_M_S, UPRIGHT_RAD, Verdict

LIFT_M = (0.002, 0.08)
"""Heights above where a lid lay between which the pads' contacts count."""
FELL_M = 0.01
"""A lid that lies by this lower than its object stands is not beside it: it fell."""


class LidTruth(Protocol):
    """What is watched of a lid."""

    def pose(self, object_id: str, link: str = ...) -> Pose: ...

    def velocity(self, object_id: str, link: str = ...) -> tuple[Array, Array]: ...

    def is_held(self, object_id: str) -> bool: ...

    def pad_contacts(self, object_id: str) -> Mapping[str, Array]: ...


def off_seat(model: ObjectModel, pose_world_object: Pose, loose: Mapping[str, Pose]) -> list[str]:
    """Return the names of an object's lids that are not on their seat.

    Args:
        model: The object.
        pose_world_object: Pose of its root.
        loose: Poses of its loose links in the world, by name.
    """
    back = pose_world_object.inverse()
    return [link.name for link in loose_lids(model) if not is_seated(link, back @ loose[link.name])]


def lid_closed(evidence: Evidence, subject: str) -> Verdict:
    """Every lid of the subject lies on its seat, and the subject stands."""
    name, seen = f"closed({subject})", evidence.objects[subject]
    off = off_seat(seen.model, seen.pose_world, seen.loose)
    if off:
        return Verdict(False, name, f"the {' and the '.join(off)} {'is' if len(off) == 1 else 'are'} not on the seat")
    return _stands(seen, name)


def lid_opened(evidence: Evidence, subject: str) -> Verdict:
    """A lid of the subject lies beside it, the right way up and no lower than it stands, and the subject stands."""
    name, seen = f"opened({subject})", evidence.objects[subject]
    why = ""
    for link in loose_lids(seen.model):
        why = not_aside(seen.model, seen.pose_world, link, seen.loose[link.name])
        if not why:
            return _stands(seen, name)
    return Verdict(False, name, why)


def not_aside(model: ObjectModel, pose_world_object: Pose, link: LinkModel, pose_world_link: Pose) -> str:
    """Return why a lid is not laid beside its object, or nothing if it is."""
    body = pose_world_object.transform(model.root.vertices_m)
    lid = pose_world_link.transform(link.vertices_m)
    if outline_gap(convex_outline(lid[:, :2]), convex_outline(body[:, :2])) <= 0:
        return f"the {link.name} is over it"
    tilt = float(np.arccos(np.clip(pose_world_link.rotation[2, 2], -1.0, 1.0)))
    if tilt >= UPRIGHT_RAD:
        return f"the {link.name} is tilted by {np.rad2deg(tilt):.0f} deg"
    fell_m = float(body[:, 2].min() - lid[:, 2].min())
    return f"the {link.name} fell {100 * fell_m:.0f} cm" if fell_m > FELL_M else ""


def lids_resting(evidence: Evidence, subject: str) -> Verdict:
    """No lid of the subject moves."""
    name = f"resting({subject})"
    for link, speed in evidence.objects[subject].loose_speeds.items():
        if speed > STILL_SPEED_M_S:
            return Verdict(False, name, f"the {link} moves at {1000 * speed:.0f} mm/s")
    return Verdict(True, name)


def _stands(seen: ObjectEvidence, name: str) -> Verdict:
    tilt = float(np.arccos(np.clip(seen.up[2], -1.0, 1.0)))
    return Verdict(tilt < UPRIGHT_RAD, name, f"it is tilted by {np.rad2deg(tilt):.0f} deg")


class LidWatch:
    """Remembers when an object's lids were on and off, and what the pads touched while they lifted one.

    Args:
        model: The object.
        pose_world_object: Pose of its root at the start.
        loose: Poses of its loose links at the start.
    """

    def __init__(self, model: ObjectModel, pose_world_object: Pose, loose: Mapping[str, Pose]) -> None:
        self.model = model
        self.parts: Counter[str] = Counter()
        self._low_m = {link.name: float(loose[link.name].position_m[2]) for link in loose_lids(model)}
        self._off = bool(off_seat(model, pose_world_object, loose))
        self._was_off, self._was_on = self._off, not self._off
        self._at_rest = True
        self._now = (pose_world_object, dict(loose))

    def observe(self, truth: LidTruth, object_id: str) -> None:
        """Take in the present state of the world."""
        links = loose_lids(self.model)
        loose = {link.name: truth.pose(object_id, link.name) for link in links}
        self._now = (truth.pose(object_id), loose)
        self._off = bool(off_seat(self.model, *self._now))
        held = truth.is_held(object_id)
        speeds = [float(np.linalg.norm(truth.velocity(object_id, link.name)[0])) for link in links]
        self._at_rest = not held and max(speeds) < STILL_SPEED_M_S
        if self._at_rest:
            self._was_on |= not self._off
            self._was_off = self._was_off or self._is_aside()
        for name, pose in loose.items():
            height_m = float(pose.position_m[2])
            if self._at_rest:
                self._low_m[name] = height_m
            elif held and LIFT_M[0] < height_m - self._low_m[name] < LIFT_M[1]:
                points = truth.pad_contacts(object_id).get(name)
                if points is not None:
                    self.parts.update(str(part) for part in nearest_part(self.model, points, link=name))

    def _is_aside(self) -> bool:
        root, loose = self._now
        return self._off and any(
            not not_aside(self.model, root, link, loose[link.name]) for link in loose_lids(self.model)
        )

    def was_open(self, spot: SpotName | None, share: float) -> bool:
        """Tell whether a lid lay beside its seat since the start, or since that was last counted."""
        return self._was_off

    @property
    def was_shut(self) -> bool:
        """Whether every lid was on since the start, or since that was last counted."""
        return self._was_on

    def is_open(self, spot: SpotName | None) -> bool:
        """Tell whether a lid lies beside its seat now and was on it since that was last counted."""
        return self._at_rest and self._was_on and self._is_aside()

    def is_shut_again(self, spot: SpotName | None) -> bool:
        """Tell whether every lid is on now and one lay beside since that was last counted."""
        return not self._off and self._at_rest and self._was_off

    def count(self, spot: SpotName | None) -> None:
        """Note that an opening or closing is done: what comes after it must be seen after it."""
        self._was_off, self._was_on = self._off, not self._off
