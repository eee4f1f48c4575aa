"""Merged datasets: what one writer would have written; videos shared, rows numbered anew; safe to interrupt."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from armwright.core.errors import OutputError, UsageError
from armwright.recording import lerobot
from armwright.recording.layout import DatasetSchema, episode_key
from armwright.recording.lerobot import DatasetWriter, finished_keys
from armwright.recording.merge import merge_datasets
from armwright.recording.reader import DatasetReader
from armwright.recording.verify import verify_dataset
from test_recording_episode import SCHEMA, STATE_ONLY, make_episode
from test_recording_lerobot import contents, write


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


def seeds(root: Path) -> list[int]:
    reader = DatasetReader(root)
    return [reader.record(number).seed for number in range(len(reader))]


def length_limit(monkeypatch: pytest.MonkeyPatch, frames: int) -> None:
    monkeypatch.setattr(DatasetSchema, "batch_frames", property(lambda self: frames))


def test_datasets_join_into_what_one_writer_would_have_written(tmp_path: Path) -> None:
    write(tmp_path / "one", [0, 1, 2, 3, 4, 5])
    write(tmp_path / "finished", [0, 1])
    staged = DatasetWriter(tmp_path / "staged", SCHEMA)
    for seed in (3, 2):
        staged.add_episode(make_episode(seed, 10 + seed, coordinates=9 + seed % 3))
    write(tmp_path / "both", [4])
    DatasetWriter(tmp_path / "both", SCHEMA).add_episode(make_episode(5, 15, coordinates=11))
    before = contents(tmp_path / "both")
    summary = merge_datasets([tmp_path / name for name in ("finished", "staged", "both")], tmp_path / "merged")
    assert summary.episodes == 6 and contents(tmp_path / "both") == before
    assert verify_dataset(tmp_path / "merged").violations == ()
    one, merged = contents(tmp_path / "one"), contents(tmp_path / "merged")
    assert one.keys() == merged.keys()
    differing = [name for name in one if one[name] != merged[name] and not name.endswith(".mp4")]
    assert all("armwright/episodes" in name for name in differing), "only digests of videos may differ"
    for camera in SCHEMA.cameras:
        for number in (0, 3, 4, 5):
            frames = [list(DatasetReader(tmp_path / name).frames(number, camera)) for name in ("one", "merged")]
            assert np.array_equal(frames[0], frames[1])


def test_batches_keep_their_videos_and_small_ones_are_joined(tmp_path, monkeypatch) -> None:
    length_limit(monkeypatch, 45)  # an episode has 10 frames and one more for each seed
    for name, numbers in (("a", [5, 6]), ("b", [0]), ("c", [1]), ("d", [7, 8, 9])):
        write(tmp_path / name, numbers)
    merge_datasets([tmp_path / name for name in "abcd"], tmp_path / "out")
    assert seeds(tmp_path / "out") == [5, 6, 0, 1, 7, 8, 9]
    assert verify_dataset(tmp_path / "out").violations == ()
    videos = sorted((tmp_path / "out/videos/observation.images.wrist").rglob("*.mp4"))
    assert [path.stat().st_nlink for path in videos] == [2, 1, 2, 2], "b and c share a file; d has two batches"
    for name in "abcd":
        assert verify_dataset(tmp_path / name).violations == ()


def test_only_what_is_wanted_is_taken(tmp_path: Path) -> None:
    write(tmp_path / "a", [0, 1, 2, 3])
    write(tmp_path / "b", [4])
    instruction = make_episode(0).instruction
    wanted = {episode_key(seed, instruction) for seed in (1, 2, 4)}
    merge_datasets([tmp_path / "a", tmp_path / "b"], tmp_path / "out", keep=wanted.__contains__)
    assert seeds(tmp_path / "out") == [1, 2, 4]
    assert verify_dataset(tmp_path / "out").violations == ()
    merge_datasets([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert seeds(tmp_path / "out") == [1, 2, 4, 0, 3], "what was there stays first"
    assert verify_dataset(tmp_path / "out").violations == ()
    wide = [list(DatasetReader(tmp_path / name).frames(k, "front")) for name, k in (("a", 3), ("out", 4))]
    assert np.array_equal(wide[0], wide[1])


def test_datasets_that_share_an_episode_or_differ_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a", [0, 1], STATE_ONLY)
    write(tmp_path / "b", [1, 2], STATE_ONLY)
    with pytest.raises(UsageError, match=r"is in .*a and in .*b"):
        merge_datasets([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    DatasetWriter(tmp_path / "c", SCHEMA)
    with pytest.raises(UsageError, match="no cameras"):
        merge_datasets([tmp_path / "a", tmp_path / "c"], tmp_path / "out")
    with pytest.raises(UsageError, match="no datasets"):
        merge_datasets([], tmp_path / "out")
    with pytest.raises(OutputError, match="missing"):
        merge_datasets([tmp_path / "nothing"], tmp_path / "out")


def test_a_merge_killed_at_any_write_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    length_limit(monkeypatch, 45)
    for name, numbers in (("a", [0, 1, 2]), ("b", [3, 4]), ("one", [0, 1, 2, 3, 4])):
        write(tmp_path / name, numbers, STATE_ONLY)
    sources = [tmp_path / "a", tmp_path / "b"]
    elsewhere = {key for root in sources for key in finished_keys(root)}
    merge_datasets(sources, tmp_path / "whole")
    for step in range(6):
        out, left = tmp_path / f"out{step}", [step]
        write_batch, write_json = lerobot.write_batch, lerobot.write_json

        def dying(call, left=left):
            def run(*arguments, **more):
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
                call(*arguments, **more)

            return run

        with monkeypatch.context() as patch:
            patch.setattr(lerobot, "write_batch", dying(write_batch))
            patch.setattr(lerobot, "write_json", dying(write_json))
            with pytest.raises(Killed):
                merge_datasets(sources, out)
        if (out / lerobot.SCHEMA).exists():
            assert finished_keys(out, elsewhere=elsewhere) <= elsewhere
        merge_datasets(sources, out)
        assert contents(out) == contents(tmp_path / "whole")
    assert seeds(tmp_path / "whole") == [0, 1, 2, 3, 4]


def test_a_batch_whose_episodes_are_nowhere_else_is_not_discarded_by_a_merge(tmp_path: Path) -> None:
    write(tmp_path / "a", [0], STATE_ONLY)
    write(tmp_path / "out", [7], STATE_ONLY)
    manifest = tmp_path / "out" / lerobot.MANIFEST
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "batches": 0, "episodes": 0, "frames": 0}))
    with pytest.raises(OutputError, match="nowhere else"):
        merge_datasets([tmp_path / "a"], tmp_path / "out")
