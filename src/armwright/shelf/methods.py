"""OMAR and the methods that it is compared with (§V): which map each uses, and who says where the target goes."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UnknownNameError
from armwright.core.pose import Pose
from armwright.perception.describers import WORLD_UP, Describer, Narrowed
from armwright.perception.descriptions import Description
from armwright.perception.segmenters import Segment, Segmenter
from armwright.shelf.records import Described, Shelf
from armwright.shelf.views import Blockers, shelf_samples, visibility
from armwright.shelf.worlds import panels_of

MapKind = Literal["full", "labels-only", "true-labels", "one-view"]
Chooser = Literal["reasoner", "score", "random"]


@dataclass(frozen=True)
class Method:
    """One column of the tables.

    Attributes:
        name: As it is called on the command line.
        title: As the paper calls it.
        map: Which map it uses; methods of one kind share it.
        chooser: Who ranks the places: the reasoner asked for, equal weights, or chance.
    """

    name: str
    title: str
    map: MapKind
    chooser: Chooser = "reasoner"


METHODS: dict[str, Method] = {
    one.name: one
    for one in (
        Method("gt-labels", "GT-Labels", "true-labels"),
        Method("ours", "OURS", "full"),
        Method("basic", "Basic", "labels-only"),
        Method("bl1", "BL1", "one-view"),
        Method("bl2", "BL2", "full", "random"),
        Method("score", "Score", "full", "score"),
    )
}
"""By name, in the order of the paper's columns."""
MAPPING: dict[MapKind, str] = {"true-labels": "gt-labels", "full": "ours", "labels-only": "basic", "one-view": "bl1"}
"""Which method's map is reported as its own."""
PLACED = ("ours", "bl1", "bl2")
"""Methods whose placing is executed unless others are asked for."""


def methods_of(names: Sequence[str]) -> tuple[Method, ...]:
    """Return methods by name, each once, in the order of the columns.

    Raises:
        UnknownNameError: There is none of a name.
    """
    for name in names:
        if name not in METHODS:
            raise UnknownNameError("shelf method", name, METHODS)
    return tuple(method for name, method in METHODS.items() if name in names)


class SharedSegmenter:
    """Another segmenter, asked once for each frame.

    Args:
        inner: Who is asked; frames are told apart as objects.
    """

    def __init__(self, inner: Segmenter) -> None:
        self._inner = inner
        self._found: dict[int, tuple[RgbdFrame, list[Segment]]] = {}

    def segment(self, frame: RgbdFrame, *, labels: Sequence[str] = ()) -> list[Segment]:
        """Return what the inner one found in this frame (see `Segmenter.segment`)."""
        if id(frame) not in self._found:
            self._found[id(frame)] = frame, self._inner.segment(frame, labels=labels)
        return self._found[id(frame)][1]


class SharedDescriber:
    """Another describer, asked once for the same masks in the same frame.

    Args:
        inner: Who is asked; what that took in computing time is in ``cpu_s``.
    """

    def __init__(self, inner: Describer) -> None:
        self._inner = inner
        self.name = inner.name
        self.note = ""
        self.cpu_s = 0.0
        self._said: dict[tuple[int, bytes], tuple[RgbdFrame, list[Description], str]] = {}

    def describe(
        self, frame: RgbdFrame, masks: Sequence[NDArray[np.bool_]], *, up: ArrayLike = WORLD_UP
    ) -> list[Description]:
        """Return what the inner one says (see `Describer.describe`)."""
        key = id(frame), b"".join(np.packbits(mask).tobytes() for mask in masks)
        if key not in self._said:
            start = time.process_time()
            said = self._inner.describe(frame, masks, up=up)
            self.cpu_s += time.process_time() - start
            self._said[key] = frame, said, self._inner.note
        _, said, self.note = self._said[key]
        return said


class NounsOnly(Narrowed):
    """The labels of *BL1* (OMAR §V): another describer's labels cut down to their noun, without attributes."""

    name = "nouns-only"

    def narrowed(self, said: Description) -> Description:
        """Return noun and confidence alone."""
        return Description(head_noun(said.label), confidence=said.confidence)


_PREPOSITION = re.compile(r"\s+(?:of|in|with|without|from|for|and|to|on|by)\s+")


def head_noun(label: str) -> str:
    """Return the noun that a label is about, as English puts it: the last word before the first preposition.

    ``creamy tomato soup`` is a soup, ``cream of mushroom`` a cream; words without letters do not count.
    """
    first = _PREPOSITION.split(label.strip(), maxsplit=1)[0]
    words = [word for word in first.split() if any(c.isalpha() for c in word)]
    return words[-1] if words else ""


def label_as_content(nature: Described) -> Described:
    """Return what a reasoner is told where only labels are known: the label says what is inside."""
    if nature.content is not None or nature.label is None:
        return nature
    sure = {**nature.confidences, "content": nature.confidences.get("label", 1.0)}
    return replace(nature, content=nature.label, confidences=sure)


def widest(frames: Sequence[RgbdFrame], shelf: Shelf, pose_world_shelf: Pose) -> int:
    """Return the index of the frame that shows most of the places on a shelf where labels may be."""
    samples = shelf_samples(shelf, pose_world_shelf)
    panels = Blockers(pose_world_shelf, np.array([(p.box.low_m, p.box.high_m) for p in panels_of(shelf)]))
    shown = [float(samples.weight[visibility(frame.camera, samples, panels) > 0].sum()) for frame in frames]
    return int(np.argmax(shown))
