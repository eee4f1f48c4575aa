from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.core.errors import OutputError, UsageError
from armwright.recording.video import (
    VideoEncoder,
    cut_video,
    join_videos,
    packet_times,
    read_frames,
    side_by_side,
    write_video,
)


def grey(values: list[int], size: int = 32) -> list[np.ndarray]:
    return [np.full((size, size, 3), value, np.uint8) for value in values]


def levels(path: Path, **where: int) -> list[int]:
    return [round(float(frame.mean())) for frame in read_frames(path, fps=20, **where)]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 13), min_size=1, max_size=5), st.integers(0, 255))
def test_joining_and_cutting_move_whole_frames(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], first: int
) -> None:
    folder = tmp_path_factory.mktemp("video")
    parts, expected = [], []
    for k, length in enumerate(lengths):
        values = [(first + 37 * k + 5 * i) % 220 + 16 for i in range(length)]
        expected.append(values)
        parts.append(folder / f"{k}.mp4")
        assert write_video(parts[-1], grey(values)) == length
    assert join_videos(parts, folder / "all.mp4", fps=20) == lengths
    times = [time for time, _ in packet_times(folder / "all.mp4")]
    assert np.allclose(times, np.arange(sum(lengths)) / 20, atol=1e-9)
    flat = [value for values in expected for value in values]
    assert np.abs(np.array(levels(folder / "all.mp4")) - flat).max() <= 2
    start = 0
    for values in expected:
        cut_video(folder / "all.mp4", folder / "cut.mp4", start=start, count=len(values), fps=20)
        assert np.abs(np.array(levels(folder / "cut.mp4")) - values).max() <= 2
        last = start + len(values) - 1
        assert abs(levels(folder / "all.mp4", start=last, count=1)[0] - values[-1]) <= 2
        start += len(values)


def test_bad_frames_are_refused_and_leave_no_file(tmp_path: Path) -> None:
    for frames in ([], [np.zeros((31, 32, 3), np.uint8)], [np.zeros((32, 32), np.uint8)], grey([1]) + grey([1], 64)):
        with pytest.raises(UsageError):
            write_video(tmp_path / "x.mp4", frames)
    assert list(tmp_path.iterdir()) == []


def test_cutting_inside_a_group_or_past_the_end_is_an_error(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mp4", grey([10] * 12))
    with pytest.raises(OutputError, match="key frame"):
        cut_video(tmp_path / "a.mp4", tmp_path / "b.mp4", start=3, count=2, fps=20)
    with pytest.raises(OutputError, match="ended"):
        cut_video(tmp_path / "a.mp4", tmp_path / "b.mp4", start=5, count=20, fps=20)


def test_videos_of_other_sizes_are_not_joined(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mp4", grey([10] * 3))
    write_video(tmp_path / "b.mp4", grey([10] * 3, 64))
    with pytest.raises(OutputError, match="encoded differently"):
        join_videos([tmp_path / "a.mp4", tmp_path / "b.mp4"], tmp_path / "c.mp4", fps=20)
    assert not (tmp_path / "c.mp4").exists()


def test_missing_and_damaged_files_are_clear_errors(tmp_path: Path) -> None:
    (tmp_path / "junk.mp4").write_bytes(b"junk" * 99)
    for name in ("none.mp4", "junk.mp4"):
        with pytest.raises(OutputError, match="cannot open"):
            packet_times(tmp_path / name)


def test_pictures_stand_side_by_side_at_one_height() -> None:
    frames = list(side_by_side(grey([10, 20], 64), grey([30, 40], 32), gap_px=4))
    assert [frame.shape for frame in frames] == [(64, 132, 3)] * 2
    assert frames[1][0, 0, 0] == 20 and frames[1][0, -1, 0] == 40 and frames[1][0, 65, 0] == 255
    with pytest.raises(ValueError):
        list(side_by_side(grey([1]), grey([1, 2])))


def test_the_encoder_holds_one_frame(tmp_path: Path) -> None:
    """A million frames would come from the same generator: nothing of it is kept."""
    import weakref

    alive: list[weakref.ref[np.ndarray]] = []

    def frames():
        for k in range(30):
            image = np.full((32, 32, 3), k, np.uint8)
            alive.append(weakref.ref(image))
            yield image
            del image

    with VideoEncoder(tmp_path / "a.mp4", fps=20) as encoder:
        for image in frames():
            encoder.add(image)
            del image
            assert sum(ref() is not None for ref in alive) <= 2
