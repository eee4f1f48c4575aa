"""What a sentence is cut into before its grammar is read: tokens, noun phrases, items."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Literal

from armwright.core.task import RelationName, SpotName
from armwright.language.lexicon import FrameName, RelationPhrase, VerbForm

_TOKEN = re.compile(
    r"[^\W\d_]+|(?:(?<!\w)[-−+])?\d+(?:[./-]\d+)*(?:[eE][-+]?\d+)?|['’]s\b|n['’]t\b|[.,;:!?()&\n]", re.UNICODE
)
_APOSTROPHE = re.compile(r"(?<=\w)['’](?!s\b)(?=\w)")


@dataclass(frozen=True)
class Token:
    """One word or punctuation mark, lower-cased, with its place in the sentence."""

    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """True for a word of letters."""
        return self.text[0].isalpha()


def tokenize(sentence: str) -> list[Token]:
    """Cut a sentence into lower-case words, numbers and punctuation."""
    text = _APOSTROPHE.sub("_", sentence)
    tokens = []
    for match in _TOKEN.finditer(text):
        word = unicodedata.normalize("NFC", match.group().lower()).replace("’", "'")
        tokens.append(Token(word, match.start(), match.end()))
    return tokens


NounKind = Literal["object", "surface", "pronoun", "one", "part", "substance", "generic", "unknown", "robot", "manner"]


@dataclass
class NounPhrase:
    """A mention of something, before it is known which thing it is.

    Attributes:
        kind: What sort of mention this is.
        head: The noun as said.
        category: Catalog category, for ``object``.
        attributes: colour, size, material.
        count: How many, if a number was said.
        plural: The noun was plural.
        definite: ``the``, a possessive, or no article.
        other: ``another``, ``the other``: not the one spoken of.
        every: ``all``, ``both``, ``each``.
        part: The part meant, if the phrase names one (``the handle of the mug``).
        owner: Whose part, if said.
        approximate: The category was found by likeness of meaning, not by name.
        ordinal: Place in an order, from 1; -1 is the last; 0 if none was said.
        ordinal_at: Token of the ordinal.
        spot: Which drawer, if said (``the top drawer``).
        total: Out of how many, if said (``two of the three cubes``).
        fault: Why it can mean nothing (``-3 cubes``, ``the red blue mug``).
        predicate: Its attributes were asserted of a thing already known (``the mug is red``).
        tokens: Token span.
    """

    kind: NounKind
    head: str
    category: str | None = None
    attributes: dict[str, str] = field(default_factory=dict)
    count: int | None = None
    plural: bool = False
    definite: bool = True
    other: bool = False
    every: bool = False
    part: str | None = None
    owner: NounPhrase | None = None
    approximate: bool = False
    ordinal: int = 0
    ordinal_at: int = -1
    predicate: bool = False
    spot: SpotName | None = None
    total: int | None = None
    fault: str = ""
    tokens: tuple[int, int] = (0, 0)


ItemKind = Literal[
    "verb", "np", "rel", "side", "conn", "order", "stop", "exist", "be", "neg", "with", "result", "region", "length"
]


@dataclass
class Item:
    """One grammatical unit and the token span it covers."""

    kind: ItemKind
    tokens: tuple[int, int]
    word: str = ""
    np: NounPhrase | None = None
    frame: FrameName | None = None
    form: VerbForm = "base"
    passive: bool = False
    phrase: RelationPhrase | None = None
    explicit: bool = False
    side: RelationName | None = None
    length_m: float | None = None


ClauseKind = FrameName | Literal["describe"]


@dataclass
class Place:
    """A prepositional phrase: a relation and what it is relative to.

    Attributes:
        phrase: The relation and whether it can only be a goal or a source.
        targets: What it is relative to.
        explicit: It belongs to the noun before it (``the can that is on the shelf``).
        of: Which noun phrase it follows: -1 the object, else the index of an earlier place.
        joined: It follows another one after a comma or *and*.
        single: It is said of one thing (``the mug and the bowl that is on the tray``): of the last.
        tokens: Token span.
    """

    phrase: RelationPhrase
    targets: list[NounPhrase]
    explicit: bool = False
    of: int = -1
    joined: bool = False
    single: bool = False
    tokens: tuple[int, int] = (0, 0)


@dataclass
class Clause:
    """One verb with its arguments, or one description.

    Attributes:
        side: A direction without a thing to go by, and the tokens that say it.
        distance_m: How far to push or pull, and the tokens that say it.
        excepted: What of the objects is left out (``all but the red one``).
        void: It is about no thing at all (``pick up no mug``), so nothing is to be done.
    """

    kind: ClauseKind
    word: str = ""
    objects: list[NounPhrase] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    region: NounPhrase | None = None
    side: RelationName | None = None
    side_tokens: tuple[int, int] = (0, 0)
    distance_m: float | None = None
    distance_tokens: tuple[int, int] = (0, 0)
    excepted: list[NounPhrase] = field(default_factory=list)
    void: bool = False
    result: str = ""
    passive: bool = False
    form: str = "base"
    tokens: tuple[int, int] = (0, 0)

    def complete(self) -> bool:
        """Return whether the clause has both something to act on and somewhere to act."""
        return bool(self.objects) and bool(self.places)
