"""Join the datasets of several runs, as ``armwright dataset merge`` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from armwright.core.errors import UsageError
from armwright.recording.layout import SCHEMA
from armwright.recording.merge import merge_datasets
from armwright.recording.outputs import REQUEST, claimed, held
from armwright.recording.verify import verify_dataset


def join_runs(
    folders: Sequence[Path],
    out: Path,
    *,
    verify: bool = True,
    update: Callable[[int], None] = lambda done: None,
) -> dict[str, Any]:
    """Join datasets in the order given into ``out``, check it, and return a record of what it holds.

    Args:
        folders: Datasets, or folders of runs of ``generate``.
        out: Folder of the dataset to make, or of one that a merge made before.
        verify: Check the result, frames included.
        update: Called with the number of episodes so far.

    Raises:
        UsageError: Datasets that do not fit together, or a folder that holds something else.
        OutputError: One cannot be read, or the result cannot be written.
    """
    sources = [_dataset_in(folder) for folder in folders]
    inside = [source for source in sources if source.resolve() == out.resolve()]
    if inside:
        raise UsageError(f"{out} is one of the datasets to join.", hint="Choose another --out.")
    with claimed(out):
        if not (out / SCHEMA).exists() and (other := held(out)):
            raise UsageError(f"{out} {other}.", hint="Choose another --out.")
        if (out.parent / REQUEST).exists():
            raise UsageError(f"{out} belongs to the run in {out.parent}.", hint="Choose another --out.")
        summary = merge_datasets(sources, out, update=update)
    report = verify_dataset(out) if verify else None
    return {
        "schema": "armwright.result/1",
        "command": "dataset merge",
        "ok": report is None or report.ok,
        "sources": [str(source) for source in sources],
        "episodes": summary.episodes,
        "frames": summary.frames,
        "tasks": summary.tasks,
        "problems": [] if report is None else list(report.problems),
        "files": {"dataset": str(out)},
    }


def _dataset_in(folder: Path) -> Path:
    """Return a dataset's folder, given it or that of the run which holds it."""
    return folder / "dataset" if (folder / REQUEST).exists() else folder
