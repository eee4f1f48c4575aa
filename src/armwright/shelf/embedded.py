"""The built-in reasoner: infers what organises this shelf, says it, and ranks placements by it."""

from __future__ import annotations

from collections.abc import Sequence

from armwright.shelf.evidence import STRONG, Evidence, infer
from armwright.shelf.graph import SceneGraph
from armwright.shelf.places import free_places
from armwright.shelf.ranking import rank_places
from armwright.shelf.reasoner import Reasoning
from armwright.shelf.records import Orientation, Target

_NOUN = {"content": "content", "packaging": "packaging", "edible": "edibility", "orientation": "orientation"}


class EmbeddedReasoner:
    """Weighs attributes by how well they explain the arrangement (`evidence.infer`).

    Args:
        orientations: How the target may be put down, of what its packaging allows; by default all of that.
    """

    name = "embedded"

    def __init__(self, *, orientations: Sequence[Orientation] | None = None) -> None:
        self._orientations = orientations

    def reason(self, graph: SceneGraph, target: Target) -> Reasoning:
        """Return up to five ranked placements, and why."""
        evidence = infer(graph)
        places = free_places(graph, target, orientations=self._orientations)
        proposals = rank_places(graph, target, places, evidence.weights(), chance=evidence.chance)
        return Reasoning(
            "ok" if proposals else "no_place",
            proposals,
            in_words(evidence, len(graph.objects)),
            evidence.weights(),
            self.name,
            details={name: vars(one) for name, one in evidence.attributes.items()},
        )


def in_words(evidence: Evidence, count: int) -> str:
    """Say which attributes organise a shelf of that many objects, with the figures."""
    if count < 2:
        return "The shelf is empty." if count == 0 else "One object tells nothing of how the shelf is organised."
    ranked = sorted(evidence.attributes.items(), key=lambda item: -item[1].weight)
    strong = [name for name, one in ranked if one.log_ratio >= STRONG]
    if strong:
        lead = f"The shelf is organised by {' and '.join(_NOUN[name] for name in strong)}"
    else:
        lead = f"Nothing clearly organises the shelf; {_NOUN[ranked[0][0]]} is the likeliest to matter"
    figures = [
        f"{_NOUN[name]}: neighbours {one.agreement:.0%} alike, chance {one.chance:.0%}, weight {one.weight:.2f}"
        for name, one in ranked
    ]
    return f"{lead} ({'; '.join(figures)})."
