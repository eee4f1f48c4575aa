"""Metrics of the shelf application: mapped instances, boxes, labels, success, and paired tests (OMAR §V-C)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.stats import wilcoxon

from armwright.core.errors import UsageError
from armwright.shelf.likeness import text_likeness
from armwright.shelf.neighbours import corners
from armwright.shelf.records import Box, ShelfObject, Vector

Array = NDArray[np.float64]
LABEL_LIKENESS = 0.6
"""Cosine from which two labels name the same thing."""
MATCH_IOU = 0.10
"""Overlap from which a mapped box may stand for a true one: enough to be the same place, little enough that a box seen
only from the front still counts."""
SUCCESS_M = 0.06
UNMOVED_M = 0.02
UPRIGHT_COS = float(np.cos(np.radians(15.0)))


def iou(a: Sequence[Box], b: Sequence[Box]) -> Array:
    """Return the intersection over union of every pair of boxes (len(a), len(b))."""
    (low_a, high_a), (low_b, high_b) = corners(a), corners(b)
    edges = np.minimum(high_a[:, None], high_b[None]) - np.maximum(low_a[:, None], low_b[None])
    shared = np.clip(edges, 0, None).prod(2)
    whole = (high_a - low_a).prod(1)[:, None] + (high_b - low_b).prod(1)[None] - shared
    return np.asarray(shared / whole)


@dataclass(frozen=True)
class MappingScore:
    """How well a map matches the truth, shares of 0 to 1.

    Attributes:
        f1_label: F1 of labels: a matched pair whose labels are alike is right; every other mapped or true object is
            wrong.
        box_iou: Mean IoU over all true objects, 0 for one that is not matched.
        instances: Share of true objects that are matched.
        spurious: Mapped objects that match none.
        true, mapped: Counts.
    """

    f1_label: float
    box_iou: float
    instances: float
    spurious: int
    true: int
    mapped: int


def score_mapping(truth: Sequence[ShelfObject], mapped: Sequence[ShelfObject]) -> MappingScore:
    """Compare a map with the truth, in the shelf frame.

    Objects are matched one to one so that the summed IoU is largest, pairs below ``MATCH_IOU`` excluded. Labels are
    alike from a cosine of ``LABEL_LIKENESS`` of the package's text embeddings.
    """
    overlap = iou([o.box for o in truth], [o.box for o in mapped])
    overlap = np.where(overlap >= MATCH_IOU, overlap, 0.0)
    rows, columns = linear_sum_assignment(-overlap)
    pairs = [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if overlap[i, j] > 0]
    right = sum(
        text_likeness(truth[i].nature.label or "", mapped[j].nature.label or "") >= LABEL_LIKENESS
        for i, j in pairs
        if mapped[j].nature.label
    )
    total = len(truth) + len(mapped)
    return MappingScore(
        2 * right / total if total else 1.0,
        sum(float(overlap[i, j]) for i, j in pairs) / len(truth) if truth else 1.0,
        len(pairs) / len(truth) if truth else 1.0,
        len(mapped) - len(pairs),
        len(truth),
        len(mapped),
    )


@dataclass(frozen=True)
class PlacementScore:
    """How a placement ended.

    Attributes:
        success: All components ran and the object is within ``SUCCESS_M`` of the planned place.
        upright: Its up axis is within 15° of the planned one.
        neighbours_still: No other object moved by ``UNMOVED_M`` or more.
        error_m: Distance to the planned place [m].
    """

    success: bool
    upright: bool
    neighbours_still: bool
    error_m: float


def score_placement(
    planned_m: Vector,
    placed_m: Vector,
    *,
    executed: bool,
    planned_up: Vector = (0.0, 0.0, 1.0),
    placed_up: Vector = (0.0, 0.0, 1.0),
    moved_m: Sequence[float] = (),
) -> PlacementScore:
    """Judge a placement (OMAR §V-C, SR; the last two are reported besides).

    Args:
        planned_m, placed_m: Centres in the shelf frame [m].
        executed: Whether every component of the run did its part.
        planned_up, placed_up: The object's own up axis in the shelf frame, unit vectors.
        moved_m: How far each other object moved [m].
    """
    error = float(np.linalg.norm(np.subtract(planned_m, placed_m)))
    return PlacementScore(
        executed and error <= SUCCESS_M,
        float(np.dot(planned_up, placed_up)) >= UPRIGHT_COS,
        all(m < UNMOVED_M for m in moved_m),
        error,
    )


@dataclass(frozen=True)
class Paired:
    """Two methods on the same runs.

    Attributes:
        n: Runs.
        mean_a, mean_b: Means.
        error_a, error_b: Standard errors of the means.
        p: Of the two-sided Wilcoxon signed-rank test; 1 if no run differs.
    """

    n: int
    mean_a: float
    mean_b: float
    error_a: float
    error_b: float
    p: float


def compare(a: Sequence[float] | Array, b: Sequence[float] | Array) -> Paired:
    """Compare paired values of two methods.

    Raises:
        UsageError: The two differ in length, or there are none.
    """
    x, y = np.asarray(a, float).ravel(), np.asarray(b, float).ravel()
    if x.shape != y.shape or not len(x):
        raise UsageError(
            f"a paired test needs as many values of both methods, at least one, got {len(x)} and {len(y)}."
        )
    p = float(wilcoxon(x, y, alternative="two-sided").pvalue) if np.any(np.abs(x - y) > 1e-12) else 1.0
    return Paired(len(x), float(x.mean()), float(y.mean()), _error(x), _error(y), p)


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
