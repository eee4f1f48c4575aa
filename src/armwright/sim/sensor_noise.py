"""What an RGB-D camera gets wrong, by name: depth errs, comes in steps and has holes at edges; colours are grainy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, maximum_filter, minimum_filter

from armwright.control.protocols import Camera
from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import UnknownNameError
from armwright.core.seeds import rng_for

Depth = NDArray[np.float32]
_TICKS_PER_S = 10_000


@dataclass(frozen=True)
class SensorNoise:
    """A model of an RGB-D camera's errors; every deviation of depth grows with the square of the distance.

    Attributes:
        white_m: Standard deviation at 1 m of what differs from pixel to pixel [m].
        correlated_m: The same of what neighbouring pixels share, as block matching makes it [m].
        cell_px: Size of the patches that share an error.
        step_m: Depth comes in steps of this at 1 m, growing likewise [m].
        edge_m: A pixel whose neighbours differ in depth by more than this may have no reading [m].
        edge_loss: Share of such pixels without a reading.
        near_m, far_m: Readings outside are lost.
        blur_px: Standard deviation of the lens's blur.
        grain: Standard deviation of each colour value, of 255. Without blur and grain, readers of text miss print that
            anybody could read: they are trained on photographs.
    """

    white_m: float = 0.0015
    correlated_m: float = 0.0015
    cell_px: int = 8
    step_m: float = 0.0005
    edge_m: float = 0.02
    edge_loss: float = 0.5
    near_m: float = 0.12
    far_m: float = 4.0
    blur_px: float = 0.8
    grain: float = 5.0


NOISES = MappingProxyType(
    {
        "none": None,
        "stereo": SensorNoise(),
        "rough": SensorNoise(
            white_m=0.004, correlated_m=0.004, cell_px=12, step_m=0.001, edge_loss=0.8, blur_px=1.2, grain=8.0
        ),
    }
)
"""Noise models by name: ``stereo`` errs as the data sheets of active stereo cameras say at half a metre."""


def noise_model(name: str) -> SensorNoise | None:
    """Return a noise model, or None for a perfect camera.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in NOISES:
        raise UnknownNameError("sensor noise", name, NOISES)
    return NOISES[name]


def noisy_depth(depth_m: Depth, noise: SensorNoise, rng: np.random.Generator) -> Depth:
    """Return depth (H, W) as the camera would read it [m]; 0 is no reading."""
    height, width = depth_m.shape
    down, across = _between(height, noise.cell_px), _between(width, noise.cell_px)
    coarse = down @ rng.standard_normal((down.shape[1], across.shape[1]), dtype=np.float32) @ across.T
    # Between its nodes, bilinear interpolation of unit noise has a standard deviation of 2/3 on average.
    error = 1.5 * noise.correlated_m * coarse
    error += noise.white_m * rng.standard_normal(depth_m.shape, dtype=np.float32)
    square = depth_m * depth_m
    read = depth_m + square * error
    step = np.maximum(noise.step_m * square, 1e-6)
    read = np.round(read / step) * step
    spread = maximum_filter(depth_m, 3) - minimum_filter(depth_m, 3)
    lost = (spread > noise.edge_m) & (rng.random(depth_m.shape, dtype=np.float32) < noise.edge_loss)
    lost |= (read < noise.near_m) | (read > noise.far_m) | (depth_m <= 0)
    return np.asarray(np.where(lost, 0.0, read), np.float32)


def photographed(rgb: NDArray[np.uint8], noise: SensorNoise, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return a drawn picture (H, W, 3) with the blur of a lens and the grain of a sensor."""
    blur = (noise.blur_px, noise.blur_px, 0.0)
    seen = gaussian_filter(rgb.astype(np.float32), blur, truncate=3.0)
    grain = rng.standard_normal(rgb.shape, dtype=np.float32)
    grain *= noise.grain
    grain += seen
    grain += 0.5  # rounds to nearest, as the cast cuts off
    return np.asarray(np.clip(grain, 0.0, 255.0, out=grain).astype(np.uint8))


@lru_cache(maxsize=8)
def _between(count: int, cell_px: int) -> Depth:
    """Return the (count, nodes) weights that interpolate linearly between nodes a cell apart."""
    at = np.arange(count) / cell_px
    nodes = np.arange(int(at[-1]) + 2)
    return np.maximum(1.0 - np.abs(at[:, None] - nodes), 0.0).astype(np.float32)


class NoisyCamera:
    """A camera that errs as a noise model says; the same moment is read the same way each time.

    Args:
        camera: The perfect camera.
        noise: Its errors; None for none.
        seed: Of the errors.
    """

    def __init__(self, camera: Camera, noise: SensorNoise | None, *, seed: int = 0) -> None:
        self._camera, self._noise, self._seed = camera, noise, seed

    @property
    def name(self) -> str:
        """Name of the camera."""
        return self._camera.name

    @property
    def model(self) -> CameraModel:
        """Intrinsics and present pose."""
        return self._camera.model

    def capture(self) -> RgbdFrame:
        """Take a picture of the present moment."""
        return self._read(self._camera.capture())

    def frames(self, since_s: float = float("-inf")) -> Sequence[RgbdFrame]:
        """Return the sampled moments after ``since_s``, oldest first."""
        return [self._read(frame) for frame in self._camera.frames(since_s)]

    def _read(self, frame: RgbdFrame) -> RgbdFrame:
        if self._noise is None:
            return frame
        moment = round(_TICKS_PER_S * frame.stamp_s)
        depth = noisy_depth(frame.depth_m, self._noise, rng_for(self._seed, "depth", self.name, moment))
        rgb = photographed(frame.rgb, self._noise, rng_for(self._seed, "grain", self.name, moment))
        return replace(frame, rgb=rgb, depth_m=depth)
