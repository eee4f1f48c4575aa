"""A shelf bench's tables as one HTML page, sets side by side as the paper prints them."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from armwright.recording.page import badge, header, key_values, rows_table, section
from armwright.recording.page import page as whole_page
from armwright.shelf.bench_tables import METRICS, NOTES, TITLES, best, best_text, cell, columns_of
from armwright.shelf.methods import METHODS
from armwright.shelf.parts import PART_NAMES

_FIRST = ' class="first"'
_STYLE = (
    ".paper th, .paper td { white-space: nowrap; } "
    ".paper .first { border-left: 2px solid #c9ced8; padding-left: 10px; }"
)


def page(record: Mapping[str, Any]) -> str:
    """Return the tables, what failed where, and what the parts cost."""
    rows = record["rows"]
    tables = [
        section(
            TITLES[table],
            html.escape(f"{NOTES[table]} {best_text(record) if table == 2 else ''}".strip()),
            paper_table([row for row in rows if row["table"] == table]),
        )
        for table in dict.fromkeys(row["table"] for row in rows)
    ]
    failures = [[row["set"], METHODS[row["method"]].title, row["stage"], str(row["n"])] for row in record["failures"]]
    not_begun = [[row["scene"], str(row["seed"]), row["reason"]] for row in record["scenes_not_begun"]]
    cost = sorted(record["cpu_s_per_scene"].items(), key=lambda item: -item[1])
    asked = record["request"]
    badges = [
        badge(f"{record['runs']} scenes a set, seeds {record['seed']} to {record['seed'] + record['runs'] - 1}"),
        *(badge(f"{name.replace('_', ' ')}: {asked[name]}") for name in PART_NAMES if asked[name] is not None),
    ]
    parts = [
        header("armwright shelf bench", "Methods compared on the shelf", badges),
        *tables,
        section("Where placing failed", "", rows_table(("set", "method", "stage", "scenes"), failures))
        if failures
        else "",
        section(
            "Scenes that could not begin",
            "They count as failures of every method.",
            rows_table(("set", "seed", "why"), not_begun),
        )
        if not_begun
        else "",
        key_values("Computing time per scene [s]", {name: f"{value:.2f}" for name, value in cost}),
    ]
    return whole_page("Shelf bench", parts, good=not not_begun)


def paper_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one table, metrics down and methods across in each set, the best in bold."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    names = columns_of(rows)
    found = {(row["set"], row["metric"], row["method"]): row for row in rows}
    counted = {row["set"]: row["n"] for row in rows}
    top = "".join(f'<th{_FIRST} colspan="{len(names)}">{html.escape(s)} (n = {counted[s]})</th>' for s in sets)
    heads = "".join(_tagged("th", METHODS[name].title, first=k == 0) for _ in sets for k, name in enumerate(names))
    body = ""
    for metric in dict.fromkeys(row["metric"] for row in rows):
        cells = ""
        for one in sets:
            there = {name: row for name in names if (row := found.get((one, metric, name))) is not None}
            winners = best(list(there.values()))
            for k, name in enumerate(names):
                text = html.escape(cell(there[name])) if name in there else "–"
                cells += _tagged("td", f"<b>{text}</b>" if name in winners else text, first=k == 0)
        body += f"<tr><th>{html.escape(METRICS[metric].title)}</th>{cells}</tr>"
    rows_of = f"<tr><th></th>{top}</tr><tr><th></th>{heads}</tr>{body}"
    return f'<div class="wide"><style>{_STYLE}</style><table class="paper">{rows_of}</table></div>'


def _tagged(tag: str, inside: str, *, first: bool) -> str:
    return f"<{tag}{_FIRST if first else ''}>{inside}</{tag}>"
