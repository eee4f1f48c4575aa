"""The user's page says what the catalog and the parser hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from armwright.assets.catalog import CATALOG, COLOURS
from armwright.core.task import PRIMITIVES, REGIONS, RELATIONS
from armwright.language import parse

PAGE = (Path(__file__).parents[1] / "docs" / "language.md").read_text()


@pytest.mark.parametrize("info", CATALOG.values(), ids=lambda info: info.name)
def test_every_category_has_its_row(info):
    receives = ", ".join(w for w, ok in (("in", info.receives_in), ("on", info.receives_on)) if ok) or "–"
    held = "fixed" if info.static else info.grasp
    row = f"| `{info.name}` | {', '.join(info.words)} | {held} | {', '.join(info.regions)} | {receives} |"
    assert row in PAGE


def test_every_name_is_listed():
    text = " ".join(PAGE.split())
    for name in (*PRIMITIVES, *RELATIONS):
        assert f"`{name}`" in text
    for name in (*REGIONS, *COLOURS):
        assert name in text


def test_the_example_is_what_the_parser_returns():
    sentence = re.search(r'armwright parse "([^"]+)" --json', PAGE)
    record = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert sentence is not None
    assert record is not None
    task = parse(sentence[1])
    expected = json.loads(record[1])
    assert [o.model_dump(include={"id", "category", "attributes"}) for o in task.scene.objects] == expected["objects"]
    assert [p.model_dump() for p in task.primitives] == expected["primitives"]
    assert [q.model_dump(exclude={"stated"}) for q in task.queries] == expected["queries"]
    assert list(task.not_understood) == expected["not_understood"]
