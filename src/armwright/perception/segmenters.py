"""Segmenters by name: from an RGB-D frame to one mask per object; other packages add theirs as entry points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.plugins import load_plugin, plugin_names

ENTRY_POINT_GROUP = "armwright.segmenters"
DEFAULT_SEGMENTER = "boundary"


@dataclass(frozen=True, eq=False)
class Segment:
    """One object in one image.

    Attributes:
        mask: (H, W) bool.
        confidence: 0 to 1.
    """

    mask: NDArray[np.bool_]
    confidence: float

    def __post_init__(self) -> None:
        if self.mask.ndim != 2 or self.mask.dtype != np.bool_:
            raise UsageError(f"a mask must be (H, W) bool, got {self.mask.shape} {self.mask.dtype}.")
        if not 0 <= self.confidence <= 1:
            raise UsageError(
                f"the confidence of a mask must be from 0 to 1, got {self.confidence}.",
                hint="Divide percentages by 100.",
            )


@runtime_checkable
class Segmenter(Protocol):
    """Finds the objects in a frame; what carries them (table, boards, walls, the robot) is no object."""

    def segment(self, frame: RgbdFrame, *, labels: Sequence[str] = ()) -> list[Segment]:
        """Return one segment per object, no pixel in two of them.

        Args:
            frame: What the camera saw.
            labels: What the objects may be called, for segmenters that are prompted with words.
        """
        ...


def segments_of(labels: NDArray[np.int32], confidence: Sequence[float] | NDArray[np.float32]) -> list[Segment]:
    """Return the segments of a label image (H, W), 0 background; ``confidence`` (labels + 1,) is by label."""
    there = np.bincount(labels.ravel(), minlength=1) > 0
    return [Segment(labels == k, float(np.clip(confidence[k], 0, 1))) for k in range(1, len(there)) if there[k]]


def _boundary() -> Segmenter:
    from armwright.perception.boundary import BoundarySegmenter

    return BoundarySegmenter()


def _planes() -> Segmenter:
    from armwright.perception.planes import PlaneSegmenter

    return PlaneSegmenter()


def _sam3() -> Segmenter:
    from armwright.perception.sam3 import Sam3Segmenter

    return Sam3Segmenter()


_BUILT_IN: dict[str, Callable[[], Segmenter]] = {"boundary": _boundary, "planes": _planes, "sam3": _sam3}


def segmenter_names() -> tuple[str, ...]:
    """Return every name that `segmenter` accepts, sorted."""
    return tuple(sorted({*_BUILT_IN, *plugin_names(ENTRY_POINT_GROUP)}))


@lru_cache(maxsize=4)
def segmenter(name: str = DEFAULT_SEGMENTER) -> Segmenter:
    """Build the segmenter of this name; networks are read once per process.

    Args:
        name: ``boundary`` (the built-in network), ``planes`` (geometry alone), ``sam3``, or one that an installed
            package offers: an entry point in ``armwright.segmenters`` that loads a callable without arguments.

    Raises:
        UnknownNameError: There is none of that name.
        UsageError: The entry point's object is no segmenter, or what the segmenter needs is not installed.
        CacheError: The network's file is missing or damaged.
    """
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    make = load_plugin(ENTRY_POINT_GROUP, name)
    if make is None:
        raise UnknownNameError("segmenter", name, segmenter_names())
    built = make()
    if not isinstance(built, Segmenter):
        raise UsageError(
            f"the segmenter {name!r} is a {type(built).__name__}, which has no segment().",
            hint="Its entry point must load a callable without arguments that returns a Segmenter.",
        )
    return built
