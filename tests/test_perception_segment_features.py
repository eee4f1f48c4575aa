"""What the boundary network is shown."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.camera import CameraModel
from armwright.core.pose import Pose
from armwright.perception._segment_features import CHANNELS, pack


def camera(width: int = 128, height: int = 96) -> CameraModel:
    return CameraModel(width, height, 120.0, 120.0, width / 2, height / 2, Pose())


def unpacked(planes: np.ndarray, side: int) -> np.ndarray:
    """Return the image of side**2 planes that hold its pixels."""
    rows, columns = planes.shape[1:]
    return planes.reshape(side, side, rows, columns).transpose(2, 0, 3, 1).reshape(rows * side, columns * side)


def test_colours_come_through_whole():
    rgb = np.random.default_rng(0).integers(0, 256, (96, 128, 3), dtype=np.uint8)
    x = pack(rgb, np.ones((96, 128), np.float32), camera())
    assert x.shape == (CHANNELS, 24, 32)
    for c in range(3):
        back = (unpacked(x[16 * c : 16 * c + 16], 4) + 1) * 127.5
        assert np.abs(back - rgb[..., c]).max() < 0.01


def test_a_wall_seen_head_on():
    x = pack(np.zeros((96, 128, 3), np.uint8), np.full((96, 128), 0.8, np.float32), camera())
    assert np.abs(x[48:64]).max() < 1e-3
    assert (x[64:68] == 1).all()
    assert np.abs(np.abs(x[76:80]) - 1).max() < 1e-4


def test_normals_of_a_slope_do_not_depend_on_where_it_lies():
    cam = camera()
    normal = np.array([0.3, -0.5, -0.8])
    normal /= np.linalg.norm(normal)
    depth = (normal @ [0, 0, 0.7] / (cam.rays() @ normal)).astype(np.float32)
    x = pack(np.zeros((96, 128, 3), np.uint8), depth, cam)
    got = np.stack([unpacked(x[k : k + 4], 2) for k in (68, 72, 76)], -1)[4:-4, 4:-4]
    assert np.abs(np.abs(got @ normal) - 1).max() < 2e-3


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_holes_stay_finite(share):
    rng = np.random.default_rng(0)
    depth = np.where(rng.random((96, 128)) < share, 0, 0.6).astype(np.float32)
    x = pack(np.zeros((96, 128, 3), np.uint8), depth, camera())
    assert np.isfinite(x).all()
    assert (unpacked(x[48:64], 4)[depth == 0] == 0).all()
    if share == 1.0:
        assert (x[64:80] == 0).all()
