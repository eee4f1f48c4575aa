"""The examples of the documentation run."""

import re
from pathlib import Path

import pytest


@pytest.mark.parametrize(("page", "count"), [("shelf", 1), ("mapping", 2), ("describer", 1)])
def test_the_examples_run(page: str, count: int) -> None:
    text = (Path(__file__).parents[1] / f"docs/{page}.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(examples) == count
    for example in examples:
        exec(compile(example, f"docs/{page}.md", "exec"), {})
