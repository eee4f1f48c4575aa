"""The vocabulary of objects: what categories exist, what people call them, which regions they have."""

from __future__ import annotations

from collections.abc import Mapping

from armwright.assets.entries import (
    appliances,
    bathroom,
    cookware,
    cutlery,
    desk,
    flatware,
    fruit,
    furniture,
    household,
    jugs,
    packages,
    produce,
    tools,
    vessels,
)
from armwright.assets.entries._entry import COLOURS, CategoryInfo
from armwright.assets.imported import imported_entries
from armwright.core.errors import UnknownNameError

__all__ = ["BUILT_IN", "CATALOG", "COLOURS", "CategoryInfo", "category_info"]

BUILT_IN: Mapping[str, CategoryInfo] = {
    info.name: info
    for family in (
        vessels,
        packages,
        produce,
        fruit,
        flatware,
        cookware,
        furniture,
        appliances,
        cutlery,
        tools,
        desk,
        bathroom,
        jugs,
        household,
    )
    for info in family.ENTRIES
}
"""The parametric categories."""

CATALOG: Mapping[str, CategoryInfo] = {
    **BUILT_IN,
    **{name: info for name, info in imported_entries()[0].items() if name not in BUILT_IN},
}
"""What can be built: the user's own objects and the parametric categories, which no import can hide."""


def category_info(name: str) -> CategoryInfo:
    """Return what is known of a category.

    Raises:
        UnknownNameError: There is none of that name.
    """
    try:
        return CATALOG[name]
    except KeyError:
        raise UnknownNameError("category", name, CATALOG) from None
