"""Evidence for what an instance is called, gathered view by view (OMAR §IV-B)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armwright.perception.descriptions import Description, normalised

SIGMA_EXTENT_M = 0.04
SUPPORTING_VIEWS = 2
CONFIDENT = 0.7

UNKNOWN_EXTENT_WEIGHT = math.exp(-0.5)
"""Weight of evidence without a typical extent: as if it were one sigma off, so that silence does not pay."""


@dataclass(frozen=True)
class Hypothesis:
    """A label that was proposed for an instance.

    Attributes:
        label: As it was spelled first.
        evidence: A(label), the sum of s_d w_ext.
        observations: How many detections proposed it.
        best_confidence: The highest segmentation confidence among them.
        extent_sum_m, extent_weight: Sum of sorted typical extents weighted by s_d, and of the weights.
    """

    label: str
    evidence: float
    observations: int
    best_confidence: float
    extent_sum_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    extent_weight: float = 0.0

    @property
    def extent_m(self) -> tuple[float, float, float] | None:
        """The mean typical extent, sorted [m]; None where nobody gave one."""
        if self.extent_weight <= 0:
            return None
        x, y, z = (side / self.extent_weight for side in self.extent_sum_m)
        return x, y, z


Hypotheses = Mapping[str, Hypothesis]
"""An instance's hypotheses by normalised label."""


def extent_weight(observed_m: ArrayLike, typical_m: ArrayLike | None, *, sigma_m: float = SIGMA_EXTENT_M) -> float:
    """Return w_ext = exp(-‖sort(e_obs) - sort(e_typ)‖² / (2 σ²)), from 0 to 1 (OMAR §IV-B, σ = 0.04 m).

    The paper names a Gaussian over sorted extents and its σ; that the distance is Euclidean is our reading.

    Args:
        observed_m: (3,) sides seen, in any order.
        typical_m: (3,) sides of such an object, in any order; None gives `UNKNOWN_EXTENT_WEIGHT`.
        sigma_m: σ.
    """
    if typical_m is None:
        return UNKNOWN_EXTENT_WEIGHT
    off = np.sort(np.asarray(observed_m, float)) - np.sort(np.asarray(typical_m, float))
    return float(np.exp(-(off @ off) / (2 * sigma_m**2)))


def extent_penalty_m(observed_m: ArrayLike, typical_m: ArrayLike | None) -> float:
    """Return C_ext = mean_k |sort(e_obs)_k - sort(e_typ)_k| [m], 0 where no typical extent is known (OMAR §IV-B).

    The paper leaves the form open; a mean of metres adds to a distance of centres without a factor.

    Args:
        observed_m: (3,) sides of the detection, in any order.
        typical_m: (3,) typical sides of the candidate instance.
    """
    if typical_m is None:
        return 0.0
    off = np.sort(np.asarray(observed_m, float)) - np.sort(np.asarray(typical_m, float))
    return float(np.abs(off).mean())


def with_evidence(
    hypotheses: Hypotheses, description: Description, *, confidence: float, weight: float
) -> dict[str, Hypothesis]:
    """Return the hypotheses after one more detection: A^f(ℓ_d) = A^(f-1)(ℓ_d) + s_d w_ext(d, ℓ_d) (OMAR §IV-B).

    An empty label is no hypothesis.

    Args:
        hypotheses: A^(f-1).
        description: Of the detection.
        confidence: s_d, of its mask.
        weight: w_ext, from `extent_weight`.
    """
    key = normalised(description.label)
    if not key:
        return dict(hypotheses)
    sides = (0.0, 0.0, 0.0) if description.extent_m is None else sorted(description.extent_m)
    x, y, z = (confidence * side for side in sides)
    share = 0.0 if description.extent_m is None else confidence
    one = Hypothesis(description.label, confidence * weight, 1, confidence, (x, y, z), share)
    return pooled(hypotheses, {key: one})


def pooled(first: Hypotheses, second: Hypotheses) -> dict[str, Hypothesis]:
    """Return the hypotheses of two instances that turned out to be one: the evidence of each label adds up."""
    out = dict(first)
    for key, more in second.items():
        have = out.get(key)
        if have is None:
            out[key] = more
            continue
        a, b = have.extent_sum_m, more.extent_sum_m
        out[key] = Hypothesis(
            min(have.label, more.label),
            have.evidence + more.evidence,
            have.observations + more.observations,
            max(have.best_confidence, more.best_confidence),
            (a[0] + b[0], a[1] + b[1], a[2] + b[2]),
            have.extent_weight + more.extent_weight,
        )
    return out


def ranked(hypotheses: Hypotheses) -> tuple[Hypothesis, ...]:
    """Return all hypotheses, the most evidence first; then more observations, then the alphabet."""
    return tuple(sorted(hypotheses.values(), key=lambda h: (-h.evidence, -h.observations, normalised(h.label))))


def canonical(hypotheses: Hypotheses) -> Hypothesis | None:
    """Return ℓ* = argmax_ℓ A(ℓ), the canonical label, or None without hypotheses (OMAR §IV-B)."""
    order = ranked(hypotheses)
    return order[0] if order else None


def supported(hypothesis: Hypothesis | None) -> bool:
    """Return whether a label may veto: at least two observations, one of confidence >= 0.7 (OMAR §IV-B)."""
    return (
        hypothesis is not None
        and hypothesis.observations >= SUPPORTING_VIEWS
        and hypothesis.best_confidence >= CONFIDENT
    )
