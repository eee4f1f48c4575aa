"""The index of objects: what can be built, with which attributes; the same request always gives the same object."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from armwright.assets.catalog import BUILT_IN, CATALOG, COLOURS, CategoryInfo, category_info
from armwright.assets.imported import load_object
from armwright.core.errors import UsageError
from armwright.core.seeds import rng_for

if TYPE_CHECKING:
    from armwright.assets.categories._kit import Category
    from armwright.assets.model import ObjectModel

_CACHED_OBJECTS = 512
_NONE: Mapping[str, str] = {}


class Library:
    """Objects by category, attributes and instance number.

    An instance number is the seed of the parameter draw: ``mug`` 7 in red is the mug 7 in blue in another colour.
    """

    def __init__(self) -> None:
        self._build = functools.lru_cache(maxsize=_CACHED_OBJECTS)(_build)

    def categories(self) -> tuple[CategoryInfo, ...]:
        """Return what is known of every category, in the catalog's order."""
        return tuple(CATALOG.values())

    def search(
        self, category: str | None = None, attributes: Mapping[str, str] | None = None
    ) -> tuple[CategoryInfo, ...]:
        """Return the categories that match.

        Args:
            category: Name, or None for all.
            attributes: Only categories that are usually drawn in this ``colour``, or made of this ``material``;
                other keys are matched against the further attributes a category knows.

        Raises:
            UnknownNameError: There is no such category.
        """
        infos = self.categories() if category is None else (category_info(category),)
        wanted = attributes or _NONE
        return tuple(
            info
            for info in infos
            if all(value in self.attribute_values(info.name, key) for key, value in wanted.items())
        )

    def attribute_values(self, category: str, key: str) -> tuple[str, ...]:
        """Return the usual values of an attribute of a category, most usual first; empty if it has no such one.

        Raises:
            UnknownNameError: There is no such category.
        """
        from armwright.assets.categories._kit import SIZES

        info = category_info(category)
        if category not in BUILT_IN:
            return info.colours if key == "colour" else ()
        maker = _maker(category)
        usual = {"colour": info.colours, "material": maker.materials, "size": SIZES, **(maker.choices or {})}
        return usual.get(key, ())

    def further_attributes(self, category: str) -> tuple[str, ...]:
        """Return the attributes a category knows beside colour, material and size, such as a pot's ``lid``.

        Raises:
            UnknownNameError: There is no such category.
        """
        category_info(category)
        return tuple(_maker(category).choices or ()) if category in BUILT_IN else ()

    def build(self, category: str, *, instance: int = 0, attributes: Mapping[str, str] | None = None) -> ObjectModel:
        """Return an object, from the cache if it was built before.

        Args:
            category: Name in the catalog.
            instance: Seed of the parameter draw.
            attributes: ``colour``, ``material``, ``size`` (small, medium, large) and what else the category knows;
                those not given are drawn. Keys that it does not know are kept and change nothing.

        Raises:
            UnknownNameError: There is no such category.
            UsageError: A value that the attribute cannot take.
        """
        return self._build(category, int(instance), tuple(sorted((attributes or _NONE).items())))


@functools.cache
def default_library() -> Library:
    """Return the library of the parametric categories."""
    return Library()


def _maker(category: str) -> Category:
    from armwright.assets.categories import MAKERS

    category_info(category)
    return MAKERS[category]


def _build(category: str, instance: int, given: tuple[tuple[str, str], ...]) -> ObjectModel:
    from armwright.assets.categories._kit import Draw

    if category_info(category).name not in BUILT_IN:
        return load_object(category, dict(given))
    maker = _maker(category)
    attributes = _complete(maker, category_info(category), instance, dict(given))
    size = attributes["size"] if "size" in dict(given) else None
    params = maker.draw(Draw(rng_for(instance, "assets", category, "params"), size))
    return maker.build(params, attributes)


def _complete(maker: Category, info: CategoryInfo, instance: int, given: dict[str, str]) -> dict[str, str]:
    from armwright.assets.categories._kit import SIZES
    from armwright.assets.materials import MATERIALS

    allowed: dict[str, tuple[str, ...]] = {
        "colour": tuple(COLOURS),
        "material": tuple(MATERIALS),
        "size": SIZES,
        **(maker.choices or {}),
    }
    for key, values in allowed.items():
        if key in given and given[key] not in values:
            raise UsageError(f"{info.name} cannot have {key} {given[key]!r}.", hint=f"Allowed: {', '.join(values)}.")
    material = given.get("material", maker.materials[0])
    own = MATERIALS[material].colour if "material" in given else None
    colour = own or str(rng_for(instance, "assets", info.name, "colour").choice(info.colours))
    defaults = {"colour": colour, "material": material, "size": "medium"}
    defaults.update({key: values[0] for key, values in (maker.choices or {}).items()})
    return {**defaults, **given}
