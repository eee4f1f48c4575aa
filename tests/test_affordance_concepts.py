from __future__ import annotations

import re

from armwright.affordance.concepts import split_phrases, vocabulary
from armwright.assets.catalog import CATALOG
from armwright.core.task import REGIONS

FROZEN_SHA256 = "f7f8c67dd4d300c3701548880cc754e56ddafc1a12b88a8ea166dc7f82e9bb08"


def test_phrasings_and_categories_held_out_are_those_fixed_before_training() -> None:
    assert vocabulary().frozen_digest() == FROZEN_SHA256


def test_every_region_has_enough_phrasings_and_names_itself_in_training() -> None:
    assert tuple(one.region for one in vocabulary().concepts) == REGIONS
    for one in vocabulary().concepts:
        assert len(one.phrases) >= 30
        assert len(one.held_out_phrases) >= 7
        assert one.region.lower() in one.phrases


def test_no_phrasing_is_in_two_places() -> None:
    everything = [p for one in vocabulary().concepts for p in (*one.phrases, *one.held_out_phrases)]
    assert len(everything) == len(set(everything))
    bare = [re.sub(r"\W+", " ", phrase.lower()).strip() for phrase in everything]
    assert len(bare) == len(set(bare))


def test_split_does_not_depend_on_the_order_of_writing() -> None:
    phrases = tuple(f"phrase {k}" for k in range(20))
    train, held = split_phrases("Button", phrases)
    train_back, held_back = split_phrases("Button", phrases[::-1])
    assert set(train) == set(train_back) and set(held) == set(held_back)
    assert set(train) | set(held) == set(phrases) and not set(train) & set(held)


def test_categories_held_out_exist_and_their_regions_are_taught_by_others() -> None:
    held = vocabulary().held_out_categories
    assert len(held) >= 6
    taught = {region for name in vocabulary().training_categories() for region in CATALOG[name].regions}
    for name in held:
        assert name in CATALOG
        assert set(CATALOG[name].regions) <= taught
    assert len(vocabulary().training_categories()) >= 40


def test_silence_of_an_entry_is_told_from_absence() -> None:
    lid = vocabulary().concept("Graspable Lid")
    assert lid.judges_absence("cube", frozenset(CATALOG["cube"].regions))
    assert not lid.judges_absence("jar", frozenset(CATALOG["jar"].regions))
    hanging = vocabulary().concept("Hanging Handle")
    assert not hanging.judges_absence("pot", frozenset(CATALOG["pot"].regions))
