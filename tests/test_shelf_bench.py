"""The shelf bench: a journal to go on from, tables that can be rebuilt, and failures that count."""

from __future__ import annotations

import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import wilcoxon

from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pose import Pose
from armwright.perception.describers import LabelsOnly
from armwright.perception.descriptions import Description
from armwright.shelf import bench, pipeline, trial
from armwright.shelf.bench import BenchRequest, SceneEntry, bench_files, run_bench
from armwright.shelf.bench_tables import best, cell, mapping_rows, placing_rows, stars
from armwright.shelf.records import Described
from armwright.shelf.table3 import AttributeEntry, DominanceTask, format_table3, run_attribute, table3_files, table_row
from armwright.shelf.target import fit_target
from armwright.shelf.target_view import SeenTarget
from armwright.shelf.trial import Trial, run_trial
from shelf_targets import box, seen

ALL = ("ours", "bl1", "bl2", "basic", "gt-labels", "score")


def _entry(one: Trial, *, failed: str | None = None) -> dict:
    """Return an entry with values that depend on the scene's number, OURS above the others by a tenth."""
    k = one.seed % 100
    share = {"ours": 0.9, "gt-labels": 0.95, "basic": 0.8, "bl1": 0.3}
    mapping = {
        name: {"f1_label": value - 0.001 * k, "box_iou": 0.5, "instances": value, "spurious": 1.0}
        for name, value in share.items()
    }
    placing = {}
    for name in ("ours", "bl1", "bl2"):
        good = name == "ours" or k % 2 == 0
        placing[name] = {
            "failed": None if good else "insert",
            "detail": "",
            "box": {"center_m": [0, 0, 0], "size_m": [1, 1, 1]} if name != "bl1" or good else None,
            "fits": {"sf_equal": 0.6 if name == "ours" else 0.4, "sf_experts": 0.5} if name != "bl1" or good else None,
            "proposed": None,
            "placed": {"success": good, "upright": good, "neighbours_still": True, "error_m": 0.01},
        }
    return {
        "key": one.key,
        "scene": one.scene,
        "seed": one.seed,
        "failed": failed,
        "objects": 20,
        "views": 11,
        "target": "tea",
        "weights": {"content": 1.0},
        "best": {} if failed else {"sf_equal": 0.8, "sf_experts": 0.7},
        "mapping": {} if failed else mapping,
        "placing": {} if failed else placing,
        "cpu_s": {"capture": 2.0},
    }


@pytest.fixture
def fake(monkeypatch):
    """Run no scene, but note which were asked for; one cannot begin."""
    asked: list[str] = []

    def run(one: Trial) -> dict:
        asked.append(one.key)
        return _entry(one, failed="scene: it <fell>" if one.key == "multi-row|13" else None)

    monkeypatch.setattr(bench, "run_trial", run)
    monkeypatch.setattr(bench, "check_parts", lambda parts: None)
    return asked


def _request(**changes) -> BenchRequest:
    return BenchRequest(**{"sets": ("single-row", "multi-row"), "runs": 6, "seed": 11, "workers": 1} | changes)


def test_it_goes_on_from_its_journal_and_takes_more_scenes(fake, tmp_path):
    run_bench(_request(sets=("multi-row",), runs=2), tmp_path / "out")
    assert fake == ["multi-row|11", "multi-row|12"]
    with pytest.raises(UsageError, match="resume"):
        run_bench(_request(), tmp_path / "out")
    shown = []
    record = run_bench(
        _request(), tmp_path / "out", resume=True, update=lambda done, note="": shown.append((done, note))
    )
    assert sorted(fake) == sorted(f"{s}|{k}" for s in ("single-row", "multi-row") for k in range(11, 17))
    assert shown[0][0] == 2 and shown[-1] == (12, "(ours placed 11 of 11)")
    assert record.ok and {row["n"] for row in record.extra["rows"]} == {6}
    with pytest.raises(UsageError, match="segmenter was 'boundary', is 'planes'"):
        run_bench(_request(segmenter="planes"), tmp_path / "out", resume=True)


def test_every_table_can_be_rebuilt_from_the_record(fake, tmp_path):
    run_bench(_request(), tmp_path)
    record = json.loads((tmp_path / "result.json").read_text())
    for name, text in bench_files(record).items():
        assert (tmp_path / name).read_text() == text
    assert set(record["files"]) == {"journal", "table", "csv", "scenes", "page"}
    text = (tmp_path / "table.txt").read_text()
    assert "Table I. " in text and "Table II. " in text and "no language models" in text
    assert "[%]: single-row SF-EQ 80, SF-experts 70; multi-row SF-EQ 80, SF-experts 70." in text
    assert "multi-row 13 could not begin: scene: it <fell>" in text
    page = (tmp_path / "table.html").read_text()
    assert "it &lt;fell&gt;" in page and ' colspan="4">single-row (n = 6)' in page and "<b>" in page
    scenes = list(csv.DictReader(io.StringIO((tmp_path / "scenes.csv").read_text())))
    assert len(scenes) == 2 * 6 * 5
    row = next(r for r in scenes if (r["set"], r["seed"], r["method"]) == ("single-row", "11", "bl1"))
    assert row["failed"] == "insert" and row["success"] == "0.0000" and row["f1_label"] == "0.2890"
    assert next(r for r in scenes if r["method"] == "bl2")["f1_label"] == ""


def test_what_did_not_come_about_counts_as_nothing():
    entries = [_entry(Trial("multi-row", k, ALL, ()), failed="crash" if k == 12 else None) for k in range(11, 17)]
    found = {
        (row["metric"], row["method"]): row
        for row in [*mapping_rows(entries, methods=ALL), *placing_rows(entries, methods=ALL, placed=("ours", "bl1"))]
    }
    ours = [0.9 - 0.001 * k if k != 12 else 0.0 for k in range(11, 17)]
    assert found["f1_label", "ours"]["mean"] == pytest.approx(np.mean(ours))
    assert found["f1_label", "ours"]["error"] == pytest.approx(np.std(ours, ddof=1) / np.sqrt(6))
    assert found["f1_label", "ours"]["p"] is None
    bl1 = [0.3 - 0.001 * k if k != 12 else 0.0 for k in range(11, 17)]
    assert found["f1_label", "bl1"]["p"] == pytest.approx(wilcoxon(ours, bl1).pvalue)
    assert found["success", "ours"]["mean"] == pytest.approx(5 / 6)
    assert found["success", "bl1"]["mean"] == pytest.approx(2 / 6)  # seeds 14 and 16; 12 has not begun
    assert ("success", "bl2") not in found
    # Nothing was touched where the target never left the hand; that is no success.
    assert found["neighbours_still", "bl1"]["mean"] == found["success", "bl1"]["mean"]
    assert found["chosen", "bl2"]["mean"] == pytest.approx(5 / 6)
    assert found["sf_equal", "bl1"]["mean"] == pytest.approx(0.4 * 2 / 6)
    assert ("sf_equal", "basic") not in found


def test_cells_read_as_the_paper_prints_them():
    row = {"metric": "f1_label", "method": "bl1", "mean": 0.3604, "error": 0.021, "p": 0.0004}
    assert cell(row) == "36 ± 2.1***"
    assert cell({**row, "metric": "spurious", "mean": 1.25, "error": None, "p": None}) == "1.2"
    assert [stars(p) for p in (None, 0.05, 0.049, 0.0099, 0.00099)] == ["", "", "*", "**", "***"]
    others = [{**row, "method": "ours", "mean": 0.7801}, {**row, "method": "basic", "mean": 0.7799}]
    assert best([{**row, "method": "gt-labels", "mean": 0.9}, *others, row]) == {"ours", "basic"}
    spurious = [
        {**row, "metric": "spurious", "mean": value, "method": name} for name, value in (("ours", 2), ("bl1", 1))
    ]
    assert best(spurious) == {"bl1"}


@pytest.mark.parametrize(
    "changes",
    [
        {"sets": ("many-rows",)},
        {"methods": ("our",)},
        {"place": ("bl3",)},
        {"methods": ("ours",), "place": ("score",)},
        {"sets": ()},
        {"runs": 0},
        {"tables": (4,)},
        {"segmenter": "masks"},
        {"describer": "novel", "segmenter": "simulated"},
        {"reasoner": "oracle", "segmenter": "simulated"},
        {"noise": "loud", "segmenter": "simulated"},
    ],
)
def test_wrong_names_are_refused_before_anything_is_made(changes, tmp_path, monkeypatch):
    if "describer" not in changes:
        monkeypatch.setattr(trial, "_describer", lambda name, model: None)
    with pytest.raises(UsageError) as error:
        run_bench(_request(**changes), tmp_path / "out")
    assert error.value.exit_code == 2
    assert not (tmp_path / "out").exists()
    assert isinstance(error.value, UnknownNameError) or str(error.value)


def test_a_scene_that_crashes_is_an_entry(monkeypatch):
    monkeypatch.setattr(trial, "draw_scene", lambda name, seed: 1 / 0)
    entry = run_trial(Trial("multi-row", 11, ALL, ("ours",)))
    assert entry["failed"] == "crash: ZeroDivisionError: division by zero"
    SceneEntry.model_validate(entry)


@pytest.mark.parametrize("choose", [False, True])
def test_a_method_that_crashes_fails_alone(choose, monkeypatch):
    class Known:
        drawn = trial.draw_scene("single-row", 11)
        truth = drawn.records()
        capture = SimpleNamespace(frames=())
        say = SimpleNamespace(cpu_s=0.0)

        def map(self, kind):
            if kind == "one-view":
                raise ValueError("no mask")
            return SimpleNamespace(objects=self.truth)

        def target(self):
            return "nothing was found"

    monkeypatch.setattr(trial, "_look", lambda one, drawn, cpu: Known())
    entry = run_trial(Trial("single-row", 11, ALL, ("ours",), choose=choose))
    SceneEntry.model_validate(entry)
    assert entry["failed"] is None and set(entry["mapping"]) == {"ours", "basic", "gt-labels"}
    assert 0 < entry["best"]["sf_experts"] <= 1 and entry["best"]["sf_equal"] > 0.4
    assert entry["mapping"]["ours"]["f1_label"] == entry["mapping"]["ours"]["box_iou"] == 1
    rows = entry["placing"]
    assert rows["bl1"]["failed"] == "crash: ValueError: no mask"
    assert set(rows) == ({"ours", "bl1", "bl2", "score"} if choose else {"bl1"})
    assert {row["failed"] for name, row in rows.items() if name != "bl1"} <= {"see the target"}


def test_every_method_is_told_of_a_wide_target_as_a_run_is(monkeypatch):
    """What is wider than the hand opens goes in sideways, in the bench as in `shelf run`."""
    fit = fit_target(*seen(box(depth=0.05, width=0.10), Pose()), table_z_m=0.0, packaging="box")
    wide = SeenTarget(fit.record(Described("tea")), Description("tea"), fit, None, None, (), True)  # type: ignore[arg-type]
    monkeypatch.setattr(pipeline, "see_target", lambda *_, **__: wide)
    monkeypatch.setattr(trial, "true_records", lambda world: [])
    monkeypatch.setattr(trial, "_describer", lambda name, model: LabelsOnly(None))
    hand = SimpleNamespace(opening_m=(0.0, 0.085))
    world = SimpleNamespace(table=None, robot=SimpleNamespace(spec=SimpleNamespace(gripper=hand)))
    capture = SimpleNamespace(of=lambda subject: [])
    one = Trial("multi-row", 11, ALL, ("ours",), segmenter="planes")
    told = trial._Looked(one, None, world, capture).target()  # type: ignore[arg-type]
    assert isinstance(told, SeenTarget) and not told.front_known
    assert told.target.size_m[:2] == pytest.approx(fit.solid.size_m[[1, 0]])
    assert told.fit.solid.size_m[1] < 0.085


def test_table_3_is_rebuilt_from_its_entries():
    entry = run_attribute(DominanceTask("packaging", 11, sets=2, scenes=1))
    AttributeEntry.model_validate(entry)
    row = table_row(json.loads(json.dumps(entry)))
    assert row["n_sets"] == 2 and 0 <= row["ours"] <= row["best"] <= 1
    record = {"seed": 11, "sets": 2, "scenes": 1, "rows": [row]}
    assert "packaging" in format_table3(record)
    assert set(table3_files(record)) == {"table3.txt", "table3.csv", "table3.html"}


@pytest.mark.slow
def test_one_scene_with_every_method():
    """The masks are simulated, so that it does not depend on a network; all else is as usual."""
    one = Trial("single-row", 12, ALL, ("ours", "bl2"), segmenter="simulated", shelf_views=3, target_views=2)
    entry = run_trial(one)
    SceneEntry.model_validate(json.loads(json.dumps(entry)))
    assert entry["failed"] is None
    assert set(entry["mapping"]) == {"ours", "basic", "gt-labels", "bl1"}
    assert set(entry["placing"]) == {"ours", "bl1", "bl2", "score"}
    assert entry["mapping"]["gt-labels"]["f1_label"] >= entry["mapping"]["ours"]["f1_label"] - 0.05
    assert entry["mapping"]["bl1"]["instances"] < entry["mapping"]["ours"]["instances"]
    assert entry["placing"]["bl2"]["placed"] is not None and entry["placing"]["score"]["placed"] is None
    for row in entry["placing"].values():
        assert (row["box"] is None) == (row["fits"] is None)
        assert row["fits"] is None or row["fits"]["sf_equal"] <= entry["best"]["sf_equal"] + 0.1
    assert sum(entry["weights"].values()) == pytest.approx(1)
