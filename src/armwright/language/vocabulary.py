"""The open part of the vocabulary: what people call the objects of the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from armwright.assets.catalog import CATALOG, CategoryInfo


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

    def match(self, words: list[str], start: int) -> NounMatch | None:
        """Return the longest catalog noun that begins at ``start``."""
        for length in range(min(self._longest, len(words) - start), 0, -1):
            found = self._table.get(tuple(words[start : start + length]))
            if found:
                return NounMatch(found[0], length, found[1])
        return None

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
