"""Poses, cameras, seeds, files and errors: the ground everything stands on."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armwright.core.camera import CameraModel
from armwright.core.errors import OutputError, UnknownNameError, UsageError
from armwright.core.files import atomic_path, ensure_writable, write_json
from armwright.core.pose import Pose, matrix_to_quat, quat_to_matrix
from armwright.core.seeds import int_seed, rng_for

finite = st.floats(-3, 3, allow_nan=False)


@st.composite
def poses(draw: st.DrawFn) -> Pose:
    q = np.array([draw(finite) for _ in range(4)])
    if np.linalg.norm(q) < 1e-3:
        q = np.array([1.0, 0, 0, 0])
    return Pose(np.array([draw(finite) for _ in range(3)]), q)


@given(poses(), poses(), poses())
def test_poses_form_a_group(a: Pose, b: Pose, c: Pose) -> None:
    left, right = (a @ b) @ c, a @ (b @ c)
    assert np.allclose(left.matrix(), right.matrix(), atol=1e-9)
    assert np.allclose((a @ a.inverse()).matrix(), np.eye(4), atol=1e-9)
    assert np.allclose((a @ b).matrix(), a.matrix() @ b.matrix(), atol=1e-9)


@given(poses())
def test_rotation_survives_matrix_and_back(a: Pose) -> None:
    back = matrix_to_quat(quat_to_matrix(a.quat_wxyz))
    assert min(np.abs(back - a.quat_wxyz).max(), np.abs(back + a.quat_wxyz).max()) < 1e-9
    assert np.allclose(Pose.from_matrix(a.matrix()).matrix(), a.matrix(), atol=1e-9)


@pytest.mark.parametrize("bad", [([0, 0], [1, 0, 0, 0]), ([0, 0, np.nan], [1, 0, 0, 0]), ([0, 0, 0], [0, 0, 0, 0])])
def test_a_bad_pose_is_refused(bad: tuple[list[float], list[float]]) -> None:
    with pytest.raises(UsageError):
        Pose(*bad)  # type: ignore[arg-type]


def test_yaw_turns_x_towards_y() -> None:
    assert np.allclose(Pose.from_yaw([1, 2, 3], np.pi / 2).transform([1, 0, 0]), [1, 3, 3])
    assert Pose.from_yaw([0, 0, 0], 0.7).yaw_rad == pytest.approx(0.7)


def test_camera_projects_its_rays_onto_their_pixels() -> None:
    pose = Pose([0.3, -0.2, 1.0], [0.1, 0.9, 0.2, -0.1])
    camera = CameraModel.from_fov(width=64, height=48, fovy_deg=50, pose_world_camera=pose)
    depth_m = np.random.default_rng(0).uniform(0.3, 2.0, (48, 64))
    pixels, z = camera.project(pose.transform(camera.rays() * depth_m[..., None]))
    assert np.allclose(pixels[10, 20], [20.5, 10.5]) and np.allclose(pixels[47, 63], [63.5, 47.5])
    assert np.allclose(z, depth_m)


def test_named_generators_do_not_move_each_other() -> None:
    assert rng_for(1, "a").random() == rng_for(1, "a").random()
    draws = {rng_for(s, n).random() for s in range(20) for n in ("a", "b", "a/b")}
    assert len(draws) == 60
    assert 0 <= int_seed(3, "kernel") < 2**31


def test_a_failed_write_leaves_the_old_file(tmp_path: os.PathLike[str]) -> None:
    from pathlib import Path

    target = Path(tmp_path) / "a.json"
    write_json(target, {"a": 1})
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert json.loads(target.read_text()) == {"a": 1}
    assert [p.name for p in target.parent.iterdir()] == ["a.json"]


def test_writing_where_a_file_stands_says_what_to_do(tmp_path: os.PathLike[str]) -> None:
    from pathlib import Path

    blocker = Path(tmp_path) / "file"
    blocker.write_text("x")
    with pytest.raises(OutputError, match="--out"):
        ensure_writable(blocker / "sub")


def test_an_unknown_name_lists_the_nearest() -> None:
    error = UnknownNameError("robot", "frankaa", ["franka", "kinova"])
    assert "franka" in str(error) and error.exit_code == 2
