"""Scores of a placement: semantic fit SF, the reasoner's P_sem, and S(g, p) (OMAR §IV-D, Eq. 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import UsageError
from armwright.shelf.candidates import CLEARANCE_M, Candidates
from armwright.shelf.graph import SceneGraph
from armwright.shelf.likeness import likeness
from armwright.shelf.neighbours import boards, corners, nearest
from armwright.shelf.reasoner import Proposal
from armwright.shelf.records import (
    ATTRIBUTES,
    Attribute,
    Box,
    Described,
    Orientation,
    Shelf,
    ShelfObject,
    Side,
    Target,
    Vector,
)

Array = NDArray[np.float64]
MATCH_M = 0.10
"""A placement matches a proposal within this distance of the place that the proposal names [m]."""
EQUAL_WEIGHTS: Mapping[Attribute, float] = dict.fromkeys(ATTRIBUTES, 0.25)


def attribute_fits(
    shelf: Shelf,
    objects: Sequence[ShelfObject],
    nature: Described,
    low_m: Array,
    high_m: Array,
    board: NDArray[np.intp],
    orientation: Sequence[Orientation],
) -> Array:
    """Return C, P, E, O of the target at each of m places (m, 4).

    Each is a mean over the nearest neighbours to the left, right, front and behind: C of the content's likeness
    clipped to [0, 1], the others of equality, O with the orientation that the target takes at the place. Without a
    neighbour all are 0. The paper's own definition did not survive in its text; this is ours.

    Args:
        shelf: The shelf.
        objects: What truly stands on it.
        nature: The target's true description.
        low_m, high_m, board: The places (m, 3), (m, 3), (m,).
        orientation: The target's at each place, m of them.
    """
    low_o, high_o = corners([o.box for o in objects])
    index, _ = nearest(low_o, high_o, boards(shelf, low_o, high_o), at_low_m=low_m, at_high_m=high_m, at_board=board)
    natures = [o.nature for o in objects]
    if not objects or not len(low_m):
        return np.zeros((len(low_m), len(ATTRIBUTES)))
    table = np.nan_to_num(likeness([nature], natures))[0]
    present = index >= 0
    terms = table[index]
    placed, standing = np.array(orientation), np.array([n.orientation or "" for n in natures])
    terms[:, :, 3] = placed[:, None] == standing[index]
    total = (terms * present[:, :, None]).sum(1)
    return np.asarray(total / np.maximum(present.sum(1), 1)[:, None])


def candidate_fits(graph: SceneGraph, target: Target, candidates: Candidates) -> Array:
    """Return C, P, E, O of the target at each candidate, by what the graph holds (m, 4)."""
    return attribute_fits(
        graph.shelf,
        graph.objects,
        target.nature,
        candidates.low_m,
        candidates.high_m,
        candidates.board,
        candidates.orientation,
    )


def weight_vector(weights: Mapping[Attribute, float]) -> Array:
    """Return the weights in the order of ``ATTRIBUTES``, summing to 1 (4,).

    Raises:
        UsageError: One is missing or negative, or all are 0.
    """
    values = np.array([weights.get(name, np.nan) for name in ATTRIBUTES], float)
    if not np.isfinite(values).all() or values.min() < 0 or values.sum() <= 0:
        raise UsageError(f"the weights need {', '.join(ATTRIBUTES)}, none negative and not all 0, got {dict(weights)}.")
    return np.asarray(values / values.sum())


def semantic_fit(fits: Array, weights: Mapping[Attribute, float] = EQUAL_WEIGHTS) -> Array:
    """Return SF = w_c C + w_p P + w_e E + w_o O of each row (m,) (OMAR Eq. 4)."""
    return np.asarray(fits @ weight_vector(weights))


def named_place(anchor: Box, side: Side, size_m: Vector, *, gap_m: float = CLEARANCE_M) -> Box:
    """Return where a proposal says: flush beside the anchor, on its board, the target of that size [m].

    Args:
        anchor: The anchor's box.
        side: left, right, front or behind.
        size_m: The target's edges [m].
        gap_m: Distance from the anchor [m].
    """
    x, y, _ = anchor.center_m
    axis, sign = {"left": (1, 1), "right": (1, -1), "front": (0, -1), "behind": (0, 1)}[side]
    shift = sign * ((anchor.size_m[axis] + size_m[axis]) / 2 + gap_m)
    base = anchor.low_m[2]
    return Box((x + (shift if axis == 0 else 0.0), y + (shift if axis == 1 else 0.0), base + size_m[2] / 2), size_m)


def match_distances(
    proposal: Proposal, shelf: Shelf, anchors: Mapping[str, tuple[Box | None, int]], candidates: Candidates
) -> Array:
    """Return how far each candidate is from what a proposal names, infinite where it does not match (m,) [m].

    A candidate matches if it is on the anchor's board, its centre is on the proposal's side of the anchor and within
    ``MATCH_M`` of the place that is flush beside it, and it has the orientation, where the proposal names one. A
    proposal of a board matches all candidates on the board.
    """
    out = np.full(len(candidates), np.inf)
    anchor, board = anchors[proposal.anchor]
    on = candidates.board == board
    if proposal.orientation is not None:
        on &= np.array([o == proposal.orientation for o in candidates.orientation], bool)
    if not on.any():
        return out
    center = (candidates.low_m + candidates.high_m) / 2
    if anchor is None:
        out[on] = np.hypot(center[on, 0] - shelf.depth_m / 2, center[on, 1])
        return out
    size = candidates.high_m - candidates.low_m
    axis, sign = {"left": (1, 1), "right": (1, -1), "front": (0, -1), "behind": (0, 1)}[proposal.side]
    ahead = sign * (center[:, axis] - anchor.center_m[axis])
    reach = (anchor.size_m[axis] + size[:, axis]) / 2 + CLEARANCE_M
    distance = np.hypot(ahead - reach, center[:, 1 - axis] - anchor.center_m[1 - axis])
    matched = on & (ahead > 0) & (distance <= MATCH_M)
    out[matched] = distance[matched]
    return out


def semantic_scores(
    proposals: Sequence[Proposal], shelf: Shelf, objects: Sequence[ShelfObject], candidates: Candidates
) -> tuple[Array, Array]:
    """Return P_sem of each candidate and its distance to the place that gave it (m,), (m,) [m].

    P_sem is w_r of the best-ranked proposal that the candidate matches, else 0.
    """
    low, high = corners([o.box for o in objects])
    anchors: dict[str, tuple[Box | None, int]] = {
        o.id: (o.box, int(b)) for o, b in zip(objects, boards(shelf, low, high), strict=True)
    }
    anchors |= {f"board_{k}": (None, k) for k in range(len(shelf.boards_m))}
    score = np.zeros(len(candidates))
    away = np.full(len(candidates), np.inf)
    for proposal in sorted(proposals, key=lambda p: p.rank):
        distance = match_distances(proposal, shelf, anchors, candidates)
        new = (score == 0) & np.isfinite(distance)
        score[new], away[new] = proposal.weight, distance[new]
    return score, away


def order_candidates(score: Array, fit: Array, away_m: Array) -> NDArray[np.intp]:
    """Return the candidates with P_sem above 0, best first.

    Args:
        score: P_sem (m,).
        fit: Semantic fit to the map's neighbours by the reasoner's own weights (m,); it decides among equal P_sem,
            that is among the places that one proposal matches.
        away_m: Distance to the place that the proposal names (m,), which decides what is left [m].
    """
    order = np.lexsort((away_m, -np.round(fit, 9), -score))
    return np.asarray(order[score[order] > 0])


def pair_score(grasp_quality: float, semantic: float, feasible: bool) -> float:
    """Return S(g, p) = G_qual(g) · P_sem(p) · 1_feas(g, p) (OMAR §IV-D)."""
    return grasp_quality * semantic if feasible else 0.0
