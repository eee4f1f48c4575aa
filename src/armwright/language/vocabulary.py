"""The open part of the vocabulary: what people call the objects of the catalog."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from armwright.assets.catalog import CATALOG, CategoryInfo
from armwright.models.embeddings import TextEmbedder, text_embedder

MIN_LIKENESS = 0.70
"""Cosine from which an unknown noun is taken for a category (``benchmarks/embeddings.py`` compares the choices)."""
MIN_MARGIN = 0.10
"""By how much the best category must beat the next."""


@dataclass(frozen=True)
class NounMatch:
    """A catalog noun found in a text: its category, how many words it took, and its number."""

    category: str
    length: int
    plural: bool


def plural_of(noun: str) -> str:
    """Return the English plural of a noun phrase (its last word is inflected)."""
    if noun.endswith("shelf"):
        return noun[:-1] + "ves"
    if noun.endswith("knife"):
        return noun[:-2] + "ves"
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    return noun + "s"


class Vocabulary:
    """Looks nouns up by longest match over the words of the catalog."""

    def __init__(self, catalog: Mapping[str, CategoryInfo] = CATALOG) -> None:
        self.catalog = catalog
        self._table: dict[tuple[str, ...], tuple[str, bool]] = {}
        for info in catalog.values():
            for word in (*info.words, info.name.replace("_", " ")):
                self._table.setdefault(tuple(word.split()), (info.name, False))
                self._table.setdefault(tuple(plural_of(word).split()), (info.name, True))
        self._longest = max(map(len, self._table))
        self._names: list[str] = []
        self._vectors: NDArray[np.float32] | None = None

    def match(self, words: list[str], start: int) -> NounMatch | None:
        """Return the longest catalog noun that begins at ``start``."""
        for length in range(min(self._longest, len(words) - start), 0, -1):
            found = self._table.get(tuple(words[start : start + length]))
            if found:
                return NounMatch(found[0], length, found[1])
        return None

    def ranked(self, noun: str, *, embedder: TextEmbedder | None = None) -> list[tuple[str, float]]:
        """Return (category, likeness) of an unknown noun, most alike first; empty if no word of it is known."""
        embedder = embedder or text_embedder()
        if self._vectors is None:
            self._names = [name for name, _ in self.phrases()]
            self._vectors = embedder.embed([phrase for _, phrase in self.phrases()])
        query = embedder.embed([noun])[0]
        if not query.any():
            return []
        best: dict[str, float] = {}
        for name, likeness in zip(self._names, self._vectors @ query, strict=True):
            best[name] = max(best.get(name, -1.0), float(likeness))
        return sorted(best.items(), key=lambda pair: -pair[1])

    def nearest(self, noun: str) -> str | None:
        """Return the category that an unknown noun most likely means, or None if that is not clear."""
        ranked = self.ranked(noun)
        if len(ranked) < 2 or ranked[0][1] < MIN_LIKENESS or ranked[0][1] - ranked[1][1] < MIN_MARGIN:
            return None
        return ranked[0][0]

    def suggestions(self, noun: str, *, n: int = 4) -> tuple[str, ...]:
        """Return the categories closest to an unknown noun: by spelling, then by meaning."""
        spelt = difflib.get_close_matches(noun, [phrase for _, phrase in self.phrases()], n=2, cutoff=0.75)
        found = [name for name, phrase in self.phrases() if phrase in spelt]
        found += [name for name, _ in self.ranked(noun)] or sorted(self.catalog)
        return tuple(dict.fromkeys(found))[:n]

    def words(self) -> set[str]:
        """Return every single word that occurs in a catalog noun."""
        return {word for phrase in self._table for word in phrase}

    def phrases(self) -> Iterable[tuple[str, str]]:
        """Yield (category, singular phrase)."""
        for info in self.catalog.values():
            for word in info.words:
                yield info.name, word


@lru_cache(maxsize=1)
def default_vocabulary() -> Vocabulary:
    """Return the vocabulary of the built-in catalog."""
    return Vocabulary()
