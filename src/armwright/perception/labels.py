"""The built-in describer: reads what is printed and takes what it can from the words and the shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.perception.describers import WORLD_UP, checked_up
from armwright.perception.descriptions import Description
from armwright.perception.facts import content_of, edible_of, likely_packaging
from armwright.perception.masks import covered, patch
from armwright.perception.packages import Shape, describe_points
from armwright.perception.reading import RapidReader, TextLine, TextReader
from armwright.perception.words import Label, label_of

CONFIDENT = 0.7
"""A label below this is looked at once more in a zoomed crop."""
_MARGIN_PX = 6
_ON_MASK = 0.55
_BESIDE = 0.2
_MARGIN = 0.1
_TOUCHED = 0.15
_CROP_SIDE_PX = 320
_MOST_ZOOM = 3.0
_MIN_PIXELS = 150


class LabelDescriber:
    """Describes packaged things by what is printed on them, offline.

    A frame is read once, as far as masks reach; words belong to the mask that holds most of their box. Only masks that
    print touches and that have no confident label then are read again, each in a zoomed crop with everything else
    painted over. Packaging and orientation come from the masked depth (`packages.describe_points`).

    Args:
        reader: Reads print; by default PP-OCR, which needs the extra ``shelf``.
        crops: Most crops that are read in one frame.

    Raises:
        MissingDependencyError: The default reader's package is not installed.
    """

    name = "labels"
    note = ""

    def __init__(self, *, reader: TextReader | None = None, crops: int = 40) -> None:
        self._reader = RapidReader() if reader is None else reader
        self._crops = crops

    def describe(
        self, frame: RgbdFrame, masks: Sequence[NDArray[np.bool_]], *, up: ArrayLike = WORLD_UP
    ) -> list[Description]:
        """Return one description per mask (see `Describer.describe`).

        Raises:
            UsageError: A mask of another size than the image.
        """
        vertical = checked_up(up)
        masks = [_checked(mask, frame) for mask in masks]
        labels = self.labels(frame.rgb, masks)
        return [
            _described(label, _shape(frame, mask, vertical, label)) for label, mask in zip(labels, masks, strict=True)
        ]

    def labels(self, rgb: NDArray[np.uint8], masks: Sequence[NDArray[np.bool_]]) -> list[Label]:
        """Return what is printed on each masked thing.

        Args:
            rgb: (H, W, 3).
            masks: (H, W) each.
        """
        lines, touched = self._of_masks(rgb, masks)
        labels = [label_of(own) for own in lines]
        doubtful = [k for k in touched if labels[k].confidence < CONFIDENT and masks[k].sum() >= _MIN_PIXELS]
        for k in sorted(doubtful, key=lambda k: -int(masks[k].sum()))[: self._crops]:
            closer = label_of(self._in_crop(rgb, masks[k]))
            if closer.confidence > labels[k].confidence:
                labels[k] = closer
        return labels

    def _of_masks(
        self, rgb: NDArray[np.uint8], masks: Sequence[NDArray[np.bool_]]
    ) -> tuple[list[list[TextLine]], set[int]]:
        """Read the part of the picture that holds masks once.

        Returns:
            The lines of each mask; one that two masks share belongs to neither. And the masks that print touches.
        """
        found: list[list[TextLine]] = [[] for _ in masks]
        touched: set[int] = set()
        window = _window(np.any(masks, 0), _MARGIN_PX) if len(masks) else None
        if window is None:
            return found, touched
        rows, columns = window
        for line in self._reader.read(rgb[rows, columns]):
            corners = line.corners_px + np.array([columns.start, rows.start])
            shares = _shares(corners, masks)
            touched |= set(np.flatnonzero(shares > _TOUCHED).tolist())
            order = np.argsort(-shares)
            if shares[order[0]] < _ON_MASK or (len(order) > 1 and shares[order[1]] > _BESIDE):
                continue
            mask = masks[int(order[0])]
            found[order[0]].append(replace(line, corners_px=corners, cut=_cut(corners, mask)))
        return found, touched

    def _in_crop(self, rgb: NDArray[np.uint8], mask: NDArray[np.bool_]) -> list[TextLine]:
        """Read one thing enlarged, with all that is not on it in its mean colour."""
        window = _window(mask, _MARGIN_PX)
        if window is None:
            return []
        rows, columns = window
        inside, part = mask[rows, columns], rgb[rows, columns].copy()
        part[~inside] = part[inside].mean(0).astype(np.uint8)
        zoom = float(np.clip(_CROP_SIDE_PX / max(part.shape[:2]), 1.0, _MOST_ZOOM))
        size = (round(part.shape[1] * zoom), round(part.shape[0] * zoom))
        large = np.asarray(Image.fromarray(part).resize(size, Image.Resampling.BICUBIC))
        offset = np.array([columns.start, rows.start])
        lines = [replace(line, corners_px=line.corners_px / zoom + offset) for line in self._reader.read(large)]
        return [replace(line, cut=_cut(line.corners_px, mask)) for line in lines]


def _checked(mask: NDArray[np.bool_], frame: RgbdFrame) -> NDArray[np.bool_]:
    if mask.shape != frame.rgb.shape[:2]:
        raise UsageError(f"a mask is {mask.shape}, the picture {frame.rgb.shape[:2]}.", hint="Masks are (H, W) bool.")
    return mask.astype(bool, copy=False)


def _window(mask: NDArray[np.bool_], margin_px: int) -> tuple[slice, slice] | None:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if len(rows) == 0:
        return None
    top, left = max(int(rows[0]) - margin_px, 0), max(int(columns[0]) - margin_px, 0)
    bottom = min(int(rows[-1]) + 1 + margin_px, mask.shape[0])
    return slice(top, bottom), slice(left, min(int(columns[-1]) + 1 + margin_px, mask.shape[1]))


def _shares(corners_px: Array, masks: Sequence[NDArray[np.bool_]]) -> Array:
    """Return (m,) how much of a line's box each mask holds, by a grid of samples in it."""
    a, b, c, d = corners_px
    s, t = np.meshgrid((np.arange(12) + 0.5) / 12, (np.arange(5) + 0.5) / 5)
    s, t = s.reshape(-1, 1), t.reshape(-1, 1)
    at = (1 - t) * ((1 - s) * a + s * b) + t * ((1 - s) * d + s * c)
    height, width = masks[0].shape
    v, u = np.clip(at[:, 1].astype(int), 0, height - 1), np.clip(at[:, 0].astype(int), 0, width - 1)
    return np.array([mask[v, u].mean() for mask in masks])


def _cut(corners_px: Array, mask: NDArray[np.bool_]) -> tuple[bool, bool]:
    """Return whether a line's left and right end reach where its thing ends: whole print keeps a margin there."""
    a, b, c, d = corners_px
    left, right = (a + d) / 2, (b + c) / 2
    length = float(np.linalg.norm(right - left))
    if length < 1e-6:
        return True, True
    step = _MARGIN * np.linalg.norm(d - a) * (right - left) / length
    ends = []
    for at in (left - step, right + step):
        u, v = int(at[0]), int(at[1])
        inside = 0 <= v < mask.shape[0] and 0 <= u < mask.shape[1]
        ends.append(not (inside and bool(mask[v, u])))
    return ends[0], ends[1]


def _shape(frame: RgbdFrame, mask: NDArray[np.bool_], up: Array, label: Label) -> Shape:
    seen = patch(frame, mask)
    if seen is None:
        return Shape()
    towards = frame.camera.pose_world_camera.position_m - seen.points_m.mean(0)
    try:
        hidden = covered(frame, mask, up=up)
        likely = likely_packaging(label.words)
        return describe_points(seen.points_m, up=up, towards=towards, hidden=hidden.tolist(), likely=likely)
    except UsageError:
        return Shape()


def _described(label: Label, shape: Shape) -> Description:
    edible, sure = edible_of(label.words)
    return Description(
        label.text,
        content=content_of(label.words) if label.words else "",
        packaging=shape.packaging,
        edible=edible,
        orientation=shape.orientation,
        confidence=label.confidence * (0.7 + 0.3 * sure) if label.words else 0.1,
    )
