"""Table III of OMAR as a command: `shelf bench --table 3`, one line of the journal for each attribute."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from armwright.core.files import write_text
from armwright.core.pool import cores, run_in_order
from armwright.recording.csv_text import csv_text
from armwright.recording.journal import Journal
from armwright.recording.outputs import check_out
from armwright.recording.page import badge, header, rows_table, section
from armwright.recording.page import page as whole_page
from armwright.recording.result import ResultRecord, collect_versions
from armwright.shelf.bench_tables import stars
from armwright.shelf.dominance import SCENES_PER_SET, TEST_SETS, dominance_row
from armwright.shelf.embedded import EmbeddedReasoner
from armwright.shelf.metrics import compare
from armwright.shelf.records import ATTRIBUTES, Attribute

COMMAND = "shelf bench --table 3"
TEXT, CSV, PAGE = "table3.txt", "table3.csv", "table3.html"
NOTE = (
    "SF with the experts' weights, mean ± standard error over sets; *, **, ***: OURS differs from Score with p < 0.05, "
    "0.01, 0.001 (paired two-sided Wilcoxon over sets). True attributes; nothing is perceived and no robot moves. "
    "Weights by three built-in estimators, which are no language models. Best: the best free place by these weights."
)
_COLUMNS = ("attribute", "n_sets", "n_scenes", "ours", "ours_error", "score", "score_error", "best", "p_sets",
            "p_scenes", "unplaced")  # fmt: skip


@dataclass(frozen=True)
class DominanceTask:
    """One attribute of Table III.

    Attributes:
        attribute: The dominating one.
        seed: Of all scenes.
        sets, scenes: Unseen sets, and scenes of a set.
        reorient: Whether boxes may be stood up or laid down.
    """

    attribute: Attribute
    seed: int
    sets: int = TEST_SETS
    scenes: int = SCENES_PER_SET
    reorient: bool = False


class AttributeEntry(BaseModel):
    """A line of the journal: SF of every scene of one attribute's sets (sets, scenes), shares of 1."""

    model_config = ConfigDict(strict=True, extra="allow")

    key: str
    weights: dict[str, float]
    ours: list[list[float]]
    score: list[list[float]]
    best: list[list[float]]
    unplaced: int


def run_attribute(task: DominanceTask) -> dict[str, Any]:
    """Return one attribute's line of the journal (`AttributeEntry`)."""
    row = dominance_row(
        task.attribute,
        task.seed,
        lambda allowed: EmbeddedReasoner(orientations=allowed),
        sets=task.sets,
        scenes=task.scenes,
        reorient=task.reorient,
    )
    return {
        "key": task.attribute,
        "weights": dict(row.weights),
        "ours": row.ours.tolist(),
        "score": row.score.tolist(),
        "best": row.best.tolist(),
        "unplaced": row.unplaced,
    }


def table_row(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an attribute's column of the table: means, errors over sets, tests over sets and over scenes."""
    ours, score = np.array(entry["ours"]), np.array(entry["score"])
    by_set, by_scene = compare(ours.mean(1), score.mean(1)), compare(ours, score)
    return {
        "attribute": entry["key"],
        "n_sets": by_set.n,
        "n_scenes": by_scene.n,
        "ours": by_set.mean_a,
        "ours_error": by_set.error_a if by_set.n > 1 else None,
        "score": by_set.mean_b,
        "score_error": by_set.error_b if by_set.n > 1 else None,
        "best": float(np.mean(entry["best"])),
        "p_sets": by_set.p,
        "p_scenes": by_scene.p,
        "unplaced": entry["unplaced"],
        "weights": dict(entry["weights"]),
        "experts": "built-in",
    }


def run_table3(
    out: Path,
    *,
    seed: int = 0,
    sets: int = TEST_SETS,
    scenes: int = SCENES_PER_SET,
    workers: int = 0,
    resume: bool = False,
    update: Callable[..., None] = lambda done, note="": None,
) -> ResultRecord:
    """Run Table III and write it with ``out/result.json``.

    Raises:
        UsageError: A folder or journal that cannot be gone on with.
        OutputError: The folder cannot be written.
    """
    started = time.perf_counter()
    check_out(out)
    identity = {"command": COMMAND, "seed": seed, "sets": sets, "scenes": scenes}
    with Journal(out, identity, resume=resume, entry=AttributeEntry) as journal:
        finished = {entry["key"]: entry for entry in journal.entries}
        waiting = iter([DominanceTask(a, seed, sets, scenes) for a in ATTRIBUTES if a not in finished])

        def done(entry: dict[str, Any]) -> None:
            journal.add(entry)
            finished[entry["key"]] = entry
            update(len(finished))

        update(len(finished))
        run_in_order(run_attribute, lambda running: next(waiting, None), done, workers=workers or cores())
        record = ResultRecord(
            command=COMMAND,
            ok=True,
            seed=seed,
            wall_s=time.perf_counter() - started,
            versions=collect_versions(),
            files={
                "journal": str(journal.path),
                "table": str(out / TEXT),
                "csv": str(out / CSV),
                "page": str(out / PAGE),
            },
            extra={"sets": sets, "scenes": scenes, "rows": [table_row(finished[name]) for name in ATTRIBUTES]},
        )
        for name, text in table3_files(record.to_json()).items():
            write_text(out / name, text)
        record.write(out / "result.json")
    return record


def table3_files(record: Mapping[str, Any]) -> dict[str, str]:
    """Return name -> text of the table in each form, from the record as JSON data."""
    return {
        TEXT: format_table3(record) + "\n",
        CSV: csv_text(_COLUMNS, record["rows"]),
        PAGE: _page(record),
    }


def format_table3(record: Mapping[str, Any]) -> str:
    """Return the table as text."""
    lines = [f"{title:<{width}}" for title, width in zip(_HEAD, _WIDTHS, strict=True)]
    body = [
        "".join(f"{text:<{width}}" for text, width in zip(cells, _WIDTHS, strict=True)).rstrip()
        for cells in _cells(record["rows"])
    ]
    title = f"Table III. {record['sets']} unseen sets of {record['scenes']} scenes per attribute, seed {record['seed']}"
    return "\n".join([title, "", "".join(lines).rstrip(), *body, "", NOTE])


_HEAD = ("attribute", "OURS [%]", "Score [%]", "best", "gain", "p (sets)", "p (scenes)", "unplaced", "weights c p e o")
_WIDTHS = (14, 15, 15, 7, 8, 11, 12, 10, 20)


def _cells(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    return [
        [
            row["attribute"],
            _mean(row["ours"], row["ours_error"]),
            _mean(row["score"], row["score_error"]) + stars(row["p_sets"]),
            f"{100 * row['best']:.1f}",
            f"{100 * (row['ours'] - row['score']):+.1f}",
            f"{row['p_sets']:.2g}",
            f"{row['p_scenes']:.2g}",
            str(row["unplaced"]),
            " ".join(f"{row['weights'][name]:.2f}" for name in ATTRIBUTES),
        ]
        for row in rows
    ]


def _mean(mean: float, error: float | None) -> str:
    return f"{100 * mean:.1f}" + ("" if error is None else f" ± {100 * error:.1f}")


def _page(record: Mapping[str, Any]) -> str:
    badges = [badge(f"{record['sets']} sets of {record['scenes']} scenes"), badge(f"seed {record['seed']}")]
    table = section("Table III. Attributes that dominate", html.escape(NOTE), rows_table(_HEAD, _cells(record["rows"])))
    return whole_page(
        "Shelf bench, Table III", [header("armwright shelf bench", "Table III", badges), table], good=True
    )
