"""The examples of the documentation run."""

import re
from pathlib import Path


def test_the_examples_of_the_shelf_page_run() -> None:
    text = (Path(__file__).parents[1] / "docs/shelf.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(examples) == 3
    for example in examples:
        exec(compile(example, "docs/shelf.md", "exec"), {})
