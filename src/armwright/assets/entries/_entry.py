"""One entry of the catalogue, and the colours that things come in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from armwright.core.task import RegionName

COLOURS: Mapping[str, tuple[float, float, float]] = {
    "red": (0.78, 0.11, 0.11),
    "green": (0.16, 0.55, 0.22),
    "blue": (0.13, 0.32, 0.72),
    "yellow": (0.93, 0.78, 0.15),
    "orange": (0.92, 0.48, 0.12),
    "purple": (0.46, 0.22, 0.60),
    "pink": (0.93, 0.55, 0.68),
    "brown": (0.45, 0.29, 0.16),
    "black": (0.10, 0.10, 0.11),
    "white": (0.92, 0.92, 0.90),
    "grey": (0.55, 0.56, 0.57),
}


@dataclass(frozen=True)
class CategoryInfo:
    """What language and scenes need to know of a category without building one.

    Attributes:
        name: Registry name.
        words: What people call it, singular, most usual first.
        regions: Region name -> part names.
        grasp: Region grasped when the sentence names none.
        colours: Colours an instance is drawn from when the sentence names none.
        size_m: Typical extent x, y, z [m], for layout before an instance is drawn.
        static: Fixed by nature.
        receives_in, receives_on: Something may be put in it, on it.
        fits_in_hand: A parallel gripper with 70 mm opening can hold it by its grasp region.
    """

    name: str
    words: tuple[str, ...]
    regions: Mapping[RegionName, tuple[str, ...]]
    grasp: RegionName
    size_m: tuple[float, float, float]
    colours: tuple[str, ...] = ("white", "red", "blue", "green", "yellow", "grey")
    static: bool = False
    receives_in: bool = False
    receives_on: bool = False
    fits_in_hand: bool = True
    extra: Mapping[str, str] = field(default_factory=dict)


BODY: RegionName = "Graspable Body"
HANDLE: RegionName = "Graspable Handle"
RIM: RegionName = "Graspable Rim"
