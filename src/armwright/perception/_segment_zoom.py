"""Where small objects deserve a closer look, and how what the closer look says is taken over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int32]
_HEIGHT, _WIDTH = 144, 192
_MARGIN = 16
_MOSTLY = 0.6


@dataclass(frozen=True)
class Window:
    """A part of the image [px]."""

    top: int
    left: int
    height: int
    width: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """The rows and the columns."""
        return slice(self.top, self.top + self.height), slice(self.left, self.left + self.width)


def small_windows(labels: Labels, small_px: int, most: int) -> list[Window]:
    """Return windows that hold the objects of fewer than ``small_px`` pixels, fullest first, at most ``most``."""
    height, width = min(_HEIGHT, labels.shape[0]), min(_WIDTH, labels.shape[1])
    if most == 0:
        return []
    boxes = _boxes(labels)
    sizes = np.bincount(labels.ravel(), minlength=len(boxes))
    waiting = [
        boxes[k]
        for k in range(1, len(boxes))
        if 0 < sizes[k] < small_px
        and boxes[k][1] - boxes[k][0] + _MARGIN < height
        and boxes[k][3] - boxes[k][2] + _MARGIN < width
    ]
    out: list[Window] = []
    while waiting and len(out) < most:
        best: tuple[int, Window, list[tuple[int, int, int, int]]] | None = None
        for top, bottom, left, right in waiting:
            y = int(np.clip((top + bottom - height) // 2, 0, labels.shape[0] - height))
            x = int(np.clip((left + right - width) // 2, 0, labels.shape[1] - width))
            window = Window(y, x, height, width)
            inside = [box for box in waiting if _holds(window, box, labels.shape)]
            if inside and (best is None or len(inside) > best[0]):
                best = len(inside), window, inside
        if best is None:
            break
        out.append(best[1])
        waiting = [box for box in waiting if box not in best[2]]
    return out


def adopt(
    labels: Labels,
    confidence: NDArray[np.float32],
    window: Window,
    closer: Labels,
    closer_confidence: NDArray[np.float32],
    small_px: int,
) -> tuple[Labels, NDArray[np.float32]]:
    """Replace the small objects inside a window by those of the closer look; large ones keep their pixels.

    Args:
        labels: (H, W) of the first look; confidence: (labels + 1,).
        window: Where the closer look was taken.
        closer: (window.height, window.width), its labels at the first look's resolution, with their confidences.
        small_px: Below this an object is small.
    """
    out = labels.copy()
    part = out[window.slices]
    sizes = np.bincount(labels.ravel(), minlength=len(confidence))
    boxes = _boxes(labels)
    inside = [k for k in np.unique(part) if k > 0 and sizes[k] < small_px and _holds(window, boxes[k], labels.shape)]
    free = np.isin(part, inside)
    touches = _edge_labels(closer, window, labels.shape)
    gained: list[tuple[NDArray[np.bool_], float]] = []
    covered = np.zeros_like(free)
    for k in range(1, int(closer.max(initial=0)) + 1):
        found = closer == k
        count = int(found.sum())
        if count == 0 or k in touches:
            continue
        open_ = found & (free | (part == 0))
        # A piece of a large object, or a thing of which the first look saw nothing, is not taken from here.
        if open_.sum() < _MOSTLY * count or (found & free).sum() < 0.3 * count:
            continue
        gained.append((open_, float(closer_confidence[k])))
        covered |= open_
    replaced = [k for k in inside if (covered & (part == k)).sum() > 0.5 * (part == k).sum()]
    part[np.isin(part, replaced)] = 0
    values = list(confidence)
    for open_, sure in gained:
        part[open_ & (part == 0)] = len(values)
        values.append(np.float32(sure))
    return _renumbered(out, np.asarray(values, np.float32))


def _holds(window: Window, box: tuple[int, int, int, int], shape: tuple[int, ...]) -> bool:
    """Return whether a box lies in the window, with a margin unless the image ends there."""
    top, bottom, left, right = box
    margin = _MARGIN // 2
    return (
        (top >= window.top + margin or window.top == 0)
        and (left >= window.left + margin or window.left == 0)
        and (bottom <= window.top + window.height - margin or window.top + window.height == shape[0])
        and (right <= window.left + window.width - margin or window.left + window.width == shape[1])
    )


def _edge_labels(closer: Labels, window: Window, shape: tuple[int, ...]) -> set[int]:
    """Return the labels that the window cuts off; where the image itself ends nothing is cut."""
    edges = []
    if window.top > 0:
        edges.append(closer[0])
    if window.left > 0:
        edges.append(closer[:, 0])
    if window.top + window.height < shape[0]:
        edges.append(closer[-1])
    if window.left + window.width < shape[1]:
        edges.append(closer[:, -1])
    return {int(k) for edge in edges for k in np.unique(edge)}


def _boxes(labels: Labels) -> list[tuple[int, int, int, int]]:
    """Return (top, bottom, left, right) of every label from 0, ends excluded; zeros where it is absent."""
    from scipy.ndimage import find_objects

    found = find_objects(labels)
    return [(0, 0, 0, 0)] + [
        (0, 0, 0, 0) if box is None else (box[0].start, box[0].stop, box[1].start, box[1].stop) for box in found
    ]


def _renumbered(labels: Labels, confidence: NDArray[np.float32]) -> tuple[Labels, NDArray[np.float32]]:
    there = np.bincount(labels.ravel(), minlength=len(confidence)) > 0
    there[0] = True
    number = np.where(there, np.cumsum(there) - 1, 0).astype(np.int32)
    return number[labels], confidence[there]
