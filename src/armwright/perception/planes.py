"""The segmenter `planes`: geometry alone. Large planes are taken away, what is left is cut where the depth jumps.

It needs no network and no training, and it cannot tell two things that touch: a first look, and what the network is
compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import RgbdFrame
from armwright.core.pose import Array
from armwright.core.seeds import rng_for
from armwright.perception._jit import kernel
from armwright.perception.segmenters import Segment, segments_of


@dataclass(frozen=True)
class PlaneOptions:
    """Numbers of the segmenter.

    Attributes:
        planes: How many planes are taken away, at most.
        tries: Planes tried for each.
        thick_m: Points this near a plane belong to it.
        share: A plane holds at least this share of the points that are left.
        long_m, wide_m: A plane is at least so long and so wide; smaller ones are faces of things.
        gap_m: Neighbouring pixels further apart than this and twice their width belong to two things.
        smallest_px: Things of fewer pixels are dropped, at half the resolution.
        max_depth_m: Readings beyond are left out.
    """

    planes: int = 6
    tries: int = 120
    thick_m: float = 0.006
    share: float = 0.08
    long_m: float = 0.3
    wide_m: float = 0.12
    gap_m: float = 0.006
    smallest_px: int = 60
    max_depth_m: float = 2.0


class PlaneSegmenter:
    """Finds things that stand out from planes.

    Args:
        options: Numbers.
    """

    name = "planes"

    def __init__(self, options: PlaneOptions | None = None) -> None:
        self.options = options or PlaneOptions()

    def segment(self, frame: RgbdFrame, *, labels: Sequence[str] = ()) -> list[Segment]:
        """Return one segment per piece; words are not used, and every confidence is a half."""
        chosen = self.options
        depth = np.nan_to_num(frame.depth_m[::2, ::2])
        points = frame.camera.rays()[::2, ::2] * depth[..., None]
        left = (depth > 0) & (depth < chosen.max_depth_m)
        rng = rng_for(0, "planes", int(left.sum()))
        for _ in range(chosen.planes):
            plane = _largest_plane(points[left], chosen, rng)
            if plane is None:
                break
            normal, offset = plane
            left &= np.abs(points @ normal - offset) > chosen.thick_m * np.maximum(1.0, depth / 0.6)
        width = 4 * np.float64(1 / frame.camera.fx)
        small = _components(np.ascontiguousarray(points), left, chosen.gap_m, width, chosen.smallest_px)
        names = np.repeat(np.repeat(small, 2, 0), 2, 1)[: frame.depth_m.shape[0], : frame.depth_m.shape[1]]
        return segments_of(names, np.full(int(names.max(initial=0)) + 1, 0.5, np.float32))


def _largest_plane(
    points: Array, chosen: PlaneOptions, rng: np.random.Generator
) -> tuple[NDArray[np.float64], float] | None:
    """Return (unit normal away from the camera, offset) of the plane with most points, if it is large enough."""
    if len(points) < 200:
        return None
    few = points[rng.integers(0, len(points), 2500)]
    seeds = few[rng.integers(0, len(few), (chosen.tries, 3))]
    normals = np.cross(seeds[:, 1] - seeds[:, 0], seeds[:, 2] - seeds[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    seeds, normals = seeds[lengths > 1e-5], normals[lengths > 1e-5] / lengths[lengths > 1e-5, None]
    if len(normals) == 0:
        return None
    offsets = (normals * seeds[:, 0]).sum(1)
    inside = np.abs(few @ normals.T - offsets) < chosen.thick_m
    best = int(inside.sum(0).argmax())
    held = few[inside[:, best]]
    if len(held) < chosen.share * len(few):
        return None
    middle = held.mean(0)
    _, sizes, axes = np.linalg.svd(held - middle, full_matrices=False)
    span = sizes / np.sqrt(len(held)) * np.sqrt(12)
    if span[0] < chosen.long_m or span[1] < chosen.wide_m:
        return None
    normal = axes[2] if axes[2] @ middle > 0 else -axes[2]
    return normal, float(normal @ middle)


@kernel
def _components(
    points: Array, left: NDArray[np.bool_], gap_m: float, width_ratio: float, smallest: int
) -> NDArray[np.int32]:
    """Label connected pixels (H, W), from 1, whose neighbours lie within a gap in space."""
    height, width = left.shape
    names = np.zeros((height, width), np.int32)
    stack = np.empty(height * width, np.int64)
    count = 0
    for y0 in range(height):
        for x0 in range(width):
            if not left[y0, x0] or names[y0, x0] != 0:
                continue
            count += 1
            names[y0, x0] = count
            stack[0] = y0 * width + x0
            top, seen = 1, 0
            while seen < top:
                y, x = stack[seen] // width, stack[seen] % width
                seen += 1
                for k in range(4):
                    v, u = y + (k == 0) - (k == 1), x + (k == 2) - (k == 3)
                    if v < 0 or u < 0 or v >= height or u >= width or not left[v, u] or names[v, u] != 0:
                        continue
                    step = 0.0
                    for c in range(3):
                        step += (points[y, x, c] - points[v, u, c]) ** 2
                    limit = gap_m + width_ratio * points[y, x, 2]
                    if step < limit * limit:
                        names[v, u] = count
                        stack[top] = v * width + u
                        top += 1
            if top < smallest:
                for i in range(top):
                    names[stack[i] // width, stack[i] % width] = -1
                count -= 1
    return np.maximum(names, 0)
