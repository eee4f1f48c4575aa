"""Guess functional regions from part names; an object whose parts say nothing is held by its body."""

from __future__ import annotations

import re
from collections.abc import Mapping

from armwright.core.task import RegionName

_WORDS: tuple[tuple[RegionName, bool | None, str], ...] = (
    ("Openable Handle", True, r"handle|knob|pull|grip"),
    ("Graspable Handle", False, r"handle|grip|shaft|stem"),
    ("Graspable Lid", None, r"^lid|_lid|cap$|cover$|stopper"),
    ("Pour Out", None, r"spout|nozzle|beak|lip$"),
    ("Pour In", None, r"^rim|mouth|opening"),
    ("Graspable Rim", None, r"^rim|_rim|brim|^edge"),
    ("Containment", None, r"interior|inside|cavity|container_body"),
    ("Support Surface", None, r"tabletop|table_top|countertop|^top|shelf|^board|support_surface|seat"),
    ("Pushable Surface", True, r"door|drawer|front|panel"),
    ("Hook", None, r"hook|^peg"),
    ("Button", None, r"button|switch|^key|trigger|lever|pedal|dial"),
)
"""Region, whether its link must move (True), must not (False) or may (None), and what its parts are called."""


def guess_regions(parts: Mapping[str, bool]) -> dict[RegionName, tuple[str, ...]]:
    """Return region name -> parts.

    Args:
        parts: Part name -> whether its link moves, the root's parts first.
    """
    regions: dict[RegionName, tuple[str, ...]] = {}
    for region, moves, pattern in _WORDS:
        found = tuple(part for part, moving in parts.items() if re.search(pattern, part) and moves in (None, moving))
        if found:
            regions[region] = found
    taken = {part for found in regions.values() for part in found}
    body = tuple(part for part, moving in parts.items() if part not in taken and not moving) or tuple(parts)[:1]
    regions["Graspable Body"] = body
    return regions


def usual_grasp(regions: Mapping[RegionName, tuple[str, ...]]) -> RegionName:
    """Return the region that is held when a sentence names none."""
    order: tuple[RegionName, ...] = ("Graspable Handle", "Openable Handle", "Graspable Body")
    return next(region for region in order if region in regions)
