"""Places ranked by weighted likeness to their neighbours, as proposals in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.shelf.evidence import settled
from armwright.shelf.fit import weight_vector
from armwright.shelf.graph import SceneGraph
from armwright.shelf.neighbours import corners, nearest
from armwright.shelf.places import Place
from armwright.shelf.reasoner import MAX_PROPOSALS, Proposal, rank_weights
from armwright.shelf.records import ATTRIBUTES, Attribute, ShelfObject, Target

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
    value = np.zeros(len(places))
    tie = np.zeros(len(places))
    near: list[list[ShelfObject]] = [[] for _ in places]
    if natures:
        table = settled([target.nature], natures, chance=chance)[0][0]
        low, high = corners([o.box for o in graph.objects])
        at_low, at_high = corners([p.box for p in places])
        index, gaps = nearest(
            low,
            high,
            np.array([graph.board[o.id] for o in graph.objects], np.intp),
            at_low_m=at_low,
            at_high_m=at_high,
            at_board=np.array([p.board for p in places], np.intp),
        )
        for k, (row, place) in enumerate(zip(index, places, strict=True)):
            found = row[row >= 0]
            near[k] = [graph.objects[i] for i in found]
            if len(found):
                rows = table[found].copy()
                rows[:, 3] = [_orientation_likeness(place, graph.objects[i], rows[n, 3]) for n, i in enumerate(found)]
                value[k] = float(rows.mean(0) @ w)
                tie[k] = float(gaps[k][row >= 0].mean())
    proposals: list[Proposal] = []
    taken: list[Place] = []
    ranks = rank_weights()
    for k in np.lexsort((tie, -np.round(value, 9))):
        place = places[k]
        if any(_same(place, other) for other in taken):
            continue
        rank = len(proposals) + 1
        reason = _reason(place, target, near[k], w)
        proposals.append(Proposal(rank, place.anchor, place.side, place.orientation, ranks[rank - 1], reason))
        taken.append(place)
        if len(proposals) == MAX_PROPOSALS:
            break
    return tuple(proposals)


def _orientation_likeness(place: Place, other: ShelfObject, unknown: float) -> float:
    known = other.nature.orientation
    if known is None:
        return unknown
    sure = other.nature.confidence("orientation")
    return sure * float(known == place.orientation) + (1 - sure) * unknown


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
