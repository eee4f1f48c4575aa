"""Success predicates of drawers and doors: how far the joints are open, which part was meant, hands off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from typing import Protocol

import numpy as np

from armwright.assets.cloud import nearest_part
from armwright.assets.model import JointModel, LinkModel, ObjectModel
from armwright.core.pose import Array
from armwright.core.task import SpotName
from armwright.tasks.evidence import Evidence
from armwright.tasks.predicates import Verdict

OPENED_SHARE = 0.60
CLOSED_SHARE = 0.02
STILL_SHARE_PER_S = 0.02
"""A leaf that moves faster than this share of its travel per second is still swinging."""
WAS_OPEN_SHARE = 0.2
"""What was never open by this much was not closed by anyone."""
MOVING_SHARE = 0.001
"""A leaf that opens by this much from one observation to the next is being pulled."""


class SwingTruth(Protocol):
    """What is watched of a swinging leaf."""

    def joint(self, object_id: str, link: str) -> float: ...

    def pad_contacts(self, object_id: str) -> Mapping[str, Array]: ...


def share_open(joint: JointModel, value: float) -> float:
    """Return how far a joint is open, as a share of its travel."""
    low, high = joint.range
    return (value - low) / (high - low)


def leaves(model: ObjectModel, region: str = "Openable Handle") -> list[LinkModel]:
    """Return an object's moving links that carry the region, the lowest first, as they stand when shut."""
    parts = set(model.regions.get(region, ()))  # type: ignore[call-overload]
    found = []
    for link in model.links:
        wanted = [k for k, part in enumerate(link.part_names) if part in parts]
        faces = link.faces[np.isin(link.face_part, wanted)]
        if link.joint is not None and len(faces):
            found.append((float(link.vertices_m[faces].reshape(-1, 3)[:, 2].mean()), link))
    return [link for _, link in sorted(found, key=lambda row: row[0])]


def meant(model: ObjectModel, spot: SpotName | None) -> list[LinkModel]:
    """Return the links that a task may mean: all, or the one at a place among them."""
    found = leaves(model)
    if spot is None or not found:
        return found
    return [found[{"bottom": 0, "middle": len(found) // 2, "top": -1}[spot]]]


def opened(
    evidence: Evidence,
    subject: str,
    before: Mapping[str, float],
    spot: SpotName | None = None,
    *,
    aside: Set[str] = frozenset(),
) -> Verdict:
    """One of the meant leaves is open by most of its travel; the others are as they were.

    Args:
        evidence: The moment to judge.
        subject: Object id.
        before: Joint values by link name before the task.
        spot: Which leaf was meant.
        aside: Links that other stages of the task move.
    """
    name = f"opened({subject})"
    model, joints = evidence.objects[subject].model, evidence.objects[subject].joints
    wanted = meant(model, spot)
    shares = {link.name: share_open(link.joint, joints[link.name]) for link in wanted if link.joint is not None}
    if not shares:
        return Verdict(False, name, "it has nothing that opens")
    best = max(shares, key=lambda link: shares[link])
    detail = f"{best} open by {100 * shares[best]:.0f} %"
    if shares[best] < OPENED_SHARE:
        return Verdict(False, name, detail)
    for link in leaves(model):
        if link.name != best and link.name not in aside and link.joint is not None:
            moved = share_open(link.joint, joints[link.name]) - share_open(link.joint, before.get(link.name, 0.0))
            if abs(moved) > CLOSED_SHARE and shares.get(link.name, 0.0) < OPENED_SHARE:
                return Verdict(False, name, f"{link.name} moved as well, by {100 * moved:+.0f} %")
    return Verdict(True, name, detail)


def closed(evidence: Evidence, subject: str, spot: SpotName | None = None) -> Verdict:
    """Every meant leaf is shut."""
    name = f"closed({subject})"
    model, joints = evidence.objects[subject].model, evidence.objects[subject].joints
    shares = {
        link.name: share_open(link.joint, joints[link.name]) for link in meant(model, spot) if link.joint is not None
    }
    if not shares:
        return Verdict(False, name, "it has nothing that closes")
    worst = max(shares, key=lambda link: shares[link])
    return Verdict(shares[worst] <= CLOSED_SHARE, name, f"{worst} open by {100 * shares[worst]:.1f} %")


def resting(evidence: Evidence, subject: str) -> Verdict:
    """No leaf of the subject is swinging."""
    name = f"resting({subject})"
    seen = evidence.objects[subject]
    for link in seen.model.links:
        if link.joint is None:
            continue
        low, high = link.joint.range
        rate = abs(seen.joint_speeds.get(link.name, 0.0)) / (high - low)
        if rate > STILL_SHARE_PER_S:
            return Verdict(False, name, f"{link.name} moves by {100 * rate:.0f} % of its travel per second")
    return Verdict(True, name)


class SwingWatch:
    """Remembers how an object's leaves moved during an episode, and what the pads touched while one was moving.

    Args:
        model: The object.
        joints: Joint values by link name at the start.
    """

    def __init__(self, model: ObjectModel, joints: Mapping[str, float]) -> None:
        self.model = model
        self.before = dict(joints)
        self.parts: Counter[str] = Counter()
        self._last = dict(joints)
        self._widest = dict(joints)

    def observe(self, truth: SwingTruth, object_id: str) -> None:
        """Take in the present state of the world."""
        opening = False
        for link in self.model.links:
            if link.joint is None:
                continue
            value = truth.joint(object_id, link.name)
            opening |= share_open(link.joint, value) - share_open(link.joint, self._last[link.name]) > MOVING_SHARE
            self._last[link.name] = value
            self._widest[link.name] = max(self._widest[link.name], value)
        if opening:
            for link_name, points in truth.pad_contacts(object_id).items():
                self.parts.update(str(part) for part in nearest_part(self.model, points, link=link_name))

    def was_open(self, spot: SpotName | None, share: float) -> bool:
        """Tell whether a meant leaf was open by a share of its travel since the start, or since it was last counted."""
        return any(one >= share for one in self._shares(spot, self._widest))

    def is_open(self, spot: SpotName | None) -> bool:
        """Tell whether a meant leaf is open now by as much as an opened one must be."""
        return any(one >= OPENED_SHARE for one in self._shares(spot, self._last))

    def is_shut_again(self, spot: SpotName | None) -> bool:
        """Tell whether every meant leaf is shut now and one was open since it was last counted."""
        now = self._shares(spot, self._last)
        return bool(now) and max(now) <= CLOSED_SHARE and self.was_open(spot, WAS_OPEN_SHARE)

    def count(self, spot: SpotName | None) -> None:
        """Note that an opening or closing is done: what comes after it must be seen after it."""
        for link in meant(self.model, spot):
            self._widest[link.name] = self._last[link.name]

    def _shares(self, spot: SpotName | None, values: Mapping[str, float]) -> list[float]:
        found = meant(self.model, spot)
        return [share_open(link.joint, values[link.name]) for link in found if link.joint is not None]
