"""Table III of OMAR: the reasoner beside equal weights, on scenes that one attribute dominates, by true attributes.

Weights come from experts on ten scenes per attribute; placements are judged with them on unseen sets of scenes.
Nothing is
perceived and no robot moves: a placement is the sampled free place with the highest P_sem, for Score the one with the
highest equally weighted fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.seeds import int_seed
from armwright.shelf.candidates import Candidates, sample_candidates
from armwright.shelf.experts import BUILT_IN, Expert, expert_weights
from armwright.shelf.fit import attribute_fits, candidate_fits, order_candidates, semantic_fit, semantic_scores
from armwright.shelf.graph import SceneGraph, build_graph
from armwright.shelf.reasoner import Reasoner
from armwright.shelf.records import ATTRIBUTES, Attribute, Orientation
from armwright.shelf.scenes import ShelfScene, dominated_scene
from armwright.shelf.score import rank_candidates

Array = NDArray[np.float64]
WEIGHT_SCENES = 10
TEST_SETS = 20
SCENES_PER_SET = 10


@dataclass(frozen=True, eq=False)
class DominanceRow:
    """One attribute of Table III; fits are shares, 0 to 1.

    Attributes:
        attribute: The dominating one.
        weights: The experts', for this attribute.
        ours, score, best: SF of the reasoner, of Score, and of the best free place by these weights: (sets, scenes).
        unplaced: Scenes in which the reasoner proposed nothing that fits; their SF counts as 0.
    """

    attribute: Attribute
    weights: Mapping[Attribute, float]
    ours: Array
    score: Array
    best: Array
    unplaced: int


def dominance_row(
    attribute: Attribute,
    seed: int,
    make: Callable[[Sequence[Orientation] | None], Reasoner],
    *,
    sets: int = TEST_SETS,
    scenes: int = SCENES_PER_SET,
    reorient: bool = False,
    experts: Sequence[Expert] = BUILT_IN,
) -> DominanceRow:
    """Run one attribute of Table III.

    Args:
        attribute: The dominating one.
        seed: Of all scenes; those that give the weights and those that are placed in never coincide.
        make: Returns the reasoner, given the orientations in which the target may be put down.
        sets: Unseen sets.
        scenes: Scenes of a set.
        reorient: Whether a box may be stood up or laid down; else the target keeps the orientation it is found in, so
            that orientation is an attribute of the target, not a choice.
        experts: Who gives the weights.
    """
    given = [dominated_scene(attribute, int_seed(seed, "weights", attribute, k)) for k in range(WEIGHT_SCENES)]
    weights = expert_weights(given, experts)
    ours, score, best = (np.zeros((sets, scenes)) for _ in range(3))
    unplaced = 0
    for i in range(sets):
        for k in range(scenes):
            one = dominated_scene(attribute, int_seed(seed, "test", attribute, i, k))
            allowed = None if reorient else (one.target_orientation,)
            graph = build_graph(one.shelf, one.records())
            target = one.target_record()
            places = sample_candidates(one.shelf, [o.box for o in one.objects], target, orientations=allowed)
            fit = semantic_fit(_fits(one, places), weights)
            chosen = _place(graph, one, make(allowed), places)
            unplaced += chosen is None
            ours[i, k] = fit[chosen] if chosen is not None else 0.0
            score[i, k] = fit[rank_candidates(graph, target, places)[0]]
            best[i, k] = fit.max()
    return DominanceRow(attribute, weights, ours, score, best, unplaced)


def _place(graph: SceneGraph, one: ShelfScene, reasoner: Reasoner, places: Candidates) -> int | None:
    target = one.target_record()
    reasoning = reasoner.reason(graph, target)
    score, away = semantic_scores(reasoning.proposals, one.shelf, graph.objects, places)
    by_map = semantic_fit(candidate_fits(graph, target, places), reasoning.attribute_weights)
    order = order_candidates(score, by_map, away)
    return int(order[0]) if len(order) else None


def _fits(one: ShelfScene, places: Candidates) -> Array:
    nature = one.target.nature(one.target_orientation)
    return attribute_fits(
        one.shelf, one.records(), nature, places.low_m, places.high_m, places.board, places.orientation
    )


__all__ = ["ATTRIBUTES", "DominanceRow", "dominance_row"]
