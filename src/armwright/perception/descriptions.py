"""What a describer says of an object, and when two such statements contradict each other (OMAR §IV-A, §IV-B)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from armwright.core.errors import UsageError, quoted
from armwright.models.embeddings import TextEmbedder, text_embedder

Attribute = Literal["content", "packaging", "edible", "orientation"]
ATTRIBUTES: tuple[Attribute, ...] = ("content", "packaging", "edible", "orientation")

Likeness = Callable[[str, str], float]
"""How alike two texts are in meaning, at most 1; it must be symmetric."""

SAME_MEANING = 0.6
"""Texts at least this alike say the same: the cosine at which the paper counts a label as right (§V-A)."""


@dataclass(frozen=True)
class Description:
    """One object as a describer sees it; what it does not know stays empty.

    Attributes:
        label: What the object is called (``tomato ketchup``).
        content: What is in it.
        packaging: ``box``, ``bottle``, ``can``, …
        edible: Food or drink, None where unknown.
        orientation: ``upright``, ``lying``, …
        extent_m: Typical sides of such an object, in any order [m].
        confidence: Of the describer, 0 to 1.
    """

    label: str
    content: str = ""
    packaging: str = ""
    edible: bool | None = None
    orientation: str = ""
    extent_m: tuple[float, float, float] | None = None
    confidence: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise UsageError(
                f"the confidence of {quoted(self.label)} must be from 0 to 1, got {self.confidence}.",
                hint="Divide percentages by 100.",
            )
        extent = self.extent_m
        if extent is not None and (len(extent) != 3 or not all(np.isfinite(side) and side > 0 for side in extent)):
            raise UsageError(
                f"the extent of {quoted(self.label)} must be three sides above 0 m, got {quoted(extent)}.",
                hint="Leave it out where it is not known.",
            )

    def value(self, attribute: Attribute) -> str:
        """Return an attribute after normalisation, empty where it is not known."""
        said = getattr(self, attribute)
        if isinstance(said, bool):
            return "yes" if said else "no"
        return normalised(said or "")


_ARTICLES = {"a", "an", "the", "some", "of"}


@lru_cache(maxsize=4096)
def normalised(text: str) -> str:
    """Return a text in small letters without punctuation, articles and plural endings: ``The Tomatoes!`` is tomato."""
    words = [word for word in re.findall(r"[^\W_]+", text.casefold()) if word not in _ARTICLES]
    return " ".join(_singular(word) for word in words)


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("oes", "xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def exactly(a: str, b: str) -> float:
    """Return 1 for texts that are equal after normalisation, else 0."""
    return float(normalised(a) == normalised(b))


def by_meaning(embedder: TextEmbedder | None = None) -> Likeness:
    """Return a likeness of texts: 1 where they are equal after normalisation, else the cosine of their embeddings."""
    network = text_embedder() if embedder is None else embedder

    @lru_cache(maxsize=4096)
    def likeness(a: str, b: str) -> float:
        first, second = sorted((normalised(a), normalised(b)))
        if first == second:
            return 1.0
        x, y = network.embed([first, second])
        return float(np.clip(x @ y, -1, 1))

    return likeness


def conflict(a: Description, b: Description, *, alike: Likeness = exactly) -> bool:
    """Return whether two descriptions contradict each other (OMAR §IV-B); symmetric, and never true of a with a.

    They do when any attribute that both state (content, packaging, edibility, orientation) differs after
    normalisation. If they share none, they do when both labels are nonempty and differ.

    Args:
        a, b: The descriptions.
        alike: Compares contents and labels, which are free text; they differ below `SAME_MEANING`.
    """
    shared = [name for name in ATTRIBUTES if a.value(name) and b.value(name)]
    for name in shared:
        first, second = a.value(name), b.value(name)
        if first != second and (name != "content" or alike(first, second) < SAME_MEANING):
            return True
    first, second = normalised(a.label), normalised(b.label)
    if shared or not first or not second:
        return False
    return first != second and alike(first, second) < SAME_MEANING
