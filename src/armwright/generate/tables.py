"""A bench's tables from its record: text for the terminal, CSV files, and one page with pictures."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from armwright.core.files import write_text
from armwright.generate.suite import TIERS, is_task_name, load_task
from armwright.recording.csv_text import csv_text
from armwright.recording.result import wilson

CROSSED = ("grasps", "robot")
TEXT, CSV, STAGES_CSV, PAGE = "table.txt", "table.csv", "stages.csv", "table.html"
_ROW = ("tier", "task", "sentence", "robot", "grasps", "n", "success", "compliance", "both", "rate", "low", "high")
_STAGE = ("task", "robot", "grasps", "number", "stage", "n", "reached", "ok", "rate", "low", "high")
_STYLE = """
body { margin: 0 auto; max-width: 1160px; padding: 24px 20px 60px; color: #1d2433; background: #eef0f4;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
section { background: #fff; border-radius: 12px; padding: 16px 20px; margin-top: 14px; overflow-x: auto; }
h1 { font-size: 26px; } h2 { font-size: 17px; margin: 0; } p { margin: 2px 0 8px; color: #5b6478; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid #e3e6ec; vertical-align: top; }
figure { display: inline-block; margin: 6px 10px 6px 0; } figcaption { font-size: 12.5px; color: #5b6478; }
img { max-width: 480px; border-radius: 8px; display: block; }
.bar { display: inline-block; width: 120px; height: 9px; border-radius: 5px; background: #f3d6d3; overflow: hidden; }
.bar i { display: block; height: 100%; background: #2a9d63; }
"""


def write_tables(record: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Write every table of a bench's record into its folder.

    Args:
        record: The record as JSON data.
        folder: The bench's folder.

    Returns:
        Role -> path of what was written.

    Raises:
        OutputError: A file cannot be written.
    """
    texts = {
        TEXT: format_table(record) + "\n",
        CSV: rows_csv(record),
        STAGES_CSV: stages_csv(record),
        PAGE: page(record),
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    roles = {TEXT: "table", CSV: "csv", STAGES_CSV: "stages", PAGE: "page"}
    return {roles[name]: str(folder / name) for name in texts}


def format_table(record: Mapping[str, Any]) -> str:
    """Return the tables of a bench as text: the cells, the totals of each tier and arm, failures by stage."""
    rows, summary = record["rows"], record["summary"]
    width = max([len(row["task"]) for row in rows] + [4])
    sources = [row["grasps"] for row in rows]
    wide = max(len(name) for name in [*sources, "grasps"]) + 2 if len(set(sources)) > 1 else 0
    title = "grasps" if wide else ""
    lines = [f"{'task':<{width}}  {'robot':<8} {title:<{wide}}{'both':>7}  {'95 %':>11}  success  comply  failures"]
    for row in rows:
        source = row["grasps"] if wide else ""
        lines.append(
            f"{row['task']:<{width}}  {row['robot']:<8} {source:<{wide}}{row['both']:>3}/{row['n']:<3}"
            f"  {_interval(row)}  {row['success']:>7}  {row['compliance']:>6}  {_counted(row['failures'])}"
        )
    for name, part in _totals(rows):
        lines.append(f"{name}: {part['both']} of {part['n']} ({_share(part)})")
    if len({tier_of(row["task"]) for row in rows}) > 1:
        for kind in CROSSED:
            lines += format_cross(rows, kind)
    if summary["failures"]:
        worst = sorted(summary["failures"].items(), key=lambda item: (-item[1], item[0]))
        lines.append(f"failures: {_counted(dict(worst))}")
    lines.append(
        f"all: {summary['both']} of {summary['n']} ({_share(summary)}), success {summary['success']}, "
        f"compliance {summary['compliance']}"
    )
    lines.append(
        f"the robot touched something it was not to move in {record['touched']}; "
        f"{record['rejected_draws']} of {record['draws']} pose draws were rejected"
    )
    return "\n".join(lines)


def cross(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the totals of each tier by arm or by grasp source, as AffordSim's Table 1 and its appendix D have them.

    Args:
        rows: Cells of a record.
        kind: ``robot`` or ``grasps``.

    Returns:
        Tier -> arm or source -> ``both``, ``n``, ``rate``, ``low``, ``high``; the last tier is ``all``. Sentences that
        are no task have the tier ``sentences``.
    """
    names = [*dict.fromkeys(tier_of(row["task"]) for row in rows)]
    tiers = [tier for tier in (*TIERS, "") if tier in names]
    columns = dict.fromkeys(row[kind] for row in rows)
    table = {
        tier or "sentences": {
            column: _total(row for row in rows if tier_of(row["task"]) == tier and row[kind] == column)
            for column in columns
        }
        for tier in tiers
    }
    table["all"] = {column: _total(row for row in rows if row[kind] == column) for column in columns}
    return table


def format_cross(rows: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    """Return `cross` as lines of text, in percent with 95 % intervals; none where there is only one column."""
    table = cross(rows, kind)
    columns = list(table["all"])
    if len(columns) < 2:
        return []
    wide = max(17, *(len(name) + 2 for name in columns))
    lines = [f"{'':<10}" + "".join(f"{name:>{wide}}" for name in columns)]
    for tier, cells in table.items():
        lines.append(f"{tier:<10}" + "".join(f"{_cell(cells[name]):>{wide}}" for name in columns))
    return lines


def rows_csv(record: Mapping[str, Any]) -> str:
    """Return the cells as CSV, one line per task, arm and grasp source."""
    rows = ({**row, "tier": tier_of(row["task"]), "sentence": _sentence(row["task"])} for row in record["rows"])
    return _csv(_ROW, rows)


def stages_csv(record: Mapping[str, Any]) -> str:
    """Return the stages as CSV, one line per task, arm, grasp source and stage."""
    return _csv(_STAGE, record["stage_rates"])


def page(record: Mapping[str, Any]) -> str:
    """Return the tables and pictures as one HTML page, which shows the pictures beside it."""
    summary = record["summary"]
    tasks = dict.fromkeys(row["task"] for row in record["rows"])
    totals = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{part['both']} of {part['n']}</td><td>{_share(part)}</td></tr>"
        for name, part in _totals(record["rows"])
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>armwright bench</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{summary['both']} of {summary['n']} rollouts succeeded</h1>\n"
        f"<p>{_share(summary)}; success {summary['success']}, compliance {summary['compliance']}; "
        f"seed {record['seed']}</p>\n"
        f"<section><h2>Totals</h2><table>{totals}</table></section>\n"
        + "".join(_cross_section(record["rows"], kind) for kind in CROSSED)
        + "\n".join(_task(record, task) for task in tasks)
        + "\n</body>\n</html>\n"
    )


def tier_of(task: str) -> str:
    """Return a task's tier, or an empty string for a sentence."""
    return load_task(task).tier if is_task_name(task) else ""


def _task(record: Mapping[str, Any], task: str) -> str:
    rows = [row for row in record["rows"] if row["task"] == task]
    stages = [row for row in record["stage_rates"] if row["task"] == task]
    pictures = [item for item in record["pictures"] if item["task"] == task]
    figures = "".join(
        f'<figure><img src="{html.escape(item["file"], quote=True)}" alt="beginning and end" loading="lazy">'
        f"<figcaption>{html.escape(item['robot'])}, seed {item['seed']}: {html.escape(item['outcome'])}</figcaption>"
        "</figure>"
        for item in pictures
    )
    cells = "".join(
        f"<tr><td>{html.escape(row['robot'])}</td><td>{html.escape(row['grasps'])}</td>"
        f'<td><span class="bar"><i style="width:{100 * row["rate"]:.0f}%"></i></span> {row["both"]}/{row["n"]}</td>'
        f"<td>{_interval(row)}</td><td>{html.escape(_counted(row['failures']))}</td></tr>"
        for row in rows
    )
    steps = "".join(
        f"<tr><td>{html.escape(row['robot'])}</td><td>{row['number']}. {html.escape(row['stage'])}</td>"
        f"<td>{row['ok']}/{row['n']}</td><td>{row['reached']}</td><td>{html.escape(_counted(row['failures']))}</td></tr>"
        for row in stages
    )
    sentence = _sentence(task)
    said = f"<p>{html.escape(sentence)} ({tier_of(task)})</p>" if sentence != task else ""
    return (
        f"<section><h2>{html.escape(task)}</h2>{said}{figures}"
        "<table><tr><th>arm</th><th>grasps</th><th>both</th><th>95 %</th><th>failures</th></tr>"
        f"{cells}</table>"
        "<table><tr><th>arm</th><th>stage</th><th>holds</th><th>reached</th><th>failures</th></tr>"
        f"{steps}</table></section>"
    )


def _cross_section(rows: Sequence[Mapping[str, Any]], kind: str) -> str:
    table = cross(rows, kind)
    columns = list(table["all"])
    if len(columns) < 2 or len(table) < 3:
        return ""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr><td>{tier}</td>" + "".join(f"<td>{_cell(cells[name])}</td>" for name in columns) + "</tr>"
        for tier, cells in table.items()
    )
    said = "grasp source" if kind == "grasps" else "arm"
    return f"<section><h2>Tier by {said}, %</h2><table><tr><th></th>{head}</tr>{body}</table></section>\n"


def _totals(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the totals of each tier, arm and grasp source that there is more than one of."""
    found = []
    for kind in ("tier", "robot", "grasps"):
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            groups.setdefault(tier_of(row["task"]) if kind == "tier" else row[kind], []).append(row)
        names = sorted(groups, key=TIERS.index) if kind == "tier" and "" not in groups else list(groups)
        if len(groups) > 1:
            found += [(name or "sentences", _total(groups[name])) for name in names]
    return found


def _total(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    rows = list(rows)
    both, n = sum(row["both"] for row in rows), sum(row["n"] for row in rows)
    low, high = wilson(both, n)
    return {"both": both, "n": n, "rate": both / n if n else 0.0, "low": low, "high": high}


def _sentence(task: str) -> str:
    return load_task(task).sentence if is_task_name(task) else task


def _cell(part: Mapping[str, Any]) -> str:
    if not part["n"]:
        return "-"
    return f"{100 * part['rate']:.1f} ({100 * part['low']:.0f}-{100 * part['high']:.0f})"


def _share(part: Mapping[str, Any]) -> str:
    return f"{100 * part['rate']:.1f} %, 95 % interval {100 * part['low']:.1f}-{100 * part['high']:.1f} %"


def _interval(row: Mapping[str, Any]) -> str:
    return f"{100 * row['low']:>4.0f}-{100 * row['high']:<4.0f} %"


def _counted(failures: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in failures.items())


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    counted = ({**row, "failures": "; ".join(f"{v} {k}" for k, v in row["failures"].items())} for row in rows)
    return csv_text((*columns, "failures"), counted)
