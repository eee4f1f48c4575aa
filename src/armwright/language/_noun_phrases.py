"""Reads one noun phrase: determiners, number, adjectives, the noun, the part, and what may follow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from armwright.core.task import SpotName
from armwright.language import lexicon as lex
from armwright.language._items import Item, NounPhrase, Token
from armwright.language._quantities import Quantity, is_numeric, is_share
from armwright.language.vocabulary import Vocabulary

_STATES = lex.bag("open opened closed shut empty full clean dirty upright loose other same nice own given very")
_SHADES = lex.bag("dark light bright pale deep shiny matte plain")
_COLLECTIONS = lex.bag("pair couple stack pile set row group bunch number tower line piece pieces")
_SEVERAL = {"some": 2, "several": 3, "few": 3, "many": 4}
_PLACES_IN_ORDER = {"first": 1, "second": 2, "third": 3, "last": -1}
_ORDINALS = frozenset((*_PLACES_IN_ORDER, "remaining"))
_ROBOT = lex.bag("robot arm gripper hand fingers manipulator claw hands")
_SCENE = lex.bag("scene setup environment background kitchen room picture")
_ONE = frozenset(("one", "ones"))
_HEAPS = lex.bag("stack pile tower")
_STOPS = lex.bag("to after before but left right front back contains has without side")
_STANDS = frozenset(("stands",))
MAX_SKIPPED = 3
"""Unknown words allowed between a determiner and its noun."""


@dataclass
class _Draft:
    """What has been read of the phrase before its noun."""

    attributes: dict[str, str] = field(default_factory=dict)
    quantity: Quantity = field(default_factory=Quantity)
    definite: bool = True
    article: bool = False
    other: bool = False
    every: bool = False
    ordinal_at: int = -1
    unknown: list[int] = field(default_factory=list)
    described: bool = False
    spot: SpotName | None = None
    fault: str = ""

    @property
    def count(self) -> int | None:
        """How many, if a number was said."""
        return self.quantity.count

    @count.setter
    def count(self, value: int) -> None:
        self.quantity.count = value

    def attribute(self, key: str, word: str, table: Mapping[str, str], *, before: str) -> None:
        """Note an attribute; a shade before a colour (*teal green*) leaves the say to the colour."""
        value, known = table[word], self.attributes.get(key)
        shade = key == "colour" and table.get(before, before) != before
        if known is not None and known != value and not shade:
            self.fault = f"nothing is both {known} and {value}."
        self.attributes[key] = value


class NounPhraseReader:
    """Reads noun phrases out of a token list.

    Args:
        vocabulary: Names of the catalog's objects.
        nearest: Gives the category that an unknown noun most likely means, or None.
    """

    def __init__(self, vocabulary: Vocabulary, *, nearest: Callable[[str], str | None]) -> None:
        self._vocabulary = vocabulary
        self._nearest = nearest

    def read(self, tokens: list[Token], start: int) -> tuple[NounPhrase, int, list[int]] | None:
        """Return the phrase that starts at ``start``, the index after it, and the tokens in it not understood."""
        draft = _Draft()
        found = self._read(tokens, start, draft)
        if found is not None:
            found[0].spot = draft.spot
            found[0].total = draft.quantity.total
            found[0].fault = draft.quantity.fault or draft.fault or found[0].fault
        return found

    def _read(self, tokens: list[Token], start: int, draft: _Draft) -> tuple[NounPhrase, int, list[int]] | None:
        words = [token.text for token in tokens]
        at = self._determiners(words, start, draft)
        at, head = self._to_noun(words, at, draft)
        if head is None:
            return self._without_noun(words, start, at, draft)
        phrase, at = head
        if draft.every and draft.count is None and phrase.kind == "generic" and not lex.GENERIC_NOUNS[phrase.head]:
            phrase.head = lex.EVERYTHING
        phrase.attributes = draft.attributes
        phrase.count = draft.count
        phrase.definite = draft.definite
        phrase.other = draft.other
        phrase.every = draft.every
        if draft.ordinal_at >= 0:
            phrase.ordinal, phrase.ordinal_at = _PLACES_IN_ORDER[words[draft.ordinal_at]], draft.ordinal_at
        if words[start] == "both" and phrase.kind == "object" and not phrase.plural:
            phrase.count, phrase.every = None, False
        if phrase.category is None and phrase.kind == "object":
            phrase.kind = "unknown"
        at = self._part_after(words, at, phrase)
        at = self._of(tokens, words, at, phrase, draft)
        phrase.tokens = (start, at)
        return phrase, at, draft.unknown

    def starts_object(self, words: list[str], at: int) -> bool:
        """Return whether a noun phrase with a known noun can start at ``at``."""
        return at < len(words) and (words[at] in lex.DETERMINERS or self.noun_soon(words, at))

    def _determiners(self, words: list[str], start: int, draft: _Draft) -> int:
        at = start
        while at < len(words):
            word = words[at]
            following = words[at + 1] if at + 1 < len(words) else ""
            if word in ("a", "an", "any"):
                draft.definite, draft.article = False, True
            elif word in _SEVERAL:
                draft.count, draft.definite, draft.article = _SEVERAL[word], False, True
            elif word in _ORDINALS and draft.article:
                draft.other = word in ("second", "third", "remaining") or draft.other
                draft.ordinal_at = at if word in _PLACES_IN_ORDER else draft.ordinal_at
            elif word in ("another", "other", "remaining"):
                draft.other, draft.article = True, True
                draft.definite = draft.definite and word != "another"
            elif word in lex.ALL:
                draft.every, draft.article = True, True
                if word == "both":
                    draft.quantity.add(word, after_of=False)
                elif word in ("each", "every") and following in _ONE:
                    draft.article = True
            elif is_share(words, at) and self.noun_soon(words, at + 1):
                draft.quantity.fault = f"how many {word!r} is cannot be told."
                draft.article = True
            elif words[at : at + 3] == ["half", "a", "dozen"]:
                draft.count, draft.definite, draft.article = 6, False, True
                at += 2
            elif is_numeric(word) and word not in lex.NUMBERS and self.noun_soon(words, at + 1):
                draft.quantity.add(word, after_of="of" in words[start:at])
                draft.article = True
            elif word in lex.NUMBERS and (following not in ("cm", "mm", "m", "centimeters", "centimetres", "degrees")):
                if word == "one" and (draft.article or not self.noun_soon(words, at + 1)):
                    break
                draft.quantity.add(word, after_of="of" in words[start:at])
                if not draft.article:
                    draft.definite = False
                draft.article = True
            elif word in _COLLECTIONS and following == "of":
                draft.article = True
            elif word == "of" and draft.article and words[at - 1] not in lex.DEFINITE:
                pass
            elif word in lex.DEFINITE:
                if word in lex.PRONOUNS and not self.noun_soon(words, at + 1):
                    break
                draft.definite, draft.article = True, True
            else:
                break
            at += 1
        return at

    def noun_soon(self, words: list[str], at: int) -> bool:
        """Return whether a noun follows ``at`` with nothing but adjectives before it."""
        if words[at : at + 2] in (["of", "them"], ["of", "these"], ["of", "those"]):
            return True
        for k in range(at, min(at + 4, len(words))):
            word = words[k]
            if self._vocabulary.match(words, k) or word in lex.SURFACES or word in lex.PARTS or word in _ONE:
                return True
            if word in lex.GENERIC_NOUNS or word in lex.SUBSTANCES:
                return True
            known = word in lex.COLOUR_WORDS or word in lex.SIZE_WORDS or word in lex.MATERIAL_WORDS
            if not known and word not in lex.NUMBERS and word not in ("of", "the", "other", *_STATES, *_SHADES):
                return False
        return False

    def _to_noun(self, words: list[str], at: int, draft: _Draft) -> tuple[int, tuple[NounPhrase, int] | None]:
        skipped = 0
        while at < len(words):
            head = self._noun_at(words, at, draft)
            if head is not None:
                return at, head
            word = words[at]
            if self._adjective(words, at, draft):
                at += 1
                continue
            if not (draft.article or draft.described) or not self._may_skip(words, at) or skipped == MAX_SKIPPED:
                break
            draft.unknown.append(at)
            skipped += 1
            at += 1
            if word in lex.FOREIGN:
                break
        return at, None

    def _noun_at(self, words: list[str], at: int, draft: _Draft) -> tuple[NounPhrase, int] | None:
        word = words[at]
        following = words[at + 1] if at + 1 < len(words) else ""
        found = self._vocabulary.match(words, at)
        if found and found.plural and found.length > 1 and words[at + found.length - 1] in _STANDS:
            shorter = self._vocabulary.match(words[: at + found.length - 1], at)
            found = shorter if self._relation_at(words, at + found.length) else found
        if found:
            end = at + found.length
            longer = self._vocabulary.match(words, end)
            material = found.length == 1 and word in lex.MATERIAL_WORDS
            if longer and (material or word in ("pot", "cup", "mug", "can", "box", "bottle", "dish")):
                if material:
                    return None
                if longer.category in ("mug_rack", "cup", "mug", "can", "box", "bottle", "tray", "cabinet", "plate"):
                    return NounPhrase("object", words[end], longer.category, plural=longer.plural), end + longer.length
            head = " ".join(words[at:end])
            return NounPhrase("object", head, found.category, plural=found.plural), end
        if word in lex.SURFACES:
            return NounPhrase("surface", word), at + 1
        if word in ("kitchen", "dining", "coffee", "work", "lab") and following in lex.SURFACES:
            return NounPhrase("surface", following), at + 2
        if word == "one" and (following,) in lex.RELATION_PHRASES:
            draft.definite = False
            return NounPhrase("one", word), at + 1
        if word in _ONE and (draft.article or draft.described):
            return NounPhrase("one", word, plural=word == "ones"), at + 1
        if word in _ROBOT and (draft.article or word in ("robot", "gripper")):
            return NounPhrase("robot", word), at + 1
        if word in _SCENE and draft.article:
            return NounPhrase("manner", word), at + 1
        if word in lex.PARTS and self._vocabulary.match(words, at + 1):
            return None
        if word in lex.PARTS and (draft.article or following == "of"):
            return NounPhrase("part", word, part=lex.PARTS[word]), at + 1
        if word in _HEAPS and draft.article and draft.definite and following != "of":
            return NounPhrase("pronoun", "stack"), at + 1
        if word == "others" and draft.article:
            draft.other = True
            return NounPhrase("one", "ones", plural=True), at + 1
        if word == "rest" and draft.article:
            draft.other = True
            return NounPhrase("generic", lex.EVERYTHING, plural=True), at + 1
        if word in lex.GENERIC_NOUNS:
            draft.other = draft.other or following == "else"
            return NounPhrase("generic", word, plural=word.endswith("s")), at + (2 if following == "else" else 1)
        if word in lex.SUBSTANCES and not self._vocabulary.match(words, at + 1):
            return NounPhrase("substance", word), at + 1
        return None

    def _relation_at(self, words: list[str], at: int) -> bool:
        return any(tuple(words[at:end]) in lex.RELATION_PHRASES for end in range(at + 1, min(at + 6, len(words)) + 1))

    def _adjective(self, words: list[str], at: int, draft: _Draft) -> bool:
        word = words[at]
        noun_follows = self.noun_soon(words, at + 1)
        if word in lex.DRAWER_SPOTS and words[at + 1 : at + 2] in (["drawer"], ["cabinet"]):
            draft.spot, draft.described = lex.DRAWER_SPOTS[word], True
            return True
        packs = word in lex.CONTENT_WORDS and self._packaged(words, at + 1)
        if word in lex.COLOUR_WORDS and not (packs and "colour" in draft.attributes):
            draft.attribute("colour", word, lex.COLOUR_WORDS, before=words[at - 1])
        elif word in lex.SIZE_WORDS and (draft.article or noun_follows):
            draft.attribute("size", word, lex.SIZE_WORDS, before=words[at - 1])
        elif word in lex.MATERIAL_WORDS and (draft.article or noun_follows):
            draft.attribute("material", word, lex.MATERIAL_WORDS, before=words[at - 1])
        elif word in _STATES | _SHADES | _ORDINALS and (draft.article or noun_follows):
            draft.ordinal_at = at if word in _PLACES_IN_ORDER else draft.ordinal_at
            return word not in ("open", "shut", "closed") or noun_follows
        elif word in lex.NUMBERS and draft.article and noun_follows:
            draft.count = lex.NUMBERS[word]
        elif word in ("left", "right") and draft.article and noun_follows:
            draft.unknown.append(at)
        elif packs or (word in ("coloured", "colored", "sized", "made") and (draft.attributes or draft.article)):
            pass
        else:
            return False
        draft.described = True
        return True

    def _packaged(self, words: list[str], at: int) -> bool:
        for k in range(at, min(at + 3, len(words))):
            if self._vocabulary.match(words, k):
                return True
            if words[k] not in lex.CONTENT_WORDS:
                return False
        return False

    def _may_skip(self, words: list[str], at: int) -> bool:
        word = words[at]
        if not word[0].isalpha() or word in lex.PRONOUNS or word in lex.IGNORED:
            return False
        if word in lex.VERBS and lex.VERBS[word][1] != "past":
            return False
        if (word,) in lex.RELATION_PHRASES or word in ("and", "or", "with", "while", "then", "is", "are", "not"):
            return False
        return word not in _STOPS

    def _without_noun(
        self, words: list[str], start: int, at: int, draft: _Draft
    ) -> tuple[NounPhrase, int, list[int]] | None:
        if at == start and at < len(words) and words[at] in lex.PRONOUNS and not draft.article:
            return NounPhrase("pronoun", lex.PRONOUNS[words[at]], tokens=(at, at + 1)), at + 1, []
        if at < len(words) and words[at] in ("them", "these", "those") and words[at - 1] == "of":
            return (
                NounPhrase("pronoun", "them", count=draft.count, every=draft.every, tokens=(start, at + 1)),
                at + 1,
                [],
            )
        if draft.every and at == start + 1 and words[start] in ("both", "all", "each"):
            return NounPhrase("pronoun", "them", tokens=(start, at)), at, []
        if draft.unknown:
            at = max(draft.unknown) + 1
            noun = " ".join(words[k] for k in draft.unknown)
            category = self._nearest(noun)
            phrase = NounPhrase(
                "object" if category else "unknown",
                noun,
                category,
                draft.attributes,
                draft.count,
                definite=draft.definite,
                other=draft.other,
                every=draft.every,
                plural=noun.endswith("s") and not noun.endswith("ss"),
                approximate=category is not None,
                tokens=(start, at),
            )
            return phrase, at, []
        joined = at < len(words) and at > start and words[at] in (",", "and")
        if words[at - 1] == "orange" and len(draft.attributes) == 1 and draft.article and not joined:
            # With no noun behind it, the colour is the fruit.
            phrase = NounPhrase("object", "orange", "mandarin", count=draft.count, definite=draft.definite)
            phrase.other, phrase.tokens = draft.other, (start, at)
            return phrase, at, []
        if draft.attributes and (draft.article or joined):
            phrase = NounPhrase("one", words[at - 1], attributes=draft.attributes, count=draft.count)
            phrase.other, phrase.tokens = draft.other, (start, at)
            return phrase, at, []
        if draft.other and at > start:
            return NounPhrase("one", "other", other=True, tokens=(start, at)), at, []
        if draft.count and draft.article and at > start and words[start] not in ("a", "an"):
            return NounPhrase("pronoun", "them", count=draft.count, tokens=(start, at)), at, []
        return None

    def _part_after(self, words: list[str], at: int, phrase: NounPhrase) -> int:
        if phrase.kind not in ("object", "one", "generic") or at >= len(words):
            return at
        after = at + 1 if words[at] == "'s" else at
        k = after
        while k < len(words) and (words[k] in _STATES or words[k] in lex.SIZE_WORDS) and k < after + 2:
            k += 1
        plural_possessive = words[at] == "'s"
        if (
            k < len(words)
            and words[k] in lex.PARTS
            and (plural_possessive or words[k] not in ("top", "surface", "grip", "side", "sides"))
        ):
            phrase.part = lex.PARTS[words[k]]
            return k + 1
        if k < len(words) and words[k] in ("drawer", "drawers") and phrase.category in ("cabinet", "microwave"):
            return k + 1
        return after

    def _of(self, tokens: list[Token], words: list[str], at: int, phrase: NounPhrase, draft: _Draft) -> int:
        if (
            at + 1 >= len(words)
            or words[at] not in ("of", "on", "from")
            or phrase.kind not in ("part", "object", "substance")
        ):
            return at
        if words[at] != "of" and not (phrase.kind == "part" and phrase.part in ("handle", "lid", "button", "door")):
            return at
        if phrase.kind == "substance":
            owner = self.read(tokens, at + 1)
            if owner is not None and owner[0].kind == "object":
                vars(phrase).update(vars(owner[0]))
                draft.unknown.extend(owner[2])
                return owner[1]
        if phrase.kind == "part" or phrase.head in ("drawer", "drawers", "door"):
            owner = self.read(tokens, at + 1)
            if owner is None or owner[0].kind not in ("object", "pronoun", "one", "generic"):
                return at
            if words[at] != "of" and phrase.part == "lid":
                return at
            if phrase.kind == "part":
                phrase.owner = owner[0]
            elif owner[0].category not in ("cabinet",):
                return at
            else:
                phrase.attributes |= owner[0].attributes
            draft.unknown.extend(owner[2])
            return owner[1]
        if words[at] != "of":
            return at
        k = at + 1
        while k < len(words) and (words[k] in ("the", "hot", "cold", "some") or words[k] in lex.CONTENT_WORDS):
            k += 1
        if k < len(words) and words[k] in lex.SUBSTANCES:
            return k + 1
        if k > at + 1 and words[k - 1] in lex.CONTENT_WORDS:
            return k
        return at


def share_nouns(items: Sequence[Item]) -> None:
    """Give bare adjectives the noun of the phrase they are joined to: ``the red, blue and green cubes``."""
    for k, item in enumerate(items):
        if item.np is None or item.np.kind != "one" or item.np.head in ("one", "ones", "other"):
            continue
        after = k + 1
        while after + 1 < len(items) and items[after].kind == "conn":
            after += 1 if items[after + 1].kind == "conn" else 0
            following = items[after + 1].np
            if following is None or not following.attributes:
                break
            if following.kind == "object":
                item.np.kind, item.np.category, item.np.head = "object", following.category, following.head
                following.plural = False
                break
            after += 2
