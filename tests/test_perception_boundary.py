"""The built-in segmenter as it ships: its network, on scenes drawn by ray casting that it was never trained on."""

from __future__ import annotations

import re
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import CacheError, UsageError
from armwright.core.pose import Pose
from armwright.perception.boundary import BoundaryOptions, BoundarySegmenter
from perception_scenes import Thing, looking, render

ROOT = Path(__file__).parents[1]
TABLE = Thing((0.0, 0.0, -0.02), (0.6, 0.6, 0.02), (150, 120, 90))
FLUSH = (
    Thing((0.0, 0.06, 0.08), (0.03, 0.03, 0.08), (200, 60, 50)),
    Thing((0.0, 0.0, 0.07), (0.03, 0.03, 0.07), (60, 90, 200)),
    Thing((0.0, -0.06, 0.09), (0.03, 0.03, 0.09), (220, 200, 70)),
)


@pytest.fixture(scope="module")
def finder() -> BoundarySegmenter:
    return BoundarySegmenter(BoundaryOptions(most_windows=1))


def seen(width: int = 640, height: int = 480) -> tuple[RgbdFrame, np.ndarray]:
    camera = looking((-0.5, 0.05, 0.3), (0.0, 0.0, 0.06), width=width, height=height, focal=0.9 * width)
    return render([TABLE, *FLUSH], camera, noise=0.0008, rng=np.random.default_rng(0))


def test_boxes_that_stand_flush_are_told_apart(finder):
    frame, owner = seen()
    found = finder.segment(frame)
    for k in (1, 2, 3):
        overlap = [(s.mask & (owner == k)).sum() / (s.mask | (owner == k)).sum() for s in found]
        assert max(overlap) > 0.75, k
    assert len({int(np.argmax([(s.mask & (owner == k)).sum() for s in found])) for k in (1, 2, 3)}) == 3


@pytest.mark.parametrize("size", [(411, 317), (1280, 720)])
def test_masks_have_the_frame_s_size_and_share_no_pixel(finder, size):
    frame, owner = seen(*size)
    found = finder.segment(frame)
    assert found and all(s.mask.shape == owner.shape for s in found)
    assert sum(s.mask.astype(int) for s in found).max() == 1


def test_a_frame_without_depth_still_gives_masks_of_its_size(finder):
    frame, _ = seen()
    blind = RgbdFrame(frame.rgb, np.full_like(frame.depth_m, np.nan), frame.camera, 0.0)
    assert all(s.mask.shape == frame.depth_m.shape for s in finder.segment(blind))


def test_a_bare_table_holds_nothing_large(finder):
    camera = looking((-0.5, 0.05, 0.4), (0.0, 0.0, 0.0), width=640, height=480, focal=580.0)
    frame, _ = render([TABLE], camera, noise=0.0008, rng=np.random.default_rng(0))
    assert sum(int(s.mask.sum()) for s in finder.segment(frame)) < 0.02 * 640 * 480


def test_misuse(finder, tmp_path):
    camera = CameraModel(64, 64, 60.0, 60.0, 32.0, 32.0, Pose())
    with pytest.raises(UsageError, match="depth image"):
        finder.segment(RgbdFrame(np.zeros((64, 64, 3), np.uint8), np.zeros((32, 32), np.float32), camera, 0.0))
    with pytest.raises(CacheError, match="boundary network"):
        BoundarySegmenter(path=tmp_path / "absent.onnx")


def test_the_network_is_small():
    assert Path(str(files("armwright.perception") / "data" / "boundary.onnx")).stat().st_size < 5e6


def test_what_is_held_out_is_as_it_was_frozen(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "scripts")])
    import segment_scenes

    assert segment_scenes.held_out_hash() == segment_scenes.FROZEN
    assert not set(segment_scenes.TRAIN_FAMILIES) & set(segment_scenes.HELD_OUT_FAMILIES)
    assert not set(segment_scenes.TRAIN_TEXTURES) & set(segment_scenes.HELD_OUT_TEXTURES)


def test_the_example_of_the_page_runs():
    text = (ROOT / "docs/segmentation.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    exec(compile(example, "docs/segmentation.md", "exec"), {})
