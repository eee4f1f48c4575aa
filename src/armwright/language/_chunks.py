"""Cuts tokens into items: verbs, noun phrases, relations, connectives; and keeps what it cannot read."""

from __future__ import annotations

from armwright.language import _phrases as fixed
from armwright.language import lexicon as lex
from armwright.language._conditions import condition_at
from armwright.language._copulas import CopulaReader
from armwright.language._items import Item, NounPhrase
from armwright.language._leads import agent_end, lead_end
from armwright.language._measures import is_a_way, length_m
from armwright.language._noun_phrases import share_nouns


class Chunker(CopulaReader):
    """Turns tokens into items and remembers which tokens it did not understand."""

    def run(self) -> list[Item]:
        """Return the items of the sentence in order."""
        at = 0
        while at < len(self._tokens):
            at = self._step(at)
        share_nouns(self.items)
        return self.items

    def _step(self, at: int) -> int:
        for reader in (
            self._punctuation,
            self._condition,
            self._lead,
            self._connective,
            self._negation,
            self._ignored_phrase,
            self._existence,
            self._verb,
            self._relation,
            self._direction,
            self._noun_phrase,
            self._small_word,
        ):
            end = reader(at)
            if end > at:
                return end
        self.unknown.add(at)
        return at + 1

    def _punctuation(self, at: int) -> int:
        word = self._words[at]
        if word in ".;!?\n":
            self._add("stop", at, at + 1)
        elif word in ",:()":
            self._add("conn", at, at + 1, ",")
        else:
            return at
        return at + 1

    def _condition(self, at: int) -> int:
        """Note a condition: nothing of the text may be done."""
        end = condition_at(self._words, at, acted=self._acted())
        if end > at:
            self.conditions.append((at, end))
        return end

    def _lead(self, at: int) -> int:
        """Skip ``I would be glad if you could`` and ``have the robot``."""
        previous = self._previous()
        if previous is None or previous.kind == "stop":
            end = lead_end(self._words, at, wishes=self._wishes)
            if end > at:
                return end
        return agent_end(self._words, at)

    def _wishes(self, at: int) -> bool:
        """Return whether a state of things is asked for: ``want the mug on the plate``, ``have the lid on``."""
        word, following = self._words[at], self._words[at + 1 : at + 3]
        if word not in fixed.WISHES or not following or following[0] in ("you", "to"):
            return False
        if following[0] == "that" and not self._reader.noun_soon(self._words, at + 2):
            return False
        if agent_end(self._words, at) > at:
            return False
        return self._starts_noun(at + 1) or following[0] == "it"

    def _connective(self, at: int) -> int:
        word = self._words[at]
        previous = self._previous()
        if self._has(at, ("but", "first")) or self._has(at, ("but", "before", "that")):
            end = at + (2 if self._words[at + 1] == "first" else 3)
            self._add("order", at, end, "after")
            return end
        if word == "but" and self._ends_in_first(at):
            self._add("order", at, at + 1, "after")
            return at + 1
        for phrase in (
            ("and", "then"),
            ("after", "that"),
            ("after", "this"),
            ("then",),
            ("followed", "by"),
            ("once", "done"),
        ):
            if self._has(at, phrase):
                self._add("conn", at, at + len(phrase), "then")
                return at + len(phrase)
        if word in ("and", "&", "plus", "while"):
            self._add("conn", at, at + 1, "and")
            return at + 1
        if self._has(at, ("as", "well", "as")) or self._has(at, ("along", "with")):
            self._add("conn", at, at + 2 + (word == "as"), "and")
            return at + 2 + (word == "as")
        if word in ("before", "after", "once", "when", "until") or self._has(at, ("prior", "to")):
            end = at + (2 if word == "prior" else 1)
            if word == "until" and any(self._has(at, phrase) for phrase in fixed.IGNORED_PHRASES):
                return at
            if word != "before" or self._clause_ahead(end):
                if word == "once" and previous is None and not self._clause_ahead(end):
                    return at
                self._add("order", at, end, "before" if word in ("before", "prior", "until") else "after")
                return end
        if word == "as" and self._has(at, ("as", "soon", "as")):
            self._add("order", at, at + 3, "after")
            return at + 3
        return at

    def _negation(self, at: int) -> int:
        word = self._words[at]
        if (end := self._none(at)) > at:
            self._add("neg", at, end, "no")
            return end
        if (end := self._exception(at)) > at:
            self._add("neg", at, end, "except")
            return end
        if word in fixed.NEGATIONS or self._has(at, ("do", "n't")):
            end = at + (2 if word == "do" else 1)
            self._add("neg", at, end)
            return end
        if self._has(at, ("rather", "than")) or self._has(at, ("instead", "of")):
            self._add("neg", at, at + 2)
            return at + 2
        return at

    def _none(self, at: int) -> int:
        """Return the end of ``no``, ``none of``, ``neither`` or ``zero`` before a noun, else ``at``."""
        for phrase in fixed.NONE:
            end = at + len(phrase)
            if self._has(at, phrase) and end < len(self._words) and self._starts_noun(end):
                return end
        return at

    def _exception(self, at: int) -> int:
        """Return the end of ``except`` or ``but`` before what is left out of *all*, else ``at``."""
        taken = next((item.np for item in reversed(self.items[-1:]) if item.np is not None), None)
        every = taken is not None and (taken.every or taken.head == lex.EVERYTHING)
        every = every or self._words[at - 1 : at] == ["all"]
        for phrase in fixed.EXCEPTIONS:
            end = at + len(phrase)
            if self._has(at, phrase) and self._starts_noun(end) and (every or phrase[0] != "but"):
                return end
        return at

    def _ignored_phrase(self, at: int) -> int:
        phrase: tuple[str, ...]
        for phrase in fixed.HOLD_OF:
            if self._has(at, phrase):
                item = self._add("verb", at, at + len(phrase))
                item.frame = "pick"
                return at + len(phrase)
        for phrase in fixed.LET_GO:
            if self._has(at, phrase):
                self._add("verb", at, at + len(phrase), "let go").frame = "place"
                return at + len(phrase)
        too = next((phrase for phrase in fixed.TOO if self._has(at, phrase)), ())
        if too and self._clause_ends(at + len(too)):
            self._repeat()
            return at + len(too)
        for phrase in fixed.IDIOMS:
            end = at + len(phrase)
            if self._has(at, phrase) and self._words[end : end + 1] in ([":"], [","], [";"], ["."]):
                return end
        if self._has(at, ("top", "up")):
            self._add("verb", at, at + 2).frame = "fill"
            return at + 2
        for phrase in fixed.STACKING:
            if self._has(at, phrase):
                self._add("result", at, at + len(phrase), "stacked")
                return at + len(phrase)
        for phrase in fixed.ORIGINS:
            if self._has(at, phrase):
                self._add("result", at, at + len(phrase), "back")
                return at + len(phrase)
        if self._has(at, ("side", "by", "side")):
            self._add("result", at, at + 3, "beside")
            return at + 3
        if self._has(at, ("from", "the")) and self._words[at + 2 : at + 3] and self._words[at + 2] in fixed.APPROACHES:
            self.unknown |= {at, at + 1, at + 2}
            return at + 3
        if self._has(at, ("from", "above")) and not self._target_ahead(at + 2):
            self.unknown |= {at, at + 1}
            return at + 2
        if self._words[at] in fixed.BUILD and (end := self._tower(at)) > at:
            self._add("verb", at, end).frame = "stack"
            return end
        aside = self._longest(at, lex.SIDE_PHRASES)
        if self._words[at] in ("far", "away") and self._words[at + 1 : at + 2] == ["from"] and not aside:
            self.unknown |= {at, at + 1}
            return at + 2
        for phrase in fixed.IGNORED_PHRASES:
            if self._has(at, phrase):
                return at + len(phrase)
        return at

    def _tower(self, at: int) -> int:
        """Return the end of ``build a tower of``, else ``at``."""
        k = at + 1
        while k < len(self._words) and (
            self._words[k] in lex.DETERMINERS or self._words[k] in ("small", "tall", "new")
        ):
            k += 1
        if k >= len(self._words) or self._words[k] not in fixed.TOWERS:
            return at
        k += 1
        for lead in (("out", "of"), ("of",), ("from",), ("with",), ("using",)):
            if self._has(k, lead):
                return k + len(lead)
        return k

    def _existence(self, at: int) -> int:
        for phrase in fixed.EXIST:
            if self._has(at, phrase):
                bare = phrase in (("has",), ("holds",), ("holding",)) and not self._after_noun()
                bare = bare or (phrase == ("holding",) and self._part_ahead(at + 1))
                if bare or self._has(at, ("has", "to")):
                    return at
                self._add("exist", at, at + len(phrase))
                return at + len(phrase)
        if self._words[at] in ("with", "without") or (self._words[at] == "using" and self._using(at)):
            self._add("with", at, at + 1)
            return at + 1
        return at

    def _verb(self, at: int) -> int:
        word = self._words[at]
        following = self._words[at + 1] if at + 1 < len(self._words) else ""
        if word in fixed.LOCATED and (end := self._located(at)) > at:
            return end
        if word in fixed.LOCATED and word.endswith("ing") and self._after_be() and self._relation_at(at + 1):
            return at + 1
        if word in fixed.BE and not self._imperative_be(at, word):
            return self._copula(at)
        if self._wishes(at):
            self._add("verb", at, at + 1).frame = "go"
            return at + 1
        if word not in lex.VERBS:
            return at
        frame, form = lex.VERBS[word]
        if word in ("close", "closes") and following in ("to", "by"):
            return at
        if word in ("open", "shut", "closed") and self._after_shift():
            self._add("result", at, at + 1, fixed.RESULTS[word])
            return at + 1
        state = self._previous()
        if (
            word in (*fixed.RESULTS, "opened")
            and state is not None
            and state.kind == "be"
            and state.word in ("is", "are")
        ):
            return at
        passive = self._words[at - 1 : at] in (["be"], ["been"])
        if word in fixed.RESULTS and self._after_noun() and not passive and not self._starts_noun(at + 1):
            self._add("result", at, at + 1, fixed.RESULTS[word])
            return at + 1
        if word == "hook" and not self._starts_noun(at + 1):
            return at
        if word == "hand" and following not in ("me", "us", "it", "over", "the", "them"):
            return at
        if word == "hand" and following == "over":
            self._add("verb", at, at + 2, "hand").frame = "pick"
            return at + 2
        if word in ("leave", "leaving") and "alone" in self._words[at : at + 6]:
            self._add("exist", at, at + 1)
            return at + 1
        if frame == "go" and form == "base" and following in ("ahead",):
            return at
        if word in ("closed", "opened") and self._after_noun() and not self._has(at - 1, ("be",)):
            self._add("result", at, at + 1, "closed" if word == "closed" else "open")
            return at + 1
        if form == "ing" and frame in ("hold", "pick") and self._part_ahead(at + 1):
            self._add("region", at, at + 1)
            return at + 1
        item = self._add("verb", at, at + 1)
        item.frame, item.form = frame, form
        if following in ("me", "us"):
            self.unknown.add(at + 1)
        item.passive = form == "past" or (word in ("put", "set", "hung") and self._words[at - 1 : at] == ["be"])
        return at + 1

    def _relation(self, at: int) -> int:
        word = self._words[at]
        phrase = self._longest(at, lex.RELATION_PHRASES)
        if word in fixed.REGION_LEADS and self._part_ahead(at + 1) and (phrase is None or len(phrase) < 3):
            self._add("region", at, at + 1)
            return at + 1
        if phrase is None:
            return at
        end = at + len(phrase)
        previous = self._previous()
        if phrase == ("off",) and previous is not None and previous.frame == "pick" and not previous.passive:
            return end
        relation = lex.RELATION_PHRASES[phrase]
        following = self._words[end] if end < len(self._words) else ""
        if phrase == ("to",) and (
            following in lex.VERBS or following in ("be", "have") or following in lex.IGNORED - lex.DETERMINERS
        ):
            if following in ("there", "here") or self._reader.starts_object(self._words, end):
                return at
            return end
        side = self._longest(at, lex.SIDE_PHRASES)
        if side and len(side) > len(phrase) and self._words[at + len(side) : at + len(side) + 1] != ["of"]:
            noun = self._reader.starts_object(self._words, at + len(side))
            if not noun:
                return at
        if not self._target_ahead(end):
            if following in lex.VERBS or not following.isalpha() or not self._target_ahead(end + 1):
                return self._relation_alone(at)
            self.unknown.add(end)
        if not fixed.SPOTS.isdisjoint(phrase):
            self.imprecise |= set(range(at, end))
        item = self._add("rel", at, end)
        item.phrase = relation
        return end

    def _relation_alone(self, at: int) -> int:
        """Read ``inside`` at the end of a clause as ``inside it``."""
        for phrase in fixed.HERE:
            end = at + len(phrase)
            if self._has(at, phrase) and self._clause_ends(end) and self._after_noun():
                item = self._add("rel", at, end)
                item.phrase = lex.RELATION_PHRASES.get(phrase, lex.RELATION_PHRASES[phrase[:1]])
                self._add("np", at, end).np = NounPhrase("pronoun", "it", tokens=(at, end))
                return end
        return at

    def _direction(self, at: int) -> int:
        phrase = self._longest(at, lex.SIDE_PHRASES)
        if phrase is None:
            return at
        end = at + len(phrase)
        if "its" in phrase and not self._shifting():
            self._add("rel", at, end).phrase = lex.RelationPhrase(lex.SIDE_PHRASES[phrase])
            self._add("np", at, end).np = NounPhrase("pronoun", "it", tokens=(at, end))
            return end
        self._add("side", at, end).side = lex.SIDE_PHRASES[phrase]
        return end

    def _noun_phrase(self, at: int) -> int:
        previous = self._previous()
        them = previous is not None and previous.np is not None and previous.np.head == "them"
        if them and self._words[at] in ("both", "all"):
            return at + 1
        for phrase_words in fixed.CONTENTS:
            if self._has(at, phrase_words):
                end = at + len(phrase_words)
                self._add("np", at, end).np = NounPhrase("substance", "contents", tokens=(at, end))
                return end
        if at + 1 < len(self._words) and self._words[at + 1] in fixed.MEASURES:
            far = length_m(self._words, at)
            if far is not None and self._shifting() and is_a_way(self._words, at):
                self._add("length", at, at + 2).length_m = far
            else:
                self.unknown |= {at, at + 1}
            return at + 2
        if self._words[at] == "can" and not self._after_determiner(at):
            previous = self._previous()
            follows = self._words[at + 1] if at + 1 < len(self._words) else ""
            if (previous is None or previous.kind in ("conn", "stop")) and follows in ("you", "we", "i", "u", "the"):
                return at + 1
        found = self._reader.read(self._tokens, at)
        if found is None:
            return at
        phrase, end, unknown = found
        self.unknown |= set(unknown)
        if phrase.kind in ("robot", "manner"):
            return end
        item = self._add("np", at, end)
        item.np = phrase
        return end

    def _repeat(self) -> None:
        """Read ``and the marker too``: what was just done, with another thing."""
        if self.items and self.items[-1].word == ",":
            del self.items[-1]
        if len(self.items) > 2 and self._after_noun():
            joint = self.items[-2]
            if joint.kind == "conn" and joint.word == "and" and any(item.kind == "rel" for item in self.items[:-2]):
                joint.word = "then"

    def _small_word(self, at: int) -> int:
        word = self._words[at]
        verb = next((item for item in reversed(self.items) if item.kind in ("verb", "stop", "conn")), None)
        if word == "out" and verb is not None and verb.frame == "pick":
            self._add("result", at, at + 1, "out")
            return at + 1
        if word in ("down", "back"):
            again = word == "back" and (previous := self._previous()) is not None and previous.word == "down"
            self._add("result", at, at + 1, "down" if again else word)
            return at + 1
        return at + 1 if word in lex.IGNORED or word in fixed.BE or word == "'s" or word in ("off", "together") else at
