"""The library's index: named instances of the categories, searchable by category and attributes."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from armwright.assets.catalog import BUILT_IN, CATALOG, category_info
from armwright.assets.library import Library, default_library
from armwright.core.errors import UnknownNameError

if TYPE_CHECKING:
    from armwright.assets.model import ObjectModel

PER_CATEGORY = 7
_SIZES = ("medium", "small", "large")

CONTENTS: Mapping[str, tuple[str, ...]] = {
    "can": ("soup", "coffee", "tuna", "beans", "tomatoes", "soda", "peas"),
    "box": ("sugar", "crackers", "chocolate", "cereal", "tea", "rice", "cheese crackers"),
    "carton": ("milk", "orange juice", "apple juice", "oat milk", "cream", "soup", "water"),
    "bottle": ("water", "ketchup", "oil", "wine", "vinegar", "juice", "soda"),
    "jar": ("jam", "honey", "pickles", "mustard", "coffee", "olives", "peanut butter"),
    "tube": ("toothpaste", "hand cream", "sun cream", "glue", "paint", "ointment", "mustard"),
    "soap_dispenser": ("soap", "shampoo", "lotion", "dish soap", "hair gel", "sanitizer", "body wash"),
    "spray_bottle": ("cleaner", "glass cleaner", "water", "plant spray", "bath cleaner", "degreaser", "starch"),
    "book": ("cookbook", "novel", "atlas", "dictionary", "diary", "textbook", "comic"),
}
"""What packaged goods say on their labels, one per instance in turn."""


@dataclass(frozen=True)
class Instance:
    """One named object of the library.

    Attributes:
        name: ``mug_03``; unique.
        category: Its category.
        instance: Seed of its parameter draw.
        attributes: Colour, material, size, and what its category knows beside them.
    """

    name: str
    category: str
    instance: int
    attributes: Mapping[str, str] = field(default_factory=dict)

    def build(self, library: Library | None = None) -> ObjectModel:
        """Return the object."""
        return (library or default_library()).build(self.category, instance=self.instance, attributes=self.attributes)


def _instances_of(category: str) -> tuple[Instance, ...]:
    library, info = default_library(), category_info(category)
    values = library.attribute_values
    materials = values(category, "material")
    made = []
    for k in range(PER_CATEGORY):
        # Colours and materials go round at different speeds, so that few instances share both.
        attributes = {
            "colour": info.colours[k % len(info.colours)],
            "material": materials[(k // 2) % len(materials)],
            "size": _SIZES[k % len(_SIZES)],
        }
        for key in library.further_attributes(category):
            options = values(category, key)
            attributes[key] = options[k % len(options)]
        if category in CONTENTS:
            attributes["label"] = CONTENTS[category][k % len(CONTENTS[category])]
        made.append(Instance(f"{category}_{k + 1:02d}", category, k, attributes))
    return tuple(made)


@functools.cache
def instances() -> tuple[Instance, ...]:
    """Return every named instance, in the catalogue's order; an imported object is one by its own name."""
    return tuple(
        one
        for category in CATALOG
        for one in (_instances_of(category) if category in BUILT_IN else (Instance(category, category, 0),))
    )


def instance(name: str) -> Instance:
    """Return the instance of that name.

    Raises:
        UnknownNameError: There is none.
    """
    for one in instances():
        if one.name == name:
            return one
    raise UnknownNameError("object", name, [one.name for one in instances()])


def find(categories: Sequence[str] = (), attributes: Mapping[str, str] | None = None) -> tuple[Instance, ...]:
    """Return the instances of the categories that have all the attributes.

    Args:
        categories: Names, or none for all.
        attributes: Values that must match, such as ``colour`` or ``label``.

    Raises:
        UnknownNameError: There is no such category, or no instance knows such an attribute.
    """
    for name in categories:
        category_info(name)
    wanted = dict(attributes or {})
    keys = {key for one in instances() for key in one.attributes}
    for key in wanted:
        if key not in keys:
            raise UnknownNameError("attribute", key, keys)
    return tuple(
        one
        for one in instances()
        if (not categories or one.category in categories)
        and all(one.attributes.get(key) == value for key, value in wanted.items())
    )
