"""Shards: made once or twice, whole or not at all, kept while they are valid, and joined as one worker would have."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from armwright.core.errors import MissingDependencyError, OutputError, UnknownNameError, UsageError
from armwright.core.pool import run_in_order
from armwright.generate import shards
from armwright.generate.engine import generate_dataset
from armwright.generate.engines import LocalEngine, compute_engine, engine_names
from armwright.generate.on_ray import RayEngine
from armwright.generate.parsing import parse_sentence
from armwright.generate.request import GenerateRequest, read_part
from armwright.generate.sharded import collect_in_shards
from armwright.generate.shards import MARK, SHARDS, MadeShard, ShardTask, make_shard, read_shard, surroundings, take
from armwright.recording import lerobot
from armwright.recording.lerobot import DatasetWriter
from armwright.recording.reader import DatasetReader
from armwright.recording.verify import verify_dataset
from test_recording_episode import STATE_ONLY, make_episode

SENTENCE = "put the banana in the bowl"


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


def request(**more) -> GenerateRequest:
    return GenerateRequest(**{"sentence": SENTENCE, "episodes": 5, "images": False, "workers": 1, "seed": 3, **more})


@pytest.fixture(scope="module")
def parsed():
    return parse_sentence(SENTENCE)[0]


@pytest.fixture
def attempted(monkeypatch) -> list[int]:
    """Let every third seed fail, without a simulation; returns the seeds that were attempted."""
    seen: list[int] = []

    def attempt(task) -> dict:
        seen.append(task.seed)
        ok = task.seed % 3 != 1
        if ok:
            episode = make_episode(task.seed, 6 + task.seed % 4, cameras=(), instruction=task.parsed.sentence)
            DatasetWriter(task.folder, STATE_ONLY).add_episode(episode)
        return {"seed": task.seed, "ok": ok, "failed": None if ok else "pick", "wall_s": 1.0, "sim_s": 2.0}

    monkeypatch.setattr(shards, "run_attempt", attempt)
    for module in ("shards", "sharded", "engine"):
        name = f"armwright.generate.{module}.attempt_writer"
        monkeypatch.setattr(name, lambda request, folder: DatasetWriter(folder, STATE_ONLY))
    monkeypatch.setattr(shards, "VISIBLE_WITHIN_S", 0.0)
    return seen


def collect(out: Path, parsed, **more):
    tried = more.pop("tried", {})
    return collect_in_shards(request(**more), parsed, out, tried, engine=LocalEngine(), update=lambda *_: None)


def shard_task(folder: Path, parsed, number: int = 0, *, token: str = ".here", **more) -> ShardTask:
    return ShardTask(request(**more), parsed, number, 4, str(folder), token, surroundings())


def seeds(root: Path) -> list[int]:
    reader = DatasetReader(root)
    return [reader.record(number).seed for number in range(len(reader))]


def winners(count: int) -> list[int]:
    return [seed for seed in range(3_000_000, 3_000_100) if seed % 3 != 1][:count]


@pytest.mark.parametrize("size", [1, 2, 4, 50])
def test_the_shortest_prefix_that_holds_enough_is_kept_whatever_the_size(tmp_path, parsed, attempted, size):
    summary, entries, figures = collect(tmp_path, parsed, shard_size=size)
    assert summary.episodes == 5 and seeds(tmp_path / "dataset") == winners(5)
    assert [entry["seed"] for entry in entries] == list(range(3_000_000, winners(5)[-1] + 1))
    assert sum(entry["ok"] for entry in entries) == 5
    assert figures["size"] == size and figures["made"] * size == len(attempted) == len(set(attempted))
    assert verify_dataset(tmp_path / "dataset").ok


def test_a_finished_shard_is_not_made_again_and_a_damaged_one_is(tmp_path, parsed, attempted):
    collect(tmp_path, parsed, shard_size=4)
    before = list(attempted)
    assert before == list(range(3_000_000, 3_000_008))
    shutil.rmtree(tmp_path / "dataset")
    assert collect(tmp_path, parsed)[2]["made"] == 0 and attempted == before
    for damage in ("mark", "data", "info", "range"):
        shutil.rmtree(tmp_path / "dataset")
        place = tmp_path / SHARDS / "00001"
        if damage == "mark":
            (place / MARK).write_text((place / MARK).read_text()[:-9])
        elif damage == "range":
            shutil.rmtree(place)
            shutil.copytree(tmp_path / SHARDS / "00000", place)
        else:
            next((place / "dataset").rglob("file-000.parquet" if damage == "data" else "info.json")).unlink()
        attempted.clear()
        assert collect(tmp_path, parsed)[2]["made"] == 1, damage
        assert attempted == before[4:] and seeds(tmp_path / "dataset") == winners(5)
    assert sorted(path.name for path in (tmp_path / SHARDS).iterdir()) == ["00000", "00001", "plan.json"]


def test_more_can_be_asked_for_and_shards_may_be_deleted_when_they_are_joined(tmp_path, parsed, attempted):
    _, entries, _ = collect(tmp_path, parsed, shard_size=4)
    tried = {entry["seed"]: entry for entry in entries}
    shutil.rmtree(tmp_path / SHARDS / "00000")
    attempted.clear()
    summary, more, _ = collect(tmp_path, parsed, tried=tried, episodes=9)
    assert summary.episodes == 9 and seeds(tmp_path / "dataset") == winners(9)
    assert attempted[0] == 3_000_008, "what the dataset holds is not made again"
    assert [*tried, *(entry["seed"] for entry in more)] == list(range(3_000_000, winners(9)[-1] + 1))


def test_shards_of_another_size_are_refused(tmp_path, parsed, attempted):
    collect(tmp_path, parsed, shard_size=4)
    with pytest.raises(UsageError, match="holds shards of 4 attempts, not of 5"):
        collect(tmp_path, parsed, shard_size=5)
    (tmp_path / SHARDS / "plan.json").write_text('{"size": 0}')
    with pytest.raises(OutputError, match=r"plan\.json is damaged"):
        collect(tmp_path, parsed)


def test_a_task_that_never_succeeds_ends(tmp_path, parsed, attempted, monkeypatch):
    fail = {"ok": False, "failed": "pick", "wall_s": 0.0, "sim_s": 0.0}
    monkeypatch.setattr(shards, "run_attempt", lambda task: {"seed": task.seed, **fail})
    summary, entries, _ = collect(tmp_path, parsed, shard_size=8)
    assert summary.episodes == 0 and len(entries) == 25


def test_a_worker_that_does_not_see_the_folder_sends_its_shard_back(tmp_path, parsed, attempted):
    here = tmp_path / SHARDS
    here.mkdir()
    near, far = shard_task(here, parsed), shard_task(here, parsed, 1, token=".elsewhere")
    (here / ".here").touch()
    made = make_shard(near)
    assert made.packed is None and near.place.is_dir()
    sent = make_shard(far)
    assert sent.packed is not None and not far.place.exists()
    for answer in (made, sent):
        assert [entry.seed for entry in take(answer).entries] == answer.task.seeds
    assert verify_dataset(far.place / "dataset").ok
    assert sorted(path.name for path in here.iterdir()) == [".here", "00000", "00001"]


def test_a_shard_that_is_made_twice_is_there_once(tmp_path, parsed, attempted, monkeypatch):
    (tmp_path / ".here").touch()
    task = shard_task(tmp_path, parsed)
    make_shard(task)
    before = (task.place / MARK).read_bytes()
    make_shard(task)
    assert len(attempted) == 4, "a worker that finds it does not make it again"
    with monkeypatch.context() as patch:  # the other one ends while this one is at work
        looks = iter([False])
        patch.setattr(shards, "read_shard", lambda task: read_shard(task) if next(looks, True) else None)
        make_shard(task)
    assert len(attempted) == 8 and (task.place / MARK).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name != ".here"] == ["00000"]


def test_a_worker_that_fails_leaves_nothing(tmp_path, parsed, attempted, monkeypatch):
    (tmp_path / ".here").touch()
    monkeypatch.setattr(shards, "verify_dataset", lambda root: (_ for _ in ()).throw(Killed))
    with pytest.raises(Killed):
        make_shard(shard_task(tmp_path, parsed))
    assert [path.name for path in tmp_path.iterdir()] == [".here"]
    with pytest.raises(OutputError, match="missing or damaged just after it was made"):
        take(MadeShard(shard_task(tmp_path, parsed)))


def test_a_node_with_another_version_is_refused(tmp_path, parsed, attempted):
    task = shard_task(tmp_path, parsed)
    with pytest.raises(UsageError, match=r"has mujoco .*, the one that began the run 1\.0"):
        make_shard(replace(task, surroundings={**task.surroundings, "mujoco": "1.0"}))
    assert not attempted


def test_a_run_killed_while_it_joins_goes_on(tmp_path, attempted, monkeypatch):
    out = tmp_path / "run"
    wanted = request(shard_size=2)
    write_json = lerobot.write_json

    def dying(path, *arguments, **more):
        if Path(path).name == "manifest.json":
            raise Killed
        write_json(path, *arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr("armwright.recording.lerobot.write_json", dying)
        patch.setattr(LocalEngine, "run", lambda self, *a, workers: run_in_order(*a, workers=1))
        patch.setattr(shards, "_fill", filled(shards._fill, patch, write_json))
        with pytest.raises(Killed):
            generate_dataset(wanted, out)
    assert list((out / "dataset/data").rglob("*.parquet")) and not (out / "dataset/meta/info.json").exists()
    attempted.clear()
    record = generate_dataset(wanted, out, resume=True)
    assert record.ok and not attempted and seeds(out / "dataset") == winners(5)
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    assert [line["seed"] for line in lines] == list(range(3_000_000, winners(5)[-1] + 1))
    again = generate_dataset(wanted, out, resume=True)
    assert again.extra["attempts"] == len(lines) and again.extra["shards"]["made"] == 0


def filled(fill, patch, write_json):
    """Let shards be written as ever while only the joined dataset's manifest cannot be."""

    def run(*arguments):
        dying = lerobot.write_json
        patch.setattr(lerobot, "write_json", write_json)
        fill(*arguments)
        patch.setattr(lerobot, "write_json", dying)

    return run


def test_parts_share_the_work_and_no_seed():
    parts = [request(episodes=10, part=(i, 4)) for i in (1, 2, 3, 4)]
    assert sum(part.wanted for part in parts) == 10 and {part.wanted for part in parts} == {2, 3}
    tried = [{part.attempt_seed(k) for k in range(25)} for part in parts]
    assert set.union(*tried) == {request().attempt_seed(k) for k in range(100)}
    assert len({json.dumps(part.identity()) for part in parts}) == 4
    assert "part" not in request().identity()


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "a/b", "1/4/2", "-1/4", "1/99999999", "1 / 4"])
def test_a_part_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="i/n"):
        read_part(text)


def test_parts_are_read():
    assert read_part("3/64") == (3, 64) and read_part("1/1") == (1, 1)


def test_engines_go_by_name(monkeypatch):
    assert {"local", "ray"} <= set(engine_names()) and not compute_engine("local").shards
    with pytest.raises(UnknownNameError, match="unknown engine 'rey'"):
        compute_engine("rey")
    monkeypatch.setattr("armwright.generate.on_ray.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'armwright\[ray\]'"):
        compute_engine("ray")


def test_ray_is_not_started_for_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    RayEngine().run(len, lambda running: None, pytest.fail, workers=0)


def test_what_ray_says_does_not_come_between_the_record(capsys, monkeypatch):
    """Ray prints to stdout that a worker died; a task that is done again is no news for a program that reads JSON."""

    class Remote:
        @staticmethod
        def remote(task):
            print("(raylet) A worker died")
            return task

    said = SimpleNamespace(
        is_initialized=lambda: False,
        init=lambda **_: print("started"),
        shutdown=lambda: print("ended"),
        remote=lambda **_: lambda work: Remote,
        cluster_resources=lambda: {"CPU": 2.0},
        wait=lambda running, num_returns: (running[:1], running[1:]),
        get=lambda reference: reference,
        cancel=lambda *_, **__: None,
    )
    monkeypatch.setitem(sys.modules, "ray", said)
    waiting, done = [3, 2, 1], []
    RayEngine().run(abs, lambda running: waiting.pop() if waiting else None, done.append, workers=2)
    captured = capsys.readouterr()
    assert sorted(done) == [1, 2, 3] and captured.out == "" and "A worker died" in captured.err


def test_without_ray_nothing_is_written(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("armwright.generate.on_ray.find_spec", lambda name: None)
    for command in (("generate", SENTENCE), ("bench", "--task", SENTENCE)):
        ran = cli(*command, "--engine", "ray", "--out", tmp_path / "run")
        assert ran.code == 2 and "pip install 'armwright[ray]'" in ran.err
    assert not (tmp_path / "run").exists()
