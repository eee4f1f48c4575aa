"""The decoding of the boundary network's answers, on answers made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.perception._segment_decode import OFFSETS, decode
from armwright.perception._segment_zoom import Window, adopt, small_windows

SURE = 6.0


def answers(labels: np.ndarray, rng: np.random.Generator, *, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return what a network would say that knows the labels (H, W)."""

    def pair(image: np.ndarray, dy: int, dx: int) -> np.ndarray:
        out = np.full(image.shape, -SURE, np.float32)
        height, width = image.shape
        here = image[: height - dy, max(-dx, 0) : width - max(dx, 0)]
        there = image[dy:, max(dx, 0) : width + min(dx, 0)]
        out[: height - dy, max(-dx, 0) : width - max(dx, 0)][(here == there) & (here > 0)] = SURE
        return out

    fine = np.stack([np.where(labels > 0, SURE, -SURE), pair(labels, 0, 1), pair(labels, 1, 0)])
    coarse = np.stack([pair(labels[::2, ::2], dy, dx) for dy, dx in OFFSETS])
    return tuple((x + noise * rng.standard_normal(x.shape)).astype(np.float32) for x in (fine, coarse))


def two_boxes() -> np.ndarray:
    labels = np.zeros((96, 128), np.int32)
    labels[20:80, 20:61] = 1
    labels[20:80, 61:110] = 2
    return labels


def decoded(fine, coarse, **changes):
    return decode(fine, coarse, **({"smallest_px": 50, "weakest": -2.0, "mutual": 0.0} | changes))


def same_partition(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean overlap of true labels with the best found one."""
    out = []
    for k in np.unique(truth[truth > 0]):
        both = np.bincount(found[truth == k], minlength=found.max() + 1)[1:]
        size = np.bincount(found.ravel(), minlength=found.max() + 1)[1:]
        out.append((both / (size + (truth == k).sum() - both)).max(initial=0))
    return float(np.mean(out))


@pytest.mark.parametrize("noise", [0.0, 2.5])
def test_boxes_that_touch_stay_two_to_the_pixel(noise):
    labels = two_boxes()
    names, confidence = decoded(*answers(labels, np.random.default_rng(0), noise=noise))
    assert names.max() == 2
    assert same_partition(names, labels) > (0.999 if noise == 0 else 0.96)
    assert confidence.shape == (3,) and (confidence[1:] > 0.8).all()


def test_a_leak_does_not_merge_two_boxes():
    fine, coarse = answers(two_boxes(), np.random.default_rng(0))
    coarse[0, 20:23, 28:33] = SURE - 1
    assert decoded(fine, coarse)[0].max() == 2
    # Without the distant pairs that speak against it, it would.
    assert decoded(fine, coarse, mutual=-1e3)[0].max() == 1


def test_crumbs_are_dropped_and_nothing_is_nothing():
    labels = np.zeros((96, 128), np.int32)
    names, confidence = decoded(*answers(labels, np.random.default_rng(0)))
    assert names.max() == 0 and confidence.shape == (1,)
    labels[10:14, 10:14] = 1
    assert decoded(*answers(labels, np.random.default_rng(0)))[0].max() == 0


def test_windows_gather_small_objects_and_leave_large_ones():
    labels = np.zeros((480, 640), np.int32)
    labels[100:300, 100:300] = 1
    labels[320:340, 320:350], labels[330:350, 370:390] = 2, 3
    labels[20:40, 600:630] = 4
    windows = small_windows(labels, 2500, 5)
    assert len(windows) == 2
    assert windows[0].top <= 320 and windows[0].left <= 320
    assert windows[0].top + windows[0].height >= 350 and windows[0].left + windows[0].width >= 390
    assert small_windows(labels, 2500, 0) == []


def test_a_closer_look_splits_a_small_object_and_keeps_its_large_neighbour():
    labels = np.zeros((200, 300), np.int32)
    labels[50:90, 100:140] = 1
    labels[90:190, 60:200] = 2
    window = Window(20, 40, 160, 224)
    closer = np.zeros((160, 224), np.int32)
    closer[30:70, 60:80], closer[30:75, 80:100] = 1, 2
    closer[75:, 20:160] = 3
    names, confidence = adopt(
        labels, np.array([0, 0.4, 0.9], np.float32), window, closer, np.array([0, 0.7, 0.8, 0.9], np.float32), 2500
    )
    assert names.max() == 3
    assert {round(float(c), 2) for c in confidence[1:]} == {0.9, 0.7, 0.8}
    large = names[150, 100]
    assert (names == large).sum() == (labels == 2).sum()
    assert names[60, 110] != names[60, 130]


def test_a_closer_look_that_sees_nothing_keeps_what_was_there():
    labels = np.zeros((200, 300), np.int32)
    labels[50:90, 100:140] = 1
    names, confidence = adopt(
        labels,
        np.array([0, 0.4], np.float32),
        Window(20, 40, 160, 224),
        np.zeros((160, 224), np.int32),
        np.zeros(1, np.float32),
        2500,
    )
    assert (names == labels).all() and confidence[1] == np.float32(0.4)
