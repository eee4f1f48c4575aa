"""The predicate of pouring: how much of what was in the source has ended in the receiver.

One pour must bring 80 % of the source's contents into the receiver. Where a task pours one source into several
receivers, those together must hold 80 %, and each at least 10 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.assets.contents import in_cavity
from armwright.core.task import Primitive
from armwright.tasks.evidence import Evidence
from armwright.tasks.passing import passes
from armwright.tasks.predicates import UPRIGHT_RAD, Verdict

POURED_SHARE = 0.80
PART_SHARE = 0.10
"""What each of several receivers must get of the source's contents at least: two beads of twenty."""
# A bead that rests on others may stand out of the opening by part of itself.
HEAP_M = 0.004

Beads = Mapping[str, NDArray[np.bool_]]
"""Vessel -> (k,) bool, which of the beads that started in it are meant."""


def poured(evidence: Evidence, source: str, receiver: str, *, in_hand: bool = True) -> Verdict:
    """At least 80 % of what was in the source is in the upright receiver's cavity, and the source did not fall.

    Args:
        evidence: The moment to judge.
        source: Id of the vessel that held the contents at the start.
        receiver: Id of the vessel that should hold them now.
        in_hand: The source was not put anywhere afterwards: the hand must still hold it, free of the receiver.
    """
    beads = _all_of(evidence, source)
    return _verdict(evidence, source, receiver, beads, union=_within(evidence, beads, receiver), in_hand=in_hand)


class PourWatch:
    """Remembers what pours brought into receivers that are emptied later, and judges all pours of a task.

    What a vessel is poured out of holds its own contents and what had arrived from pours into it.

    Args:
        primitives: The task.
    """

    def __init__(self, primitives: Sequence[Primitive]) -> None:
        self._pours = {
            k: (p.object, p.target) for k, p in enumerate(primitives) if p.name == "pour" and p.target is not None
        }
        self._passing = {k for k in self._pours if passes(primitives, k)}
        self._arrived: dict[int, Beads] = {}

    @property
    def waiting(self) -> Mapping[int, str]:
        """The pours to look at on the way, with the vessel that the hand holds meanwhile."""
        return {k: self._pours[k][0] for k in self._passing}

    def vessels(self, index: int) -> frozenset[str]:
        """Return the ids of what must be seen to judge a pour."""
        owners = {source for source, _ in self._pours.values()}
        return frozenset(owners | set(self._pours[index]))

    def observe(self, evidence: Evidence, index: int) -> None:
        """Take in a moment at which a receiver that is emptied later may hold what it should."""
        verdict = self._judge(evidence, index, in_hand=True, whole=False)
        now = _within(evidence, self._beads(evidence, index), self._pours[index][1])
        if verdict.ok and (index not in self._arrived or _count(now) >= _count(self._arrived[index])):
            self._arrived[index] = now

    def judge(self, evidence: Evidence, index: int, *, in_hand: bool) -> Verdict:
        """Judge a pour at the end of the task.

        Args:
            evidence: The end.
            index: Which stage of the task it is.
            in_hand: As in `poured`.
        """
        if index in self._passing and index not in self._arrived:
            verdict = self._judge(evidence, index, in_hand=False, whole=False)
            return Verdict(False, verdict.predicate, f"never so before it was poured on; at the end {verdict.detail}")
        return self._judge(evidence, index, in_hand=in_hand and index not in self._passing, whole=True)

    def _judge(self, evidence: Evidence, index: int, *, in_hand: bool, whole: bool) -> Verdict:
        source, receiver = self._pours[index]
        siblings = [k for k, (vessel, _) in self._pours.items() if vessel == source]
        split = len({self._pours[k][1] for k in siblings}) > 1
        beads = self._beads(evidence, index)
        union = self._here(evidence, index, beads)
        for sibling in siblings if whole else ():
            union = _or(union, self._here(evidence, sibling, beads))
        return _verdict(
            evidence,
            source,
            receiver,
            beads,
            union=union,
            in_hand=in_hand,
            own=self._here(evidence, index, beads),
            # A part of a split pour that is poured on can be judged by nothing but its own share at the time.
            share=POURED_SHARE if whole or not split else PART_SHARE,
            part=PART_SHARE if split else POURED_SHARE,
            standing=index not in self._arrived or not whole,
        )

    def _here(self, evidence: Evidence, index: int, beads: Beads) -> Beads:
        """What a pour brought: as remembered if its receiver is emptied later, else as it is now."""
        remembered = self._arrived.get(index)
        return remembered if remembered is not None else _within(evidence, beads, self._pours[index][1])

    def _beads(self, evidence: Evidence, index: int) -> Beads:
        source = self._pours[index][0]
        beads = _all_of(evidence, source)
        for k, (_, receiver) in self._pours.items():
            if k < index and receiver == source and k in self._arrived:
                beads = _or(beads, self._arrived[k])
        return beads


def _verdict(
    evidence: Evidence,
    source: str,
    receiver: str,
    beads: Beads,
    *,
    union: Beads,
    in_hand: bool,
    own: Beads | None = None,
    share: float = POURED_SHARE,
    part: float = POURED_SHARE,
    standing: bool = True,
) -> Verdict:
    name = f"poured({source}, {receiver})"
    total, arrived, got = _count(beads), _count(union), _count(union if own is None else own)
    if total == 0:
        return Verdict(False, name, f"{source} held nothing")
    vessel = evidence.objects[source]
    if in_hand and (not vessel.held or receiver in vessel.supported_by):
        return Verdict(False, name, f"{source} was dropped")
    tilt = float(np.arccos(np.clip(evidence.objects[receiver].up[2], -1.0, 1.0)))
    if standing and tilt >= UPRIGHT_RAD:
        return Verdict(False, name, f"{receiver} is tilted by {np.rad2deg(tilt):.0f} deg")
    left = _count(_within(evidence, beads, source))
    detail = f"{got} of {total} beads arrived, {left} stayed, {max(total - arrived - left, 0)} were spilled"
    return Verdict(arrived >= share * total and got >= part * total, name, detail)


def _all_of(evidence: Evidence, vessel: str) -> Beads:
    return {vessel: np.ones(len(evidence.objects[vessel].contents_m), bool)}


def _within(evidence: Evidence, beads: Beads, vessel: str) -> Beads:
    """Return which of some beads are in a vessel's cavity now."""
    seen = evidence.objects[vessel]
    local = {owner: seen.pose_world.inverse().transform(evidence.objects[owner].contents_m) for owner in beads}
    return {owner: mask & in_cavity(seen.model, local[owner], slack_m=HEAP_M) for owner, mask in beads.items()}


def _or(a: Beads, b: Beads) -> Beads:
    return {owner: a[owner] | b[owner] if owner in a and owner in b else {**a, **b}[owner] for owner in {**a, **b}}


def _count(beads: Beads) -> int:
    return int(sum(mask.sum() for mask in beads.values()))
