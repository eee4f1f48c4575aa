"""The nouns of the shelf: boxes, objects, the object to place, the shelf; plain records that a map or truth may fill.

The shelf frame stands in the middle of the shelf's front edge, on the floor of the shelf: x into the depth, so
*behind* is +x; y lateral, so *left* is +y as seen from the front; z up. Boxes are aligned with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, get_args

from armwright.core.errors import UsageError, quoted

Attribute = Literal["content", "packaging", "edible", "orientation"]
Packaging = Literal["box", "bottle", "can", "carton", "tube"]
Orientation = Literal["upright", "lying"]
Side = Literal["left", "right", "front", "behind", "on_board"]
Vector = tuple[float, float, float]

ATTRIBUTES: tuple[Attribute, ...] = get_args(Attribute)
PACKAGINGS: tuple[Packaging, ...] = get_args(Packaging)
ORIENTATIONS: tuple[Orientation, ...] = get_args(Orientation)
SIDES: tuple[Side, ...] = get_args(Side)
PLANAR: frozenset[Packaging] = frozenset({"box", "carton"})
"""Packaging with planar side faces: only these may lie, the others would roll (OMAR §III)."""
_UNSURE: Mapping[str, float] = {}


@dataclass(frozen=True)
class Box:
    """A box aligned with the shelf frame.

    Attributes:
        center_m: Centre (x, y, z) [m].
        size_m: Whole edge lengths along x, y, z [m].

    Raises:
        UsageError: A value is not finite, or an edge is not positive.
    """

    center_m: Vector
    size_m: Vector

    def __post_init__(self) -> None:
        numbers = (*self.center_m, *self.size_m)
        if len(numbers) != 6 or not all(map(math.isfinite, numbers)) or min(self.size_m) <= 0:
            raise UsageError(
                f"a box needs 3 finite metres and 3 positive edges, got {self.center_m!r} and {self.size_m!r}."
            )

    @classmethod
    def between(cls, low_m: Vector, high_m: Vector) -> Box:
        """Return the box between two corners [m]."""
        center, size = zip(*(((a + b) / 2, b - a) for a, b in zip(low_m, high_m, strict=True)), strict=True)
        return cls((center[0], center[1], center[2]), (size[0], size[1], size[2]))

    @property
    def low_m(self) -> Vector:
        """The corner with the smallest coordinates [m]."""
        (x, y, z), (a, b, c) = self.center_m, self.size_m
        return (x - a / 2, y - b / 2, z - c / 2)

    @property
    def high_m(self) -> Vector:
        """The corner with the largest coordinates [m]."""
        (x, y, z), (a, b, c) = self.center_m, self.size_m
        return (x + a / 2, y + b / 2, z + c / 2)


@dataclass(frozen=True)
class Described:
    """What is known of an object's nature; None where nothing is.

    Attributes:
        label: Name, such as ``tomato soup can``.
        content: What is inside, such as ``tomato soup``.
        packaging: One of the five types of the paper.
        edible: Food or drink.
        orientation: How it stands.
        confidences: Attribute -> how sure, 0 to 1; an attribute that is not listed is certain.
    """

    label: str | None = None
    content: str | None = None
    packaging: Packaging | None = None
    edible: bool | None = None
    orientation: Orientation | None = None
    confidences: Mapping[str, float] = field(default_factory=lambda: _UNSURE, hash=False)

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("packaging", self.packaging, PACKAGINGS),
            ("orientation", self.orientation, ORIENTATIONS),
        ):
            if value is not None and value not in allowed:
                raise UsageError(
                    f"{name} {quoted(value)} is none of {', '.join(allowed)}.", hint="Use None if unknown."
                )
        for name, sure in self.confidences.items():
            if not 0.0 <= sure <= 1.0:
                raise UsageError(f"the confidence of {quoted(name)} is {sure!r}; it must lie between 0 and 1.")

    def confidence(self, attribute: Attribute) -> float:
        """Return how sure the attribute is: 0 where it is unknown."""
        return 0.0 if getattr(self, attribute) is None else float(self.confidences.get(attribute, 1.0))


@dataclass(frozen=True)
class ShelfObject:
    """One object on the shelf.

    Attributes:
        id: Unique on this shelf.
        box: Where it is, in the shelf frame.
        nature: What it is.
    """

    id: str
    box: Box
    nature: Described


@dataclass(frozen=True)
class Target:
    """The object to place.

    Attributes:
        nature: What it is; its orientation is the one in which ``size_m`` holds.
        size_m: Edges (depth, width, height) as it would stand on a board [m].
    """

    nature: Described
    size_m: Vector

    def sizes(self) -> dict[Orientation, Vector]:
        """Return orientation -> edges (depth, width, height) [m]: those that its packaging allows (OMAR §III).

        A box is laid on its back, its top to the rear. What is not known to have planar sides stays as it is.
        """
        as_is: Orientation = self.nature.orientation or "upright"
        found: dict[Orientation, Vector] = {as_is: self.size_m}
        if self.nature.packaging in PLANAR:
            x, y, z = self.size_m
            if as_is == "upright":
                found["lying"] = (z, y, x)
            else:
                found["upright"] = (z, y, x)
        return found


@dataclass(frozen=True)
class Shelf:
    """A shelving unit.

    Attributes:
        width_m, depth_m: Inside [m].
        boards_m: Heights of the boards' upper faces, ascending [m].
        top_m: Height of what closes the uppermost compartment [m].
        thickness_m: Of a board [m].

    Raises:
        UsageError: No board, or heights that do not ascend.
    """

    width_m: float
    depth_m: float
    boards_m: tuple[float, ...]
    top_m: float
    thickness_m: float = 0.018

    def __post_init__(self) -> None:
        heights = (*self.boards_m, self.top_m)
        if not self.boards_m or any(b - a <= self.thickness_m for a, b in pairwise(heights)):
            raise UsageError(
                f"a shelf needs boards that ascend by more than {self.thickness_m:g} m up to its top, got {heights}.",
                hint="Give the heights of the boards' upper faces from the lowest up, and the top above them.",
            )
        if min(self.width_m, self.depth_m) <= 0:
            raise UsageError(f"a shelf's width and depth must be positive, got {self.width_m} and {self.depth_m}.")

    def clearance_m(self, board: int) -> float:
        """Return the free height above a board [m]."""
        above = (*self.boards_m[1:], self.top_m)[board]
        return above - self.boards_m[board] - (self.thickness_m if board + 1 < len(self.boards_m) else 0.0)

    def board_of(self, height_m: float) -> int:
        """Return the board whose height is nearest to that of a centroid (OMAR §IV-B)."""
        return min(range(len(self.boards_m)), key=lambda k: abs(self.boards_m[k] - height_m))
