"""Share of sentences a parser understands: ``python benchmarks/language.py FILE [--json] [--model M]``."""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import yaml

from armwright.core.errors import ArmwrightError
from armwright.language import parse
from armwright.language.grading import grade


def wilson(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    p, z2 = successes / n, z * z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path)
    options.add_argument("--json", action="store_true")
    options.add_argument("--parser", default="embedded")
    options.add_argument("--model")
    options.add_argument("--former", type=Path, help="categories that were split since the file was written (YAML)")
    arguments = options.parse_args()
    items = yaml.safe_load(arguments.file.read_text())
    former = yaml.safe_load(arguments.former.read_text()) if arguments.former else {}
    failures, times = [], []
    for item in items:
        started = time.perf_counter()
        try:
            parsed = parse(item["sentence"], parser=arguments.parser, model=arguments.model)
        except ArmwrightError as error:
            parsed = error
        times.append(time.perf_counter() - started)
        ok, differences = grade(item, parsed, former=former)
        if not ok:
            failures.append({"sentence": item["sentence"], "differences": differences})
    right = len(items) - len(failures)
    low, high = wilson(right, len(items))
    ranked = sorted(times[1:]) or times
    record = {
        "file": arguments.file.name,
        "former_categories": former,
        "parser": arguments.model or arguments.parser,
        "n": len(items),
        "rate": right / len(items),
        "low": low,
        "high": high,
        "first_ms": 1e3 * times[0],
        "median_ms": 1e3 * ranked[len(ranked) // 2],
        "max_ms": 1e3 * ranked[-1],
        "failures": failures,
    }
    if arguments.json:
        print(json.dumps(record, indent=2))
        return
    for failure in failures:
        print(f"x {failure['sentence']}")
        for difference in failure["differences"]:
            print(f"    {difference}")
    print(f"{right} of {len(items)} right: {record['rate']:.1%} (95 % interval {low:.1%} to {high:.1%})")
    print(
        f"first {record['first_ms']:.0f} ms, then median {record['median_ms']:.1f}, longest {record['max_ms']:.1f} ms"
    )


if __name__ == "__main__":
    main()
