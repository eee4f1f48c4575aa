"""From read lines to a label: reading order, what is worth keeping, and misreadings put right by general English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from armwright.models.embeddings import StaticEmbedder, text_embedder
from armwright.perception.facts import general_facts
from armwright.perception.reading import TextLine

MIN_SCORE = 0.55
"""Lines that the reader is less sure of are noise."""
_SMALL_PRINT = 0.3
"""Lines below this share of the tallest are small print."""
_SURE = 0.93
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# What print is taken for when it is small; what stands on the left was read.
_CONFUSED = {
    "0": "o",
    "1": "li",
    "2": "z",
    "3": "e",
    "4": "a",
    "5": "s",
    "6": "gb",
    "7": "t",
    "8": "b",
    "9": "g",
    "|": "il",
    "!": "il",
    "$": "s",
    "@": "a",
    "€": "e",
}
_LOOKALIKE = [("rn", "m"), ("m", "rn"), ("vv", "w"), ("w", "vv"), ("cl", "d"), ("d", "cl"), ("ii", "u"), ("nn", "m")]
_QUANTITY = re.compile(r"^(?:\d+([.,]\d+)?(x\d+)?(g|kg|ml|cl|l|oz|fl|lb|lbs|pcs|%|m|cm|mm)?e?|[x×]\d+)$")


@dataclass(frozen=True)
class Label:
    """What is printed on one thing.

    Attributes:
        words: In reading order, lower case, repaired; empty if nothing was read.
        confidence: 0 to 1.
    """

    words: tuple[str, ...] = ()
    confidence: float = 0.0

    @property
    def text(self) -> str:
        """The words as one text."""
        return " ".join(self.words)


def reading_order(lines: Sequence[TextLine]) -> list[TextLine]:
    """Return lines from top to bottom and, within a row, from left to right, as seen by who reads them upright."""
    if not lines:
        return []
    along = _direction(lines)
    down = np.array([-along[1], along[0]])
    centers = np.array([line.corners_px.mean(0) for line in lines])
    rows = centers @ down
    order = np.argsort(rows, kind="stable")
    found: list[TextLine] = []
    row: list[int] = []
    for k in order:
        if row and rows[k] - rows[row[0]] > 0.6 * min(lines[k].height_px, lines[row[0]].height_px):
            found += [lines[i] for i in sorted(row, key=lambda i: float(centers[i] @ along))]
            row = []
        row.append(int(k))
    return found + [lines[i] for i in sorted(row, key=lambda i: float(centers[i] @ along))]


def _direction(lines: Sequence[TextLine]) -> np.ndarray:
    """Return (2,) along which most of the print runs."""
    total = sum((np.asarray(li.corners_px[1] - li.corners_px[0]) for li in lines), np.zeros(2))
    length = float(np.linalg.norm(total))
    return total / length if length > 1e-9 else np.array([1.0, 0.0])


def label_of(lines: Sequence[TextLine]) -> Label:
    """Return the label that lines on one thing make up; empty where nothing legible was read.

    The confidence is the mean score of the kept words, weighted by their letters, less where a word is no English one
    or was repaired, and where the print is so small that it is often misread.
    """
    good = [line for line in lines if line.score >= MIN_SCORE and any(c.isalpha() for c in line.text)]
    if not good:
        return Label()
    tallest = max(line.height_px for line in good)
    kept = [line for line in good if line.height_px >= _SMALL_PRINT * tallest]
    facts = general_facts()
    words: list[str] = []
    trust: list[float] = []
    for line in reading_order(kept):
        tokens = _tokens(line.text)
        for k, token in enumerate(tokens):
            cut = line.cut[0] and k == 0, line.cut[1] and k == len(tokens) - 1
            fixed = completed(token, cut) if any(cut) else repaired(token, line.score)
            known = bool(fixed) and all(is_word(w) for w in fixed)
            short = len(token) < 3 and not facts.words & set(fixed)
            if short or not fixed or (not known and line.score < 0.8):
                continue
            exact = known and not any(cut) and " ".join(fixed) == token
            size = float(np.clip((line.height_px - 2.0) / 8.0, 0.5, 1.0))
            words += fixed
            trust += [line.score * size * (1.0 if exact else 0.85 if known else 0.75)] * len(fixed)
    told = [k for k, w in enumerate(words) if w not in facts.print or len(w) > 4]
    words, trust = [words[k] for k in told], [trust[k] for k in told]
    letters = np.array([len(w) for w in words], float)
    if letters.sum() < 3:
        return Label()
    return Label(tuple(_once(words)), float(np.clip(np.average(trust, weights=letters), 0, 1)))


def _once(words: Iterable[str]) -> list[str]:
    """Drop what is said again, and parts of what is said."""
    said = list(dict.fromkeys(words))
    return [w for w in said if not any(w != v and len(w) > 2 and (v.startswith(w) or v.endswith(w)) for v in said)]


def _tokens(text: str) -> list[str]:
    found = []
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    for raw in re.split(r"[\s/+,;:·•*\"“”()\[\]]+", plain):
        token = raw.strip(".-–—_'’`‘&")
        if not token or _QUANTITY.match(token):
            continue
        found += [p for p in re.split(r"[-–—.&]", token) if p]
    return found


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    """Return common English words: those of the text embedder and of the table of facts."""
    embedder = text_embedder()
    common = embedder.words() if isinstance(embedder, StaticEmbedder) else frozenset()
    return common | general_facts().words


def is_word(token: str) -> bool:
    """Return whether a token is a common English word."""
    return token in _vocabulary()


@lru_cache(maxsize=4096)
def repaired(token: str, score: float = 0.0) -> tuple[str, ...]:
    """Return the words that a token was probably meant to be; the token itself where nothing speaks for another.

    In turn: it is a word; it is one when letters that look alike are exchanged; it is one letter off a word of the
    table of facts, or the larger part of one; it is two words run together; if the reader was not sure, it is one
    letter off any common word. What can be repaired in several ways is left alone.

    Args:
        token: Lower case, without punctuation.
        score: How sure the reader was.
    """
    if is_word(token):
        return (token,)
    facts = {w for w in general_facts().names if len(w) > 3}
    alike = [w for w in _exchanged(token) if is_word(w)]
    if alike:
        return (next((w for w in alike if w in facts), alike[0]),)
    if any(c.isdigit() for c in token) and not any(c.isalpha() for c in token):
        return ()
    if len(token) < 4:
        return (token,)
    if score < _SURE or len(token) > 5:
        for found in (_one_off(token, facts), _part_of(token, facts)):
            if len(found) == 1:
                return tuple(found)
    if len(token) >= 7 and (pair := _split(token)):
        return pair
    if score < _SURE and len(token) >= 5:
        common = _one_off(token, _vocabulary())
        if len(common) == 1:
            return tuple(common)
    return (token,)


@lru_cache(maxsize=4096)
def completed(token: str, cut: tuple[bool, bool]) -> tuple[str, ...]:
    """Return the word whose visible part a token may be; empty where there is none or several.

    Args:
        token: Lower case.
        cut: Whether letters may be missing on its left and on its right.
    """
    if is_word(token) and len(token) > 3:
        return (token,)
    facts = {w for w in general_facts().names if len(w) > 3}
    alike = [token, *_exchanged(token)]
    if repair := next((w for w in alike if w in facts), None):
        return (repair,)
    left, right = cut
    for part in alike[:4]:
        if len(part) < 4:
            continue
        fits = {w for w in facts if (right and w.startswith(part)) or (left and w.endswith(part))}
        fits = {w for w in fits if len(part) >= 0.55 * len(w)}
        if fits:
            shortest = min(fits, key=len)
            # The plural of the shortest is no rival of it.
            rivals = {w for w in fits if not w.startswith(shortest)}
            return (shortest,) if not rivals else ()
    if len(token) > 4:
        near = _one_off(token, facts)
        if len(near) == 1:
            return tuple(near)
    return (token,) if token in general_facts().words else ()


def _exchanged(token: str) -> list[str]:
    """Return the token with look-alike characters exchanged: all digits, then one pair of letters."""
    choices = [_CONFUSED.get(c, c) for c in token]
    found: list[str] = []
    if sum(len(c) > 1 for c in choices) <= 4:
        found = ["".join(letters) for letters in product(*choices)]
    out = [w for w in found if w != token]
    for base in found[:8]:
        for read, meant in _LOOKALIKE:
            start = base.find(read)
            while start >= 0:
                out.append(base[:start] + meant + base[start + len(read) :])
                start = base.find(read, start + 1)
    return out


def _split(token: str) -> tuple[str, ...]:
    facts = general_facts().words
    pairs = [(token[:k], token[k:]) for k in range(3, len(token) - 2)]
    good = [p for p in pairs if is_word(p[0]) and is_word(p[1])]
    best = [p for p in good if p[0] in facts and p[1] in facts]
    best = best or [p for p in good if (p[0] in facts or p[1] in facts) and min(map(len, p)) > 3]
    return best[0] if len(best) == 1 else ()


def _part_of(token: str, words: Iterable[str]) -> set[str]:
    """Return words of which the token is the larger part, as where print runs around a can."""
    return {w for w in words if len(token) >= 4 and token in w and len(token) >= 0.6 * len(w)}


def _one_off(token: str, words: frozenset[str] | set[str]) -> set[str]:
    """Return words one letter away: exchanged, left out or added."""
    cuts = [(token[:k], token[k:]) for k in range(len(token) + 1)]
    near = {a + b[1:] for a, b in cuts if b}
    near |= {a + c + b[1:] for a, b in cuts if b for c in _LETTERS}
    near |= {a + c + b for a, b in cuts for c in _LETTERS}
    return near & words
