"""Pictures with print on coloured packages, and a reader that returns given lines: for tests of describers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.pose import Pose
from armwright.perception.reading import TextLine

WIDTH, HEIGHT = 320, 200
BODIES = ("#8c2f2f", "#2f5a8c", "#2f7a46", "#6a4a86")


class Scripted:
    """A reader that returns given lines, whatever the picture; it counts how often it was asked."""

    def __init__(self, *lines: TextLine) -> None:
        self.lines = lines
        self.asked = 0

    def read(self, rgb: np.ndarray) -> list[TextLine]:
        """Return the lines."""
        self.asked += 1
        return list(self.lines) if self.asked == 1 else []


def line(text: str, left: float, top: float, *, height: float = 12.0, score: float = 0.99, width: float = 0.0):
    """Return a level line of print; 0.6 of its height per letter wide unless told."""
    right = left + (width or 0.6 * height * len(text))
    corners = np.array([(left, top), (right, top), (right, top + height), (left, top + height)], float)
    return TextLine(text, score, corners)


def packages(*texts: str, size: int = 15, pitch: int = 100) -> tuple[RgbdFrame, list[np.ndarray]]:
    """Return a picture of packages side by side, each with its words one under the other, and their masks."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), "#786e5a")
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=size)
    masks = []
    for k, text in enumerate(texts):
        left = 10 + k * pitch
        pen.rectangle((left, 30, left + pitch - 12, 170), fill=BODIES[k % len(BODIES)])
        mask = np.zeros((HEIGHT, WIDTH), bool)
        mask[30:171, left : left + pitch - 11] = True
        masks.append(mask)
        for row, word in enumerate(text.split()):
            pen.text((left + 6, 50 + row * (size + 8)), word, font=font, fill="white")
    return frame_of(np.asarray(picture)), masks


def frame_of(rgb: np.ndarray, depth_m: float = 0.6) -> RgbdFrame:
    """Return a frame whose depth is a wall, from a camera that looks along the world's +x, with z up."""
    height, width = rgb.shape[:2]
    turn = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    camera = CameraModel(width, height, 300.0, 300.0, width / 2, height / 2, Pose.from_rotation(turn, np.zeros(3)))
    return RgbdFrame(rgb, np.full((height, width), depth_m, np.float32), camera, 0.0)


def halves(count: int = 2) -> Sequence[np.ndarray]:
    """Return masks that share the picture in columns."""
    masks = np.zeros((count, HEIGHT, WIDTH), bool)
    for k in range(count):
        masks[k, :, k * WIDTH // count : (k + 1) * WIDTH // count] = True
    return list(masks)
