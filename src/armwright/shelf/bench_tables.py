"""Tables I and II of OMAR from a bench's entries: means, standard errors and paired tests, as text and CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armwright.recording.csv_text import csv_text
from armwright.shelf.methods import MAPPING, METHODS, methods_of
from armwright.shelf.metrics import compare

Entry = Mapping[str, Any]
AGAINST = "ours"
LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
_ROW = ("table", "set", "metric", "method", "n", "mean", "error", "p")


@dataclass(frozen=True)
class Metric:
    """One line of a table.

    Attributes:
        name, title: In the record, and for people.
        of: Entry and method -> value; of what did not come about, the worst.
        scale: What a value is multiplied by to be shown.
        better: ``high`` or ``low``.
    """

    name: str
    title: str
    of: Callable[[Entry, str], float]
    scale: float = 100.0
    better: str = "high"


def _mapped(name: str) -> Callable[[Entry, str], float]:
    return lambda entry, method: float(entry["mapping"].get(method, {}).get(name, 0.0))


def _fit(name: str) -> Callable[[Entry, str], float]:
    return lambda entry, method: float((_row(entry, method).get("fits") or {}).get(name, 0.0))


def _judged(*names: str) -> Callable[[Entry, str], float]:
    def value(entry: Entry, method: str) -> float:
        placed = _row(entry, method).get("placed") or {}
        return float(all(placed.get(name, False) for name in names))

    return value


def _chosen(entry: Entry, method: str) -> float:
    return float(_row(entry, method).get("box") is not None)


def _row(entry: Entry, method: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = entry["placing"].get(method, {})
    return found


MAPPING_METRICS = (
    Metric("f1_label", "F1-Label [%]", _mapped("f1_label")),
    Metric("box_iou", "BB-IoU [%]", _mapped("box_iou")),
    Metric("instances", "Instances [%]", _mapped("instances")),
    Metric("spurious", "Spurious per scene", _mapped("spurious"), 1.0, "low"),
)
PLACED_METRICS = (Metric("success", "SR [%]", _judged("success")),)
CHOSEN_METRICS = (
    Metric("sf_equal", "SF-EQ [%]", _fit("sf_equal")),
    Metric("sf_experts", "SF-experts [%]", _fit("sf_experts")),
)
BESIDES_METRICS = (
    Metric("upright", "SR and upright [%]", _judged("success", "upright")),
    Metric("neighbours_still", "SR, others still [%]", _judged("success", "neighbours_still")),
)
CHOSEN = Metric("chosen", "A place was chosen [%]", _chosen)
METRICS = {m.name: m for m in (*MAPPING_METRICS, *PLACED_METRICS, *CHOSEN_METRICS, *BESIDES_METRICS, CHOSEN)}
TITLES = {1: "Table I. Instance mapping", 2: "Table II. Placing"}
_READ = (
    "Mean ± standard error over scenes; *, **, ***: differs from OURS with p < 0.05, 0.01, 0.001 (paired two-sided "
    "Wilcoxon). What a method did not get to counts as 0. "
)
NOTES = {
    1: _READ + "GT-Labels is simulated: true descriptions of the same masks. BL1 maps one view with nouns alone.",
    2: _READ
    + "SF by true attributes at the chosen place: with equal weights (SF-EQ), and with each scene's weights by "
    "three built-in estimators (SF-experts), which are no language models. BL2 draws free places at random.",
}


def mapping_rows(entries: Sequence[Entry], *, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return the cells of Table I: one per set, metric and method that has a map of its own."""
    names = [m.name for m in methods_of(methods) if m.name in MAPPING.values()]
    return _cells(1, entries, MAPPING_METRICS, lambda metric: names)


def placing_rows(entries: Sequence[Entry], *, methods: Sequence[str], placed: Sequence[str]) -> list[dict[str, Any]]:
    """Return the cells of Table II: one per set, metric and method that chose a place, or that placed."""
    executed = [m.name for m in methods_of(methods) if m.name in placed]
    choosing = [m.name for m in methods_of(methods) if m.name in placed or m.name not in ("basic", "gt-labels")]
    metrics = (*PLACED_METRICS, *CHOSEN_METRICS, *BESIDES_METRICS, CHOSEN)
    return _cells(
        2, entries, metrics, lambda metric: executed if metric in (*PLACED_METRICS, *BESIDES_METRICS) else choosing
    )


def best_rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the mean SF of the best truly free places, per set: what no method can pass, and few may reach."""
    rows = []
    for scenes in dict.fromkeys(entry["scene"] for entry in entries):
        found = [e["best"] for e in entries if e["scene"] == scenes and e.get("best")]
        if found:
            means = {metric.name: float(np.mean([one[metric.name] for one in found])) for metric in CHOSEN_METRICS}
            rows.append({"set": scenes, "n": len(found), **means})
    return rows


def best_text(record: Mapping[str, Any]) -> str:
    """Return `best_rows` as a sentence; nothing where there are none."""
    told = [
        f"{row['set']} " + ", ".join(f"{metric.title[:-4]} {100 * row[metric.name]:.0f}" for metric in CHOSEN_METRICS)
        for row in record["best"]
    ]
    return f"The best truly free place, reachable or not [%]: {'; '.join(told)}." if told else ""


def _cells(
    table: int, entries: Sequence[Entry], metrics: Sequence[Metric], methods: Callable[[Metric], Sequence[str]]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for scenes in dict.fromkeys(entry["scene"] for entry in entries):
        mine = [entry for entry in entries if entry["scene"] == scenes]
        for metric in metrics:
            names = methods(metric)
            reference = [metric.of(entry, AGAINST) for entry in mine] if AGAINST in names else None
            for name in names:
                values = np.array([metric.of(entry, name) for entry in mine])
                paired = None if reference is None or name == AGAINST else compare(reference, values)
                rows.append(
                    {
                        "table": table,
                        "set": scenes,
                        "metric": metric.name,
                        "method": name,
                        "n": len(values),
                        "mean": float(values.mean()),
                        "error": float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None,
                        "p": None if paired is None else paired.p,
                    }
                )
    return rows


def stars(p: float | None) -> str:
    """Return the stars of a p-value; none where there is none."""
    return next((mark for level, mark in LEVELS if p is not None and p < level), "")


def cell(row: Mapping[str, Any]) -> str:
    """Return a cell as the paper prints it: mean ± standard error, with stars."""
    scale = METRICS[row["metric"]].scale
    digits = 0 if scale == 100 else 1
    mean = f"{scale * row['mean']:.{digits}f}"
    return mean + ("" if row["error"] is None else f" ± {scale * row['error']:.1f}") + stars(row["p"])


def best(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the methods with the best mean as printed; what is told the truth does not compete."""
    rivals = [row for row in rows if row["method"] != "gt-labels"]
    if not rivals:
        return set()
    metric = METRICS[rivals[0]["metric"]]
    digits = 2 if metric.scale == 100 else 1
    values = {row["method"]: round(row["mean"], digits) for row in rivals}
    top = max(values.values()) if metric.better == "high" else min(values.values())
    return {name for name, value in values.items() if value == top}


def format_tables(record: Mapping[str, Any]) -> str:
    """Return the tables of a bench as text, a block for each set."""
    rows = record["rows"]
    lines: list[str] = []
    for table in dict.fromkeys(row["table"] for row in rows):
        mine = [row for row in rows if row["table"] == table]
        names = columns_of(mine)
        lines += [TITLES[table], ""]
        for scenes in dict.fromkeys(row["set"] for row in mine):
            block = {(row["metric"], row["method"]): row for row in mine if row["set"] == scenes}
            n = next(iter(block.values()))["n"]
            lines.append(f"{f'{scenes} (n = {n})':<28}" + "".join(f"{METHODS[name].title:>15}" for name in names))
            for metric in dict.fromkeys(name for name, _ in block):
                cells = [block.get((metric, name)) for name in names]
                lines.append(
                    f"{METRICS[metric].title:<28}" + "".join(f"{cell(c) if c else '-':>15}" for c in cells).rstrip()
                )
            lines.append("")
        lines += [NOTES[table], *([best_text(record)] if table == 2 else []), ""]
    for item in record["scenes_not_begun"]:
        lines.append(f"{item['scene']} {item['seed']} could not begin: {item['reason']}")
    if record["failures"]:
        lines.append(
            "failures: " + ", ".join(f"{f['n']} {f['method']} {f['stage']} ({f['set']})" for f in record["failures"])
        )
    total = sum(record["cpu_s_per_scene"].values())
    parts = sorted(record["cpu_s_per_scene"].items(), key=lambda item: -item[1])
    lines.append(f"computing time per scene {total:.1f} s: " + ", ".join(f"{name} {s:.1f}" for name, s in parts))
    return "\n".join(lines)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the methods of rows in the order of the paper's columns."""
    there = {row["method"] for row in rows}
    return [name for name in METHODS if name in there]


def rows_csv(record: Mapping[str, Any]) -> str:
    """Return the cells as CSV, one per line; means and errors are shares of 1."""
    return csv_text(_ROW, record["rows"])


def scenes_csv(entries: Sequence[Entry], *, methods: Sequence[str]) -> str:
    """Return every value of every scene as CSV, one line per scene and method."""
    names = [m.name for m in methods_of(methods)]
    values = [
        {
            "set": entry["scene"],
            "seed": entry["seed"],
            "method": name,
            "failed": entry["failed"] or _row(entry, name).get("failed") or "",
            **{
                metric.name: f"{metric.of(entry, name):.4f}" if _has(entry, name, metric) else ""
                for metric in METRICS.values()
            },
        }
        for entry in entries
        for name in names
    ]
    return csv_text(("set", "seed", "method", "failed", *METRICS), values)


def _has(entry: Entry, method: str, metric: Metric) -> bool:
    return method in entry["mapping"] if metric in MAPPING_METRICS else method in entry["placing"]
