"""A depth camera's errors: they grow with distance, come in steps, leave holes at edges, and repeat by seed."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import UnknownNameError
from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.sim.sensor_noise import NoisyCamera, SensorNoise, noise_model, noisy_depth, photographed


def wall(z: float) -> np.ndarray:
    return np.full((240, 320), z, np.float32)


def error(z: float, noise: SensorNoise) -> float:
    return float((noisy_depth(wall(z), noise, rng_for(3, "wall")) - z).std())


def test_errors_grow_with_the_square_of_the_distance():
    noise = SensorNoise(step_m=0.0)
    near, far = error(0.5, noise), error(1.0, noise)
    assert far / near == pytest.approx(4.0, rel=0.05)
    assert 0.0003 < near < 0.0008


def test_neighbours_share_part_of_the_error_and_strangers_do_not():
    read = noisy_depth(wall(1.0), SensorNoise(white_m=0.0, step_m=0.0), rng_for(4, "wall")) - 1.0
    near = np.corrcoef(read[:, :-1].ravel(), read[:, 1:].ravel())[0, 1]
    far = np.corrcoef(read[:, :-60].ravel(), read[:, 60:].ravel())[0, 1]
    assert near > 0.9 and abs(far) < 0.2


def test_depth_comes_in_steps():
    step = 0.004
    read = noisy_depth(wall(1.0), SensorNoise(step_m=step), rng_for(5, "wall"))
    assert np.allclose(read / step, np.round(read / step), atol=1e-3)


def test_holes_are_at_edges_and_out_of_range_only():
    depth = wall(1.0)
    depth[:, 160:] = 0.6
    read = noisy_depth(depth, SensorNoise(), rng_for(6, "wall"))
    rows, columns = np.nonzero(read == 0)
    assert len(rows) > 100 and set(columns) <= {159, 160}
    assert (noisy_depth(wall(9.0), SensorNoise(), rng_for(6, "far")) == 0).all()
    assert (noisy_depth(wall(0.0), SensorNoise(), rng_for(6, "nothing")) == 0).all()


def test_colours_are_photographed_and_stay_in_range():
    rgb = np.full((100, 100, 3), (0, 128, 255), np.uint8)
    seen = photographed(rgb, SensorNoise(grain=4.0), rng_for(7, "grain")).astype(float)
    assert seen[..., 1].mean() == pytest.approx(128, abs=0.2) and seen[..., 1].std() == pytest.approx(4.0, rel=0.05)
    clean = SensorNoise(grain=0.0, blur_px=0.0)
    assert np.array_equal(photographed(rgb, clean, rng_for(7, "grain")), rgb)
    rgb[:, 50:] = 0
    edge = photographed(rgb, SensorNoise(grain=0.0, blur_px=1.0), rng_for(7, "grain"))[50, :, 2]
    assert 100 < edge[49] < 250 and edge[40] == 255 and edge[60] == 0


class Still:
    name = "wrist"
    model = CameraModel(320, 240, 300.0, 300.0, 160.0, 120.0, Pose())

    def __init__(self, stamp_s: float = 1.0) -> None:
        self.frame = RgbdFrame(np.zeros((240, 320, 3), np.uint8), wall(0.8), self.model, stamp_s)

    def capture(self) -> RgbdFrame:
        return self.frame

    def frames(self, since_s: float = float("-inf")):
        return [self.frame]


def test_a_moment_is_read_the_same_each_time_and_perfect_without_noise():
    camera = NoisyCamera(Still(), noise_model("stereo"), seed=1)
    first, again = camera.capture().depth_m, camera.frames()[0].depth_m
    assert np.array_equal(first, again)
    assert not np.array_equal(first, NoisyCamera(Still(2.0), noise_model("stereo"), seed=1).capture().depth_m)
    assert np.array_equal(NoisyCamera(Still(), noise_model("none")).capture().depth_m, wall(0.8))


def test_an_unknown_noise_is_named():
    with pytest.raises(UnknownNameError, match="stereo"):
        noise_model("sterio")
