"""The describer `gt-labels`: true descriptions of given masks, simulated, so that mapping can be measured by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.core.camera import RgbdFrame
from armwright.perception.describers import WORLD_UP
from armwright.perception.descriptions import Description
from armwright.shelf.products import Product
from armwright.shelf.records import Orientation
from armwright.shelf.worlds import ShelfWorld
from armwright.sim.segmenter import SimulatedSegmenter


class TrueLabels:
    """Says of each mask what most of its pixels truly show (OMAR §V, GT-Labels); masks of no object stay unnamed.

    Args:
        world: In which the frames were taken; ask before anything moves.
    """

    name = "gt-labels"
    note = ""

    def __init__(self, world: ShelfWorld) -> None:
        self._truth = SimulatedSegmenter(world.world, faults="none")
        self._numbers = self._truth.object_ids()
        self._natures: dict[str, tuple[Product, Orientation]] = {
            o.id: (o.product, o.orientation) for o in world.truth_objects()
        }
        self._seen: dict[int, tuple[RgbdFrame, NDArray[np.int32]]] = {}

    def describe(
        self, frame: RgbdFrame, masks: Sequence[NDArray[np.bool_]], *, up: ArrayLike = WORLD_UP
    ) -> list[Description]:
        """Return one true description per mask (see `Describer.describe`)."""
        if id(frame) not in self._seen:
            self._seen[id(frame)] = frame, self._truth.true_labels(frame)
        labels = self._seen[id(frame)][1]
        return [self._said(labels[mask]) for mask in masks]

    def _said(self, pixels: NDArray[np.int32]) -> Description:
        number = int(np.bincount(pixels, minlength=1).argmax()) if len(pixels) else 0
        if number == 0:
            return Description("", confidence=0.1)
        product, orientation = self._natures[self._numbers[number - 1]]
        return Description(
            product.label, product.content, product.packaging, product.edible, orientation, product.extent_m, 1.0
        )
