"""The predicate of pouring: how much of what was in the source has ended in the receiver."""

from __future__ import annotations

from armwright.assets.contents import in_cavity
from armwright.tasks.evidence import Evidence
from armwright.tasks.predicates import Verdict

POURED_SHARE = 0.80
# A bead that rests on others may stand out of the opening by part of itself.
HEAP_M = 0.004


def poured(evidence: Evidence, source: str, receiver: str, *, in_hand: bool = True) -> Verdict:
    """At least 80 % of what was in the source is in the receiver's cavity, and the source did not fall.

    Args:
        evidence: The moment to judge.
        source: Id of the vessel that held the contents at the start.
        receiver: Id of the vessel that should hold them now.
        in_hand: The source was not put anywhere afterwards: the hand must still hold it, free of the receiver.
    """
    name = f"poured({source}, {receiver})"
    beads = evidence.objects[source].contents_m
    if len(beads) == 0:
        return Verdict(False, name, f"{source} held nothing")
    target = evidence.objects[receiver]
    local = target.pose_world.inverse().transform(beads)
    arrived = int(in_cavity(target.model, local, slack_m=HEAP_M).sum())
    own = evidence.objects[source]
    left = int(in_cavity(own.model, own.pose_world.inverse().transform(beads), slack_m=HEAP_M).sum())
    share = arrived / len(beads)
    spilled = max(len(beads) - arrived - left, 0)
    if in_hand and (not own.held or receiver in own.supported_by):
        return Verdict(False, name, f"{source} was dropped")
    detail = f"{arrived} of {len(beads)} beads arrived, {left} stayed, {spilled} were spilled"
    return Verdict(share >= POURED_SHARE, name, detail)
