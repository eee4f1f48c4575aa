"""The adapters for SAM 3D Objects and FoundationPose, with stand-ins of the published signatures."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.errors import MissingDependencyError, UnknownNameError, UsageError
from armwright.core.pose import Pose
from armwright.shelf.target_adapters import FoundationPoses, Sam3dMeshes, mesh_source, pose_source
from perception_scenes import Thing, looking, render
from shelf_targets import box

AT = (0.4, 0.1, 0.07)


def view():
    frame, owner = render([Thing(AT, (0.025, 0.04, 0.07))], looking((0.9, 0.4, 0.5), AT))
    return frame, owner == 0


class Mesh:
    """What SAM 3D returns under ``glb``: y up, no metric scale."""

    vertices = box().vertices_m @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]) * 7.0
    faces = box().faces


def test_a_generated_mesh_is_scaled_by_depth_and_put_where_it_was_seen():
    frame, mask = view()
    asked = {}

    def inference(image, mask, seed=None, pointmap=None):
        asked.update(image=image, mask=mask, seed=seed)
        return {"glb": Mesh()}

    solid, stand = Sam3dMeshes(inference, seed=3).mesh(frame, mask)
    assert asked["image"].dtype == np.uint8
    assert asked["mask"].dtype == bool
    assert asked["seed"] == 3
    assert solid.size_m == pytest.approx([0.05, 0.08, 0.14], rel=0.05)
    assert stand.position_m == pytest.approx([0.4, 0.1, 0.0], abs=0.02)
    with pytest.raises(UsageError, match="no mesh"):
        Sam3dMeshes(lambda *_, **__: {}).mesh(frame, mask)
    with pytest.raises(UsageError, match="mask"):
        Sam3dMeshes(inference).mesh(frame, np.zeros_like(mask))


def test_a_registered_pose_is_taken_from_the_camera_to_the_world():
    frame, mask = view()
    true = Pose.from_yaw((0.4, 0.1, 0.0), 0.3)
    asked = {}

    class Estimator:
        def __init__(self, model_pts, model_normals, symmetry_tfs=None, mesh=None, scorer=None, refiner=None):
            asked.update(points=model_pts, normals=model_normals, mesh=mesh)

        def register(self, K, rgb, depth, ob_mask, ob_id=None, glctx=None, iteration=5):
            asked.update(K=K, iteration=iteration, mask=ob_mask)
            return (frame.camera.pose_world_camera.inverse() @ true).matrix()

    found = FoundationPoses(Estimator).pose(box(), frame, mask)
    assert found.distance_to(true) < 1e-9
    assert asked["points"].shape == asked["normals"].shape
    assert asked["K"][0, 2] == frame.camera.cx
    assert asked["mask"].dtype == np.uint8


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(UsageError, match="checkpoints"):
        mesh_source("sam3d", folder=tmp_path)
    with pytest.raises(UsageError, match="FoundationPose"):
        pose_source("foundationpose")
    (tmp_path / "estimater.py").write_text("import a_package_that_is_not_installed\n")
    with pytest.raises(MissingDependencyError, match="FoundationPose"):
        pose_source("foundationpose", folder=tmp_path)
    with pytest.raises(UnknownNameError):
        mesh_source("sam2d")
