"""Going on after losses: what is gone is done again or named, damage is refused, kills lose and double nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from armwright.core.errors import ArmwrightError, OutputError, UsageError
from armwright.generate.bench import BenchRequest, run_bench
from armwright.generate.engine import PARSED, generate_dataset
from armwright.generate.replay import replay_count, replay_dataset
from armwright.generate.request import GenerateRequest
from armwright.generate.run import RunRequest, run_once
from armwright.recording.reader import DatasetReader
from armwright.recording.verify import verify_dataset

SENTENCE = "put the banana in the bowl"
DATA = "dataset/data/chunk-000/file-000.parquet"
EPISODES = "dataset/meta/episodes/chunk-000/file-000.parquet"
RECORDS = "dataset/armwright/episodes/chunk-000/file-000.parquet"
WORLD = "dataset/armwright/world/chunk-000/file-000.parquet"
SCHEMA = "dataset/armwright/schema.json"
BROKEN = b"\xe9t\xe9".decode("utf-8", "surrogateescape")


def request(**more) -> GenerateRequest:
    return GenerateRequest(**{"sentence": SENTENCE, "episodes": 2, "images": False, "workers": 1, "seed": 3, **more})


def again(out: Path, episodes: int) -> tuple[object, ...]:
    """Return the command line that goes on with a run of `request`."""
    options = ("--seed", 3, "--no-images", "--workers", 1)
    return ("generate", SENTENCE, "-n", episodes, *options, "--out", out, "--resume")


def bench_request(**more) -> BenchRequest:
    return BenchRequest(**{"sentences": (SENTENCE,), "robots": ("franka",), "rollouts": 1, "workers": 1, **more})


def journal(folder: Path) -> list[dict]:
    path = folder / "journal.jsonl"
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def seeds(folder: Path) -> list[int]:
    """Return the seeds of the stored episodes, as the files have them."""
    rows: list[int] = []
    for path in sorted((folder / "dataset/armwright/episodes").glob("*/*.parquet")):
        rows += pq.read_table(path, columns=["seed"], partitioning=None).column("seed").to_pylist()
    return rows


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("resume") / "run"
    assert generate_dataset(request(), folder).ok
    return folder


@pytest.fixture
def out(finished, tmp_path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def test_episodes_that_are_gone_are_collected_again(finished, out):
    shutil.rmtree(out / "dataset")
    record = generate_dataset(request(), out, resume=True)
    assert record.ok and record.extra["episodes"] == 2
    assert seeds(out) == seeds(finished) and verify_dataset(out / "dataset").ok


def test_a_staged_episode_that_is_gone_is_collected_again(finished, tmp_path):
    """The run was killed before it put the dataset together, and one episode was lost since."""
    out = tmp_path / "run"
    command = [sys.executable, "-m", "armwright", "generate", SENTENCE, "-n", "50", "--seed", "3", "--no-images"]
    run = subprocess.Popen([*command, "--workers", "1", "--out", str(out)], stderr=subprocess.DEVNULL)
    while sum(e["ok"] for e in journal(out)) < 2 and run.poll() is None:
        time.sleep(0.02)
    run.kill()
    assert run.wait() == -signal.SIGKILL
    staged = sorted((out / "dataset/armwright/staging").glob("0*"))
    (staged[0] / "frames.parquet").write_bytes(b"")
    with pytest.raises(OutputError, match=rf"frames\.parquet is damaged: .*Delete {staged[0]}"):
        generate_dataset(request(), out, resume=True)
    shutil.rmtree(staged[0])
    assert generate_dataset(request(), out, resume=True).ok
    assert set(seeds(finished)) <= set(seeds(out)) and len(set(seeds(out))) == len(seeds(out))


@pytest.mark.parametrize("file", [DATA, EPISODES, RECORDS, WORLD, SCHEMA])
@pytest.mark.parametrize("episodes", [2, 3])
def test_a_lost_file_of_an_earlier_batch_is_refused(cli, out, file, episodes):
    (out / file).unlink()
    entries = journal(out)
    ran = cli(
        "generate", SENTENCE, "-n", episodes, "--seed", 3, "--no-images", "--workers", 1, "--out", out, "--resume"
    )
    assert ran.code == 2 and "Traceback" not in ran.err
    assert f"{out / file} is missing" in ran.err and "--resume then runs its episodes again" in ran.err
    assert journal(out) == entries, "nothing was tried"


@pytest.mark.parametrize("file", [DATA, EPISODES, RECORDS, SCHEMA])
@pytest.mark.parametrize("command", [("dataset", "info"), ("dataset", "replay"), ("dataset", "verify"), ("generate",)])
def test_damaged_files_are_named_by_every_command(cli, out, file, command):
    path = out / file
    path.write_bytes(path.read_bytes()[:-20])
    if command == ("dataset", "info") and file == DATA:
        pytest.skip("it does not look at the rows")
    ran = cli(*again(out, 3)) if command == ("generate",) else cli(*command, out / "dataset")
    name = str(path.relative_to(out / "dataset"))
    assert ran.code == (1 if command[-1] == "verify" else 2), ran.err
    assert name in ran.err + ran.out and "Traceback" not in ran.err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"parsed": {}, "model_use": null}'])
def test_a_damaged_answer_of_a_model_is_named(tmp_path, text):
    (tmp_path / PARSED).write_text(text)
    with pytest.raises(UsageError, match=r"parsed\.json is damaged"):
        generate_dataset(request(model="openai:any"), tmp_path, resume=True)


@pytest.mark.parametrize(
    "where",
    [("sentence", BROKEN), ("out", BROKEN), ("out", "x" * 300), ("out", "a/" * 2040 + "b"), ("out", "nul\0l")],
    ids=lambda where: f"{where[0]} {len(where[1])}",
)
@pytest.mark.parametrize("command", ["run", "generate", "bench"])
def test_text_and_names_that_cannot_be_used_are_refused_up_front(tmp_path, command, where):
    sentence = where[1] if where[0] == "sentence" else SENTENCE
    out = tmp_path / (where[1] if where[0] == "out" else "out")
    with pytest.raises(ArmwrightError, match=r"not valid UTF-8|File name too long|zero in its name") as caught:
        if command == "run":
            run_once(RunRequest(sentence, images=False), out)
        elif command == "generate":
            generate_dataset(request(sentence=sentence), out)
        else:
            run_bench(bench_request(sentences=(sentence,)), out)
    assert caught.value.exit_code == 2 and list(tmp_path.iterdir()) == []
    str(caught.value).encode()


@pytest.mark.parametrize("command", ["run", "generate", "bench"])
def test_a_datasets_own_folder_is_no_place_for_results(out, command):
    before = sorted(out.rglob("*"))
    with pytest.raises(UsageError, match="is the folder of a dataset"):
        if command == "run":
            run_once(RunRequest(SENTENCE, images=False), out / "dataset")
        elif command == "generate":
            generate_dataset(request(), out / "dataset", resume=True)
        else:
            run_bench(bench_request(), out / "dataset", resume=True)
    assert [p for p in sorted(out.rglob("*")) if p.name != ".lock"] == [p for p in before if p.name != ".lock"]


def test_a_run_of_another_kind_is_said(out):
    with pytest.raises(UsageError, match="holds a run of generate, not of bench"):
        run_bench(bench_request(), out, resume=True)
    with pytest.raises(UsageError, match=r"already holds a run of generate \(request\.json\)"):
        run_once(RunRequest(SENTENCE, images=False), out)


def test_two_runs_in_one_folder_are_told_apart_before_anything_is_simulated(tmp_path):
    from armwright.recording.outputs import claimed

    with claimed(tmp_path / "out"), pytest.raises(UsageError, match="another process is at work"):
        run_once(RunRequest(SENTENCE, images=False), tmp_path / "out", progress=lambda text: pytest.fail(text))


@pytest.fixture(scope="module")
def benched(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("resume-bench") / "bench"
    run_bench(bench_request(), folder)
    return folder


def test_a_doubled_line_counts_once_and_a_contradiction_is_refused(benched, tmp_path):
    out = Path(shutil.copytree(benched, tmp_path / "bench"))
    path = out / "journal.jsonl"
    (line,) = path.read_text().splitlines(keepends=True)
    path.write_text(line * 3)
    assert run_bench(bench_request(), out, resume=True).extra["rows"][0]["n"] == 1
    entry = json.loads(line)
    other = json.dumps(entry | {"success": not entry["success"]}) + "\n"
    path.write_text(line + line + other)
    with pytest.raises(UsageError, match=r"line 3 of .*journal\.jsonl contradicts line 1 about .* on franka, seed 0"):
        run_bench(bench_request(), out, resume=True)
    assert path.read_text() == line + line + other


@pytest.mark.parametrize("change", [{"key": "x"}, {"order": []}, {"success": "yes"}, {"touched": None}, {"sim_s": -1}])
def test_a_bench_line_of_another_shape_is_named(benched, tmp_path, change):
    out = Path(shutil.copytree(benched, tmp_path / "bench"))
    path = out / "journal.jsonl"
    path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")
    with pytest.raises(UsageError, match=r"line 1 of .*journal\.jsonl is damaged"):
        run_bench(bench_request(), out, resume=True)


@pytest.mark.parametrize("limit", [-1, 3, 10**6])
def test_a_replay_of_more_episodes_than_there_are_is_refused(cli, out, limit):
    ran = cli("dataset", "replay", out / "dataset", "--episodes", limit)
    assert ran.code == 2 and f"cannot replay {limit} episodes" in ran.err and "holds 2" in ran.err
    assert replay_count(out / "dataset") == 2 and replay_count(out / "dataset", limit=1) == 1


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("extra", {"robot": "ur5e"}, "is of 'ur5e', the dataset is of 'franka'"),
        ("extra", {}, "is of None"),
        ("scene", {"objects": 3}, "the scene or the task of episode 0 is not one"),
        ("task", {"primitives": [{"name": 3}]}, "the scene or the task of episode 0 is not one"),
        ("task", [], "the scene or the task of episode 0 is not one"),
    ],
)
def test_a_record_that_cannot_be_replayed_is_named(out, column, value, message):
    table = pq.read_table(out / RECORDS, partitioning=None)
    rows = table.to_pylist()
    rows[0][column] = json.dumps(value)
    pq.write_table(type(table).from_pylist(rows, schema=table.schema), out / RECORDS)
    with pytest.raises(OutputError, match=message) as caught:
        replay_dataset(out / "dataset")
    assert str(out / RECORDS) in str(caught.value)


def test_a_dataset_of_an_arm_that_is_not_there_is_refused(out):
    path = out / SCHEMA
    path.write_text(path.read_text().replace("franka", "frank"))
    with pytest.raises(UsageError, match=r"unknown robot 'frank'\. Nearest: franka"):
        replay_dataset(out / "dataset")


def test_replay_counts_up_to_its_total(out):
    counts: list[float] = []
    replay_dataset(out / "dataset", limit=1, update=lambda done, note="": counts.append(done))
    assert counts[-1] == replay_count(out / "dataset", limit=1) == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_kills_at_random_moments_lose_and_double_nothing(tmp_path, number):
    """Each kill falls anywhere from the start of the workers to the last file; what is left is counted by itself."""
    out, wanted = tmp_path / "run", 6
    command = [sys.executable, "-m", "armwright", "generate", SENTENCE, "-n", str(wanted), "--seed", "3", "--no-images"]
    command += ["--workers", "2", "--out", str(out)]
    rng = np.random.default_rng(number)
    known: list[dict] = []
    kills = 0
    for _ in range(40):
        resume = ["--resume"] if (out / "request.json").exists() else []
        run = subprocess.Popen(
            [*command, *resume], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=os.environ
        )
        try:
            _, err = run.communicate(timeout=float(rng.uniform(1.0, 9.0)) if kills < 8 else 300)
        except subprocess.TimeoutExpired:
            run.send_signal(number)
            _, err = run.communicate(timeout=60)
        assert "Traceback" not in err, err
        entries = journal(out)
        assert entries[: len(known)] == known, "what was finished is kept"
        known = entries
        if run.returncode == 0:
            break
        assert run.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 128 + signal.SIGTERM), err
        kills += 1
    assert run.returncode == 0 and kills >= 3
    stored = seeds(out)
    assert sorted(stored) == sorted(e["seed"] for e in known if e["ok"]) and len(stored) >= wanted
    assert max(Counter(stored).values()) == max(Counter(e["seed"] for e in known).values()) == 1
    report = verify_dataset(out / "dataset")
    assert report.ok and report.episodes == len(stored), report.problems
    reader = DatasetReader(out / "dataset")
    assert [reader.record(k).seed for k in range(len(reader))] == stored
