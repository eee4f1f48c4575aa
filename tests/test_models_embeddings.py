"""Static text embeddings: unit vectors, and likeness that orders meaning as people do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.core.errors import UnknownNameError
from armwright.models.embeddings import StaticEmbedder, text_embedder


@pytest.mark.parametrize(
    ("word", "near", "far"),
    [
        ("mug", "cup", "microwave"),
        ("skillet", "frying pan", "shelf"),
        ("dessertspoon", "spoon", "cabinet"),
        ("cupboard", "cabinet", "carrot"),
        ("stewpot", "pot", "book"),
        ("cookie jar", "jar", "screwdriver"),
        ("crimson", "red", "wooden"),
    ],
)
def test_likeness_orders_meaning(word, near, far):
    a, b, c = text_embedder().embed([word, near, far])
    assert a @ b > a @ c + 0.1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_rows_are_unit_or_zero_and_do_not_depend_on_company(texts):
    vectors = text_embedder().embed(texts)
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_array_equal(text_embedder().embed([text])[0], vector)


def test_words_are_cut_into_the_longest_known_pieces():
    embedder = StaticEmbedder(["stew", "##pot", "s", "##tew"], np.ones((4, 2), np.int8), np.ones(4, np.float16))
    assert embedder.pieces("stewpot") == ["stew", "##pot"]
    assert embedder.pieces("pot") == []
    assert not embedder.embed(["pot"]).any()


def test_an_unknown_embedder_lists_those_there_are():
    with pytest.raises(UnknownNameError, match="static"):
        text_embedder("word2vec")
