"""Which detection shows which instance: candidates, costs, and one-to-one assignment (OMAR §IV-B)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.perception.boxes import box_center, box_overlap

MAX_CENTER_M = 0.15
MIN_OVERLAP = 0.1
"""Bounds of the geometric filter, which the paper does not print: about half a large package, and a thin front that
overlaps the side seen before only at their common edge."""


def center_distance(detections_m: Array, instances_m: Array) -> Array:
    """Return (d, i) ‖c_d - c_i‖ [m] of boxes (d, 2, 3) and (i, 2, 3)."""
    away = box_center(detections_m)[:, None] - box_center(instances_m)[None]
    return np.asarray(np.linalg.norm(away, axis=-1))


def geometric_candidates(
    detections_m: Array, instances_m: Array, *, max_center_m: float = MAX_CENTER_M, min_overlap: float = MIN_OVERLAP
) -> NDArray[np.bool_]:
    """Return (d, i) which instances each detection may show: centres near each other, and boxes that overlap.

    Args:
        detections_m, instances_m: Boxes (d, 2, 3) and (i, 2, 3).
        max_center_m: Largest distance of centres.
        min_overlap: Least overlap over the smaller box.
    """
    near = center_distance(detections_m, instances_m) <= max_center_m
    return np.asarray(near & (box_overlap(detections_m[:, None], instances_m[None]) >= min_overlap))


def semantic_veto(
    conflicting: NDArray[np.bool_], detection_supported: NDArray[np.bool_], instance_supported: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return (d, i) the matches that semantics rules out: a conflict, and both sides supported and confident.

    Args:
        conflicting: (d, i).
        detection_supported: (d,).
        instance_supported: (i,).
    """
    return np.asarray(conflicting & detection_supported[:, None] & instance_supported[None])


def association_cost(center_distance_m: Array, extent_penalty_m: Array, candidate: NDArray[np.bool_]) -> Array:
    """Return (d, i) C(d, i) = ‖c_d - c_i‖ + C_ext(d, i) [m], infinite for pairs that are no candidates (OMAR §IV-B)."""
    return np.where(candidate, center_distance_m + extent_penalty_m, np.inf)


def greedy_assignment(cost: Array) -> list[tuple[int, int]]:
    """Return pairs (d, i), each side at most once: always the cheapest pair among what is left (OMAR §IV-B).

    Renumbering detections or instances renumbers the answer, unless costs tie; then the lower numbers come first.

    Args:
        cost: (d, i), infinite where a pair is ruled out.
    """
    left = np.array(cost, float)
    pairs: list[tuple[int, int]] = []
    while left.size and np.isfinite(left.min()):
        d, i = np.unravel_index(int(np.argmin(left)), left.shape)
        pairs.append((int(d), int(i)))
        left[d], left[:, i] = np.inf, np.inf
    return pairs
