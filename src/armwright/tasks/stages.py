"""Which predicates grade which primitive: the names that task files, journals and tables speak of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armwright.core.task import RELATIONS, Primitive
from armwright.tasks.passing import passes
from armwright.tasks.predicates import Verdict

PREDICATES: Mapping[str, str] = {
    "lifted": "both pads held it clear of where it stood",
    "released": "no part of the robot touches it",
    "still": "it does not move",
    "upright": "it stands as it stood before, to 15 degrees",
    "on": "it rests on the target's surface, its mass over it",
    "in": "it lies in a cavity of the target, which carries it",
    "above": "it hangs free over the target's top",
    "under": "some part of the target is over its middle; it stands on the table or, below a spout, on a tray",
    "left_of": "it stands to the left of the target, at most 25 cm away",
    "right_of": "it stands to the right of the target, at most 25 cm away",
    "in_front_of": "it stands in front of the target, at most 25 cm away",
    "behind": "it stands behind the target, at most 25 cm away",
    "next_to": "it stands beside the target, at most 25 cm away",
    "poured": "at least 80 % of what was in it is in the receiver's cavity, which stands upright",
    "opened": "a meant leaf is open by at least 60 % of its travel; a loose lid lies beside, the right way up",
    "closed": "every meant leaf is open by at most 2 % of its travel, a loose lid on its seat; one was open, or off",
    "resting": "no leaf or loose lid of it moves",
    "shifted": "its middle is within 3 cm of the goal",
    "on_its_support": "it never left what it stood on",
    "left_alone": "the reference is where it was",
    "hung": "the hook passes through its handle, and it touches only the rack after a shake",
}
"""Name -> what it says of the object; each is a function of the observed states alone."""


def names_of(verdict: Verdict) -> tuple[str, ...]:
    """Return the names of the predicates that a verdict joins."""
    return tuple(part.split("(")[0] for part in verdict.predicate.split(" and "))


def stage_text(primitive: Primitive) -> str:
    """Return a primitive in words and ids: ``place mug_1 on plate_1``."""
    words = [primitive.name, primitive.object]
    words += [primitive.relation] if primitive.relation else []
    words += [primitive.target] if primitive.target else []
    words += [f"({primitive.spot})"] if primitive.spot else []
    words += [f"by {primitive.distance_m:g} m"] if primitive.distance_m else []
    return " ".join(words)


def stage_predicates(primitives: Sequence[Primitive]) -> tuple[tuple[str, ...], ...]:
    """Return, for each primitive of a task, the names of the predicates that the judge grades it by."""
    return tuple(_graded_by(primitives, index) for index in range(len(primitives)))


def _graded_by(primitives: Sequence[Primitive], index: int) -> tuple[str, ...]:
    step = primitives[index]
    if step.name == "pick":
        return ("lifted",)
    if step.name == "pour":
        return ("poured",)
    if step.name in ("open", "close"):
        name = "opened" if step.name == "open" else "closed"
        return (name,) if passes(primitives, index) else (name, "resting", "released")
    if step.name in ("push", "pull"):
        return _shift(primitives, index)
    relation = step.relation or "on"
    if step.name == "hold":
        return ("lifted", "still", relation) if step.target is not None and step.relation else ("lifted", "still")
    if step.name == "hang":
        return ("released", "hung", "still")
    return ("released", "still", relation, *(() if relation == "in" else ("upright",)))


def _shift(primitives: Sequence[Primitive], index: int) -> tuple[str, ...]:
    step = primitives[index]
    names = ["released", "still", "shifted", "upright", "on_its_support"]
    if step.target is not None and all(p.object != step.target for p in primitives[index + 1 :]):
        names.append("left_alone")
    return tuple(names)


assert set(RELATIONS) <= PREDICATES.keys()
