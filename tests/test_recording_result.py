from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from armwright.control.protocols import StageReport
from armwright.recording.result import (
    Outcome,
    ResultRecord,
    StageRecord,
    bench_rows,
    bench_summary,
    collect_versions,
    same_but_times,
    wilson,
)


@given(st.integers(1, 2000), st.data())
def test_wilson_solves_its_equation(n: int, data: st.DataObject) -> None:
    """The bounds are the shares p at which |k/n - p| is z standard deviations of p."""
    k = data.draw(st.integers(0, n))
    low, high = wilson(k, n)
    share, z = k / n, 1.959963984540054
    assert 0 <= low <= share <= high <= 1

    def distance(p: float) -> float:
        return (share - p) ** 2 - z * z * p * (1 - p) / n

    if k > 0:
        assert low < share and abs(distance(low)) < 1e-12
    if k < n:
        assert high > share and abs(distance(high)) < 1e-12


def test_wilson_at_the_ends() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 40)[0] == 0.0 and wilson(40, 40)[1] == 1.0
    assert wilson(38, 40) == pytest.approx((0.8350, 0.9862), abs=1e-4)


def test_a_record_keeps_its_schema_and_puts_extras_beside(tmp_path: Path) -> None:
    stage = StageRecord.from_report(StageReport("pick", True, "done", data={"force": object()}))
    record = ResultRecord(
        command="run",
        ok=True,
        stages=(stage,),
        robot="franka",
        versions=collect_versions(),
        extra={"rows": [1], "ok": 3},
    )
    record.write(tmp_path / "result.json")
    value = json.loads((tmp_path / "result.json").read_text())
    assert value["schema"] == "armwright.result/1" and value["rows"] == [1] and value["ok"] is True
    assert value["stages"] == [{"name": "pick", "ok": True, "status": "done", "detail": ""}]
    with pytest.raises(ValidationError):
        ResultRecord(command="run", ok=True, typo=1)  # type: ignore[call-arg]


def test_versions_say_what_it_depends_on() -> None:
    versions = collect_versions(renderer="egl")
    assert {"armwright", "git", "mujoco", "numpy", "python", "platform", "renderer"} <= versions.keys()
    assert versions["mujoco"] and versions["renderer"] == "egl"


def test_bench_rows_count_both_and_the_stage_that_failed() -> None:
    cell = {"task": "mug", "robot": "franka"}
    outcomes = [Outcome(slice=cell, success=True)] * 37
    outcomes += [
        Outcome(slice=cell, success=True, compliance=False),
        Outcome(slice=cell, success=False, failed_stage="pick"),
    ]
    outcomes += [Outcome(slice={"task": "mug", "robot": "ur5e"}, success=False, failed_stage="plan")]
    rows = bench_rows(outcomes)
    assert [row.n for row in rows] == [39, 1]
    assert (rows[0].success, rows[0].compliance, rows[0].both) == (38, 38, 37)
    assert rows[0].failures == {"compliance": 1, "pick": 1}
    assert rows[0].to_json()["robot"] == "franka" and (rows[0].low, rows[0].high) == wilson(37, 39)
    summary = bench_summary(rows)
    assert (summary["n"], summary["both"]) == (40, 37) and summary["worst"]["robot"] == "ur5e"
    assert bench_summary(())["n"] == 0


def test_only_times_may_differ() -> None:
    a = ResultRecord(command="run", ok=True, wall_s=1.0).to_json()
    assert same_but_times(a, {**a, "wall_s": 2.0})
    assert not same_but_times(a, {**a, "seed": 2})
