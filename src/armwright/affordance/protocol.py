"""The plug point for affordance models: points and a query in, a mask out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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
    """The per-point answer: ``mask`` (n,) bool, ``score`` (n,) float in [0, 1], and the model that gave it."""

    query: AffordanceQuery
    mask: NDArray[np.bool_]
    score: Array
    model: str


@runtime_checkable
class AffordanceModel(Protocol):
    """Says which points of a cloud belong to the queried region; an empty mask is a normal answer."""

    @property
    def name(self) -> str: ...

    def predict(self, cloud: ObjectCloud, query: AffordanceQuery) -> AffordanceMask: ...
