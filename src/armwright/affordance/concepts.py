"""The regions as words: what people call each, which phrasings and categories no training ever sees."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from armwright.assets.catalog import CATALOG
from armwright.core.errors import CacheError
from armwright.core.task import REGIONS, RegionName

HOLD_OUT_EVERY = 5
"""Every fifth phrasing of a concept, in the order of their SHA-256, is held out."""


@dataclass(frozen=True)
class Concept:
    """One region and its phrasings.

    Attributes:
        region: Its name in the published list.
        phrases: Phrasings that training may use; ``{thing}`` stands for the object's noun.
        held_out_phrases: Phrasings that only the report uses.
        unjudged_with: A category with one of these regions that does not list this one says nothing about it.
        unjudged_on: Categories that say nothing about it although they do not list it; ``*`` for all.
    """

    region: RegionName
    phrases: tuple[str, ...]
    held_out_phrases: tuple[str, ...]
    unjudged_with: tuple[RegionName, ...]
    unjudged_on: tuple[str, ...]

    def judges_absence(self, category: str, regions: frozenset[RegionName]) -> bool:
        """Return whether a category with these regions, this one not among them, counts as lacking it."""
        return not (
            self.region in regions
            or "*" in self.unjudged_on
            or category in self.unjudged_on
            or regions.intersection(self.unjudged_with)
        )


@dataclass(frozen=True)
class Vocabulary:
    """All concepts in the order of the published list, and the categories held out of training."""

    concepts: tuple[Concept, ...]
    held_out_categories: tuple[str, ...]

    def concept(self, region: RegionName) -> Concept:
        """Return the concept of a region."""
        return self.concepts[REGIONS.index(region)]

    def training_categories(self) -> tuple[str, ...]:
        """Return the catalogue without the categories held out."""
        return tuple(name for name in CATALOG if name not in self.held_out_categories)

    def frozen_digest(self) -> str:
        """Return the SHA-256 of everything that was fixed before training: phrasings, split, categories held out."""
        lines = [f"category {name}" for name in self.held_out_categories]
        for one in self.concepts:
            lines += [f"{one.region} train {phrase}" for phrase in one.phrases]
            lines += [f"{one.region} held {phrase}" for phrase in one.held_out_phrases]
            lines += [f"{one.region} unjudged {name}" for name in (*one.unjudged_with, *one.unjudged_on)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def split_phrases(region: RegionName, phrases: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the phrasings for training and those held out; the region's own name is always for training."""
    ordered = sorted(phrases, key=lambda phrase: hashlib.sha256(phrase.encode()).hexdigest())
    others = [phrase for phrase in ordered if phrase != region.lower()]
    held = set(others[HOLD_OUT_EVERY - 1 :: HOLD_OUT_EVERY])
    return tuple(p for p in phrases if p not in held), tuple(p for p in phrases if p in held)


@cache
def vocabulary() -> Vocabulary:
    """Read the concepts that ship with the package.

    Raises:
        CacheError: The file is missing or damaged.
    """
    path = files("armwright.affordance") / "data" / "concepts.yaml"
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        concepts = []
        for region in REGIONS:
            entry = data["concepts"][region]
            train, held = split_phrases(region, tuple(entry["phrases"]))  # type: ignore[arg-type]
            concepts.append(
                Concept(region, train, held, tuple(entry["unjudged_with"]), tuple(entry["unjudged_on"]))  # type: ignore[arg-type]
            )
        return Vocabulary(tuple(concepts), tuple(data["held_out_categories"]))
    except (OSError, KeyError, TypeError, yaml.YAMLError) as error:
        raise CacheError(f"cannot read {path}: {error}.", hint="Install armwright again.") from error
