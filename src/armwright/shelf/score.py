"""The baseline Score: placements ranked by the semantic fit with equal weights (OMAR §V-D, Table III)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.shelf.candidates import Candidates
from armwright.shelf.fit import EQUAL_WEIGHTS, candidate_fits, semantic_fit
from armwright.shelf.graph import SceneGraph
from armwright.shelf.places import free_places
from armwright.shelf.ranking import rank_places
from armwright.shelf.reasoner import Reasoning
from armwright.shelf.records import Orientation, Target


class ScoreReasoner:
    """All four attributes weigh the same, whatever the shelf."""

    name = "score"

    def __init__(self, *, orientations: Sequence[Orientation] | None = None) -> None:
        self._orientations = orientations

    def reason(self, graph: SceneGraph, target: Target) -> Reasoning:
        """Return up to five ranked placements."""
        places = free_places(graph, target, orientations=self._orientations)
        proposals = rank_places(graph, target, places, EQUAL_WEIGHTS)
        return Reasoning(
            "ok" if proposals else "no_place",
            proposals,
            "All attributes weigh the same; the shelf was not looked at for more.",
            dict(EQUAL_WEIGHTS),
            self.name,
        )


def rank_candidates(graph: SceneGraph, target: Target, candidates: Candidates) -> NDArray[np.intp]:
    """Return sampled placements by the equally weighted fit, best first (m,); equals keep their order."""
    fits = candidate_fits(graph, target, candidates)
    return np.asarray(np.argsort(-np.round(semantic_fit(fits), 9), kind="stable"))
