"""Packaged products as data: what is printed on them, what they are, how large they are."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from armwright.core.errors import UsageError, in_one_line
from armwright.shelf.records import PLANAR, Described, Orientation, Packaging, Target, Vector

Category = Literal[
    "baking_and_pantry",
    "canned_goods",
    "condiments",
    "cleaning",
    "dairy",
    "dry_goods",
    "personal_care",
    "shelf_stable_drinks",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)
"""The paper's eight, non-exclusive (OMAR §V-B)."""
Metres = Annotated[float, Field(gt=0.02, lt=0.40)]


class Product(BaseModel):
    """One packaged product.

    Attributes:
        name: Unique, lower case, words joined by ``_``.
        words: What is printed on it, in reading order.
        content: What is inside, in plain words.
        categories: One or more.
        packaging: One of five types.
        edible: Food or drink.
        orientations: How it may stand on a shelf, the natural one first; only boxes and cartons may lie.
        extent_m: Width (label side), depth, height of the upright product [m].
        colours: Body and print, ``#rrggbb``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(_[a-z0-9]+)*$")]
    words: Annotated[tuple[str, ...], Field(min_length=1)]
    content: Annotated[str, Field(min_length=2)]
    categories: Annotated[tuple[Category, ...], Field(min_length=1)]
    packaging: Packaging
    edible: bool
    orientations: Annotated[tuple[Orientation, ...], Field(min_length=1)] = ("upright",)
    extent_m: tuple[Metres, Metres, Metres]
    colours: tuple[
        Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")],
        Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")],
    ]

    @model_validator(mode="after")
    def _lies_flat(self) -> Product:
        if "lying" in self.orientations and self.packaging not in PLANAR:
            raise ValueError(f"a {self.packaging} rolls when it lies; only {' and '.join(sorted(PLANAR))} may lie")
        return self

    @property
    def label(self) -> str:
        """The printed words as one text, in lower case."""
        return " ".join(self.words).lower()

    def size_m(self, orientation: Orientation) -> Vector:
        """Return edges (depth, width, height) in the shelf frame, label to the front or up [m]."""
        width, depth, height = self.extent_m
        upright = Target(self.nature("upright"), (depth, width, height))
        return upright.sizes()[orientation]

    def nature(self, orientation: Orientation) -> Described:
        """Return its true description."""
        return Described(self.label, self.content, self.packaging, self.edible, orientation)


def load_products(path: str | Path | None = None) -> tuple[Product, ...]:
    """Read a list of products.

    Args:
        path: A YAML file with a list of products; by default the list of the package.

    Raises:
        UsageError: Not readable, a wrong field, or a name that repeats.
    """
    if path is None:
        return _built_in()
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: no text, or no name that a file can have
        raise UsageError(
            f"cannot read the products in {path}: {in_one_line(error)}.", hint="Name a YAML file in UTF-8."
        ) from error
    return _parse(text, str(path))


@lru_cache(maxsize=1)
def _built_in() -> tuple[Product, ...]:
    return _parse((files("armwright.shelf") / "data" / "products.yaml").read_text(encoding="utf-8"), "products.yaml")


def _parse(text: str, name: str) -> tuple[Product, ...]:
    try:
        rows = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        if not isinstance(rows, list):
            raise UsageError(f"{name} holds no list of products.", hint="See docs/shelf_reasoning.md.")
        products = tuple(Product.model_validate(row) for row in rows)
    except yaml.YAMLError as error:
        raise UsageError(f"{name} is not YAML: {in_one_line(error)}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "a product"
        raise UsageError(f"{name}: {field}: {first['msg']}, got {first['input']!r}.") from error
    repeated = [n for n, count in Counter(p.name for p in products).items() if count > 1]
    if repeated:
        raise UsageError(f"{name} names these products more than once: {', '.join(repeated)}.")
    return products
