"""Lengths in sentences: ``10 cm``, ``0.2 metres``, ``two inches``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armwright.language import lexicon as lex

UNITS_M: Mapping[str, float] = {
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), 1e-3),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), 1e-2),
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), 1.0),
    **dict.fromkeys(("inch", "inches"), 0.0254),
}
"""Unit -> its length [m]."""
_OF_A_PLACE = frozenset(("of", "from", "behind", "above", "below", "under"))
"""What follows a length that says where something is, not how far it goes (``5 cm from the plate``)."""
_NOT_A_WAY = frozenset(("within", "to", "at", "the", "a", "an"))
"""What comes before a length that is no way to go (``within 5 cm``, ``the 10 cm cube``)."""


def length_m(words: Sequence[str], at: int) -> float | None:
    """Return the length [m] that the number and unit at ``at`` say, or None if none stands there."""
    if at + 1 >= len(words) or words[at + 1] not in UNITS_M:
        return None
    word = words[at]
    try:
        number = float(lex.NUMBERS[word]) if word in lex.NUMBERS else float(word.replace("−", "-"))
    except ValueError:
        return None
    # Rounded, so that ten centimetres are 0.1 m.
    return round(number * UNITS_M[words[at + 1]], 6)


def is_a_way(words: Sequence[str], at: int) -> bool:
    """Return whether the length at ``at`` says how far something goes, rather than where or how large it is."""
    before = words[at - 1] if at > 0 else ""
    after = words[at + 2] if at + 2 < len(words) else ""
    return before not in _NOT_A_WAY and after not in _OF_A_PLACE
