"""The AnyGrasp adapter, with a stand-in of the SDK's signature: the SDK needs a licence and was not run."""

import sys
import types

import numpy as np
import pytest

from armwright.core.errors import MissingDependencyError, UsageError
from armwright.grasping.anygrasp import AnyGraspSource
from armwright.grasping.request import GraspRequest
from test_grasping_generic import HAND, ask


class Group:
    """What the adapter uses of graspnetAPI's GraspGroup."""

    def __init__(self, translations, rotation_matrices, depths, scores):
        self.translations, self.rotation_matrices = translations, rotation_matrices
        self.depths, self.scores = depths, scores

    def __len__(self):
        return len(self.scores)

    def nms(self, translation_thresh=0.03, rotation_thresh=0.5):
        return self

    def sort_by_score(self, reverse=False):
        order = np.argsort(-self.scores)
        return Group(self.translations[order], self.rotation_matrices[order], self.depths[order], self.scores[order])


class Stand:
    """A detector that answers with given grasps, in the camera's frame, and keeps what it was shown."""

    def __init__(self, cfgs=None, answer=None):
        self.cfgs, self.answer, self.loaded = cfgs, answer, False

    def load_net(self):
        self.loaded = True

    def get_grasp(self, points, colors, lims=None, apply_object_mask=True, dense_grasp=False, collision_detection=True):
        assert points.dtype == colors.dtype == np.float32 and points.shape == colors.shape
        self.points, self.lims = points, lims
        return self.answer, None


def grasp_of(request, *, approach, closing, tip, depth=0.02):
    """Return a grasp in graspnetAPI's convention in the camera's frame: x approach, y closing, tip at the depth."""
    rotation = np.stack([approach, closing, np.cross(approach, closing)], axis=1)
    pose = request.camera.pose_world_camera.inverse()
    return pose.transform(np.asarray(tip) - depth * np.asarray(approach)), pose.rotation @ rotation, depth


def test_grasps_come_back_in_the_object_frame_best_first():
    request = ask("cube")
    middle = request.points_m.mean(0)
    tip = middle + np.array([0.0, 0.0, -HAND.finger_depth_m])
    good = grasp_of(request, approach=[0.0, 0.0, -1.0], closing=[0.0, 1.0, 0.0], tip=tip)
    turned = grasp_of(request, approach=[0.0, 0.0, -1.0], closing=[1.0, 0.0, 0.0], tip=tip)
    far = grasp_of(request, approach=[0.0, 0.0, -1.0], closing=[0.0, 1.0, 0.0], tip=middle + np.array([0.3, 0.0, 0.0]))
    rows = [turned, good, far]
    stand = Stand(answer=Group(*(np.array(column) for column in zip(*rows)), np.array([0.4, 0.9, 1.0])))
    found = AnyGraspSource(stand).sample(request)
    assert found.order == "source" and found.dropped == {"other_thing": 1}
    assert [c.quality for c in found.candidates] == [0.9, 0.9, 0.4, 0.4]
    best = found.candidates[0].pose_object_pads
    assert np.allclose(best.position_m, middle, atol=0.002)
    assert np.allclose(best.rotation[:, 2], [0, 0, -1]) and np.allclose(best.rotation[:, 1], [0, 1, 0])
    width = np.ptp(request.points_m[:, 1])
    assert found.candidates[0].width_m == pytest.approx(width, abs=0.003)
    # Both rolls of the hand.
    assert np.allclose(found.candidates[1].pose_object_pads.rotation[:, 1], [0, -1, 0])


def test_network_sees_only_what_the_camera_sees_and_the_support():
    request = ask("cube")
    stand = Stand(answer=None)
    found = AnyGraspSource(stand).sample(request)
    assert found.candidates == () and found.dropped == {"none_detected": 1}
    world = request.camera.pose_world_camera.transform(stand.points.astype(float))
    above = world[world[:, 2] > 0.002]
    assert 0 < len(above) < 0.8 * len(request.points_m)
    away = request.camera.pose_world_camera.position_m - request.points_m.mean(0)
    hidden_side = above[(above - request.points_m.mean(0)) @ (away * [1, 1, 0]) < -0.02 * np.linalg.norm(away[:2])]
    assert len(hidden_side) < 0.15 * len(above)
    low, high = stand.points.min(0), stand.points.max(0)
    assert all(stand.lims[2 * a] <= low[a] and stand.lims[2 * a + 1] >= high[a] for a in range(3))


def test_only_the_best_are_handed_on():
    request = ask("cube")
    tip = request.points_m.mean(0) + np.array([0.0, 0.0, -HAND.finger_depth_m])
    one = grasp_of(request, approach=[0.0, 0.0, -1.0], closing=[0.0, 1.0, 0.0], tip=tip)
    stand = Stand(answer=Group(*(np.array(column) for column in zip(*[one] * 9)), np.linspace(0.9, 0.1, 9)))
    assert len(AnyGraspSource(stand, top=3).sample(request).candidates) == 6


def test_loading_hands_the_sdk_what_its_demo_does(monkeypatch, tmp_path):
    kept = []

    def make(cfgs):
        kept.append(Stand(cfgs))
        return kept[-1]

    monkeypatch.setitem(sys.modules, "gsnet", types.SimpleNamespace(AnyGrasp=make))
    with pytest.raises(UsageError, match="ARMWRIGHT_ANYGRASP_CHECKPOINT"):
        AnyGraspSource.load(checkpoint=tmp_path / "none.tar")
    checkpoint = tmp_path / "checkpoint_detection.tar"
    checkpoint.write_bytes(b"weights")
    source = AnyGraspSource.load(top=50, checkpoint=checkpoint)
    assert source.top == 50 and kept[0].loaded
    assert vars(kept[0].cfgs).keys() == {
        "checkpoint_path", "max_gripper_width", "gripper_height", "top_down_grasp", "debug"
    }  # fmt: skip
    assert kept[0].cfgs.checkpoint_path == str(checkpoint) and kept[0].cfgs.max_gripper_width <= 0.1


def test_a_licence_that_is_refused_is_told(monkeypatch, tmp_path):
    def refuse(cfgs):
        raise RuntimeError("license check failed")

    monkeypatch.setitem(sys.modules, "gsnet", types.SimpleNamespace(AnyGrasp=refuse))
    checkpoint = tmp_path / "checkpoint_detection.tar"
    checkpoint.write_bytes(b"weights")
    with pytest.raises(UsageError, match="license check failed"):
        AnyGraspSource.load(checkpoint=checkpoint)


def test_without_the_sdk_it_says_what_to_install():
    with pytest.raises(MissingDependencyError, match="gsnet"):
        AnyGraspSource.load()


def test_no_camera_no_grasps():
    with pytest.raises(UsageError, match="camera"):
        AnyGraspSource(Stand()).sample(GraspRequest(np.zeros((9, 3)), np.zeros((9, 3)), np.zeros(9, bool), HAND))
