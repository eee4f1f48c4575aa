"""Printed labels: the words as large as the face allows, on a panel kept clear, among decoration, drawn with Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

PX_PER_M = 2000.0
"""Resolution of what is printed: half a millimetre, a third of what a 640-pixel camera sees from half a metre."""
CAP_M = 0.016
"""Tallest capitals [m]; the words are smaller where the face is too small for that."""
SMALL_CAP_M = 0.010
"""Words that would be smaller than this are set in whichever typeface makes them tallest [m]."""
LEAST_CONTRAST = 4.5
"""Of words to ground, as WCAG counts it for text; below it the words are drawn black or white."""
_FACES = ("DejaVuSans-Bold.ttf", "DejaVuSansMono-Bold.ttf", "DejaVuSerif-Bold.ttf", "DejaVuSans.ttf")
_PITCH = 1.5
"""Distance of lines in heights of a capital."""

Rgb = tuple[int, int, int]
Picture = NDArray[np.uint8]


def rgb(colour: str) -> Rgb:
    """Return a ``#rrggbb`` colour as three bytes."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def contrast(a: Rgb, b: Rgb) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2, relative luminance)."""
    light = sorted((_luminance(a), _luminance(b)))
    return (light[1] + 0.05) / (light[0] + 0.05)


def readable(ink: Rgb, ground: Rgb) -> Rgb:
    """Return the ink, or black or white where it cannot be read on the ground."""
    if contrast(ink, ground) >= LEAST_CONTRAST:
        return ink
    black, white = (20, 20, 20), (250, 250, 250)
    return max((black, white), key=lambda c: contrast(c, ground))


def draw_label(
    words: Sequence[str],
    size_m: tuple[float, float],
    *,
    ground: Rgb,
    ink: Rgb,
    style: np.random.Generator,
    text_width_m: float | None = None,
    plain: bool = False,
) -> Picture:
    """Draw one face.

    Args:
        words: In reading order; lines break between words.
        size_m: Width and height of the face [m].
        ground, ink: Colours of the product.
        style: Chooses typeface, panel and decoration; no word depends on it.
        text_width_m: Width that the words may take, where the face curves away [m].
        plain: Words only.

    Returns:
        (h, w, 3) uint8.
    """
    width, height = (max(8, round(edge * PX_PER_M)) for edge in size_m)
    image = Image.new("RGB", (width, height), ground)
    draw = ImageDraw.Draw(image)
    face = int(style.integers(len(_FACES)))
    layout = int(style.integers(4))
    room = 0.90 * min(size_m[0], text_width_m or size_m[0]) * PX_PER_M
    lines, cap = set_words(words, face, room, 0.62 * height)
    if cap < SMALL_CAP_M * PX_PER_M:
        face = max(range(len(_FACES)), key=lambda f: set_words(words, f, room, 0.62 * height)[1])
        lines, cap = set_words(words, face, room, 0.62 * height)
    block = cap * (1 + _PITCH * (len(lines) - 1))
    middle = height * (0.5 if plain else float(style.uniform(0.38, 0.5)))
    top, bottom = middle - block / 2 - 0.7 * cap, middle + block / 2 + 0.7 * cap
    if not plain:
        top, bottom = max(top, 0.06 * height), min(bottom, 0.94 * height)
        middle = (top + bottom) / 2
        _decorate(draw, (width, height), (top, bottom), ground, ink, layout, style)
    text = readable(ink, ground)
    if layout == 1 and not plain:
        draw.rectangle((0.03 * width, top, 0.97 * width, bottom), fill=ink)
        text = readable(ground, ink)
    _write(draw, lines, face, cap, (width / 2, middle - block / 2), text)
    return np.asarray(image)


def set_words(words: Sequence[str], face: int, width_px: float, height_px: float) -> tuple[list[str], float]:
    """Break words into lines such that their capitals are tallest; return the lines and that height [px]."""
    best: tuple[float, int, list[str]] | None = None
    for breaks in product((False, True), repeat=len(words) - 1):
        ends = [0, *(k + 1 for k, cut in enumerate(breaks) if cut), len(words)]
        lines = [" ".join(words[a:b]) for a, b in pairwise(ends)]
        wide = max(_relative_width(line, face) for line in lines)
        cap = min(CAP_M * PX_PER_M, width_px / wide, height_px / (1 + _PITCH * (len(lines) - 1)))
        if best is None or (round(cap, 3), -len(lines)) > (round(best[0], 3), best[1]):
            best = cap, -len(lines), lines
    assert best is not None
    return best[2], best[0]


def _write(
    draw: ImageDraw.ImageDraw, lines: Sequence[str], face: int, cap: float, at: tuple[float, float], ink: Rgb
) -> None:
    font = _font(face, max(4, round(cap / _cap_share(face))))
    x, y = at
    for k, line in enumerate(lines):
        draw.text((x, y + cap * (1 + k * _PITCH)), line, font=font, fill=ink, anchor="ms")


def _decorate(
    draw: ImageDraw.ImageDraw,
    size: tuple[int, int],
    clear: tuple[float, float],
    ground: Rgb,
    ink: Rgb,
    layout: int,
    style: np.random.Generator,
) -> None:
    """Draw bands, stripes, discs and lines of small print above and below the words."""
    width, height = size
    top, bottom = clear
    soft = _mix(ground, ink, float(style.uniform(0.25, 0.55)))
    if layout in (0, 1):
        draw.rectangle((0, 0, width, min(0.08 * height, top)), fill=soft)
        draw.rectangle((0, max(0.93 * height, bottom), width, height), fill=ink)
    elif layout == 2:
        step = max(6.0, 0.08 * width)
        for x in np.arange(0.0, width + 1, step):
            draw.rectangle((x, bottom + 0.3 * (height - bottom), x + 0.5 * step, height), fill=soft)
    else:
        draw.polygon(((0, 0), (width, 0), (width, 0.4 * top), (0, 0.9 * top)), fill=soft)
    room = height - bottom
    if room > 0.25 * height:
        radius = min(0.28 * width, 0.32 * room)
        x = width / 2 + float(style.uniform(-0.12, 0.12)) * width
        y = bottom + 0.42 * room
        other = _mix(ink, (255, 255, 255), 0.3) if layout % 2 else _mix(soft, (255, 220, 90), 0.4)
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=other)
        small = 0.6 * radius
        draw.ellipse((x - small, y - 0.5 * small, x + small, y + small), fill=_mix(other, ground, 0.5))
    for k in range(int(style.integers(0, 3))):
        y = height - 5 - 5 * k
        if y > bottom + 4:
            draw.line((0.15 * width, y, 0.85 * width, y), fill=_mix(ground, ink, 0.6))


def _mix(a: Rgb, b: Rgb, share: float) -> Rgb:
    red, green, blue = (round(x + share * (y - x)) for x, y in zip(a, b, strict=True))
    return red, green, blue


def _luminance(colour: Rgb) -> float:
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@lru_cache(maxsize=256)
def _relative_width(text: str, face: int) -> float:
    """Return the width of a text in heights of a capital."""
    return float(_font(face, 100).getlength(text)) / (100 * _cap_share(face))


@lru_cache(maxsize=8)
def _cap_share(face: int) -> float:
    """Return the height of a capital as a share of the font's size."""
    _, top, _, bottom = _font(face, 200).getbbox("H", anchor="ls")
    return float(bottom - top) / 200


@lru_cache(maxsize=256)
def _font(face: int, size_px: int) -> Any:
    folder = _font_folder()
    if folder is not None and (folder / _FACES[face]).is_file():
        return ImageFont.truetype(str(folder / _FACES[face]), size_px)
    return ImageFont.load_default(size_px)


@lru_cache(maxsize=1)
def _font_folder() -> Path | None:
    """Return where matplotlib, which toppra brings along, keeps its typefaces; None leaves Pillow's own."""
    spec = find_spec("matplotlib")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "mpl-data" / "fonts" / "ttf"
