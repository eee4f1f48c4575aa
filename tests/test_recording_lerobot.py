from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from armwright.core.errors import OutputError, UsageError
from armwright.recording.layout import DatasetSchema
from armwright.recording.lerobot import DatasetWriter, load_schema
from armwright.recording.reader import DatasetReader
from armwright.recording.verify import verify_dataset
from test_recording_episode import SCHEMA, SIZE, STATE_ONLY, make_episode, marked_frame

OTHER = "hold the red cup above the tray"


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def write(root: Path, seeds: list[int], schema: DatasetSchema = SCHEMA) -> None:
    writer = DatasetWriter(root, schema)
    for seed in seeds:
        writer.add_episode(make_episode(seed, 10 + seed, cameras=tuple(schema.cameras), coordinates=9 + seed % 3))
    writer.finalize()


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, SCHEMA)
    for seed in (5, 2, 9):
        text = OTHER if seed == 2 else "go"
        writer.add_episode(make_episode(seed, 10 + seed, instruction=text, coordinates=9 + seed))
    summary = writer.finalize()
    assert (summary.episodes, summary.frames, summary.tasks) == (3, 46, 2)
    reader = DatasetReader(tmp_path)
    assert [reader.record(k).seed for k in range(3)] == [2, 5, 9]
    for index, seed in enumerate((2, 5, 9)):
        episode = make_episode(seed, 10 + seed, coordinates=9 + seed)
        columns = reader.columns(index)
        for key, values in episode.vectors().items():
            assert np.array_equal(columns[key], values)
        world = reader.world(index)
        assert world is not None and episode.world is not None
        for name in ("time_s", "qpos", "qvel", "ctrl"):
            assert np.array_equal(getattr(world, name), getattr(episode.world, name))
        record = reader.record(index)
        assert record.instruction == (OTHER if seed == 2 else "go")
        assert (record.success, record.compliance) == (episode.success, episode.compliance)
        assert record.scene == episode.scene and record.versions == episode.versions
        assert [stage["name"] for stage in record.stages] == ["pick", "place"]
        for camera, name in enumerate(("front", "wrist")):
            frames = list(reader.frames(index, name))
            assert len(frames) == len(episode)
            for row, frame in enumerate(frames):
                assert np.abs(frame.astype(int) - marked_frame(seed, row, camera)).mean() < 4
    middle = next(reader.frames(1, "wrist", start=7, count=1))
    assert np.abs(middle.astype(int) - marked_frame(5, 7, 1)).mean() < 4
    assert verify_dataset(tmp_path).violations == ()


def test_times_come_from_frame_numbers_and_stats_from_the_data(tmp_path: Path) -> None:
    write(tmp_path, [0, 1, 2, 3])
    reader = DatasetReader(tmp_path)
    columns = [reader.columns(k) for k in range(4)]
    for part in columns:
        assert np.array_equal(part["timestamp"], (np.arange(len(part["timestamp"])) / 20).astype(np.float32))
    stats = json.loads((tmp_path / "meta/stats.json").read_text())
    for key in SCHEMA.vectors:
        x = np.concatenate([part[key] for part in columns]).astype(float)
        for name, truth in {"min": x.min(0), "max": x.max(0), "mean": x.mean(0), "std": x.std(0)}.items():
            assert np.allclose(stats[key][name], truth, atol=1e-7)
        assert np.allclose(stats[key]["q90"], np.quantile(x, 0.9, axis=0))
        assert stats[key]["count"] == [len(x)]
    blue = np.array(stats["observation.images.front"]["max"]).reshape(3)
    assert blue.shape == (3,) and blue.min() > 0 and blue.max() <= 1


def test_pandas_takes_the_tasks_as_index(tmp_path: Path) -> None:
    write(tmp_path, [0], STATE_ONLY)
    table = pq.read_table(tmp_path / "meta/tasks.parquet")
    assert json.loads(table.schema.metadata[b"pandas"])["index_columns"] == ["task"]


def test_a_dataset_without_cameras_is_whole(tmp_path: Path) -> None:
    write(tmp_path, [0, 1], STATE_ONLY)
    assert verify_dataset(tmp_path).ok
    info = json.loads((tmp_path / "meta/info.json").read_text())
    assert info["video_path"] is None and not (tmp_path / "videos").exists()


def test_the_order_of_arrival_does_not_matter(tmp_path: Path) -> None:
    write(tmp_path / "a", [3, 1, 2])
    write(tmp_path / "b", [1, 2, 3])
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_batches_split_by_length_and_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("armwright.recording.layout.MAX_VIDEO_S", 1.2)
    write(tmp_path, [0, 1, 2, 3, 4])
    assert len(list((tmp_path / "data").rglob("*.parquet"))) == 4
    write(tmp_path, [7, 6])
    report = verify_dataset(tmp_path)
    assert report.violations == () and report.episodes == 7
    reader = DatasetReader(tmp_path)
    assert [reader.record(k).seed for k in range(7)] == [0, 1, 2, 3, 4, 6, 7]
    frame = next(reader.frames(6, "front", start=3, count=1))
    assert np.abs(frame.astype(int) - marked_frame(7, 3, 0)).mean() < 4


class Killed(BaseException):
    """Stands for a process that ends at once."""


def test_a_kill_at_any_write_loses_and_doubles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Die before each rename in turn (every file and every staged episode appears by one), then go on.

    From the kill on nothing is cleaned up, as after SIGKILL.
    """
    monkeypatch.setattr("armwright.recording.layout.MAX_STATE_S", 1.2)
    write(tmp_path / "whole", [0, 1, 2], STATE_ONLY)
    expected = contents(tmp_path / "whole")
    real = {name: getattr(Path, name) for name in ("replace", "rename", "unlink")} | {"rmtree": shutil.rmtree}
    stop, count, dead = 0, 0, False

    def renaming(name: str):
        def call(self: Path, target: Path) -> Path:
            nonlocal count, dead
            count += 1
            if count == stop:
                dead = True
                raise Killed
            return real[name](self, target)

        return call

    def removing(name: str):
        return lambda *args, **options: None if dead else real[name](*args, **options)

    for name in ("replace", "rename"):
        monkeypatch.setattr(Path, name, renaming(name))
    monkeypatch.setattr(Path, "unlink", removing("unlink"))
    monkeypatch.setattr(shutil, "rmtree", removing("rmtree"))
    debris = 0
    while not (stop and not dead):
        stop, count, dead = stop + 1, 0, False
        root = tmp_path / f"killed-{stop}"
        try:
            write(root, [0, 1, 2], STATE_ONLY)
        except Killed:
            debris += len(list(root.rglob(".*")))
            count, dead = -(10**6), False
            writer = DatasetWriter(root, STATE_ONLY)
            for seed in range(3):
                if not writer.has(seed, "put the banana in the bowl"):
                    writer.add_episode(make_episode(seed, 10 + seed, cameras=(), coordinates=9 + seed % 3))
            writer.finalize()
            dead = True
        left = dead
        assert contents(root) == expected, f"killed at write {stop}"
        dead = False
        shutil.rmtree(root)
        dead = left
    assert stop > 20 and debris > 20


def test_an_unfinished_dataset_is_refused_by_the_reader(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, STATE_ONLY)
    writer.add_episode(make_episode(0, cameras=()))
    with pytest.raises(OutputError, match="no finished dataset"):
        DatasetReader(tmp_path)


def test_a_camera_that_fails_leaves_no_trace(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, SCHEMA)
    good = make_episode(0)

    def breaks():
        yield marked_frame(0, 0, 0)
        raise RuntimeError("the renderer died")

    with pytest.raises(RuntimeError, match="renderer"):
        writer.add_episode(type(good)(**{**vars(good), "images": {"front": breaks(), "wrist": breaks()}}))
    assert writer.keys == set() and list((tmp_path / "armwright/staging").iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"images": {}}, "cameras"),
        ({"images": {"front": [np.zeros((*SIZE, 3), np.uint8)] * 3, "wrist": []}}, "3 frames for 20 rows"),
        ({"images": {"front": [np.zeros((32, 32, 3), np.uint8)] * 20, "wrist": []}}, "px"),
        ({"images": {"front": [np.zeros((*SIZE, 3), np.float32)] * 20, "wrist": []}}, "uint8"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(tmp_path: Path, change: dict, message: str) -> None:
    writer = DatasetWriter(tmp_path, SCHEMA)
    with pytest.raises(UsageError, match=message):
        writer.add_episode(type(make_episode(0))(**{**vars(make_episode(0)), **change}))
    assert writer.keys == set()


def test_values_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    episode = make_episode(0, cameras=())
    episode.arm.position_rad[4, 2] = np.nan
    with pytest.raises(UsageError, match="row 4"):
        DatasetWriter(tmp_path, STATE_ONLY).add_episode(episode)


def test_a_seed_is_taken_once_per_instruction(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, STATE_ONLY)
    writer.add_episode(make_episode(0, cameras=()))
    with pytest.raises(UsageError, match="already"):
        DatasetWriter(tmp_path, STATE_ONLY).add_episode(make_episode(0, cameras=()))
    writer.add_episode(make_episode(0, cameras=(), instruction=OTHER))
    writer.finalize()
    with pytest.raises(UsageError, match="already"):
        writer.add_episode(make_episode(0, cameras=()))
    assert writer.has(0, OTHER) and not writer.has(1, OTHER)


def test_another_robot_does_not_go_on_with_a_dataset(tmp_path: Path) -> None:
    DatasetWriter(tmp_path, SCHEMA)
    with pytest.raises(UsageError, match="ur5e"):
        DatasetWriter(tmp_path, SCHEMA.model_copy(update={"robot": "ur5e"}))
    assert load_schema(tmp_path) == SCHEMA


def test_a_read_only_folder_is_a_clear_error(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("")
    with pytest.raises(OutputError, match="--out"):
        DatasetWriter(target, SCHEMA)


@pytest.mark.parametrize("limit", [2000, 20_000])
def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path: Path, limit: int) -> None:
    """The system refuses files over the limit: first the rows do not fit, then the video does not."""
    resource = pytest.importorskip("resource")
    writer = DatasetWriter(tmp_path, SCHEMA)
    writer.add_episode(make_episode(0))
    rng = np.random.default_rng(0)
    noise = {name: [rng.integers(0, 255, (*SIZE, 3)).astype(np.uint8) for _ in range(20)] for name in SCHEMA.cameras}
    big = type(make_episode(1))(**{**vars(make_episode(1)), "images": noise})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        with pytest.raises(OutputError, match="--out"):
            writer.add_episode(big)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
        with pytest.raises(OutputError, match="--out"):
            writer.finalize()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(writer.keys) == 1 and writer.finalize().episodes == 1
    assert verify_dataset(tmp_path).violations == ()
