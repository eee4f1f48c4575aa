"""How every category is drawn and built, by name."""

from __future__ import annotations

from collections.abc import Mapping

from armwright.assets.categories import appliances, cookware, flatware, fruit, furniture, packages, produce, vessels
from armwright.assets.categories._kit import Category

MAKERS: Mapping[str, Category] = {
    category.name: category
    for family in (vessels, packages, produce, fruit, flatware, cookware, furniture, appliances)
    for category in family.CATEGORIES
}
