"""Names of objects: plurals, longest match, and how unknown nouns find a category or are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from armwright.assets.catalog import CATALOG
from armwright.language.vocabulary import default_vocabulary, plural_of

PHRASES = yaml.safe_load((Path(__file__).parent / "data" / "phrases.yaml").read_text())


@pytest.mark.parametrize("info", CATALOG.values(), ids=lambda info: info.name)
def test_every_word_is_found_in_both_numbers(info):
    vocabulary = default_vocabulary()
    for phrase in info.words:
        for text, plural in ((phrase, False), (plural_of(phrase), True)):
            found = vocabulary.match(["the", *text.split(), "here"], 1)
            assert found is not None
            assert (found.category, found.length, found.plural) == (info.name, len(text.split()), plural)


def test_the_longest_name_wins():
    found = default_vocabulary().match(["paper", "cup", "rack"], 0)
    assert found is not None
    assert (found.category, found.length) == ("paper_cup", 2)


def test_few_words_for_other_things_are_mistaken():
    mistaken = [word for word in PHRASES["elsewhere"] if default_vocabulary().nearest(word) is not None]
    assert len(mistaken) <= 0.03 * len(PHRASES["elsewhere"]), mistaken


def test_an_unknown_noun_is_right_far_more_often_than_wrong():
    pairs = [
        (name, word) for group in ("paraphrases", "new_words") for name, ws in PHRASES[group].items() for word in ws
    ]
    chosen = [(name, default_vocabulary().nearest(word)) for name, word in pairs]
    right = sum(name == got for name, got in chosen)
    wrong = sum(got is not None for _, got in chosen) - right
    assert right >= 0.5 * len(pairs)
    assert wrong <= 0.08 * len(pairs)


def test_suggestions_put_a_misspelt_name_first():
    assert default_vocabulary().suggestions("kettel")[0] == "kettle"
    assert len(default_vocabulary().suggestions("qqqq")) == 4
