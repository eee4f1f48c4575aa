"""Break one thing at a time; the verifier must name the file (and the episode) each time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from armwright.core.errors import OutputError
from armwright.recording.lerobot import DatasetWriter
from armwright.recording.verify import verify_dataset
from armwright.recording.video import write_video
from test_recording_episode import SCHEMA, make_episode, marked_frame

DATA = "data/chunk-000/file-000.parquet"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"
INFO = "meta/info.json"
STATS = "meta/stats.json"
MANIFEST = "armwright/manifest.json"
SCHEMA_FILE = "armwright/schema.json"
WORLD = "armwright/world/chunk-000/file-000.parquet"
RECORDS = "armwright/episodes/chunk-000/file-000.parquet"
VIDEO = "videos/observation.images.front/chunk-000/file-000.mp4"
LENGTHS = (7, 9, 5)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("whole")
    writer = DatasetWriter(root, SCHEMA)
    for seed, rows in enumerate(LENGTHS):
        writer.add_episode(make_episode(seed, rows, instruction="go" if seed else "stop"))
    writer.finalize()
    assert verify_dataset(root).violations == ()
    return root


def edit_json(name: str, change: Callable[[dict], object]) -> Callable[[Path], None]:
    def act(root: Path) -> None:
        value = json.loads((root / name).read_text())
        change(value)
        (root / name).write_text(json.dumps(value))

    return act


def edit_rows(name: str, change: Callable[[list[dict]], object]) -> Callable[[Path], None]:
    def act(root: Path) -> None:
        table = pq.read_table(root / name, partitioning=None)
        rows = table.to_pylist()
        change(rows)
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), root / name)

    return act


def put(row: int, key: str, value: object, at: int | None = None) -> Callable[[list[dict]], object]:
    def change(rows: list[dict]) -> None:
        if at is None:
            rows[row][key] = value
        else:
            rows[row][key][at] = value

    return change


def drop_column(name: str, column: str) -> Callable[[Path], None]:
    def act(root: Path) -> None:
        pq.write_table(pq.read_table(root / name, partitioning=None).drop_columns([column]), root / name)

    return act


def damage(name: str, keep: float) -> Callable[[Path], None]:
    def act(root: Path) -> None:
        data = (root / name).read_bytes()
        (root / name).write_bytes(data[: int(len(data) * keep)])

    return act


def remove(name: str) -> Callable[[Path], None]:
    return lambda root: (root / name).unlink()


def copy(name: str, to: str) -> Callable[[Path], None]:
    return lambda root: shutil.copy(root / name, root / to) and None


def flip_action(rows: list[dict]) -> None:
    for k in range(10, 16):
        rows[k]["action"][3:7] = [-x for x in rows[k]["action"][3:7]]


def reencode(**change: int) -> Callable[[Path], None]:
    rows, fps, size = change.get("rows", sum(LENGTHS)), change.get("fps", 20), change.get("size", 64)

    def act(root: Path) -> None:
        write_video(root / VIDEO, (marked_frame(0, k, 0)[:size] for k in range(rows)), fps=fps)

    return act


def zero_middle(root: Path) -> None:
    data = bytearray((root / VIDEO).read_bytes())
    start = data.index(b"mdat") + 8
    data[start : start + 2000] = bytes(2000)
    (root / VIDEO).write_bytes(bytes(data))


def flip_bit(root: Path) -> None:
    data = bytearray((root / VIDEO).read_bytes())
    data[len(data) // 2] ^= 1
    (root / VIDEO).write_bytes(bytes(data))


def flip_data_bit(root: Path) -> None:
    data = bytearray((root / DATA).read_bytes())
    data[200] ^= 1
    (root / DATA).write_bytes(bytes(data))


def widen(rows: list[dict]) -> None:
    rows[9]["qpos"] = [*rows[9]["qpos"], 0.0]


CASES: dict[str, tuple[Callable[[Path], None], str, int | None, str]] = {
    "no info": (remove(INFO), INFO, None, "cannot be read"),
    "broken info": (damage(INFO, 0.5), INFO, None, "cannot be read"),
    "old version": (
        edit_json(INFO, lambda v: v.update(codebase_version="v2.1")),
        INFO,
        None,
        "v2.1",
    ),
    "fps as text": (edit_json(INFO, lambda v: v.update(fps="20")), INFO, None, "fps"),
    "fps zero": (edit_json(INFO, lambda v: v.update(fps=0)), INFO, None, "fps"),
    "fps other": (edit_json(INFO, lambda v: v.update(fps=30)), DATA, 0, "timestamp"),
    "episode total": (
        edit_json(INFO, lambda v: v.update(total_episodes=4)),
        "meta/episodes",
        None,
        "3 rows",
    ),
    "frame total": (edit_json(INFO, lambda v: v.update(total_frames=20)), "meta/episodes", None, "21 rows"),
    "task total": (
        edit_json(INFO, lambda v: v.update(total_tasks=1)),
        "meta/tasks.parquet",
        None,
        "2 tasks",
    ),
    "splits": (
        edit_json(INFO, lambda v: v.update(splits={"train": "0:2"})),
        INFO,
        None,
        "splits",
    ),
    "feature gone": (
        edit_json(INFO, lambda v: v["features"].pop("action")),
        DATA,
        None,
        "extra ['action']",
    ),
    "feature added": (
        edit_json(INFO, lambda v: v["features"].update(x={"dtype": "float32", "shape": [2], "names": None})),
        DATA,
        None,
        "missing ['x']",
    ),
    "feature shape": (
        edit_json(INFO, lambda v: v["features"]["action"].update(shape=[9])),
        INFO,
        None,
        "names",
    ),
    "feature dtype": (
        edit_json(INFO, lambda v: v["features"]["action"].update(dtype="float16")),
        INFO,
        None,
        "float16",
    ),
    "feature wider": (
        edit_json(INFO, lambda v: v["features"]["action"].update(dtype="float64")),
        DATA,
        None,
        "action is",
    ),
    "index feature": (
        edit_json(INFO, lambda v: v["features"]["index"].update(dtype="int32")),
        INFO,
        None,
        "index",
    ),
    "no video path": (
        edit_json(INFO, lambda v: v.update(video_path=None)),
        INFO,
        None,
        "video_path",
    ),
    "no tasks": (remove("meta/tasks.parquet"), "meta/tasks.parquet", None, "cannot be read"),
    "task order": (edit_rows("meta/tasks.parquet", put(0, "task_index", 1)), "meta/tasks.parquet", None, "task_index"),
    "task twice": (edit_rows("meta/tasks.parquet", put(0, "task", "go")), "meta/tasks.parquet", None, "twice"),
    "task text": (edit_rows("meta/tasks.parquet", put(0, "task", "other")), EPISODES, 0, "tasks"),
    "no episodes": (remove(EPISODES), "meta/episodes", None, "0 rows"),
    "broken episodes": (damage(EPISODES, 0.9), EPISODES, None, "cannot be read"),
    "episode column": (drop_column(EPISODES, "length"), EPISODES, None, "cannot be read"),
    "episode index": (edit_rows(EPISODES, put(1, "episode_index", 5)), EPISODES, 1, "episode_index"),
    "episode length": (edit_rows(EPISODES, put(1, "length", 8)), EPISODES, 1, "length"),
    "episode gap": (edit_rows(EPISODES, put(2, "dataset_from_index", 17)), EPISODES, 2, "dataset_from_index"),
    "episode null": (edit_rows(EPISODES, put(2, "dataset_to_index", None)), EPISODES, 2, "missing"),
    "episode file null": (edit_rows(EPISODES, put(2, "data/chunk_index", None)), EPISODES, 2, "missing"),
    "episode file": (edit_rows(EPISODES, put(2, "data/file_index", 3)), EPISODES, 2, "file-003.parquet is missing"),
    "episode own file": (edit_rows(EPISODES, put(0, "meta/episodes/file_index", 3)), EPISODES, 0, "says it is in"),
    "video start": (
        edit_rows(EPISODES, put(1, "videos/observation.images.front/from_timestamp", 0.4)),
        EPISODES,
        1,
        "starts",
    ),
    "video end": (
        edit_rows(EPISODES, put(1, "videos/observation.images.front/to_timestamp", 0.9)),
        EPISODES,
        1,
        "lasts",
    ),
    "episode stats": (
        edit_rows(EPISODES, put(1, "stats/action/mean", float("nan"), at=2)),
        EPISODES,
        1,
        "stats/action/mean",
    ),
    "episode stats gone": (drop_column(EPISODES, "stats/action/mean"), EPISODES, None, "missing"),
    "no data": (remove(DATA), EPISODES, 0, "missing"),
    "broken data": (damage(DATA, 0.9), DATA, None, "cannot be read"),
    "data column": (drop_column(DATA, "action"), DATA, None, "missing ['action']"),
    "stray data": (
        copy(DATA, "data/chunk-000/file-001.parquet"),
        "data/chunk-000/file-001.parquet",
        None,
        "no episode",
    ),
    "hidden data": (
        copy(DATA, "data/chunk-000/.file-000-x.parquet"),
        "data/chunk-000/.file-000-x.parquet",
        None,
        "no episode",
    ),
    "row lost": (edit_rows(DATA, lambda rows: rows.pop(8)), DATA, None, "20 rows"),
    "row doubled": (edit_rows(DATA, lambda rows: rows.insert(8, rows[8])), DATA, None, "22 rows"),
    "index": (edit_rows(DATA, put(9, "index", 3)), DATA, 1, "index"),
    "frame index": (edit_rows(DATA, put(9, "frame_index", 0)), DATA, 1, "frame_index"),
    "episode of row": (edit_rows(DATA, put(9, "episode_index", 2)), DATA, 1, "episode_index"),
    "timestamp": (edit_rows(DATA, put(9, "timestamp", 0.1002)), DATA, 1, "timestamp"),
    "task index": (edit_rows(DATA, put(9, "task_index", 0)), DATA, 1, "task_index"),
    "task index range": (edit_rows(DATA, put(9, "task_index", 7)), DATA, 1, "task_index"),
    "nan": (edit_rows(DATA, put(9, "observation.state", float("nan"), at=1)), DATA, 1, "not finite"),
    "inf": (edit_rows(DATA, put(18, "action.joint_target", float("inf"), at=1)), DATA, 2, "not finite"),
    "null": (edit_rows(DATA, put(18, "index", None)), DATA, None, "missing values"),
    "quaternion": (edit_rows(DATA, put(3, "observation.tool_pose", 0.9, at=4)), DATA, 0, "unit length"),
    "quaternion sign": (edit_rows(DATA, flip_action), DATA, 1, "sign jumps"),
    "opening": (edit_rows(DATA, put(3, "action", 0.3, at=7)), DATA, 0, "gripper opening"),
    "no stats": (remove(STATS), STATS, None, "cannot be read"),
    "stats feature": (
        edit_json(STATS, lambda v: v.pop("action")),
        STATS,
        None,
        "action is missing",
    ),
    "stats name": (
        edit_json(STATS, lambda v: v["action"].pop("q01")),
        STATS,
        None,
        "action/q01",
    ),
    "stats nan": (
        edit_json(STATS, lambda v: v["action"].update(std=[float("nan")] * 8)),
        STATS,
        None,
        "action/std",
    ),
    "stats shape": (
        edit_json(STATS, lambda v: v["observation.images.front"].update(mean=[0.5] * 3)),
        STATS,
        None,
        "shape",
    ),
    "stats mean": (
        edit_json(STATS, lambda v: v["action"]["mean"].__setitem__(0, v["action"]["max"][0])),
        STATS,
        None,
        "action/mean",
    ),
    "stats min": (
        edit_json(STATS, lambda v: v["action"]["min"].__setitem__(0, -9.0)),
        STATS,
        None,
        "action/min",
    ),
    "stats count": (
        edit_json(STATS, lambda v: v["action"].update(count=[3])),
        STATS,
        None,
        "count",
    ),
    "stats order": (
        edit_json(STATS, lambda v: v["action"]["q10"].__setitem__(0, 9.0)),
        STATS,
        None,
        "order",
    ),
    "image stats": (
        edit_json(STATS, lambda v: v["observation.images.front"].update(max=[[[255.0]]] * 3)),
        STATS,
        None,
        "0..1",
    ),
    "no video": (remove(VIDEO), EPISODES, 0, "missing"),
    "broken video": (damage(VIDEO, 0.5), VIDEO, None, "cannot be read"),
    "damaged frames": (zero_middle, VIDEO, 0, "decoded"),
    "video short": (reencode(rows=20), VIDEO, None, "20 frames"),
    "video long": (reencode(rows=22), VIDEO, None, "22 frames"),
    "video rate": (reencode(fps=19), VIDEO, None, "off its time"),
    "video size": (reencode(size=32), VIDEO, 0, "info.json says"),
    "one bit of a video": (flip_bit, VIDEO, None, "SHA-256"),
    "one bit of the data": (flip_data_bit, DATA, None, "CRC"),
    "video key frames": (reencode(), VIDEO, 1, "key frame"),
    "stray video": (
        copy(VIDEO, VIDEO.replace("000.mp4", "001.mp4")),
        VIDEO.replace("000.mp4", "001.mp4"),
        None,
        "no episode",
    ),
    "no world": (remove(WORLD), "armwright/world", 0, "missing"),
    "broken world": (damage(WORLD, 0.9), WORLD, None, "cannot be read"),
    "world row": (edit_rows(WORLD, lambda rows: rows.pop(8)), WORLD, 1, "not those"),
    "world nan": (edit_rows(WORLD, put(9, "qvel", float("nan"), at=0)), WORLD, 1, "qvel"),
    "world width": (edit_rows(WORLD, widen), WORLD, 1, "width"),
    "world episode": (edit_rows(WORLD, put(20, "episode_index", 8)), WORLD, 8, "no such"),
    "manifest": (
        edit_json(MANIFEST, lambda v: v.update(frames=3)),
        MANIFEST,
        None,
        "differs",
    ),
    "schema": (
        edit_json(SCHEMA_FILE, lambda v: v.update(robot="ur5e")),
        SCHEMA_FILE,
        None,
        "differs",
    ),
    "no records": (remove(RECORDS), "armwright/episodes", None, "0 records"),
    "seed twice": (edit_rows(RECORDS, put(2, "seed", 1)), RECORDS, 2, "seed 1"),
    "instruction": (edit_rows(RECORDS, put(0, "instruction", "go")), RECORDS, 0, "instruction"),
    "record length": (edit_rows(RECORDS, put(0, "length", 3)), RECORDS, 0, "length"),
    "record json": (edit_rows(RECORDS, put(1, "scene", "{")), RECORDS, 1, "scene"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_corruption_is_named(whole: Path, tmp_path: Path, name: str) -> None:
    act, file, episode, words = CASES[name]
    root = tmp_path / "broken"
    shutil.copytree(whole, root)
    act(root)
    report = verify_dataset(root)
    assert not report.ok
    found = [v for v in report.violations if v.file == file and v.episode == episode and words in v.detail]
    assert found, "\n".join(map(str, report.violations))


@pytest.mark.parametrize("seed", range(30))
def test_a_random_change_of_one_number_is_found(whole: Path, tmp_path: Path, seed: int) -> None:
    """Change one bookkeeping number somewhere; there is none that readers could do without."""
    rng = np.random.default_rng(seed)
    root = tmp_path / "broken"
    shutil.copytree(whole, root)
    name = [DATA, EPISODES][seed % 2]
    table = pq.read_table(root / name, partitioning=None)
    numbers = [
        field.name
        for field in table.schema
        if (pa.types.is_integer(field.type) or pa.types.is_floating(field.type)) and "stats" not in field.name
    ]
    column, row = rng.choice(numbers), int(rng.integers(table.num_rows))
    shift = int(rng.choice([-2, -1, 1, 2]))
    edit_rows(name, lambda rows: rows[row].update({column: rows[row][column] + shift}))(root)
    assert not verify_dataset(root, decode=False).ok, f"{name}: {column} of row {row} by {shift}"


def test_decoding_can_be_left_out(whole: Path) -> None:
    report = verify_dataset(whole, decode=False)
    assert report.ok and report.episodes == 3 and report.frames == 21 and "videos" in report.checked


def test_a_folder_that_is_not_there_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="not a folder"):
        verify_dataset(tmp_path / "nothing")


def test_a_folder_without_anything_of_a_dataset_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"holds no dataset: there is no meta/info\.json"):
        verify_dataset(tmp_path)
    (tmp_path / "meta").mkdir()
    assert [v.file for v in verify_dataset(tmp_path).violations] == [INFO]
