"""The commands' contract: one JSON record on stdout, exit codes, the files of a run, datasets checked and replayed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from armwright.recording.reader import DatasetReader
from armwright.recording.result import same_but_times
from armwright.skills import dispatch

SENTENCE = "put the banana in the bowl"
COMMON = {"schema", "command", "ok", "stages", "seed", "robot", "wall_s", "sim_s", "versions", "files"}
VERSIONS = {"armwright", "git", "mujoco", "numpy", "platform"}


def process(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "armwright", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Return a run of its own process, with the bytes that it wrote."""
    out = tmp_path_factory.mktemp("run") / "out"
    return out, process("run", SENTENCE, "--json", "--no-images", "--seed", 2, "--out", out)


def test_json_is_all_that_is_on_stdout_and_is_the_record_on_disk(run_folder):
    out, done = run_folder
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed == json.loads((out / "result.json").read_text())
    assert set(printed) >= COMMON and set(printed["versions"]) >= VERSIONS
    assert printed["schema"] == "armwright.result/1" and printed["command"] == "run"
    assert (printed["ok"], printed["seed"], printed["robot"]) == (True, 2, "franka")
    assert all({"name", "ok", "status", "detail"} == set(stage) for stage in printed["stages"])
    assert {key: Path(path).exists() for key, path in printed["files"].items()} == {"report": True, "dataset": True}
    assert "Traceback" not in done.stderr


def test_the_same_seed_in_another_process_gives_the_same_record(cli, run_folder, tmp_path):
    first = json.loads(run_folder[1].stdout)
    again = json.loads(cli("run", SENTENCE, "--json", "--no-images", "--seed", 2, "--out", tmp_path / "again").out)
    for record in (first, again):
        record.pop("files")
    assert same_but_times(first, again)
    a, b = DatasetReader(run_folder[0] / "dataset"), DatasetReader(tmp_path / "again/dataset")
    assert a.world(0).qpos.tobytes() == b.world(0).qpos.tobytes()


def test_a_run_says_what_happened(cli, tmp_path):
    ran = cli("run", SENTENCE, "--no-images", "--seed", 2, "--out", tmp_path / "out")
    assert ran.code == 0
    assert re.search(r"ok +pick banana_1 +done", ran.out) and re.search(r"ok +place banana_1 in bowl_1 +done", ran.out)
    assert "success on franka, seed 2" in ran.out and f"report: {tmp_path / 'out/report.html'}" in ran.out


def test_a_task_that_fails_exits_1_and_is_recorded(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(dispatch, "SKILLS", {k: v for k, v in dispatch.SKILLS.items() if k != "pour"})
    ran = cli("run", "pour the kettle into the bowl", "--no-images", "--json", "--out", tmp_path / "out")
    record = json.loads(ran.out)
    assert ran.code == 1 and record["ok"] is False and record["success"] is False
    stages = {stage["name"]: stage["status"] for stage in record["stages"]}
    assert stages["pour kettle_1"] == "skill_not_available"
    assert cli("dataset", "verify", tmp_path / "out/dataset").code == 0


def test_a_scene_that_cannot_be_solved_exits_1_and_is_recorded(cli, tmp_path):
    sentence = "the mug is left of the box. the box is left of the mug. pick up the mug"
    ran = cli("run", sentence, "--no-images", "--json", "--out", tmp_path / "out")
    record = json.loads(ran.out)
    assert ran.code == 1 and record == json.loads((tmp_path / "out/result.json").read_text())
    (stage,) = record["stages"]
    assert (stage["name"], stage["ok"], stage["status"]) == ("scene", False, "no_scene")
    assert "go in a circle" in stage["detail"] and record["sim_s"] == 0
    plain = cli("run", sentence, "--no-images", "--out", tmp_path / "plain")
    assert plain.code == 1 and "FAIL scene" in plain.out


def test_parse_prints_its_record(cli):
    record = json.loads(cli("parse", "pick up the mug by its handle and place it on the plate", "--json").out)
    assert {"objects", "relations", "primitives", "queries", "not_understood"} <= set(record)
    assert record["queries"][0] == {"object": "mug_1", "region": "Graspable Handle", "role": "grasp"}
    assert [p["name"] for p in record["primitives"]] == ["pick", "place"]
    assert record["relations"] == []
    text = cli("parse", "put the banana in the bowl and tickle the zebra")
    assert text.code in (0, 2) and "zebra" in text.out + text.err


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("generate") / "out"
    done = process("generate", SENTENCE, "-n", 2, "--workers", 1, "--no-images", "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record == json.loads((out / "result.json").read_text()) and set(record) >= COMMON
    assert record["episodes"] == 2 and record["command"] == "generate"
    return out / "dataset"


def test_a_dataset_is_described_verified_and_replayed(cli, dataset):
    assert json.loads(cli("dataset", "info", dataset, "--json").out)
    assert re.search(r"episodes\s+2", cli("dataset", "info", dataset).out)
    verified = cli("dataset", "verify", dataset)
    assert verified.code == 0 and "0 problems, 2 episodes" in verified.out
    assert json.loads(cli("dataset", "verify", dataset, "--json").out)["ok"] is True
    replayed = cli("dataset", "replay", dataset)
    assert replayed.code == 0 and "from states:  2 of 2 identical" in replayed.out
    record = json.loads(cli("dataset", "replay", dataset, "--episodes", 1, "--json").out)
    assert record["episodes"] == 1 and record["states_identical"] == 1


def test_a_damaged_dataset_is_found(cli, dataset):
    parquet = next((dataset / "data").rglob("*.parquet"))
    whole = parquet.read_bytes()
    try:
        parquet.write_bytes(whole[: len(whole) // 2])
        ran = cli("dataset", "verify", dataset)
        assert ran.code == 1 and parquet.name in ran.out and "Traceback" not in ran.err
        record = json.loads(cli("dataset", "verify", dataset, "--json").out)
        assert record["ok"] is False and record["violations"]
    finally:
        parquet.write_bytes(whole)
    assert cli("dataset", "verify", dataset).code == 0


def test_a_bench_prints_its_table_and_record(cli, tmp_path):
    arguments = ("bench", "--task", SENTENCE, "--robots", "franka", "--rollouts", 2, "--workers", 1)
    record = json.loads(cli(*arguments, "--json", "--out", tmp_path / "a").out)
    assert {"rows", "summary"} <= set(record)
    assert {"task", "robot", "grasps", "n", "rate", "low", "high", "failures"} <= set(record["rows"][0])
    table = cli("bench", "--task", SENTENCE, "--robots", "franka", "--rollouts", 2, "--resume", "--out", tmp_path / "a")
    assert table.code == 0 and SENTENCE in table.out and f"all: {record['summary']['both']} of 2" in table.out


def test_lists_and_version(cli):
    assert [r["name"] for r in json.loads(cli("robots", "list", "--json").out)["robots"]] == [
        "franka", "kinova", "sawyer", "ur5e", "xarm7",
    ]  # fmt: skip
    assert len(json.loads(cli("assets", "list", "--json").out)["categories"]) >= 25
    assert re.fullmatch(r"armwright \d+\.\d+\.\d+\n", cli("--version").out)
    findings = json.loads(cli("doctor", "--json").out)["findings"]
    assert {"python", "renderer", "cache", "robots"} <= {f["name"] for f in findings}
    assert all(f["fix"] for f in findings if f["state"] != "ok")


def test_results_go_to_a_folder_of_their_own(cli, tmp_path, monkeypatch):
    """Two runs in the same second must not meet."""
    from armwright.cli.common import default_out

    monkeypatch.chdir(tmp_path)
    names = set()
    for _ in range(3):
        folder = default_out("Put THE banana; in/the bowl! " * 9)
        assert folder.parent == Path("runs") and re.fullmatch(r"\d{8}-\d{6}-[a-z0-9-]{1,50}", folder.name)
        folder.mkdir(parents=True)
        names.add(folder)
    assert len(names) == 3
    assert default_out("¿?").name.endswith("-run")


@pytest.mark.slow
@pytest.mark.parametrize("renderer", ["rays", "auto"])
def test_a_run_with_pictures_writes_report_video_and_dataset(tmp_path, renderer):
    out = tmp_path / "out"
    done = process("run", SENTENCE, "--json", "--out", out, ARMWRIGHT_RENDERER=renderer)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert set(record["files"]) == {"report", "video", "dataset"}
    assert all(Path(path).exists() for path in record["files"].values())
    report = (out / "report.html").read_text()
    assert "episode.mp4" in report and "data:image/" in report
    reader = DatasetReader(out / "dataset")
    for camera in ("front", "wrist"):
        first = next(iter(reader.frames(0, camera, count=1)))
        assert first.shape == (256, 256, 3) and first.std() > 10
    assert process("dataset", "verify", out / "dataset").returncode == 0


def test_datasets_are_joined_and_refused(cli, dataset, tmp_path):
    run = dataset.parent
    joined = tmp_path / "joined"
    ran = cli("dataset", "merge", run, "--out", joined, "--json")
    record = json.loads(ran.out)
    assert ran.code == 0 and record["ok"] and record["episodes"] == 2 and record["tasks"] == 1
    assert cli("dataset", "merge", run, "--out", joined).out.startswith("2 episodes of 1 instructions, 0 problems")
    for sources, out, why in (
        ([run, dataset], tmp_path / "twice", "is in"),
        ([joined], joined, "is one of the datasets"),
        ([run], run, "already holds a run of generate"),
        ([tmp_path / "nothing"], tmp_path / "new", "is missing"),
    ):
        ran = cli("dataset", "merge", *sources, "--out", out)
        assert ran.code == 2 and why in ran.err
