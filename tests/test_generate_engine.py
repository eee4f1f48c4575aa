"""Generated datasets: the same whatever the number of workers; a killed run goes on with nothing lost or doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pool import episode_seed
from armwright.generate.attempt import Attempt, run_attempt
from armwright.generate.bench import BenchRequest, run_bench
from armwright.generate.engine import generate_dataset
from armwright.generate.episode import EpisodeRequest, run_episode
from armwright.generate.parsing import parse_sentence
from armwright.generate.record import dataset_schema, episode_data
from armwright.generate.replay import replay_dataset
from armwright.generate.request import GenerateRequest
from armwright.generate.tables import format_table
from armwright.recording.lerobot import DatasetWriter
from armwright.recording.reader import DatasetReader
from armwright.recording.verify import verify_dataset

SENTENCE = "put the banana in the bowl"


def request(**more) -> GenerateRequest:
    return GenerateRequest(**{"sentence": SENTENCE, "episodes": 3, "images": False, "workers": 1, "seed": 3, **more})


def content(folder: Path) -> list[tuple[int, bytes, bytes]]:
    """Return what a dataset holds: seed, frames and world states of every episode, in order."""
    reader = DatasetReader(folder)
    rows = []
    for index in range(len(reader)):
        frames = reader.columns(index)
        columns = b"".join(np.ascontiguousarray(frames[key]).tobytes() for key in sorted(frames))
        rows.append((reader.record(index).seed, columns, reader.world(index).qpos.tobytes()))
    return rows


def journal(folder: Path) -> list[dict]:
    path = folder / "journal.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    """Return a run of three demonstrations, done in this process."""
    folder = tmp_path_factory.mktemp("engine") / "run"
    record = generate_dataset(request(), folder)
    assert record.ok and record.extra["episodes"] == 3
    return folder


def test_the_dataset_is_whole_and_counts_agree(dataset):
    report = verify_dataset(dataset / "dataset")
    assert report.ok, report.problems
    record = json.loads((dataset / "result.json").read_text())
    entries = journal(dataset)
    assert record["attempts"] == len(entries) and record["episodes"] == sum(e["ok"] for e in entries) == 3
    assert record["frames"] == report.frames
    seeds = [seed for seed, _, _ in content(dataset / "dataset")]
    assert seeds == sorted(e["seed"] for e in entries if e["ok"])
    assert set(seeds) <= {episode_seed(3, k) for k in range(len(entries))}, "seeds are tried in order"


def test_workers_make_the_same_dataset(dataset, tmp_path):
    record = generate_dataset(request(workers=2), tmp_path / "run")
    assert record.ok
    assert content(tmp_path / "run" / "dataset") == content(dataset / "dataset")
    seeds = [e["seed"] for e in journal(tmp_path / "run")]
    assert len(set(seeds)) == len(seeds)
    assert sorted(seeds) == sorted(e["seed"] for e in journal(dataset))


def test_another_seed_shares_no_episode(dataset, tmp_path):
    generate_dataset(request(seed=4, episodes=1), tmp_path / "run")
    assert not {s for s, _, _ in content(tmp_path / "run/dataset")} & {s for s, _, _ in content(dataset / "dataset")}


def test_a_killed_run_goes_on_with_nothing_lost_or_doubled(dataset, tmp_path):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "armwright", "generate", SENTENCE, "-n", "3", "--seed", "3", "--no-images"]
    run = subprocess.Popen([*command, "--workers", "2", "--out", str(out)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not journal(out) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL, "the run was over before it could be killed"
    before = journal(out)
    assert 1 <= len(before) < 3
    # A worker that is amid an episode dies within a second; what it has staged by then is whole.
    record = generate_dataset(request(), out, resume=True)
    assert record.ok
    assert content(out / "dataset") == content(dataset / "dataset")
    entries = journal(out)
    assert entries[: len(before)] == before
    assert sorted(e["seed"] for e in entries) == sorted(e["seed"] for e in journal(dataset))
    assert verify_dataset(out / "dataset").ok


def test_an_episode_that_was_written_but_not_noted_is_kept(dataset, tmp_path):
    """The kill may fall between the episode and its line in the journal."""
    out = tmp_path / "run"
    generate_dataset(request(episodes=2), out)
    path = out / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]) + lines[-1][:20])
    record = generate_dataset(request(), out, resume=True)
    assert record.ok and content(out / "dataset") == content(dataset / "dataset")


def test_a_finished_run_can_be_extended(dataset, tmp_path):
    out = tmp_path / "run"
    generate_dataset(request(episodes=1), out)
    assert len(content(out / "dataset")) == 1
    generate_dataset(request(), out, resume=True)
    assert content(out / "dataset") == content(dataset / "dataset")
    again = generate_dataset(request(), out, resume=True)
    assert again.ok and len(content(out / "dataset")) == 3, "nothing more was wanted"


@pytest.mark.parametrize(
    "other", [{"seed": 4}, {"sentence": "pick up the mug"}, {"robot": "ur5e"}, {"images": True}], ids=str
)
def test_going_on_with_another_request_is_refused(dataset, other):
    key = next(iter(other))
    with pytest.raises(UsageError, match=f"holds another run: {key} was"):
        generate_dataset(request(**other), dataset, resume=True)
    assert len(content(dataset / "dataset")) == 3


def test_a_folder_with_a_run_is_not_written_to_without_resume(dataset):
    with pytest.raises(UsageError, match=r"already holds a run\. Add --resume"):
        generate_dataset(request(), dataset)


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    for resume in (False, True):
        with pytest.raises(UsageError, match=r"holds something else: thesis\.tex"):
            generate_dataset(request(), tmp_path, resume=resume)
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith(".")) == ["thesis.tex"]


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [("robot", "frnka", "robot"), ("grasps", "afford", "grasp source"), ("affordance", "orakel", "affordance model"),
     ("engine", "ray-tracing", "engine")],
)  # fmt: skip
def test_unknown_names_are_refused_before_anything_is_written(tmp_path, field, value, kind):
    with pytest.raises(UnknownNameError, match=f"unknown {kind} '{value}'"):
        generate_dataset(request(**{field: value}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_task_that_never_succeeds_ends_with_its_count(tmp_path):
    record = generate_dataset(request(sentence="pour the carton into the bowl", episodes=1), tmp_path / "run")
    assert not record.ok and record.extra["episodes"] == 0
    assert record.extra["attempts"] == 20
    ((why, count),) = record.extra["failures"].items()
    assert why.startswith("scene: carton_1 cannot be poured") and count == 20


def test_replay_from_states_is_identical_and_from_actions_grades_the_same(dataset):
    record = replay_dataset(dataset / "dataset")
    assert record["ok"] and record["episodes"] == 3
    assert record["states_identical"] == 3
    assert record["actions_same_grade"] >= 2


def test_a_replay_fails_what_was_late_or_diverged_as_the_episode_did(session_of, task, tmp_path):
    session = session_of("franka")
    parsed = task(SENTENCE)
    writer = DatasetWriter(tmp_path / "dataset", dataset_schema(session, images=False))
    late = run_episode(session, EpisodeRequest(parsed.model_copy(update={"time_limit_s": 2.0}), 7_000_000))
    assert not late.success and late.took_s > 2.0
    writer.add_episode(episode_data(session, late, images=False))
    whole = run_episode(session, EpisodeRequest(parsed, 7_000_000))
    assert whole.success and whole.took_s > 0 and not whole.diverged
    # The states of the next two succeed; what the record says beside them makes them failures.
    failed = replace(whole.graded, success=False)
    limited = parsed.model_copy(update={"time_limit_s": whole.took_s - 0.1})
    slow = replace(whole, graded=failed, request=replace(whole.request, parsed=limited, seed=7_000_001))
    writer.add_episode(episode_data(session, slow, images=False))
    blown = replace(whole, graded=failed, diverged="it blew up", request=replace(whole.request, seed=7_000_002))
    writer.add_episode(episode_data(session, blown, images=False))
    writer.finalize()
    record = replay_dataset(tmp_path / "dataset")
    assert record["states_identical"] == record["episodes"] == 3, record["different"]


def test_a_bench_counts_every_rollout_once(tmp_path):
    wanted = BenchRequest((SENTENCE, SENTENCE), robots=("franka", "franka"), rollouts=2, workers=1)
    record = run_bench(wanted, tmp_path / "bench")
    (row,) = record.extra["rows"]
    assert row["n"] == 2 == wanted.total and row["robot"] == "franka" and row["task"] == SENTENCE
    assert row["both"] + sum(row["failures"].values()) == 2
    assert row["low"] <= row["rate"] <= row["high"]
    assert f"all: {row['both']} of 2 " in format_table(record.to_json())
    more = run_bench(
        BenchRequest((SENTENCE,), robots=("franka",), rollouts=3, workers=1), tmp_path / "bench", resume=True
    )
    assert more.extra["rows"][0]["n"] == 3
    assert len(journal(tmp_path / "bench")) == 3, "the first two were not run again"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (BenchRequest(()), "bench got no task"),
        (BenchRequest((SENTENCE,), robots=()), "no robot is named"),
        (BenchRequest((SENTENCE,), grasps=()), "no grasp source is named"),
        (BenchRequest((SENTENCE,), robots=("frnka",)), "unknown robot 'frnka'"),
        (BenchRequest(("pick up the unicorn",)), "unknown object 'unicorn'"),
    ],
)
def test_a_bench_of_nothing_is_refused(tmp_path, wanted, message):
    with pytest.raises(UsageError, match=message):
        run_bench(wanted, tmp_path / "bench")
    assert not (tmp_path / "bench").exists()


@pytest.mark.slow
def test_two_runs_in_one_folder_do_not_meet(tmp_path):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "armwright", "generate", SENTENCE, "-n", "3", "--no-images", "--workers", "1"]
    first = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.DEVNULL)
    while not (out / "request.json").exists():
        time.sleep(0.02)
    second = subprocess.run([*command, "--out", str(out), "--resume"], capture_output=True, text=True, env=os.environ)
    assert second.returncode == 2 and "another process is at work" in second.stderr
    assert first.wait() == 0 and len(content(out / "dataset")) == 3


def test_an_episode_that_another_worker_wrote_meanwhile_is_no_failure(dataset, tmp_path, monkeypatch):
    """A worker outlives a killed run for a moment and may finish the episode that the next run has begun."""
    wanted = request(episodes=1)
    parsed = parse_sentence(SENTENCE)[0]
    first = Attempt(wanted, parsed, episode_seed(3, 0), str(tmp_path / "dataset"))
    assert run_attempt(first)["ok"]
    # The second worker had looked before the first one was done.
    answers = iter([False])
    has = DatasetWriter.has
    monkeypatch.setattr(DatasetWriter, "has", lambda self, *key: next(answers, None) is not False and has(self, *key))
    assert run_attempt(first)["ok"]
    staged = list((tmp_path / "dataset").rglob("episode.json"))
    assert len(staged) == 1
