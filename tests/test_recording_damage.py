"""Files of a dataset that are missing or damaged: readers and writers name them, the verifier lists them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from armwright.core.errors import OutputError
from armwright.recording.lerobot import DatasetWriter, finished_keys
from armwright.recording.reader import DatasetReader, dataset_info
from armwright.recording.verify import verify_dataset
from armwright.recording.video import cut_video
from test_recording_episode import SCHEMA, make_episode
from test_recording_verify import DATA, EPISODES, INFO, MANIFEST, RECORDS, SCHEMA_FILE, VIDEO, WORLD, drop_column

BATCH = (DATA, EPISODES, RECORDS, WORLD, VIDEO)
Damage = Callable[[Path], object]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES: dict[str, Damage] = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut": cut,
    "other": lambda path: path.write_bytes(b"\x00\xff" * 500),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("whole")
    writer = DatasetWriter(root, SCHEMA)
    for seed in range(3):
        writer.add_episode(make_episode(seed, 8))
    writer.finalize()
    return root


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "dataset"))


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("file", BATCH)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_dataset_is_not_gone_on_with_where_an_earlier_file_is_lost(root: Path, file: str, damage: str) -> None:
    DAMAGES[damage](root / file)
    before = files(root)
    for attempt in (lambda: finished_keys(root), lambda: DatasetWriter(root, SCHEMA)):
        with pytest.raises(OutputError) as caught:
            attempt()
        assert str(root / file) in str(caught.value) and f"delete {root}: --resume" in str(caught.value)
    assert files(root) == before
    assert not verify_dataset(root).ok


@pytest.mark.parametrize("kept", [-1, -8, 40, 12])
def test_a_video_that_is_cut_anywhere_or_longer_than_it_was_is_named(root: Path, kept: int) -> None:
    whole = (root / VIDEO).read_bytes()
    for content in (whole[:kept], whole + b"\x00" * 9):
        (root / VIDEO).write_bytes(content)
        with pytest.raises(OutputError, match=r"mp4 is damaged: it is cut"):
            finished_keys(root)


def test_a_video_of_fewer_frames_than_its_episodes_is_named(root: Path, tmp_path: Path) -> None:
    cut_video(root / VIDEO, tmp_path / "short.mp4", start=0, count=23, fps=SCHEMA.fps)
    (tmp_path / "short.mp4").replace(root / VIDEO)
    with pytest.raises(OutputError, match=r"mp4 is damaged: it has 23 frames, its episodes have 24"):
        finished_keys(root)


def test_a_lost_schema_is_a_finding_and_a_damaged_one_is_said_in_one_line(root: Path) -> None:
    (root / SCHEMA_FILE).write_text("{}")
    assert [str(one) for one in verify_dataset(root).violations] == [
        f"sidecar: {SCHEMA_FILE}: is damaged: 2 fields are wrong."
    ]
    (root / SCHEMA_FILE).unlink()
    (found,) = verify_dataset(root).violations
    assert found.file == SCHEMA_FILE and found.detail.startswith("is missing, though armwright/")


@pytest.mark.parametrize("file", BATCH)
def test_a_file_lost_while_a_writer_is_open_is_seen_at_the_end(root: Path, file: str) -> None:
    writer = DatasetWriter(root, SCHEMA)
    writer.add_episode(make_episode(7, 8))
    (root / file).unlink()
    with pytest.raises(OutputError, match="is missing"):
        writer.finalize()
    assert len(list((root / "armwright/staging").iterdir())) == 1, "the new episode is kept"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"batches": "1"}', '{"batches": -1}', "null", "\\"])
def test_a_damaged_manifest_is_named(root: Path, text: str) -> None:
    (root / MANIFEST).write_text(text)
    before = files(root)
    with pytest.raises(OutputError, match="manifest"):
        DatasetWriter(root, SCHEMA).finalize()
    assert files(root) == before


def test_a_lost_manifest_does_not_take_the_episodes_along(root: Path) -> None:
    (root / MANIFEST).unlink()
    before = files(root)
    for attempt in (lambda: finished_keys(root), lambda: DatasetWriter(root, SCHEMA).finalize()):
        with pytest.raises(OutputError, match=r"manifest\.json does not count .* 3 episodes that are nowhere else"):
            attempt()
    assert files(root) == before


@pytest.mark.parametrize("file", [INFO, "meta/stats.json", "meta/tasks.parquet"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_metadata_that_follows_from_the_rest_is_written_again(root: Path, file: str, damage: str) -> None:
    before = files(root)
    DAMAGES[damage](root / file)
    DatasetWriter(root, SCHEMA).finalize()
    assert files(root) == before and verify_dataset(root).ok


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", ["frames.parquet", "world.parquet", "front.mp4", "episode.json"])
def test_a_damaged_staged_episode_is_named(tmp_path: Path, file: str, damage: str) -> None:
    writer = DatasetWriter(tmp_path, SCHEMA)
    writer.add_episode(make_episode(1, 8))
    (folder,) = (tmp_path / "armwright/staging").iterdir()
    DAMAGES[damage](folder / file)
    for attempt in (lambda: finished_keys(tmp_path), writer.finalize):
        with pytest.raises(OutputError, match=rf"{file} is .*Delete {folder}: --resume then runs that episode again"):
            attempt()
    shutil.rmtree(folder)
    assert finished_keys(tmp_path) == set() and writer.finalize().episodes == 0


def read_all(root: Path) -> None:
    dataset_info(root)
    reader = DatasetReader(root)
    for index in range(len(reader)):
        reader.record(index), reader.columns(index), reader.world(index)


@pytest.mark.parametrize("file", [DATA, EPISODES, RECORDS, WORLD, INFO, SCHEMA_FILE])
@pytest.mark.parametrize("damage", ["empty", "cut", "other"])
def test_reading_a_damaged_file_names_it(root: Path, file: str, damage: str) -> None:
    DAMAGES[damage](root / file)
    with pytest.raises(OutputError) as caught:
        read_all(root)
    assert str(root / file) in str(caught.value) and "is damaged" in str(caught.value)
    report = verify_dataset(root)
    assert any(violation.file == file for violation in report.violations)


@pytest.mark.parametrize(
    ("file", "column"), [(DATA, "action"), (EPISODES, "length"), (RECORDS, "scene"), (RECORDS, "seed"), (WORLD, "qpos")]
)
def test_a_missing_column_is_named(root: Path, file: str, column: str) -> None:
    drop_column(file, column)(root)
    with pytest.raises(OutputError, match=rf"{file} is damaged: it has no column {column}"):
        read_all(root)
    assert not verify_dataset(root).ok


@pytest.mark.parametrize(
    ("file", "value"),
    [
        (INFO, []),
        (INFO, None),
        (INFO, {"features": 3}),
        (INFO, {"features": {"action": 3}}),
        (INFO, {"total_episodes": 2}),
        (SCHEMA_FILE, []),
        (SCHEMA_FILE, {"robot": 3}),
        (MANIFEST, {"episodes": None}),
        ("meta/stats.json", []),
        ("meta/stats.json", {"action": []}),
    ],
)
def test_json_of_another_shape_is_a_finding(root: Path, file: str, value: object) -> None:
    present = json.loads((root / file).read_text())
    (root / file).write_text(json.dumps({**present, **value} if isinstance(value, dict) else value))
    assert any(violation.file in (file, "meta/episodes") for violation in verify_dataset(root).violations)


@pytest.mark.parametrize(
    ("file", "value"),
    [(INFO, []), (INFO, None), (INFO, {"total_episodes": 2}), (SCHEMA_FILE, []), (SCHEMA_FILE, {"robot": 3})],
)
def test_json_of_another_shape_is_named_by_the_reader(root: Path, file: str, value: object) -> None:
    present = json.loads((root / file).read_text())
    (root / file).write_text(json.dumps({**present, **value} if isinstance(value, dict) else value))
    with pytest.raises(OutputError, match=f"{file} is damaged"):
        read_all(root)
