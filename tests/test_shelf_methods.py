"""The methods of the shelf bench: what they share, and what the baselines are not told."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import UnknownNameError
from armwright.core.pose import Pose
from armwright.perception.descriptions import Description
from armwright.perception.segmenters import Segment
from armwright.shelf.methods import (
    METHODS,
    PLACED,
    NounsOnly,
    SharedDescriber,
    SharedSegmenter,
    head_noun,
    label_as_content,
    methods_of,
    widest,
)
from armwright.shelf.records import Described
from perception_scenes import looking
from shelf_scenes import SHELF

MASK = np.zeros((4, 6), bool)
MASK[1:3, 2:4] = True


def _frame(camera: CameraModel | None = None) -> RgbdFrame:
    camera = camera or CameraModel(6, 4, 5.0, 5.0, 3.0, 2.0, Pose(np.zeros(3)))
    shape = camera.height, camera.width
    return RgbdFrame(np.zeros((*shape, 3), np.uint8), np.ones(shape, np.float32), camera, 0.0)


class Counting:
    """A segmenter and describer that counts how often it is asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0

    @property
    def note(self) -> str:
        return f"asked {self.asked}"

    def segment(self, frame, *, labels=()):
        self.asked += 1
        return [Segment(MASK, 0.9)]

    def describe(self, frame, masks, *, up=(0.0, 0.0, 1.0)):
        self.asked += 1
        return [
            Description("creamy tomato soup", "soup", "can", True, "upright", (0.07, 0.07, 0.1), 0.8) for _ in masks
        ]


@pytest.mark.parametrize(
    ("label", "noun"),
    [
        ("creamy tomato soup", "soup"),
        ("cream of mushroom", "cream"),
        ("macaroni and cheese", "macaroni"),
        ("soap", "soap"),
        ("tomato soup 500", "soup"),
        ("of", "of"),
        ("  ", ""),
        ("", ""),
    ],
)
def test_the_head_noun_is_what_english_puts_last(label, noun):
    assert head_noun(label) == noun


def test_shared_perception_is_asked_once_per_frame_and_masks():
    inner, frame, other = Counting(), _frame(), _frame()
    find = SharedSegmenter(inner)
    assert find.segment(frame) is find.segment(frame)
    assert inner.asked == 1
    find.segment(other)
    assert inner.asked == 2
    inner = Counting()
    say = SharedDescriber(inner)
    first = say.describe(frame, [MASK])
    assert say.describe(frame, [MASK.copy()]) == first
    assert say.note == "asked 1" and inner.asked == 1
    say.describe(frame, [~MASK])
    say.describe(frame, [MASK, ~MASK])
    say.describe(other, [MASK])
    assert inner.asked == 4 and say.cpu_s >= 0


def test_nouns_only_keeps_no_attribute():
    (said,) = NounsOnly(Counting()).describe(_frame(), [MASK])
    assert said == Description("soup", confidence=0.8)


def test_a_label_stands_for_the_content_only_where_that_is_unknown():
    told = label_as_content(Described(label="soup", confidences={"label": 0.4}))
    assert told.content == "soup" and told.confidence("content") == 0.4
    known = Described(label="soup", content="tomatoes")
    assert label_as_content(known) is known
    assert label_as_content(Described()).content is None


def test_methods_by_name_in_the_order_of_the_columns():
    assert [m.name for m in methods_of(("bl1", "ours", "bl1"))] == ["ours", "bl1"]
    assert set(PLACED) <= set(METHODS)
    with pytest.raises(UnknownNameError, match="ours") as error:
        methods_of(("our",))
    assert error.value.exit_code == 2


def test_the_widest_view_faces_the_shelf_from_farther_away():
    pose = Pose(np.array([0.7, 0.0, 0.0]))
    middle = tuple(pose.transform((0.0, 0.0, 0.34)))
    cameras = [
        looking(tuple(pose.transform((-0.35, 0.3, 0.34))), tuple(pose.transform((0.0, 0.3, 0.34)))),
        looking(tuple(pose.transform((-0.9, 0.0, 0.45))), middle),
        looking(tuple(pose.transform((-0.9, 0.0, 0.45))), tuple(pose.transform((-2.0, 0.0, 0.45)))),
    ]
    assert widest([_frame(camera) for camera in cameras], SHELF, pose) == 1
