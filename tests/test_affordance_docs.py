"""The page on affordance says what the package holds, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

from armwright.affordance.concepts import vocabulary
from armwright.affordance.registry import affordance_names

PAGE = (Path(__file__).parents[1] / "docs" / "affordance.md").read_text(encoding="utf-8")


def test_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(example, "docs/affordance.md", "exec"), {})


def test_every_model_is_named() -> None:
    for name in affordance_names():
        assert f"`{name}`" in PAGE


def test_what_is_held_out_is_listed() -> None:
    text = " ".join(PAGE.split())
    for name in vocabulary().held_out_categories:
        assert name in text
    held = sum(len(one.held_out_phrases) for one in vocabulary().concepts)
    every = held + sum(len(one.phrases) for one in vocabulary().concepts)
    assert f"({held} of {every})" in text
