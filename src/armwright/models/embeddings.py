"""Text embeddings: how alike two phrases are in meaning, offline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import entry_points
from importlib.resources import files
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import CacheError, UnknownNameError

ENTRY_POINT_GROUP = "armwright.text_embedders"
_LONGEST_WORD = 60


class TextEmbedder(Protocol):
    """Maps texts to unit vectors whose dot product is their likeness."""

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) unit vectors, a zero row for a text with no known word."""
        ...


class StaticEmbedder:
    """Averages one stored vector per token: distilled from MiniLM by ``scripts/distil_embeddings.py``.

    Args:
        tokens: Word pieces; ``##`` marks one that continues a word.
        rows: (n, d) int8 vectors.
        scale: (n,) what an int8 step is worth.
    """

    name = "static"

    def __init__(self, tokens: Sequence[str], rows: NDArray[np.int8], scale: NDArray[np.float16]) -> None:
        self._index = {token: k for k, token in enumerate(tokens)}
        self._rows = rows
        self._scale = scale.astype(np.float32)

    @classmethod
    def load(cls) -> StaticEmbedder:
        """Read the vectors shipped with the package.

        Raises:
            CacheError: The file is missing or damaged.
        """
        path = files("armwright.models") / "data" / "token_embeddings.npz"
        try:
            with path.open("rb") as stream, np.load(stream) as data:
                tokens = data["tokens"].tobytes().decode().split("\n")
                return cls(tokens, data["rows"], data["scale"])
        except (OSError, ValueError, KeyError) as error:
            raise CacheError(f"cannot read {path}: {error}.", hint="Install armwright again.") from error

    def pieces(self, word: str) -> list[str]:
        """Cut a lower-case word into known pieces, longest first; an empty list if it cannot be done."""
        if len(word) > _LONGEST_WORD:
            return []
        found: list[str] = []
        start = 0
        while start < len(word):
            lead = "##" if start else ""
            end = next((e for e in range(len(word), start, -1) if lead + word[start:e] in self._index), None)
            if end is None:
                return []
            found.append(lead + word[start:end])
            start = end
        return found

    def knows(self, word: str) -> bool:
        """Return whether the word is one token: a common word."""
        return word in self._index

    def words(self) -> frozenset[str]:
        """Return the common words: tokens of two letters and more that are whole words."""
        return frozenset(token for token in self._index if len(token) > 1 and token.isascii() and token.isalpha())

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) unit vectors, a zero row for a text with no known word."""
        out = np.zeros((len(texts), self._rows.shape[1]), np.float32)
        for row, text in zip(out, texts, strict=True):
            indices = [self._index[p] for word in text.lower().split() for p in self.pieces(word)]
            if indices:
                row[:] = (self._rows[indices] * self._scale[indices, None]).sum(0)
                row /= np.linalg.norm(row) or 1.0
        return out


_EMBEDDERS: dict[str, Callable[[], TextEmbedder]] = {"static": StaticEmbedder.load}


@lru_cache(maxsize=4)
def text_embedder(name: str = "static") -> TextEmbedder:
    """Return the embedder of that name, loaded once.

    Other packages add theirs through the entry-point group ``armwright.text_embedders``.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name in _EMBEDDERS:
        return _EMBEDDERS[name]()
    point = next((p for p in entry_points(group=ENTRY_POINT_GROUP) if p.name == name), None)
    if point is None:
        known = {*_EMBEDDERS, *(p.name for p in entry_points(group=ENTRY_POINT_GROUP))}
        raise UnknownNameError("text embedder", name, known)
    embedder: TextEmbedder = point.load()()
    return embedder
