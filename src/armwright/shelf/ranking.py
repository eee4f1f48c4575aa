"""Places ranked by weighted likeness to their neighbours, as proposals in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.shelf.evidence import settled
from armwright.shelf.fit import weight_vector
from armwright.shelf.graph import SceneGraph
from armwright.shelf.places import Place
from armwright.shelf.reasoner import MAX_PROPOSALS, Proposal, rank_weights
from armwright.shelf.records import ATTRIBUTES, Attribute, Orientation, ShelfObject, Target

Array = NDArray[np.float64]
_SAME_PLACE_M = 0.05
"""Two proposals nearer than this say the same [m]."""


def rank_places(
    graph: SceneGraph,
    target: Target,
    places: Sequence[Place],
    weights: Mapping[Attribute, float],
    *,
    chance: Array | None = None,
) -> tuple[Proposal, ...]:
    """Return the best places as proposals, best first.

    Args:
        graph: The shelf.
        target: What is to be placed.
        places: To choose from.
        weights: Of the attributes.
        chance: Likeness to assume where an attribute is unknown (4,); by default that of target and shelf.
    """
    if not places:
        return ()
    natures = [o.nature for o in graph.objects]
    w = weight_vector(weights)
    table = settled([target.nature], natures, chance=chance)[0][0] if natures else np.zeros((0, len(ATTRIBUTES)))
    terms: dict[Orientation, Array] = {}
    for standing in sorted({p.orientation for p in places}):
        alike = [_orientation_likeness(standing, o, table[i, 3]) for i, o in enumerate(graph.objects)]
        terms[standing] = table[:, :3] @ w[:3] + w[3] * np.array(alike)
    value = np.array([terms[p.orientation][list(p.neighbours)].mean() if p.neighbours else 0.0 for p in places])
    gap = np.array([p.gap_m for p in places])
    proposals: list[Proposal] = []
    taken: list[Place] = []
    said: set[tuple[str, str, str]] = set()
    ranks = rank_weights()
    for k in np.lexsort((gap, -np.round(value, 9))):
        place = places[k]
        name = (place.anchor, place.side, place.orientation)
        if name in said or any(_same(place, other) for other in taken):
            continue
        said.add(name)
        rank = len(proposals) + 1
        reason = _reason(place, target, [graph.objects[i] for i in place.neighbours], w)
        proposals.append(Proposal(rank, place.anchor, place.side, place.orientation, ranks[rank - 1], reason))
        taken.append(place)
        if len(proposals) == MAX_PROPOSALS:
            break
    return tuple(proposals)


def _orientation_likeness(mine: Orientation, other: ShelfObject, unknown: float) -> float:
    known = other.nature.orientation
    if known is None:
        return unknown
    sure = other.nature.confidence("orientation")
    return sure * float(known == mine) + (1 - sure) * unknown


def _same(a: Place, b: Place) -> bool:
    if a.board != b.board or a.orientation != b.orientation:
        return False
    return bool(np.hypot(*(np.array(a.box.center_m) - b.box.center_m)[:2]) < _SAME_PLACE_M)


def _reason(place: Place, target: Target, near: Sequence[ShelfObject], weights: Array) -> str:
    """Say what the neighbours there share with the target, the weightier attributes first."""
    if not near:
        return "nothing stands there; there is room"
    shared: list[str] = []
    lacking: list[str] = []
    for k in np.argsort(-weights, kind="stable"):
        name = ATTRIBUTES[k]
        mine = place.orientation if name == "orientation" else getattr(target.nature, name)
        if mine is None:
            continue
        same = [o for o in near if getattr(o.nature, name) == mine]
        words = {"edible": "food or drink" if mine else "not food"}.get(name, str(mine))
        if same:
            shared.append(f"{name} ({words}) with {_listed(same)}")
        elif name == "content":
            lacking.append(f"contents there: {_listed_words(near)}")
    told = [*(["shares " + "; ".join(shared)] if shared else []), *lacking]
    return ". ".join(told) or "nothing there is known to be like it"


def _listed(objects: Sequence[ShelfObject]) -> str:
    names = list(dict.fromkeys(o.id for o in objects))
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _listed_words(objects: Sequence[ShelfObject]) -> str:
    return ", ".join(dict.fromkeys(o.nature.content or "unknown" for o in objects))
