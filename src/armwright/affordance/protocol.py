"""The plug point for affordance models: points and a query in, a mask out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.core.task import AffordanceQuery


@dataclass(frozen=True, eq=False)
class ObjectCloud:
    """The canonical cloud of an object that a query is asked of (AffordSim §3.2).

    Attributes:
        object_id: Scene id.
        category: What kind of thing it is.
        points_m: (n, 3) float in the object's frame.
        normals: (n, 3) outward unit normals.
        part: (n,) part names where the cloud comes from a labelled model (only ``oracle`` may read it), else None.
        link: (n,) link names, or None.
    """

    object_id: str
    category: str
    points_m: Array
    normals: Array
    part: NDArray[np.str_] | None = None
    link: NDArray[np.str_] | None = None


@dataclass(frozen=True, eq=False)
class AffordanceMask:
    """The per-point answer to a query.

    Attributes:
        query: What was asked.
        mask: (n,) bool; empty where the region is absent.
        score: (n,) float in [0, 1].
        model: Name of the model that gave it.
        presence: How sure the model is that the object has the region at all, 0 to 1; None where it does not say.
    """

    query: AffordanceQuery
    mask: NDArray[np.bool_]
    score: Array
    model: str
    presence: float | None = None

    @property
    def status(self) -> Literal["present", "absent"]:
        """Say whether the region was found; ``absent`` is an answer, never the nearest other region."""
        return "present" if bool(self.mask.any()) else "absent"


@dataclass(frozen=True, eq=False)
class PhraseMask:
    """The per-point answer to a phrase; fields as in `AffordanceMask`."""

    phrase: str
    mask: NDArray[np.bool_]
    score: Array
    model: str
    presence: float

    @property
    def status(self) -> Literal["present", "absent"]:
        """Say whether what the phrase names was found."""
        return "present" if bool(self.mask.any()) else "absent"


@runtime_checkable
class AffordanceModel(Protocol):
    """Says which points of a cloud belong to the queried region; an empty mask is a normal answer."""

    @property
    def name(self) -> str: ...

    def predict(self, cloud: ObjectCloud, query: AffordanceQuery) -> AffordanceMask: ...


@runtime_checkable
class OpenVocabularyModel(AffordanceModel, Protocol):
    """An affordance model that can be asked in words as well."""

    def predict_phrases(self, cloud: ObjectCloud, phrases: Sequence[str]) -> tuple[PhraseMask, ...]: ...


def part_of(cloud: ObjectCloud, mask: AffordanceMask, own: NDArray[np.bool_]) -> tuple[ObjectCloud, AffordanceMask]:
    """Return some of a cloud's points, and the answer on them: a region is sought on a whole, and used on a part.

    Args:
        cloud: (n, 3) points.
        mask: The answer to a query about them.
        own: (n,) bool, the points that are kept.
    """
    labels = [None if names is None else names[own] for names in (cloud.part, cloud.link)]
    kept = ObjectCloud(cloud.object_id, cloud.category, cloud.points_m[own], cloud.normals[own], *labels)
    return kept, replace(mask, mask=mask.mask[own], score=mask.score[own])
