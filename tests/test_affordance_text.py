from __future__ import annotations

import numpy as np
import pytest

from armwright.affordance.concepts import vocabulary
from armwright.affordance.text import WORDS, phrase_words, word_vectors
from armwright.core.errors import UsageError


def test_words_are_lower_case_without_marks_and_at_most_twelve() -> None:
    assert phrase_words('Pour it "Out", please!') == ("pour", "it", "out", "please")
    assert len(phrase_words("a " * 40)) == WORDS


def test_vectors_stand_where_words_are_known() -> None:
    vectors, known = word_vectors(["the handle", "rim qzxjvkwpqz of it"])
    assert vectors.shape == (2, WORDS, 128)
    assert known[0, :2].tolist() == [1, 1] and known[0, 2:].sum() == 0
    np.testing.assert_allclose(np.linalg.norm(vectors[0, :2], axis=1), 1, atol=1e-5)
    assert (np.abs(vectors).sum(2) > 0).astype(float).tolist() == known.tolist()


@pytest.mark.parametrize("phrase", ["", "  ", "?!"])
def test_a_phrase_without_words_is_refused(phrase: str) -> None:
    with pytest.raises(UsageError, match="no word"):
        word_vectors(["the handle", phrase])


def test_every_phrasing_can_be_read() -> None:
    everything = [p.replace("{thing}", "mug") for c in vocabulary().concepts for p in (*c.phrases, *c.held_out_phrases)]
    vectors, known = word_vectors(everything)
    assert np.isfinite(vectors).all() and (known.sum(1) >= 1).all()
