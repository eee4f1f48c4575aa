"""Result records: what a command did, as JSON that every printed table can be rebuilt from."""

from __future__ import annotations

import math
import platform
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from armwright.control.protocols import StageReport
from armwright.core.files import write_json


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class StageRecord(_Model):
    """One stage of a run."""

    name: str
    ok: bool
    status: str
    detail: str = ""

    @classmethod
    def from_report(cls, report: StageReport) -> StageRecord:
        """Copy a stage report without its data."""
        return cls(name=report.name, ok=report.ok, status=report.status, detail=report.detail)


class ResultRecord(_Model):
    """The record of one command.

    Attributes:
        command: ``run``, ``generate`` …
        ok: It did what was asked; a command exits 0 exactly then.
        stages: What happened, in order.
        seed: Seed of the command.
        robot: Arm by name, if one was used.
        success: Judged success of the task.
        compliance: Judged compliance with the named region; None where the sentence implies none.
        wall_s, sim_s: Time it took, and time in the simulated world. Only these may differ between two runs of one
            seed on one machine.
        versions: What it was made with.
        files: Role -> path of what it wrote.
        extra: What this command adds.
    """

    schema_name: Literal["armwright.result/1"] = Field(default="armwright.result/1", alias="schema")
    command: str
    ok: bool
    stages: tuple[StageRecord, ...] = ()
    seed: int = 0
    robot: str | None = None
    success: bool | None = None
    compliance: bool | None = None
    wall_s: float = Field(default=0.0, ge=0)
    sim_s: float = Field(default=0.0, ge=0)
    versions: dict[str, str | None] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    extra: dict[str, Any] = Field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON-safe data; what a command adds stands beside the common fields."""
        value = self.model_dump(mode="json", by_alias=True)
        extra = value.pop("extra")
        return {**value, **{key: item for key, item in extra.items() if key not in value}}

    def write(self, path: str | Path) -> None:
        """Write the record, whole or not at all."""
        write_json(path, self.to_json())


class BenchRow(_Model):
    """One cell of a benchmark's table.

    Attributes:
        slice: What the cell is about, such as robot and task.
        n: Rollouts.
        success, compliance, both: How many succeeded, complied with the region, and did both.
        rate, low, high: Share of ``both`` and its Wilson 95 % interval.
        failures: Stage that failed first -> how often.
    """

    slice: dict[str, str]
    n: int = Field(ge=0)
    success: int = Field(ge=0)
    compliance: int = Field(ge=0)
    both: int = Field(ge=0)
    rate: float
    low: float
    high: float
    failures: dict[str, int] = Field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the row with the slice's fields beside the others."""
        value = self.model_dump(mode="json")
        return {**value.pop("slice"), **value}


class Outcome(_Model):
    """How one rollout of a benchmark ended; compliance is True where the sentence implies no region."""

    slice: dict[str, str]
    success: bool
    compliance: bool = True
    failed_stage: str | None = None


def wilson(k: int, n: int, *, z: float = 1.959963984540054) -> tuple[float, float]:
    """Return the Wilson interval of ``k`` successes out of ``n`` (95 % by default); (0, 1) where n is 0."""
    if n <= 0:
        return 0.0, 1.0
    share = k / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if k == 0 else (middle - half) / scale
    high = 1.0 if k == n else (middle + half) / scale
    return low, high


def bench_rows(outcomes: Iterable[Outcome]) -> tuple[BenchRow, ...]:
    """Count rollouts into one row per slice, in order of first appearance."""
    groups: dict[tuple[tuple[str, str], ...], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(tuple(outcome.slice.items()), []).append(outcome)
    return tuple(_row(dict(key), group) for key, group in groups.items())


def bench_summary(rows: Sequence[BenchRow]) -> dict[str, Any]:
    """Return the totals over all rows: n, counts, rates, the interval and the worst cell."""
    n = sum(row.n for row in rows)
    counts = {name: sum(getattr(row, name) for row in rows) for name in ("success", "compliance", "both")}
    low, high = wilson(counts["both"], n)
    failures: Counter[str] = Counter()
    for row in rows:
        failures.update(row.failures)
    worst = min(rows, key=lambda row: row.rate, default=None)
    return {
        "n": n,
        **counts,
        "rate": counts["both"] / n if n else 0.0,
        "low": low,
        "high": high,
        "failures": dict(sorted(failures.items())),
        "worst": worst.to_json() if worst is not None else None,
    }


def _row(key: dict[str, str], group: Sequence[Outcome]) -> BenchRow:
    both = sum(outcome.success and outcome.compliance for outcome in group)
    low, high = wilson(both, len(group))
    failed = Counter(
        outcome.failed_stage or ("compliance" if outcome.success else "unknown")
        for outcome in group
        if not (outcome.success and outcome.compliance)
    )
    return BenchRow(
        slice=key,
        n=len(group),
        success=sum(outcome.success for outcome in group),
        compliance=sum(outcome.compliance for outcome in group),
        both=both,
        rate=both / len(group),
        low=low,
        high=high,
        failures=dict(sorted(failed.items())),
    )


@lru_cache(maxsize=1)
def _versions() -> tuple[tuple[str, str | None], ...]:
    found: dict[str, str | None] = {}
    for name in ("armwright", "mujoco", "numpy"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    found["git"] = _git_commit(Path(__file__).resolve().parents[3])
    found["python"] = platform.python_version()
    found["platform"] = f"{platform.system()}-{platform.release()}-{platform.machine()}"
    return tuple(found.items())


def collect_versions(**more: str | None) -> dict[str, str | None]:
    """Return what a result depends on: package, git commit (where run from a checkout), libraries, platform.

    A commit ends in ``-dirty`` where tracked files differ from it. ``more`` adds entries, such as the renderer.
    """
    return {**dict(_versions()), **more}


def _git_commit(root: Path) -> str | None:
    if not (root / ".git").exists() or not (root / "src/armwright").is_dir():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        dirty = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit}-dirty" if dirty else commit


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()


def same_but_times(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Say whether two records are the same but for the times they took."""

    def kept(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: kept(item) for key, item in value.items() if not str(key).endswith("wall_s")}
        return [kept(item) for item in value] if isinstance(value, (list, tuple)) else value

    return bool(kept(a) == kept(b))
