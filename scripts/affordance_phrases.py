"""Phrasings for training: drawn per region and object, with nouns put in, words dropped and vectors blurred."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from armwright.affordance.concepts import vocabulary
from armwright.affordance.text import WORDS, phrase_words
from armwright.assets.catalog import CATALOG
from armwright.models.embeddings import text_embedder

ANY_NOUN = ("thing", "object", "item", "one")
DROP_WORD, OTHER_NOUN, BLUR = 0.1, 0.3, 0.03


class Phrases:
    """Training phrasings as rows of a table of word vectors."""

    def __init__(self) -> None:
        self.nouns = sorted({word for name in vocabulary().training_categories() for word in CATALOG[name].words})
        texts = [phrase for one in vocabulary().concepts for phrase in one.phrases] + self.nouns + list(ANY_NOUN)
        self.words = ["", *sorted({word for text in texts for word in phrase_words(text.replace("{thing}", " "))})]
        self.index = {word: k for k, word in enumerate(self.words)}
        self.table = torch.from_numpy(text_embedder().embed(self.words))

    def rows(self, phrase: str, noun: str) -> list[int]:
        """Return the table rows of a phrase's words."""
        return [self.index[word] for word in phrase_words(phrase.replace("{thing}", noun))]

    def draw(
        self, categories: list[str], rng: np.random.Generator, *, plain: bool = False
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return word vectors (q, 12, 128), (q, 12) known words and (q,) regions: one phrase per object and region."""
        ids = np.zeros((len(categories) * len(vocabulary().concepts), WORDS), np.int64)
        at = 0
        for category in categories:
            for one in vocabulary().concepts:
                phrase = one.phrases[int(rng.integers(len(one.phrases)))]
                own = CATALOG[category].words if category in CATALOG else ()
                if not own or rng.random() < OTHER_NOUN:
                    own = ANY_NOUN if rng.random() < 0.5 else tuple(self.nouns)
                row = self.rows(phrase, own[int(rng.integers(len(own)))])
                if not plain and len(row) > 1:
                    kept = [k for k in row if rng.random() > DROP_WORD]
                    row = kept or row
                ids[at, : len(row)] = row
                at += 1
        index = torch.from_numpy(ids)
        known = (index > 0).float()
        words = self.table[index]
        if not plain:
            words = words + torch.from_numpy(rng.normal(0, BLUR, words.shape)).float()
        label = torch.arange(len(vocabulary().concepts)).repeat(len(categories))
        return words * known.unsqueeze(-1), known, label
