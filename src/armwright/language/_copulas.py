"""Reads *is*, *stands*, *that is standing*: where something is, the state it is in, or the state asked for."""

from __future__ import annotations

from armwright.language import _phrases as fixed
from armwright.language import lexicon as lex
from armwright.language._items import NounPhrase
from armwright.language._lookahead import Lookahead


class CopulaReader(Lookahead):
    """Reads forms of *be* and the verbs of position."""

    def _imperative_be(self, at: int, word: str) -> bool:
        if word == "hangs":
            return not (self._after_noun() and self._relation_at(at + 1))
        return word in ("stand", "sit", "rest", "rests") and not self._after_noun() and word in lex.VERBS

    def _copula(self, at: int) -> int:
        end = at + 1
        colour = lex.COLOUR_WORDS.get(self._words[end]) if end < len(self._words) else None
        previous = self._previous()
        if self._words[at] == "be" and self._words[max(0, at - 2) : at] and self._relation_at(end):
            self._add("verb", at, end).frame = "go"
            return end
        state = self._words[end] if end < len(self._words) else ""
        if self._after_noun() and self._ensured(at):
            if self._relation_at(end):
                self._add("verb", at, end).frame = "go"
                return end
            if state in fixed.RESULTS or state == "opened":
                item = self._add("verb", at, end + 1)
                item.frame, item.form, item.passive = "open" if state.startswith("open") else "close", "past", True
                return end + 1
        if state in ("open", "opened") and previous is not None and previous.np is not None and self._ordered():
            item = self._add("verb", at, end + 1)
            item.frame, item.form, item.passive = "open", "past", True
            return end + 1
        if (
            colour
            and previous is not None
            and previous.np is not None
            and not self._reader.noun_soon(self._words, end + 1)
        ):
            previous.np.attributes.setdefault("colour", colour)
            previous.np.predicate = True
            return end + 1
        if (
            self._words[at] in ("sits", "stands", "lies", "rests", "hangs")
            or self._after_noun()
            or self._words[at] in ("is", "are")
        ):
            self._add("be", at, end)
            return end
        return at if self._words[at] in lex.VERBS else end

    def _located(self, at: int) -> int:
        """Return the end of ``that is standing`` when a relation follows, else ``at``."""
        k = at
        previous = self._previous()
        after_comma = previous is not None and previous.word == "," and self._words[at] in ("which", "that")
        if not self._after_noun() and not after_comma:
            return at
        while k < len(self._words) and (
            self._words[k] in fixed.LOCATED or self._words[k] in fixed.BE or self._words[k] == "'s"
        ):
            k += 1
        phrase = self._longest(k, lex.RELATION_PHRASES)
        if self._words[k : k + 1] and self._words[k] in ("contains", "holds", "has"):
            return k
        if phrase is None and self._words[k : k + 1]:
            if self._words[k] in lex.COLOUR_WORDS and self.items[-1].np is not None:
                self.items[-1].np.attributes.setdefault("colour", lex.COLOUR_WORDS[self._words[k]])
                return k + 1
            return at
        if phrase is None or (self._words[at] == "placed" and self._passive_before()):
            return at
        if self._words[at : at + 1] == ["that"] and k == at + 1:
            return at
        item = self._add("rel", at, k + len(phrase))
        item.phrase, item.explicit = lex.RELATION_PHRASES[phrase], True
        end = k + len(phrase)
        if phrase in fixed.HERE and self._clause_ends(end):
            self._add("np", k, end).np = NounPhrase("pronoun", "it", tokens=(k, end))
        return end
