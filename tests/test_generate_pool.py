"""Parallel work: seeds never collide, stuck episodes end, killed workers are reported, the journal survives any cut."""

from __future__ import annotations

import json
import os
import pickle
import signal
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armwright.core.errors import ArmwrightError, OutputError, UnknownNameError, UsageError
from armwright.core.pool import (
    SEEDS_PER_RUN,
    EpisodeTimeoutError,
    WorkerDiedError,
    episode_seed,
    run_in_order,
    watchdog,
)
from armwright.generate.entries import AttemptEntry
from armwright.recording.journal import Journal

REQUEST = {"sentence": "x", "seed": 0}


def square(n: int) -> int:
    return n * n


def fall_over(n: int) -> int:
    if n == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return n


def refuse(n: int) -> int:
    raise UnknownNameError("thing", "abd", ("abc", "xyz"))


def countdown(numbers: list[int]):
    rest = list(numbers)
    return lambda running: rest.pop(0) if rest else None


@given(
    a=st.integers(0, 2**32 - 1), b=st.integers(0, 2**32 - 1), i=st.integers(0, 10**6 - 1), j=st.integers(0, 10**6 - 1)
)
def test_no_two_episodes_of_any_two_runs_share_a_seed(a, b, i, j):
    assert (episode_seed(a, i) == episode_seed(b, j)) == ((a, i) == (b, j))
    assert 0 <= episode_seed(a, i) < 2**63


@pytest.mark.parametrize("index", [-1, SEEDS_PER_RUN])
def test_an_index_outside_of_a_run_is_refused(index):
    with pytest.raises(ArmwrightError, match=str(index)):
        episode_seed(0, index)


def compute_for(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_watchdog_ends_what_is_stuck_and_nothing_else():
    with pytest.raises(EpisodeTimeoutError, match="did not end"), watchdog(0.05):
        compute_for(5.0)
    with watchdog(0.5):
        compute_for(0.01)
    compute_for(0.6)


def test_waiting_for_a_busy_machine_is_not_being_stuck():
    with watchdog(0.05):
        time.sleep(0.3)


@pytest.mark.parametrize("workers", [1, 2])
def test_all_tasks_are_done_once(workers):
    done: list[int] = []
    run_in_order(square, countdown([1, 2, 3, 4, 5]), done.append, workers=workers)
    assert sorted(done) == [1, 4, 9, 16, 25]


def test_never_more_tasks_under_way_than_wanted():
    """A dataset that needs one more episode must not start two."""
    asked: list[int] = []

    def next_task(running: int) -> int | None:
        asked.append(running)
        return 1 if running == 0 and len(asked) < 4 else None

    done: list[int] = []
    run_in_order(square, next_task, done.append, workers=2)
    assert set(asked) <= {0, 1} and len(done) >= 1


def test_a_killed_worker_is_a_clear_failure_and_what_was_done_is_kept():
    done: list[int] = []
    with pytest.raises(WorkerDiedError, match=r"killed.*--resume") as caught:
        run_in_order(fall_over, countdown([0, 1, 2, 3]), done.append, workers=2)
    assert caught.value.exit_code == 1
    assert set(done) <= {0, 1, 3}


def test_a_workers_refusal_arrives_as_it_was():
    with pytest.raises(UnknownNameError, match=r"unknown thing 'abd'\. Nearest: abc") as caught:
        run_in_order(refuse, countdown([1]), lambda result: None, workers=2)
    assert caught.value.nearest == ("abc",)


@pytest.mark.parametrize("error", [UnknownNameError("thing", "q", ("abc",)), OutputError("full.", hint="Free some.")])
def test_errors_travel_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) and copy.exit_code == error.exit_code


ENTRY = st.fixed_dictionaries({"seed": st.integers(0, 10**9), "ok": st.booleans(), "failed": st.text(max_size=12)})


@given(entries=st.lists(ENTRY, min_size=1, max_size=6), data=st.data())
def test_a_journal_cut_anywhere_keeps_all_whole_lines_and_takes_more(tmp_path_factory, entries, data):
    folder = tmp_path_factory.mktemp("journal")
    with Journal(folder, REQUEST, resume=False) as journal:
        for entry in entries:
            journal.add(entry)
    whole = journal.path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    journal.path.write_bytes(whole[:cut])
    with Journal(folder, REQUEST, resume=True) as again:
        kept = len(again.entries)
        assert again.entries == entries[:kept]
        assert kept == whole[:cut].count(b"\n")
        again.add({"seed": -1})
    with Journal(folder, REQUEST, resume=True) as last:
        assert last.entries == [*entries[:kept], {"seed": -1}]


def test_a_journal_belongs_to_one_process_at_a_time(tmp_path):
    with Journal(tmp_path, REQUEST, resume=False), pytest.raises(UsageError, match="another process is at work"):
        Journal(tmp_path, REQUEST, resume=True)
    with Journal(tmp_path, REQUEST, resume=True):
        pass


def test_a_missing_request_is_said_to_be_missing(tmp_path):
    with Journal(tmp_path, REQUEST, resume=False) as journal:
        journal.add({"seed": 1})
    (tmp_path / "request.json").unlink()
    with pytest.raises(UsageError, match=r"request\.json is missing, so that it cannot be told"):
        Journal(tmp_path, REQUEST, resume=True)
    assert not (tmp_path / "request.json").exists()


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "\x00\xff"])
def test_a_damaged_request_is_refused_and_left_alone(tmp_path, text):
    (tmp_path / "request.json").write_text(text)
    with pytest.raises(UsageError, match=r"request\.json"):
        Journal(tmp_path, REQUEST, resume=True)
    assert (tmp_path / "request.json").read_text() == text
    (tmp_path / "request.json").write_text(json.dumps(REQUEST))
    with Journal(tmp_path, REQUEST, resume=True) as journal:
        assert journal.entries == []


def test_a_journal_that_cannot_be_written_says_so(tmp_path):
    with Journal(tmp_path, REQUEST, resume=False) as journal:
        journal.path.mkdir()
        with pytest.raises(OutputError, match=r"cannot write .*journal\.jsonl.*--resume"):
            journal.add({"seed": 1})


ATTEMPT = {"seed": 1, "ok": True, "failed": None, "wall_s": 1.0, "sim_s": 2.0}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"not json", "Expecting value"),
        (b"", "Expecting value"),
        (b"\xff\xfe", "decode"),
        (b"[1, 2]", "no JSON object"),
        (b'{"seed": 1}', "ok: Field required"),
        (json.dumps(ATTEMPT | {"seed": "1"}).encode(), "seed: Input should be a valid integer"),
        (json.dumps(ATTEMPT | {"ok": 1}).encode(), "ok: Input should be a valid boolean"),
        (json.dumps(ATTEMPT | {"sim_s": float("nan")}).encode(), "sim_s: "),
        (json.dumps(ATTEMPT | {"wall_s": -1.0}).encode(), "wall_s: "),
        (b"[" * 100_000, "."),
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_cut(tmp_path, line, why):
    with Journal(tmp_path, REQUEST, resume=False) as journal:
        path = journal.path
    good = json.dumps(ATTEMPT).encode()
    path.write_bytes(b"\n".join([good, line, good, b'{"cut']))
    before = path.read_bytes()
    with pytest.raises(UsageError, match=rf"line 2 of .*journal\.jsonl is damaged: .*{why}.*delete that line"):
        Journal(tmp_path, REQUEST, resume=True, entry=AttemptEntry)
    assert path.read_bytes() == before
    path.write_bytes(b"\n".join([good, good, b'{"cut']))
    with Journal(tmp_path, REQUEST, resume=True, entry=AttemptEntry) as again:
        assert again.entries == [ATTEMPT, ATTEMPT], "the refusal freed the folder"
