"""Segmenters by name, what they share, and the two that need no network of ours."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pose import Pose
from armwright.perception import segmenters as plug
from armwright.perception.planes import PlaneSegmenter
from armwright.perception.sam3 import NO_LABELS, Sam3Segmenter
from armwright.perception.segmenters import Segment, Segmenter, segmenter, segmenter_names, segments_of
from perception_scenes import Thing, looking, render


def test_a_segment_refuses_what_is_no_mask():
    with pytest.raises(UsageError, match="bool"):
        Segment(np.zeros((4, 4), np.uint8), 0.5)
    with pytest.raises(UsageError, match="0 to 1"):
        Segment(np.zeros((4, 4), bool), 50.0)


def test_segments_of_a_label_image_cover_it_once():
    labels = np.zeros((6, 8), np.int32)
    labels[1:3, 1:3], labels[4:, 5:] = 1, 3
    found = segments_of(labels, [0, 0.25, 0.5, 1.5])
    assert [(int(s.mask.sum()), s.confidence) for s in found] == [(4, 0.25), (6, 1.0)]


def test_names_and_the_nearest_one():
    assert {"boundary", "planes", "sam3"} <= set(segmenter_names())
    with pytest.raises(UnknownNameError, match="planes"):
        segmenter("plane")


def test_a_plugin_must_be_a_segmenter(monkeypatch):
    monkeypatch.setattr(plug, "load_plugin", lambda group, name: object if name == "mine" else None)
    with pytest.raises(UsageError, match="segment"):
        segmenter("mine")


def test_planes_finds_what_stands_apart_on_a_table():
    things = [
        Thing((0.0, 0.0, -0.02), (0.6, 0.6, 0.02)),
        Thing((0.0, 0.12, 0.06), (0.03, 0.04, 0.06)),
        Thing((0.02, -0.12, 0.05), (0.04, 0.03, 0.05)),
        Thing((-0.12, 0.0, 0.04), (0.04, 0.04, 0.04), ball=True),
    ]
    camera = looking((-0.5, 0.0, 0.5), (0.0, 0.0, 0.03), width=320, height=240, focal=300.0)
    frame, owner = render(things, camera)
    found = PlaneSegmenter().segment(frame)
    for k in (1, 2, 3):
        truth = owner == k
        best = max((s.mask & truth).sum() / (s.mask | truth).sum() for s in found)
        assert best > 0.75, k
    assert len(found) == 3


def test_planes_of_nothing_is_nothing():
    camera = looking((-0.5, 0.0, 0.5), (0.0, 0.0, 0.0), width=64, height=48, focal=60.0)
    frame = RgbdFrame(np.zeros((48, 64, 3), np.uint8), np.zeros((48, 64), np.float32), camera, 0.0)
    assert PlaneSegmenter().segment(frame) == []


class _Tensor:
    """As much of a torch tensor as an answer is asked for."""

    def __init__(self, value):
        self.value = np.asarray(value)

    def detach(self):
        return self

    def float(self):
        return _Tensor(self.value.astype(np.float32))

    def cpu(self):
        return self

    def numpy(self):
        return self.value


class _Processor:
    """The published processor's two calls, with masks for the words it knows."""

    def __init__(self, masks):
        self.masks, self.asked = masks, []

    def set_image(self, image, state=None):
        return {"size": image.size}

    def set_text_prompt(self, prompt, state):
        self.asked.append(prompt)
        masks, scores = self.masks.get(prompt, (np.zeros((0, 1, 30, 40), bool), np.zeros(0)))
        return state | {"masks": _Tensor(masks), "boxes": _Tensor(np.zeros((len(masks), 4))), "scores": _Tensor(scores)}


def _blank() -> RgbdFrame:
    camera = CameraModel(40, 30, 40.0, 40.0, 20.0, 15.0, Pose())
    return RgbdFrame(np.zeros((30, 40, 3), np.uint8), np.zeros((30, 40), np.float32), camera, 0.0)


def _mask(rows: slice, columns: slice) -> np.ndarray:
    out = np.zeros((1, 30, 40), bool)
    out[:, rows, columns] = True
    return out


def test_sam3_is_asked_for_each_label_and_pixels_go_to_the_surest():
    soup = np.stack([_mask(slice(0, 10), slice(0, 10)), _mask(slice(20, 30), slice(0, 10))])
    can = np.stack([_mask(slice(0, 10), slice(0, 11)), _mask(slice(0, 10), slice(8, 30))])
    processor = _Processor({"soup": (soup, np.array([0.9, 0.3])), "can": (can, np.array([0.8, 0.7]))})
    finder = Sam3Segmenter(processor)
    assert isinstance(finder, Segmenter)
    found = finder.segment(_blank(), labels=("soup", "can", "soup"))
    assert processor.asked == ["soup", "can"]
    assert [round(s.confidence, 3) for s in found] == [0.9, 0.7]
    assert not (found[0].mask & found[1].mask).any()
    assert found[1].mask.sum() == 200


def test_sam3_without_labels_or_answers():
    processor = _Processor({})
    assert Sam3Segmenter(processor).segment(_blank()) == []
    assert tuple(processor.asked) == NO_LABELS


def test_sam3_says_what_to_install():
    with pytest.raises(UsageError, match="sam3"):
        Sam3Segmenter()
