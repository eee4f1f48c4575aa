"""General facts about packaged things: which words say food, what can be eaten, what a label's words are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
import yaml

from armwright.models.embeddings import TextEmbedder, text_embedder

_NEIGHBOURS = 7
_LIKE = 0.45
_POURED, _DRY, _NAMED = 3.0, 1.5, 3.0


@dataclass(frozen=True)
class Facts:
    """The table ``data/general_facts.yaml``, whose comments say what each set of words is."""

    food: frozenset[str]
    not_food: frozenset[str]
    not_food_beside: frozenset[str]
    food_if_alone: frozenset[str]
    forms: frozenset[str]
    qualities: frozenset[str]
    print: frozenset[str]
    poured: frozenset[str]
    packagings: Mapping[str, str]

    @property
    def names(self) -> frozenset[str]:
        """Words that name what is inside."""
        return self.food | self.not_food | self.not_food_beside | self.food_if_alone | self.forms

    @property
    def words(self) -> frozenset[str]:
        """Every word of the table."""
        return self.names | self.qualities | self.print | frozenset(self.packagings)


@lru_cache(maxsize=1)
def general_facts() -> Facts:
    """Return the table that comes with the package."""
    said = yaml.safe_load((files("armwright.perception") / "data" / "general_facts.yaml").read_text(encoding="utf-8"))
    packagings = {word: kind for kind, words in said.pop("packagings").items() for word in words.split()}
    return Facts(packagings=packagings, **{name: frozenset(words.split()) for name, words in said.items()})


def content_of(words: Sequence[str], *, facts: Facts | None = None) -> str:
    """Return what the words of a label say is inside: without brand, qualities and packaging.

    Words that the table does not know count as brands if it knows another; a label of nothing else is taken whole.

    Args:
        words: In reading order, lower case.
        facts: The table.
    """
    facts = facts or general_facts()
    plain = [w for w in words if w not in facts.print and w not in facts.packagings]
    naming = [k for k, w in enumerate(plain) if w in facts.names]
    told = [w for w in plain if w not in facts.qualities] or plain
    if not naming:
        return " ".join(told)
    kept = plain[naming[0] : naming[-1] + 1]
    embedder = text_embedder()
    lead, trail = plain[: naming[0]], plain[naming[-1] + 1 :]
    kept += trail[:1] if trail and _common(trail[0], embedder) else []
    # A common word right before the first name belongs to it (black beans); an uncommon one is a brand.
    if lead and lead[-1] not in facts.qualities and _common(lead[-1], embedder):
        kept = [lead[-1], *kept]
    return " ".join(w for w in kept if w not in facts.qualities)


def edible_of(words: Sequence[str], *, facts: Facts | None = None) -> tuple[bool | None, float]:
    """Return whether what the words name is food or drink, None where they do not say, and how sure that is, 0 to 1.

    A word that is never food decides; then the words of food; then the likeness in meaning to both sets.

    Args:
        words: In reading order, lower case.
        facts: The table.
    """
    facts = facts or general_facts()
    said = set(words)
    never = len(said & facts.not_food)
    food = len(said & facts.food)
    if never and not (food and words[-1] in facts.food and never == 1 and words[0] in facts.not_food_beside):
        return False, 0.95 if not food else 0.85
    either = said & facts.food_if_alone
    if said & facts.not_food_beside and not food:
        return False, 0.7
    if food:
        return True, 0.95
    if either:
        return True, 0.7
    return _edible_by_meaning(words, facts)


def likely_packaging(words: Sequence[str], *, facts: Facts | None = None) -> dict[str, float]:
    """Return packaging -> how much more likely a label's words make it than it was; what is not named counts 1.

    What is poured is sold in cartons rather than boxes; a label may also name its package.

    Args:
        words: In reading order, lower case.
        facts: The table.
    """
    facts = facts or general_facts()
    naming = [w for w in words if w in facts.names]
    odds: dict[str, float] = {}
    if naming:
        poured = naming[-1] in facts.poured
        odds = {"carton": _POURED, "box": 1 / _POURED} if poured else {"carton": 1 / _DRY}
    for word in words:
        if word in facts.packagings:
            kind = facts.packagings[word]
            odds[kind] = odds.get(kind, 1.0) * _NAMED
    return odds


@lru_cache(maxsize=1)
def _examples() -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    facts = general_facts()
    words = (*sorted(facts.food), *sorted(facts.not_food))
    vectors = text_embedder().embed(words)
    edible = np.array([w in facts.food for w in words])
    return words, vectors, edible


def _edible_by_meaning(words: Sequence[str], facts: Facts) -> tuple[bool | None, float]:
    embedder = text_embedder()
    told = [w for w in words if w not in facts.qualities and w not in facts.print and w not in facts.packagings]
    told = [w for w in told if _common(w, embedder)]
    if not told:
        return None, 0.0
    _, vectors, edible = _examples()
    like = vectors @ embedder.embed([" ".join(told)])[0]
    near = np.argsort(-like)[:_NEIGHBOURS]
    weights = np.clip(like[near], 0, None) ** 2
    if like[near[0]] < _LIKE or weights.sum() <= 0:
        return None, 0.0
    share = float(weights[edible[near]].sum() / weights.sum())
    if 0.25 < share < 0.75:
        return None, 0.0
    return share > 0.5, 0.4 + 0.4 * abs(2 * share - 1)


def _common(word: str, embedder: TextEmbedder) -> bool:
    knows = getattr(embedder, "knows", None)
    return bool(knows(word)) if knows is not None else True
