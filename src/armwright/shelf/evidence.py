"""Which attributes explain how a shelf is arranged: a likelihood over swaps of its objects.

Model: the objects of this shelf are given, and so are its places; which object stands where has probability
proportional to exp(sum over attributes a of b_a T_a), T_a the summed likeness in a of neighbours. b_a = 0 is
indifference to a. For two objects i and j, given everything else, the arrangement that is seen beats the one with i
and j exchanged with probability sigmoid(sum_a b_a D_a), D_a what the exchange would cost in T_a. The product over all
pairs is a pairwise composite likelihood: no permutation is drawn, the normalising constant cancels, and attributes
that only follow others are explained away because all b_a are fitted together. Its logarithm is scaled to n / 2
comparisons, the exchanges that can share no object. The prior on b_a is normal about a weak preference, cut at 0;
weights follow the mode of the posterior.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_expit

from armwright.shelf.graph import SceneGraph
from armwright.shelf.likeness import confidence, likeness
from armwright.shelf.neighbours import corners, nearest
from armwright.shelf.records import ATTRIBUTES, Attribute, Described

Array = NDArray[np.float64]
REACH_M = 0.05
"""Neighbours count with exp(-gap / REACH_M): things far apart say little about each other [m]."""
PRIOR_MEAN = np.full(len(ATTRIBUTES), 0.2)
"""What is assumed of a shelf before it is seen: a little of each."""
PRIOR_SPREAD = 0.5
SHARPNESS = 1.5
"""Weights are strengths to this power: the prior holds weak attributes up, the strong ones down."""
STRONG = 3.84
"""Twice a log-likelihood ratio that chance exceeds once in 20 times: called strong in words."""


@dataclass(frozen=True)
class AttributeEvidence:
    """What a shelf says of one attribute.

    Attributes:
        weight: Share of the weight, all attributes summing to 1.
        strength: b_a, the mode of the posterior.
        log_ratio: Twice the logarithm of the likelihood ratio of the best b_a to b_a = 0, others refitted.
        agreement: Mean likeness of neighbours, 0 to 1, near ones counting more.
        chance: Mean likeness of all pairs on the shelf.
        pairs: Neighbouring pairs.
    """

    weight: float
    strength: float
    log_ratio: float
    agreement: float
    chance: float
    pairs: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a shelf says of all attributes.

    Attributes:
        attributes: Attribute -> evidence.
        chance: Mean likeness of all pairs, in the order of ``ATTRIBUTES`` (4,).
    """

    attributes: Mapping[Attribute, AttributeEvidence]
    chance: Array

    def weights(self) -> dict[Attribute, float]:
        """Return attribute -> weight."""
        return {name: one.weight for name, one in self.attributes.items()}


def infer(graph: SceneGraph) -> Evidence:
    """Infer which attributes explain the arrangement of a shelf."""
    natures = [o.nature for o in graph.objects]
    n = len(natures)
    like, chance = settled(natures, natures)
    adjacency = _adjacency(graph)
    gains = _swap_costs(adjacency, like)
    scale = n / 2 / max(len(gains), 1)
    full = _fit(gains, scale, free=np.ones(len(ATTRIBUTES), bool), prior=True)
    sharp = (full if full.sum() > 0 else PRIOR_MEAN) ** SHARPNESS
    weights = sharp / sharp.sum()
    best = _fit(gains, scale, free=np.ones(len(ATTRIBUTES), bool), prior=False)
    pairs = int((np.triu(adjacency) > 0).sum())
    total = adjacency.sum()
    found: dict[Attribute, AttributeEvidence] = {}
    for k, name in enumerate(ATTRIBUTES):
        without = _fit(gains, scale, free=np.arange(len(ATTRIBUTES)) != k, prior=False)
        ratio = 2 * scale * float(log_expit(gains @ best).sum() - log_expit(gains @ without).sum())
        agreement = float((adjacency * like[:, :, k]).sum() / total) if total > 0 else float(chance[k])
        found[name] = AttributeEvidence(
            float(weights[k]), float(full[k]), max(ratio, 0.0), agreement, float(chance[k]), pairs
        )
    return Evidence(found, chance)


def settled(a: list[Described], b: list[Described], *, chance: Array | None = None) -> tuple[Array, Array]:
    """Return likeness without unknowns (len(a), len(b), 4), and the chance level (4,).

    What is unknown or unsure moves towards the chance level: the mean over pairs that are known, 0.5 without any.
    """
    like, sure = likeness(a, b), confidence(a, b)
    if chance is None:
        chance = np.full(len(ATTRIBUTES), 0.5)
        others = ~np.eye(len(a), len(b), dtype=bool) if a is b else np.ones((len(a), len(b)), bool)
        for k in range(len(ATTRIBUTES)):
            known = others & np.isfinite(like[:, :, k])
            if known.any():
                chance[k] = like[:, :, k][known].mean()
    return np.asarray(np.where(sure > 0, sure * np.nan_to_num(like) + (1 - sure) * chance, chance)), chance


def _adjacency(graph: SceneGraph) -> Array:
    """Return how near neighbours are (n, n): exp(-gap / REACH_M), 0 for those that are none."""
    low, high = corners([o.box for o in graph.objects])
    index, gap = nearest(low, high, np.array([graph.board[o.id] for o in graph.objects], np.intp))
    out = np.zeros((len(graph.objects),) * 2)
    for i, (row, gaps) in enumerate(zip(index, gap, strict=True)):
        for j, g in zip(row, gaps, strict=True):
            if j >= 0:
                out[i, j] = out[j, i] = max(out[i, j], float(np.exp(-g / REACH_M)))
    return out


def _swap_costs(adjacency: Array, like: Array) -> Array:
    """Return what each exchange of two objects would cost in likeness of neighbours (pairs, 4)."""
    first, second = np.triu_indices(len(adjacency), 1)
    columns = []
    for k in range(like.shape[2]):
        layer = like[:, :, k].copy()
        np.fill_diagonal(layer, 1.0)
        cross = adjacency @ layer
        own = np.diag(cross)
        columns.append(
            own[first]
            + own[second]
            - cross[first, second]
            - cross[second, first]
            + 2 * adjacency[first, second] * (1 - layer[first, second])
        )
    return np.stack(columns, 1)


def _fit(gains: Array, scale: float, *, free: NDArray[np.bool_], prior: bool) -> Array:
    """Return the b that maximises the scaled log-likelihood (plus the log-prior), none negative, those not free 0."""
    # Without a prior a likelihood of perfectly sorted shelves grows for ever; the bound keeps the ratio finite.
    bounds = [(0.0, 8.0 if f else 0.0) for f in free]

    def loss(b: Array) -> tuple[float, Array]:
        margin = gains @ b
        value = -scale * float(log_expit(margin).sum())
        slope = -scale * (gains.T @ np.exp(log_expit(-margin)))
        if prior:
            value += float((((b - PRIOR_MEAN) / PRIOR_SPREAD) ** 2).sum()) / 2
            slope = slope + (b - PRIOR_MEAN) / PRIOR_SPREAD**2
        return value, slope

    start = np.where(free, PRIOR_MEAN, 0.0)
    return np.asarray(minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x)
