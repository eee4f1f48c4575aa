"""What other readers of the format do with our files; each part runs where that reader is installed."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq
import pytest

from armwright.recording.layout import MAX_VIDEO_S
from armwright.recording.lerobot import DatasetWriter
from test_recording_episode import SCHEMA, make_episode, marked_frame

LENGTHS = (12, 9, 17)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set") / "data set"
    writer = DatasetWriter(folder, SCHEMA)
    for seed, rows in enumerate(LENGTHS):
        writer.add_episode(make_episode(seed, rows, instruction="go" if seed else "stop"))
    writer.finalize()
    return folder


def test_frames_are_found_by_time_in_float32(root: Path) -> None:
    """As readers do: row -> float32 times -> seek to a key frame -> nearest frame within 0.1 ms."""
    info = json.loads((root / "meta/info.json").read_text())
    data = pq.read_table(root / "data/chunk-000/file-000.parquet", partitioning=None).to_pylist()
    episodes = pq.read_table(root / "meta/episodes/chunk-000/file-000.parquet", partitioning=None).to_pylist()
    for row in data:
        episode = episodes[row["episode_index"]]
        for camera, name in enumerate(("front", "wrist")):
            key = f"observation.images.{name}"
            path = info["video_path"].format(
                video_key=key,
                chunk_index=episode[f"videos/{key}/chunk_index"],
                file_index=episode[f"videos/{key}/file_index"],
            )
            query = np.float32(episode[f"videos/{key}/from_timestamp"]) + np.float32(row["timestamp"])
            with av.open(str(root / path)) as container:
                stream = container.streams.video[0]
                assert float(stream.average_rate) == info["fps"] and stream.start_time == 0
                container.seek(int(query / stream.time_base), backward=True, any_frame=False, stream=stream)
                best = None
                for frame in container.decode(stream):
                    time = np.float32(float(frame.pts * stream.time_base))
                    if best is None or abs(time - query) < abs(best[0] - query):
                        best = (time, frame.to_ndarray(format="rgb24"))
                    if time >= query:
                        break
            assert best is not None and abs(best[0] - query) < 1e-4
            truth = marked_frame(row["episode_index"], row["frame_index"], camera)
            assert np.abs(best[1].astype(int) - truth).mean() < 4


def test_the_longest_video_keeps_float32_within_the_tolerance() -> None:
    def worst(duration_s: float) -> float:
        frame = np.arange(int(duration_s * 20))
        start = frame // 137 * 137
        query = (start / 20).astype(np.float32) + ((frame - start) / 20).astype(np.float32)
        return float(np.abs(query - (frame / 20).astype(np.float32)).max())

    assert worst(MAX_VIDEO_S) < 1e-4
    assert worst(3 * MAX_VIDEO_S) > 1e-4


def test_hugging_face_datasets_loads_it(root: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    pandas = pytest.importorskip("pandas")
    features = json.loads((root / "meta/info.json").read_text())["features"]
    kinds = {
        key: datasets.Value(spec["dtype"])
        if spec["shape"] == [1]
        else datasets.Sequence(length=spec["shape"][0], feature=datasets.Value(spec["dtype"]))
        for key, spec in features.items()
        if spec["dtype"] != "video"
    }
    files = [str(path) for path in sorted((root / "data").glob("*/*.parquet"))]
    table = datasets.Dataset.from_parquet(files, features=datasets.Features(kinds), cache_dir=str(tmp_path))
    assert len(table) == sum(LENGTHS) and len(table[20]["action"]) == 8 and table.unique("episode_index") == [0, 1, 2]
    tasks = pandas.read_parquet(root / "meta/tasks.parquet")
    assert [tasks.iloc[k].name for k in range(2)] == ["stop", "go"] and tasks.loc["go"].task_index == 1


def test_lerobot_opens_it(root: Path) -> None:
    module = pytest.importorskip("lerobot.datasets.lerobot_dataset")
    dataset = module.LeRobotDataset("armwright/test", root=root, video_backend="pyav")
    assert dataset.num_episodes == 3 and len(dataset) == sum(LENGTHS)
    item = dataset[15]
    assert item["task"] == "go" and item["action"].shape == (8,)
    image = (255 * item["observation.images.front"].permute(1, 2, 0).numpy()).round().astype(int)
    assert np.abs(image - marked_frame(1, 3, 0)).mean() < 4
