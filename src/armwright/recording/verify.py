"""Check every invariant that a reader of a LeRobot v3 dataset relies on, and name each violation's file and episode.

The verifier trusts only ``meta/info.json`` for the layout, so that datasets of other writers can be checked too; the
sidecar under ``armwright/`` is checked where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from armwright.core.errors import OutputError
from armwright.recording._verify_content import check_data, check_sidecar, check_videos
from armwright.recording._verify_meta import check_episodes, check_info, check_stats, check_tasks
from armwright.recording._verify_state import CheckName, Findings, Violation
from armwright.recording.layout import INFO, SCHEMA, STATS, TASKS
from armwright.recording.reader import dataset_info

_STEPS: tuple[tuple[CheckName, Callable[[Findings], None]], ...] = (
    ("info", check_info),
    ("tasks", check_tasks),
    ("episodes", check_episodes),
    ("data", check_data),
    ("stats", check_stats),
    ("videos", check_videos),
    ("sidecar", check_sidecar),
)

# Where a check looks, for what it did not foresee.
_WHERE: dict[CheckName, str] = {
    "info": INFO,
    "tasks": TASKS,
    "episodes": "meta/episodes",
    "data": "data",
    "stats": STATS,
    "videos": "videos",
    "sidecar": "armwright",
}
_MARKS = ("meta", "data", "videos", SCHEMA)


@dataclass(frozen=True)
class VerifyReport:
    """What `verify_dataset` found.

    Attributes:
        ok: No violation.
        root: The dataset.
        episodes, frames: As info.json counts them (0 where it cannot be read).
        checked: Which groups of checks were carried out.
        violations: Everything that is wrong, in the order of the checks.
    """

    ok: bool
    root: Path
    episodes: int
    frames: int
    checked: tuple[str, ...]
    violations: tuple[Violation, ...]

    @property
    def checks(self) -> int:
        """How many groups of checks were carried out."""
        return len(self.checked)

    @property
    def problems(self) -> tuple[str, ...]:
        """The violations as sentences that name file and episode."""
        return tuple(map(str, self.violations))

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON-safe data."""
        return {**asdict(self), "root": str(self.root), "checked": list(self.checked)}


def verify_dataset(root: str | Path, *, decode: bool = True, limit: int = 200) -> VerifyReport:
    """Check a finished dataset.

    Args:
        root: Folder of the dataset.
        decode: Also decode the first and the last frame of every episode and camera.
        limit: Stop after this many violations.

    Raises:
        OutputError: ``root`` is not a folder, or nothing in it is of a dataset.
    """
    folder = Path(root)
    if not folder.is_dir():
        raise OutputError(f"{folder} is not a folder.", hint="Give the folder that holds meta/, data/ and videos/.")
    if not any((folder / name).exists() for name in _MARKS):
        raise OutputError(
            f"{folder} holds no dataset: there is no {INFO}.",
            hint="Give the folder that holds meta/, data/ and videos/.",
        )
    findings = Findings(folder, decode=decode)
    checked: list[str] = []
    for name, step in _STEPS:
        if name != "info" and not findings.usable:
            break
        try:
            step(findings)
        except Exception as error:  # damage has more shapes than checks foresee; each must end as a finding
            findings.add(name, _WHERE[name], f"cannot be checked: {type(error).__name__}: {error}")
            findings.usable = False
        checked.append(name)
        if len(findings.violations) >= limit:
            break
    return VerifyReport(
        ok=not findings.violations,
        root=folder,
        episodes=findings.total("total_episodes"),
        frames=findings.total("total_frames"),
        checked=tuple(checked),
        violations=tuple(findings.violations[:limit]),
    )


__all__ = ["VerifyReport", "Violation", "dataset_info", "verify_dataset"]
