"""Phrases as the word vectors that the query heads read."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import UsageError
from armwright.models.embeddings import text_embedder

WORDS = 12
"""Words of a phrase that are read; later ones are dropped."""

_WORD = re.compile(r"[a-z0-9]+")


def phrase_words(phrase: str) -> tuple[str, ...]:
    """Return a phrase's lower-case words, the first 12."""
    return tuple(_WORD.findall(phrase.lower())[:WORDS])


def word_vectors(phrases: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Embed each word of each phrase.

    Args:
        phrases: What is asked for.

    Returns:
        (q, 12, 128) unit vectors, zero where there is no word, and (q, 12) 1.0 where there is one.

    Raises:
        UsageError: A phrase without any known word.
    """
    embedder = text_embedder()
    split = [phrase_words(phrase) for phrase in phrases]
    flat = embedder.embed([word for words in split for word in words])
    vectors = np.zeros((len(phrases), WORDS, flat.shape[1] if flat.ndim == 2 and len(flat) else 128), np.float32)
    known = np.zeros((len(phrases), WORDS), np.float32)
    start = 0
    for row, words in enumerate(split):
        own = flat[start : start + len(words)]
        start += len(words)
        vectors[row, : len(words)] = own
        known[row, : len(words)] = np.abs(own).sum(1) > 0 if len(words) else 0.0
        if not known[row].any():
            raise UsageError(
                f"no word of the phrase {phrases[row]!r} is known.", hint="Name a region in English words."
            )
    return vectors, known
