"""Reads how many: number words, digits, partitives (*two of the three*), and amounts that are no count."""

from __future__ import annotations

import re
from dataclasses import dataclass

from armwright.language import lexicon as lex

_NUMERIC = re.compile(r"[-−+]?\d")
_GROUPS = {"dozen": 12, "dozens": 12, "pair": 2, "pairs": 2, "couple": 2, "hundred": 100, "thousand": 1000}
_SHARES = lex.bag("half most majority quarter third fifth tenth percent")
"""Shares of a number: what they come to depends on how many there are, which need not be said."""


def is_numeric(word: str) -> bool:
    """Return whether a token is written in digits, whatever it is worth."""
    return _NUMERIC.match(word) is not None


def number_value(word: str) -> int | None:
    """Return what a number word or a token of digits counts, or None if it is no count."""
    if word.isdigit():
        return int(word)
    return lex.NUMBERS.get(word)


def is_share(words: list[str], at: int) -> bool:
    """Return whether ``half of`` or ``half the`` stands at ``at``."""
    following = words[at + 1 : at + 2]
    if words[at] not in _SHARES or not following or words[at + 1 : at + 3] == ["a", "dozen"]:
        return False
    return following == ["of"] or (words[at] == "half" and following[0] in ("the", "my", "these", "those", "all"))


@dataclass
class Quantity:
    """A count as it is read, word by word.

    Attributes:
        count: How many are meant.
        total: Out of how many, if said: 3 for ``two of the three``.
        fault: Why it is no count a robot can follow.
    """

    count: int | None = None
    total: int | None = None
    fault: str = ""
    _last: str = ""

    def add(self, word: str, *, after_of: bool) -> None:
        """Take in one more number word.

        Args:
            word: A number word or a token of digits.
            after_of: *of* stands between it and the number before it.
        """
        value, before = number_value(word), self.count
        if value is None:
            self.fault = f"{word!r} is no number of things."
        elif before is not None and word in _GROUPS and not after_of and self._last != "both":
            self.count = before * _GROUPS[word]
        elif before is None or before == value:
            self.count = value
        elif after_of:
            self.total = value
            if before > value:
                self.fault = f"{before} of {value} is more than there are."
            elif self._last == "both":
                self.fault = f"'both' means two, but {value} are spoken of."
        elif before >= 20 and before % 10 == 0 and value < 10:
            self.count = before + value
        else:
            self.fault = f"{self._last!r} and {word!r} are two different numbers."
        self._last = word
