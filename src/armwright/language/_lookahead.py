"""The state of cutting a sentence into items: what was read, what comes next, what was not understood."""

from __future__ import annotations

from armwright.language import _phrases as fixed
from armwright.language import lexicon as lex
from armwright.language._items import Item, ItemKind, Token
from armwright.language._noun_phrases import NounPhraseReader


class Lookahead:
    """Items so far, and questions about the words before and after a place.

    Attributes:
        items: Read so far.
        unknown: Indices of tokens not understood.
        conditions: Spans of tokens that say *when* to do something: nothing of the text may be done.
        imprecise: Those of phrases that name a spot on a thing, where only the thing is understood.
    """

    def __init__(self, tokens: list[Token], reader: NounPhraseReader) -> None:
        self._tokens = tokens
        self._words = [token.text for token in tokens]
        self._reader = reader
        self.items: list[Item] = []
        self.unknown: set[int] = set()
        self.imprecise: set[int] = set()
        self.conditions: list[tuple[int, int]] = []

    def _has(self, at: int, phrase: tuple[str, ...]) -> bool:
        return tuple(self._words[at : at + len(phrase)]) == phrase

    def _longest(self, at: int, table: object) -> tuple[str, ...] | None:
        for length in range(6, 0, -1):
            phrase = tuple(self._words[at : at + length])
            if len(phrase) == length and phrase in table:  # type: ignore[operator]
                return phrase
        return None

    def _add(self, kind: ItemKind, start: int, end: int, word: str = "") -> Item:
        item = Item(kind, (start, end), word or " ".join(self._words[start:end]))
        self.items.append(item)
        return item

    def _previous(self) -> Item | None:
        return self.items[-1] if self.items else None

    def _clause_ahead(self, at: int) -> bool:
        for k in range(at, min(at + 7, len(self._words))):
            if self._words[k] in lex.VERBS and self._words[k] not in ("hook", "set", "rest"):
                return True
            if self._words[k] in ",.;":
                return False
        return False

    def _clause_ends(self, at: int) -> bool:
        return at >= len(self._words) or self._words[at] in (".", ",", ";", "!", "?", "and", "then")

    def _acted(self) -> bool | None:
        """Return whether this sentence has asked for an action so far; None if it has said how things are."""
        for item in reversed(self.items):
            if item.kind in ("stop", "verb"):
                return item.kind == "verb"
            if item.kind in ("be", "exist"):
                return None
        return False

    def _ends_in_first(self, at: int) -> bool:
        """Return whether this clause ends in *first*: ``…, but open it first``."""
        end = next((k for k in range(at, len(self._words)) if self._clause_ends(k)), len(self._words))
        return self._words[end - 1] == "first" and end > at + 2

    def _after_noun(self) -> bool:
        previous = self._previous()
        return previous is not None and previous.kind == "np"

    def _using(self, at: int) -> bool:
        """Return whether *using* follows what shall be filled: the thing to pour from comes next."""
        poured = any(item.frame in ("pour", "fill") for item in self.items[-6:])
        return self._after_noun() and poured and not self._part_ahead(at + 1)

    def _after_be(self) -> bool:
        previous = self._previous()
        return previous is not None and previous.kind == "be"

    def _after_shift(self) -> bool:
        previous = self._previous()
        return previous is not None and previous.kind == "verb" and previous.frame in ("push", "pull")

    def _shifting(self) -> bool:
        """Return whether the last verb pushes or pulls, so that a side is the direction of its motion."""
        return next((i.frame in ("push", "pull") for i in reversed(self.items) if i.kind in ("verb", "be")), False)

    def _starts_noun(self, at: int) -> bool:
        if at >= len(self._words):
            return False
        word = self._words[at]
        if word in lex.DETERMINERS or word in ("it", "them") or word in lex.COLOUR_WORDS:
            return True
        return self._reader.starts_object(self._words, at)

    def _part_ahead(self, at: int) -> bool:
        words = self._words[at : at + 5]
        for k, word in enumerate(words):
            if word in lex.PARTS:
                return True
            if word in ("it", "them"):
                return k + 1 < len(words) and words[k + 1] in fixed.REGION_LEADS
            if word not in ("its", "the", "their", "onto", "on", "only", "just"):
                return False
        return False

    def _ordered(self) -> bool:
        """Return whether this clause began with *once*, *after* or *when*."""
        return len(self.items) > 1 and self.items[-2].kind == "order" and self.items[-2].word == "after"

    def _ensured(self, at: int) -> bool:
        """Return whether this sentence asks for a state: ``make sure the mug is on the plate``."""
        start = max((k + 1 for k in range(at) if self._words[k] in ".;!?\n"), default=0)
        said = self._words[start:at]
        return "ensure" in said or any(said[k : k + 2] == ["make", "sure"] for k in range(len(said)))

    def _relation_at(self, at: int) -> bool:
        return self._longest(at, lex.RELATION_PHRASES) is not None

    def _passive_before(self) -> bool:
        return not any(item.kind == "verb" for item in self.items)

    def _target_ahead(self, at: int) -> bool:
        while at < len(self._words) and self._words[at] in ("just", "right", "exactly", "only", "of"):
            at += 1
        return at < len(self._words) and self._reader.read(self._tokens, at) is not None

    def _after_determiner(self, at: int) -> bool:
        return at > 0 and self._words[at - 1] in lex.DETERMINERS
