"""The fifty tasks beside AffordSim's own tables: reads bench records, prints tier by grasp source and by arm.

    armwright bench --suite fifty --robots franka --grasps oracle,affordance --affordance learned --out OUT
    python benchmarks/fifty.py OUT/result.json [MORE.json ...]

Several records are read as one table: their cells must not overlap. A record kept in ``results/`` may be given as well.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from armwright.core.errors import UsageError
from armwright.generate.tables import cross, format_cross

# AffordSim, Table 1: collection success in percent by tier and grasp method.
PAPER_SOURCES: Mapping[str, Mapping[str, float]] = {
    "manual": {"easy": 100, "medium": 85, "hard": 72},
    "generic": {"easy": 67, "medium": 15, "hard": 3},
    "generic-filtered": {"easy": 87, "medium": 45, "hard": 16},
    "affordance": {"easy": 98, "medium": 79, "hard": 64},
    "oracle": {"easy": 100, "medium": 93, "hard": 86},
}
PAPER_NAMES = {
    "manual": "Manual",
    "generic": "AnyGrasp",
    "generic-filtered": "AnyGrasp+Filter",
    "affordance": "AffordSim",
    "oracle": "Human Aff.",
}


def read_rows(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the cells of every record.

    Raises:
        UsageError: A file is no bench record, or two hold the same cell.
    """
    rows: list[dict[str, Any]] = []
    seen: dict[tuple[str, str, str], Path] = {}
    for path in paths:
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            found = record["rows"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} is no record of a bench: {error}.", hint="Give OUT/result.json.") from error
        for row in found:
            cell = (row["task"], row["robot"], row["grasps"])
            if cell in seen:
                raise UsageError(f"{path} and {seen[cell]} both hold {' on '.join(cell[:2])} by {cell[2]}.")
            seen[cell] = path
        rows += found
    return rows


def report(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the tables as text."""
    lines: list[str] = []
    sources, arms = (list(dict.fromkeys(row[kind] for row in rows)) for kind in ("grasps", "robot"))
    for arm in arms if len(sources) > 1 else ():
        part = [row for row in rows if row["robot"] == arm]
        if len({row["grasps"] for row in part}) > 1:
            lines += [f"{arm}: both success and compliance, % (95 % interval), by grasp source", ""]
            lines += format_cross(part, "grasps") + _paper(part) + [""]
    for source in sources if len(arms) > 1 else ():
        part = [row for row in rows if row["grasps"] == source]
        if len({row["robot"] for row in part}) > 1:
            lines += [f"grasps {source}: by arm", "", *format_cross(part, "robot"), ""]
    lines.append("cells below 80 %:")
    for row in sorted(rows, key=lambda row: (row["grasps"], row["robot"], row["rate"], row["task"])):
        if row["rate"] < 0.8:
            failures = ", ".join(f"{count} {reason}" for reason, count in row["failures"].items())
            lines.append(
                f"  {row['grasps']:<17} {row['robot']:<8} {row['task']:<34} {row['both']}/{row['n']}  {failures}"
            )
    total = Counter[str]()
    for row in rows:
        total.update(row["failures"])
    lines.append("failures: " + ", ".join(f"{count} {reason}" for reason, count in total.most_common()))
    return "\n".join(lines)


def _paper(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    columns = list(cross(rows, "grasps")["all"])
    known = [column for column in columns if column in PAPER_SOURCES]
    lines = ["AffordSim's Table 1: " + ", ".join(f"{column} = {PAPER_NAMES[column]}" for column in known)]
    width = max(17, *(len(name) + 2 for name in columns))
    for tier in ("easy", "medium", "hard"):
        cells = [f"{PAPER_SOURCES[c][tier]:.0f}" if c in PAPER_SOURCES else "-" for c in columns]
        lines.append(f"{tier:<10}" + "".join(f"{cell:>{width}}" for cell in cells))
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true", help="print the crossed tables as JSON")
    args = parser.parse_args(argv)
    try:
        rows = read_rows(args.records)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps({kind: cross(rows, kind) for kind in ("grasps", "robot")}))
    else:
        print(report(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
