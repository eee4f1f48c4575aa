"""The engine ``ray`` for real: two workers, one of them killed; the driver killed; the same as without Ray."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from armwright.recording.reader import DatasetReader
from armwright.recording.verify import verify_dataset

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(find_spec("ray") is None, reason="needs armwright[ray]"),
]

SENTENCE = "put the banana in the bowl"
COMMAND = [sys.executable, "-m", "armwright", "generate", SENTENCE, "-n", "8", "--seed", "3", "--no-images", "--json"]
RAY = [*COMMAND, "--engine", "ray", "--workers", "2", "--shard-size", "3"]


@pytest.fixture(scope="module")
def local(tmp_path_factory) -> Path:
    """Return what one worker makes without Ray."""
    out = tmp_path_factory.mktemp("ray") / "local"
    assert subprocess.run([*COMMAND, "--workers", "1", "--out", str(out)], stdout=subprocess.DEVNULL).returncode == 0
    return out


def start(out: Path, *more: str) -> subprocess.Popen:
    # A cluster that happens to run here must not be joined.
    environment = {**os.environ, "RAY_ADDRESS": "local"}
    return subprocess.Popen([*RAY, "--out", str(out), *more], stdout=subprocess.PIPE, text=True, env=environment)


def wait_for(what: Callable[[], object], run: subprocess.Popen) -> object:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if found := what():
            return found
        assert run.poll() is None, "the run was over before it could be disturbed"
        time.sleep(0.02)
    raise AssertionError("it never came to it")


def half_made(out: Path) -> Path | None:
    """Return the folder of a shard of which one episode is there."""
    return next(iter((out / "shards").glob(".part-0*/dataset/armwright/staging/0*")), None)


def attempts(out: Path) -> list[tuple]:
    lines = (out / "journal.jsonl").read_text().splitlines()
    return sorted((e["seed"], e["ok"], e["failed"], e["sim_s"]) for e in map(json.loads, lines))


def content(out: Path) -> list[tuple]:
    reader = DatasetReader(out / "dataset")
    rows = []
    for index in range(len(reader)):
        columns = reader.columns(index)
        frames = b"".join(np.ascontiguousarray(columns[key]).tobytes() for key in sorted(columns))
        rows.append((reader.record(index).seed, frames, reader.world(index).qpos.tobytes()))
    return rows


def check_same(out: Path, local: Path) -> None:
    assert attempts(out) == attempts(local) and content(out) == content(local)
    assert verify_dataset(out / "dataset").ok
    assert not list((out / "shards").glob(".part-*"))


def test_a_killed_worker_costs_nothing_but_time(local, tmp_path):
    out = tmp_path / "run"
    run = start(out)
    part = wait_for(lambda: half_made(out), run).relative_to(out / "shards").parts[0]
    pid = int(part.split("-")[-2])
    os.kill(pid, signal.SIGKILL)
    answer, _ = run.communicate()
    assert run.returncode == 0
    record = json.loads(answer)
    assert record["ok"] and record["engine"] == "ray" and record["episodes"] == 8
    hosts = [json.loads(path.read_text()) for path in sorted((out / "shards").glob("*/shard.json"))]
    assert len(hosts) >= record["shards"]["used"] >= 3
    assert int(part.split("-")[1]) in {host["number"] for host in hosts}, "the killed worker's shard was made again"
    for path in (out / "shards").glob(".part-*"):  # what the killed worker left goes when the folder is next used
        assert str(pid) in path.name
    again = start(out, "--resume")
    assert json.loads(again.communicate()[0])["shards"]["made"] == 0
    check_same(out, local)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_driver_goes_on_where_it_was(local, tmp_path, number):
    out = tmp_path / "run"
    run = start(out)
    wait_for(lambda: list((out / "shards").glob("0*/shard.json")), run)
    finished = {path: path.stat().st_mtime_ns for path in (out / "shards").glob("0*/shard.json")}
    run.send_signal(number)
    run.communicate()
    assert run.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 128 + signal.SIGTERM)
    again = start(out, "--resume")
    answer, _ = again.communicate()
    record = json.loads(answer)
    assert again.returncode == 0 and record["ok"]
    assert all(path.stat().st_mtime_ns == before for path, before in finished.items()), "they were not made again"
    assert record["shards"]["made"] <= 4 - len(finished)
    check_same(out, local)


def test_two_drivers_in_one_folder_refuse(tmp_path):
    out = tmp_path / "run"
    run = start(out)
    wait_for((out / "request.json").exists, run)
    other = subprocess.run([*RAY, "--out", str(out), "--resume"], capture_output=True, text=True)
    run.kill()
    run.communicate()
    assert other.returncode == 2 and "another process is at work" in other.stderr


def test_a_bench_is_the_same_as_without_ray(tmp_path):
    records = []
    for engine in ("local", "ray"):
        command = [sys.executable, "-m", "armwright", "bench", "--task", SENTENCE, "--robots", "franka", "--rollouts"]
        more = ["3", "--seed", "3", "--no-pictures", "--json", "--engine", engine, "--workers", "1"]
        ran = subprocess.run(
            [*command, *more, "--out", str(tmp_path / engine)],
            capture_output=True,
            text=True,
            env={**os.environ, "RAY_ADDRESS": "local"},
        )
        assert ran.returncode == 0, ran.stderr
        records.append(json.loads(ran.stdout))
    assert records[0]["rows"] == records[1]["rows"] and records[0]["stage_rates"] == records[1]["stage_rates"]
