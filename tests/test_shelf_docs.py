"""The page on shelf reasoning says what the package holds, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from armwright.shelf.products import CATEGORIES, Product, load_products
from armwright.shelf.reasoner import Reasoning
from armwright.shelf.scenes import LAYOUTS

PAGE = (Path(__file__).parents[1] / "docs" / "shelf_reasoning.md").read_text(encoding="utf-8")


def test_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(example, "docs/shelf_reasoning.md", "exec"), names)
    assert isinstance(names["said"], Reasoning)
    assert names["said"].ok
    standing = names["said"].proposals[0].orientation
    assert names["best"].size_m == pytest.approx(names["target"].sizes()[standing])


def test_the_product_of_the_page_is_one():
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    product = Product.model_validate(yaml.safe_load(example)[0])
    assert product in load_products()


def test_what_is_named_is_there():
    assert f"holds {len(load_products())} products" in PAGE
    for name in ("embedded", "score", "chat", *LAYOUTS):
        assert f"`{name}`" in PAGE
    for category in CATEGORIES:
        assert category in PAGE
