"""What an earlier stage put somewhere and is there no longer, such as a toppled tower: it ends the task."""

from __future__ import annotations

from collections.abc import Sequence

from armwright.core.task import TABLE, Primitive
from armwright.tasks.evidence import Evidence
from armwright.tasks.predicates import Verdict, relation_holds

_MOVES = ("pick", "push", "pull")


def undone(evidence: Evidence, done: Sequence[Primitive]) -> Verdict | None:
    """Return the first placement among the primitives done so far that does not hold now, or None.

    What was taken up or shifted again since, and what stood by something that was, is not looked at.

    Args:
        evidence: The moment to judge.
        done: The primitives done so far, in order.
    """
    for index, step in enumerate(done):
        if step.name != "place" or (step.target is None and step.relation not in (None, "on")):
            continue
        moved = {p.object for p in done[index + 1 :] if p.name in _MOVES}
        if moved & {step.object, step.target}:
            continue
        verdict = relation_holds(evidence, step.object, step.relation or "on", step.target or TABLE)
        if not verdict.ok:
            return verdict
    return None


def stacks(primitives: Sequence[Primitive], fixed: frozenset[str]) -> bool:
    """Tell whether a task puts something on another loose thing, which must then stand for longer.

    Args:
        primitives: The task.
        fixed: Ids of what cannot topple.
    """
    return any(
        p.name == "place" and p.relation == "on" and p.target not in (None, TABLE) and p.target not in fixed
        for p in primitives
    )
