"""The benchmark's fifty tasks, each said in a sentence (AffordSim, appendix on the tasks)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml

from armwright.assets.catalog import CATALOG
from armwright.language import parse
from armwright.language.grading import grade

ITEMS = yaml.safe_load((Path(__file__).parent / "data" / "sentences_fifty_tasks.yaml").read_text())


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["task"])
def test_a_task_of_the_benchmark_is_understood(item):
    missing = [name for name in item.get("needs", ()) if name not in CATALOG]
    if missing:
        pytest.skip(f"the catalog has no {', '.join(missing)} yet")
    ok, differences = grade(item, parse(item["sentence"]))
    assert ok, differences


def test_the_tasks_are_those_of_the_paper():
    kinds = Counter(item["task"].split("_")[0] for item in ITEMS)
    assert kinds == {
        "pick": 20,
        "close": 1,
        "open": 1,
        "pull": 3,
        "push": 2,
        "hang": 2,
        "pour": 7,
        "stack": 4,
        "composite": 10,
    }
    assert len({item["task"] for item in ITEMS}) == len({item["sentence"] for item in ITEMS}) == 50
