"""Samples for the segmenter: rendered frames with a depth camera's faults, cut out, scaled, and changed in colour."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel
from armwright.core.pose import Pose
from armwright.perception._jit import kernel
from armwright.perception._segment_features import pack

LOOK_AGAIN_S = 60.0
_NORMAL = np.random.default_rng(1).standard_normal(3_000_000, np.float32)
_UNIFORM = np.random.default_rng(2).random(3_000_000, np.float32)


@dataclass(frozen=True, eq=False)
class Sample:
    """rgb (H, W, 3) uint8, depth_m (H, W) float32, label (H, W) uint8, focal length [px]."""

    rgb: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    label: NDArray[np.uint8]
    focal: float

    def camera(self) -> CameraModel:
        """Return a camera of its size; a crop's principal point is taken to be its middle."""
        height, width = self.label.shape
        return CameraModel(width, height, self.focal, self.focal, width / 2, height / 2, Pose())

    def features(self) -> NDArray[np.float32]:
        """Return what the network sees of it."""
        return pack(self.rgb, self.depth_m, self.camera())


class Frames:
    """The shards of a split, mapped from disk, taken in as they appear."""

    def __init__(self, folder: Path, split: str) -> None:
        self.folder, self.split = folder, split
        self.parts: list[tuple[NDArray, ...]] = []
        self.read: set[str] = set()
        self.looked = -1e9

    def look(self) -> None:
        """Take in shards that are new since last time."""
        if time.monotonic() - self.looked < LOOK_AGAIN_S:
            return
        self.looked = time.monotonic()
        for path in sorted(self.folder.glob(f"{self.split}-*-label.npy")):
            if path.name in self.read or time.time() - path.stat().st_mtime < 3:
                continue
            self.read.add(path.name)
            stem = str(path).removesuffix("-label.npy")
            self.parts.append(
                tuple(np.load(f"{stem}-{name}.npy", mmap_mode="r") for name in ("rgb", "depth", "label", "focal"))
            )

    def __len__(self) -> int:
        return sum(len(part[3]) for part in self.parts)

    def __getitem__(self, k: int) -> tuple[NDArray, NDArray, NDArray, float]:
        for rgb, depth, label, focal in self.parts:
            if k < len(focal):
                return rgb[k], depth[k], label[k], float(focal[k])
            k -= len(focal)
        raise IndexError(k)


def whole(frames: Frames, k: int, rng: np.random.Generator) -> Sample:
    """Return a whole frame as a test sees it: with the depth camera's faults, its colours a little noisy."""
    rgb, depth, label, focal = frames[k]
    noisy = degraded(depth.astype(np.float32) * 1e-4, rng, focal, hard=0.5)
    grain = 3 * _drawn(_NORMAL, rng, rgb.shape)
    return Sample(np.clip(rgb + grain, 0, 255).astype(np.uint8), noisy, np.ascontiguousarray(label), focal)


def crop(frames: Frames, rng: np.random.Generator, height: int, width: int) -> Sample:
    """Return a random cut of a random frame at a random scale, maybe mirrored."""
    rgb, depth, label, focal = frames[int(rng.integers(0, len(frames)))]
    u = rng.random()
    scale = 1.0 if u < 0.4 else (rng.uniform(0.735, 1.0) if u < 0.65 else rng.uniform(1.0, 2.4))
    window = int(height / scale), int(width / scale)
    spots = np.argwhere(label[::8, ::8] > 0) * 8
    centre = spots[int(rng.integers(0, len(spots)))] + rng.integers(-60, 61, 2)
    y0 = int(np.clip(centre[0] - window[0] // 2, 0, label.shape[0] - window[0]))
    x0 = int(np.clip(centre[1] - window[1] // 2, 0, label.shape[1] - window[1]))
    cut = slice(y0, y0 + window[0]), slice(x0, x0 + window[1])
    faulty = degraded(np.ascontiguousarray(depth[cut]).astype(np.float32) * 1e-4, rng, focal, hard=float(rng.random()))
    flip = rng.random() < 0.5
    picture = np.empty((height, width, 3), np.float32)
    metres = np.empty((height, width), np.float32)
    names = np.empty((height, width), np.uint8)
    _resample(np.ascontiguousarray(rgb[cut]), faulty, np.ascontiguousarray(label[cut]), flip, picture, metres, names)
    return Sample(_recoloured(picture, rng), metres, names, focal * scale)


def _recoloured(picture: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.uint8]:
    gain = rng.uniform(0.6, 1.5) * rng.uniform(0.85, 1.15, 3)
    power = rng.uniform(0.7, 1.4)
    table = 255 * np.clip((np.arange(256)[:, None] / 255) ** power * gain + rng.normal(0, 0.03), 0, 1)
    if rng.random() < 0.1:
        table[:] = table.mean(1, keepdims=True)
    out = picture
    if rng.random() < 0.35:
        k = np.float32(rng.uniform(0.1, 0.25))
        for axis in (0, 1):
            out = (1 - 2 * k) * out + k * (np.roll(out, 1, axis) + np.roll(out, -1, axis))
    index = out.astype(np.uint8)
    out = np.stack([table[:, c].astype(np.float32)[index[..., c]] for c in range(3)], -1)
    noise = _drawn(_NORMAL, rng, out.shape) * np.float32(rng.uniform(0, 8))
    return np.clip(out + noise, 0, 255).astype(np.uint8)


def _drawn(stock: NDArray[np.float32], rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a stretch of a stock of random numbers, which is faster than to draw them anew for every picture."""
    size = int(np.prod(shape))
    first = int(rng.integers(0, len(stock) - size))
    return stock[first : first + size].reshape(shape)


def degraded(
    depth_m: NDArray[np.float32], rng: np.random.Generator, focal: float, *, hard: float
) -> NDArray[np.float32]:
    """Return a depth image with the faults of a depth camera.

    Smooth error of 1.2 mm and white error of 0.6 mm, both times (z / 0.6 m)^2; edges that wander by up to two pixels;
    readings lost at edges, in the shadow of a second eye, and in patches; steps of 1 mm.

    Args:
        depth_m: (H, W) of the renderer.
        rng: Source of randomness.
        focal: [px].
        hard: From 0, few faults, to 1, many.
    """
    height, width = depth_m.shape
    if hard > 0.97:
        return np.zeros_like(depth_m)
    cells = height // 8 + 3, width // 8 + 3
    slow = rng.standard_normal((4, *cells), np.float32)
    white, chance = _drawn(_NORMAL, rng, (height, width)), _drawn(_UNIFORM, rng, (height, width))
    sides = float(rng.choice([-1, 0, 1])) * 0.05 * focal
    out = np.empty_like(depth_m)
    _degrade(
        depth_m,
        slow,
        white,
        chance,
        np.float32(0.0012 * (0.5 + hard)),
        np.float32(0.0006 * (0.5 + hard)),
        np.float32(1.2 * hard),
        np.float32(2.6 - 1.6 * hard),
        np.float32(0.25 + 0.6 * hard),
        np.float32(sides),
        out,
    )
    return out


@kernel
def _smooth(grid, y, x):  # type: ignore[no-untyped-def]
    fy, fx = y / np.float32(8), x / np.float32(8)
    i, j = int(fy), int(fx)
    a, b = fy - i, fx - j
    return (grid[i, j] * (1 - b) + grid[i, j + 1] * b) * (1 - a) + (
        grid[i + 1, j] * (1 - b) + grid[i + 1, j + 1] * b
    ) * a


@kernel
def _degrade(depth, slow, white, chance, soft, hard, wander, patchy, lost, baseline, out):  # type: ignore[no-untyped-def]
    height, width = depth.shape
    for y in range(height):
        for x in range(width):
            v = int(y + wander * _smooth(slow[1], y, x) + np.float32(0.5))
            u = int(x + wander * _smooth(slow[2], y, x) + np.float32(0.5))
            v, u = min(max(v, 0), height - 1), min(max(u, 0), width - 1)
            z = depth[v, u]
            low, high = z, z
            for k in range(9):
                a = min(max(v + k // 3 - 1, 0), height - 1)
                b = min(max(u + k % 3 - 1, 0), width - 1)
                low, high = min(low, depth[a, b]), max(high, depth[a, b])
            keep = z > 0 and z < 4.0 and _smooth(slow[3], y, x) < patchy
            if high - low > 0.015 and chance[y, x] < lost:
                keep = False
            if keep:
                grow = (z / np.float32(0.6)) ** 2
                z = z + grow * (soft * _smooth(slow[0], y, x) + hard * white[y, x])
                out[y, x] = np.floor(z * 1000 + np.float32(0.5)) / np.float32(1000)
            else:
                out[y, x] = 0
    if baseline != 0:
        for y in range(height):
            nearest = np.float32(1e9)
            for k in range(width):
                x = k if baseline < 0 else width - 1 - k
                z = depth[y, x]
                if z <= 0:
                    continue
                at = (width - x if baseline < 0 else x) - abs(baseline) / z
                if at > nearest - np.float32(0.2) and k > 0:
                    out[y, x] = 0
                nearest = min(nearest, at)


@kernel
def _resample(rgb, depth, label, flip, picture, metres, names):  # type: ignore[no-untyped-def]
    height, width = names.shape
    rows, columns = label.shape
    for y in range(height):
        v = (y + 0.5) * rows / height - 0.5
        v = min(max(v, 0.0), rows - 1.001)
        i = int(v)
        a = np.float32(v - i)
        near_v = int(v + 0.5)
        for x in range(width):
            u = (x + 0.5) * columns / width - 0.5
            u = min(max(u, 0.0), columns - 1.001)
            j = int(u)
            b = np.float32(u - j)
            near_u = int(u + 0.5)
            w = width - 1 - x if flip else x
            metres[y, w] = depth[near_v, near_u]
            names[y, w] = label[near_v, near_u]
            for c in range(3):
                top = rgb[i, j, c] * (1 - b) + rgb[i, j + 1, c] * b
                low = rgb[i + 1, j, c] * (1 - b) + rgb[i + 1, j + 1, c] * b
                picture[y, w, c] = top * (1 - a) + low * a
