"""The simulated segmenter: true masks, and faults as often as stated."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pose import Pose
from armwright.perception.segmenters import Segmenter
from armwright.sim.segmenter import SegmentFaults, SimulatedSegmenter, degraded_segments
from armwright.sim.world import World
from sim_scenes import at, box_model, franka, scene_of

NONE = SegmentFaults(0.0, 0.0, 0.0, 0.0, 1)


def grid_of(objects: int) -> np.ndarray:
    """Return squares of 20 pixels in touching pairs."""
    labels = np.zeros((60, 30 * objects), np.int32)
    for k in range(objects):
        left = 60 * (k // 2) + (10 if k % 2 == 0 else 30)
        labels[20:40, left : left + 20] = k + 1
    return labels


def test_no_faults_is_the_truth():
    labels = grid_of(6)
    found = degraded_segments(labels, NONE, np.random.default_rng(0))
    assert len(found) == 6
    for k, segment in enumerate(found, 1):
        assert (segment.mask == (labels == k)).all()


@pytest.mark.parametrize("fault", ["missed", "split", "merged"])
def test_faults_are_as_frequent_as_stated(fault):
    labels = grid_of(40)
    counts = [
        len(
            degraded_segments(
                labels,
                SegmentFaults(0.0, **({"missed": 0.0, "split": 0.0, "merged": 0.0} | {fault: 0.2}), smallest_px=1),
                np.random.default_rng(k),
            )
        )
        for k in range(12)
    ]
    rate = {"missed": 40 - np.mean(counts), "split": np.mean(counts) - 40, "merged": 40 - np.mean(counts)}[fault] / 40
    # Of two that touch either may draw the merger.
    assert rate == pytest.approx({"merged": 0.18}.get(fault, 0.2), abs=0.05)


def test_outlines_wander_but_objects_stay():
    labels = grid_of(6)
    found = degraded_segments(labels, SegmentFaults(1.5, 0.0, 0.0, 0.0, 1), np.random.default_rng(0))
    assert len(found) == 6
    overlap = [(s.mask & (labels == k)).sum() / (s.mask | (labels == k)).sum() for k, s in enumerate(found, 1)]
    assert 0.7 < np.mean(overlap) < 0.97


def test_the_masks_of_a_world_fit_its_depth_and_repeat():
    scene = scene_of(near=at(0.45, 0.0), far=at(0.6, 0.0), wall=at(0.5, 0.3))
    size = (0.06, 0.08, 0.1)
    models = {"near": box_model(size), "far": box_model(size), "wall": box_model(size, static=True)}
    world = World(scene, objects=models, robot=franka())
    turn = np.array([[0.0, -0.6, 0.8], [-1.0, 0.0, 0.0], [0.0, -0.8, -0.6]])
    camera = CameraModel(320, 240, 300.0, 300.0, 160.0, 120.0, Pose.from_rotation(turn, np.array([-0.05, 0.0, 0.5])))
    finder = SimulatedSegmenter(world, faults=NONE)
    assert isinstance(finder, Segmenter)
    depth = np.zeros((240, 320), np.float32)
    frame = RgbdFrame(np.zeros((240, 320, 3), np.uint8), depth, camera, 0.0)
    found = finder.segment(frame)
    assert len(found) == 2
    pixels, _ = camera.project(np.array([[0.42, 0.0, 0.07]]))
    assert found[0].mask[int(pixels[0, 1]), int(pixels[0, 0])]
    in_front = np.where(found[0].mask, 0.1, 0.0).astype(np.float32)
    assert len(finder.segment(RgbdFrame(frame.rgb, in_front, camera, 0.0))) == 1
    shaky = SimulatedSegmenter(world, seed=4)
    one, two = shaky.segment(frame), shaky.segment(frame)
    assert [s.mask.sum() for s in one] == [s.mask.sum() for s in two]
    assert len(SimulatedSegmenter(world, faults=NONE, background=("far",)).segment(frame)) == 1


def test_misuse():
    with pytest.raises(UsageError, match="probabilities"):
        SegmentFaults(missed=2.0)
    with pytest.raises(UsageError, match="jitter"):
        SegmentFaults(jitter_px=-1.0)
    with pytest.raises(UnknownNameError, match="usual"):
        SimulatedSegmenter(None, faults="usually")
