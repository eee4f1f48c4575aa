"""What objects are made of: density, surface friction, and the colour a material has when none is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Material:
    """A material.

    Attributes:
        density_kg_m3: Density of the solid.
        friction: Sliding friction coefficient against a rubber finger pad.
        rolling_m: Lever of rolling resistance: soft things stop rolling sooner [m].
        colour: Colour name when the object's colour is not given, or None if any will do.
    """

    density_kg_m3: float
    friction: float
    colour: str | None = None
    rolling_m: float = 0.0003


MATERIALS: Mapping[str, Material] = {
    "ceramic": Material(2300.0, 0.7),
    "glass": Material(2500.0, 0.6),
    "plastic": Material(1050.0, 0.8),
    "metal": Material(2700.0, 0.6, "grey"),
    "steel": Material(7800.0, 0.6, "grey"),
    "wood": Material(650.0, 0.8, "brown"),
    "bamboo": Material(700.0, 0.8, "brown"),
    "paper": Material(800.0, 0.8),
    "cardboard": Material(700.0, 0.8, "brown"),
    "rubber": Material(1100.0, 1.0, rolling_m=0.001),
    "wicker": Material(450.0, 0.9, "brown"),
    "food": Material(1000.0, 0.8, rolling_m=0.001),
}
"""Named materials; ``metal`` is aluminium, ``paper`` and ``cardboard`` are pressed sheets."""
