"""Recorded views: what is written comes back, and every fault names its file and its fix."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from armwright.core.errors import ArmwrightError
from armwright.perception.recorded import read_pose, read_view, recording

H, W = 12, 16
MATRIX = np.array([[20.0, 0, 8], [0, 20.0, 6], [0, 0, 1]])


def write(folder: Path, *, name: str = "frame-000000", depth: np.ndarray | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    np.savetxt(folder / "camera-intrinsics.txt", MATRIX)
    Image.fromarray(np.full((H, W, 3), 90, np.uint8)).save(folder / f"{name}.color.png")
    values = np.arange(H * W, dtype=np.uint16).reshape(H, W) * 10 if depth is None else depth
    Image.fromarray(values).save(folder / f"{name}.depth.png")
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    np.savetxt(folder / f"{name}.pose.txt", np.block([[turn, np.array([[1.0], [2], [3]])], [np.zeros((1, 3)), 1.0]]))
    return folder


def test_what_was_written_is_read(tmp_path: Path) -> None:
    depth = np.full((H, W), 1500, np.uint16)
    depth[0, 0], depth[0, 1] = 0, 65535
    write(tmp_path, name="b", depth=depth)
    write(tmp_path, name="a")
    views = recording(tmp_path)
    assert [v.name for v in views] == ["a", "b"]
    frame = read_view(views[1])
    assert frame.rgb.shape == (H, W, 3) and frame.depth_m.dtype == np.float32
    assert frame.depth_m[0, 0] == frame.depth_m[0, 1] == 0
    assert frame.depth_m[1, 1] == pytest.approx(1.5)
    assert np.allclose(frame.camera.pose_world_camera.position_m, (1, 2, 3))
    assert (frame.camera.fx, frame.camera.cy) == (20.0, 6.0)


def test_a_printed_rotation_is_made_exact(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "frame-000000.pose.txt"
    np.savetxt(path, np.round(np.loadtxt(path) + 1e-3 * np.eye(4) * (1, 1, 1, 0), 6))
    turn = read_pose(path).rotation
    assert np.allclose(turn.T @ turn, np.eye(3), atol=1e-12)


POSE, CAMERA = "frame-000000.pose.txt", "camera-intrinsics.txt"
FAULTS = {
    "scaled pose": (POSE, np.diag([2.0, 2, 2, 1]), "no rotation"),
    "mirroring pose": (POSE, np.diag([1.0, 1, -1, 1]), "mirrors"),
    "transposed pose": (POSE, np.block([[np.eye(3), np.zeros((3, 1))], [np.ones((1, 3)), 1.0]]), "last row"),
    "lost pose": (POSE, np.full((4, 4), np.nan), "not finite"),
    "short pose": (POSE, np.eye(3), "4 lines of 4"),
    "wide intrinsics": (CAMERA, np.eye(3, 4), "3 lines of 3"),
    "lost intrinsics": (CAMERA, np.full((3, 3), np.inf), "not finite"),
    "no focal length": (CAMERA, np.diag([0.0, 20, 1]), "no pinhole camera"),
    "intrinsics of a larger picture": (CAMERA, MATRIX * [[4], [4], [1]], "outside the 16x12 picture"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_matrix_names_its_file_and_a_fix(tmp_path: Path, name: str) -> None:
    file, matrix, says = FAULTS[name]
    write(tmp_path)
    np.savetxt(tmp_path / file, matrix)
    with pytest.raises(ArmwrightError, match=says) as caught:
        [read_view(view) for view in recording(tmp_path)]
    assert "frame-000000" in str(caught.value) or CAMERA in str(caught.value)
    assert caught.value.hint and caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["", "a b c", "1 2\n3", "\x00\x01"])
@pytest.mark.parametrize("file", [POSE, CAMERA])
def test_text_that_is_no_matrix(tmp_path: Path, text: str, file: str) -> None:
    write(tmp_path)
    (tmp_path / file).write_text(text)
    with pytest.raises(ArmwrightError, match=file):
        recording(tmp_path)


@pytest.mark.parametrize("missing", ["frame-000000.depth.png", POSE, CAMERA, "frame-000000.color.png"])
def test_a_missing_file(tmp_path: Path, missing: str) -> None:
    write(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(ArmwrightError) as caught:
        recording(tmp_path)
    assert caught.value.hint and caught.value.exit_code == 2
    with pytest.raises(ArmwrightError, match="not a folder"):
        recording(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("depth", "says"),
    [
        (np.zeros((H, W), np.uint16), "hole"),
        (np.full((H, W), 65535, np.uint16), "hole"),
        (np.full((H, W), 200, np.uint8), "16 bits"),
        (np.full((H, W, 3), 200, np.uint8), "16 bits"),
        (np.full((H, W + 2), 200, np.uint16), "18x12"),
    ],
)
def test_depth_that_cannot_be_used(tmp_path: Path, depth: np.ndarray, says: str) -> None:
    write(tmp_path, depth=depth)
    with pytest.raises(ArmwrightError, match=says) as caught:
        read_view(recording(tmp_path)[0])
    assert "depth.png" in str(caught.value) and caught.value.hint and caught.value.exit_code == 2


@pytest.mark.parametrize("focal", [1e-300, 0.1, 1e300])
def test_a_focal_length_that_no_camera_has(tmp_path: Path, focal: float) -> None:
    write(tmp_path)
    path = tmp_path / "camera-intrinsics.txt"
    matrix = np.loadtxt(path)
    matrix[[0, 1], [0, 1]] = focal
    np.savetxt(path, matrix)
    with pytest.raises(ArmwrightError, match=r"focal lengths.*scale fx"):
        read_view(recording(tmp_path)[0])


def test_a_picture_cut_short(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "frame-000000.depth.png"
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(ArmwrightError, match="cannot be read"):
        read_view(recording(tmp_path)[0])
