"""What a depth camera gets wrong, by name: noise that grows with distance, steps, and holes at edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter, zoom

from armwright.control.protocols import Camera
from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import UnknownNameError
from armwright.core.seeds import rng_for

Depth = NDArray[np.float32]
_TICKS_PER_S = 10_000


@dataclass(frozen=True)
class DepthNoise:
    """A model of a depth camera's errors; every standard deviation grows with the square of the distance.

    Attributes:
        white_m: Standard deviation at 1 m of what differs from pixel to pixel [m].
        correlated_m: The same of what neighbouring pixels share, as block matching makes it [m].
        cell_px: Size of the patches that share an error.
        step_m: Depth comes in steps of this at 1 m, growing likewise [m].
        edge_m: A pixel whose neighbours differ in depth by more than this may have no reading [m].
        edge_loss: Share of such pixels without a reading.
        near_m, far_m: Readings outside are lost.
    """

    white_m: float = 0.0015
    correlated_m: float = 0.0015
    cell_px: int = 8
    step_m: float = 0.0005
    edge_m: float = 0.02
    edge_loss: float = 0.5
    near_m: float = 0.12
    far_m: float = 4.0


NOISES = MappingProxyType(
    {
        "none": None,
        "stereo": DepthNoise(),
        "rough": DepthNoise(white_m=0.004, correlated_m=0.004, cell_px=12, step_m=0.001, edge_loss=0.8),
    }
)
"""Noise models by name: ``stereo`` errs as the data sheets of active stereo cameras say at half a metre."""


def noise_model(name: str) -> DepthNoise | None:
    """Return a noise model, or None for perfect depth.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in NOISES:
        raise UnknownNameError("depth noise", name, NOISES)
    return NOISES[name]


def noisy_depth(depth_m: Depth, noise: DepthNoise, rng: np.random.Generator) -> Depth:
    """Return depth (H, W) as the camera would read it [m]; 0 is no reading."""
    height, width = depth_m.shape
    cells = (height // noise.cell_px + 2, width // noise.cell_px + 2)
    coarse = zoom(rng.standard_normal(cells, dtype=np.float32), noise.cell_px, order=1)[:height, :width]
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


class NoisyCamera:
    """A camera that errs in depth as a noise model says; the same moment is read the same way each time.

    Args:
        camera: The perfect camera.
        noise: Its errors; None for none.
        seed: Of the errors.
    """

    def __init__(self, camera: Camera, noise: DepthNoise | None, *, seed: int = 0) -> None:
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
        rng = rng_for(self._seed, "depth", self.name, round(_TICKS_PER_S * frame.stamp_s))
        return replace(frame, depth_m=noisy_depth(frame.depth_m, self._noise, rng))
