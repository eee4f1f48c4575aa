"""How alike two descriptions are, attribute by attribute: the terms C, P, E, O of the semantic fit (OMAR §V-C)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from armwright.models.embeddings import text_embedder
from armwright.shelf.records import ATTRIBUTES, Described

Array = NDArray[np.float64]


@lru_cache(maxsize=4096)
def embedding(text: str) -> Array:
    """Return the unit vector of a text, zero where no word of it is known (d,)."""
    return np.asarray(text_embedder().embed([" ".join(text.lower().split())])[0], np.float64)


def text_likeness(a: str, b: str) -> float:
    """Return the cosine of two texts' embeddings, 1 where they are the same text."""
    if " ".join(a.lower().split()) == " ".join(b.lower().split()):
        return 1.0
    return float(embedding(a) @ embedding(b))


def likeness(a: Sequence[Described], b: Sequence[Described]) -> Array:
    """Return how alike every pair is (len(a), len(b), 4), in the order of ``ATTRIBUTES``.

    Content is the cosine of the embeddings clipped to [0, 1]; packaging, edibility and orientation are equal or not. A
    pair of which one side is unknown is NaN.
    """
    out = np.full((len(a), len(b), len(ATTRIBUTES)), np.nan)
    for k, name in enumerate(ATTRIBUTES):
        mine, theirs = ([getattr(d, name) for d in side] for side in (a, b))
        values = [v for v in dict.fromkeys([*mine, *theirs]) if v is not None]
        if not values:
            continue
        number = {v: i for i, v in enumerate(values)}
        table = np.full((len(values) + 1,) * 2, np.nan)
        table[:-1, :-1] = _contents(values) if name == "content" else np.eye(len(values))
        rows, columns = ([number.get(v, -1) for v in side] for side in (mine, theirs))
        out[:, :, k] = table[np.ix_(rows, columns)]
    return out


def _contents(texts: Sequence[str]) -> Array:
    """Return how alike every two contents are, clipped to [0, 1] (n, n)."""
    vectors = np.stack([embedding(text) for text in texts])
    alike = np.clip(vectors @ vectors.T, 0.0, 1.0)
    plain = np.array([" ".join(text.lower().split()) for text in texts])
    return np.asarray(np.where(plain[:, None] == plain[None], 1.0, alike))


def confidence(a: Sequence[Described], b: Sequence[Described]) -> Array:
    """Return how sure both sides of every pair are (len(a), len(b), 4), 0 to 1."""
    sure_a = np.array([[d.confidence(name) for name in ATTRIBUTES] for d in a]).reshape(len(a), len(ATTRIBUTES))
    sure_b = np.array([[d.confidence(name) for name in ATTRIBUTES] for d in b]).reshape(len(b), len(ATTRIBUTES))
    return np.asarray(sure_a[:, None] * sure_b[None])
