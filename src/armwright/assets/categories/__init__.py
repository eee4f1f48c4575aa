"""How every category is drawn and built, by name."""

from __future__ import annotations

from collections.abc import Mapping

from armwright.assets.categories import (
    appliances,
    bathroom,
    boxes,
    cookware,
    cutlery,
    desk,
    dippers,
    flatware,
    fruit,
    furniture,
    household,
    jars,
    jugs,
    machines,
    packages,
    produce,
    tools,
    vessels,
)
from armwright.assets.categories._kit import Category

MAKERS: Mapping[str, Category] = {
    category.name: category
    for family in (
        vessels,
        packages,
        produce,
        fruit,
        flatware,
        cookware,
        furniture,
        appliances,
        dippers,
        cutlery,
        tools,
        desk,
        bathroom,
        jugs,
        jars,
        boxes,
        machines,
        household,
    )
    for category in family.CATEGORIES
}
