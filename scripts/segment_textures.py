"""Pictures printed on the segmenter's objects: patterns and words, some of them and some typefaces held out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Picture = NDArray[np.uint8]
PX = 128
TRAIN_FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSerif-Bold.ttf")
HELD_OUT_FONTS = ("DejaVuSansMono-Bold.ttf", "DejaVuSerifCondensed-BoldItalic.ttf")


@lru_cache(maxsize=64)
def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(name, size)


def colour(rng: np.random.Generator) -> tuple[int, int, int]:
    """Draw a colour: vivid, pale, dark or grey."""
    kind = rng.random()
    if kind < 0.5:
        c = rng.uniform(20, 255, 3)
    elif kind < 0.72:
        c = rng.uniform(190, 255) - rng.uniform(0, 50, 3)
    elif kind < 0.86:
        c = rng.uniform(5, 80, 3)
    else:
        c = np.full(3, rng.uniform(15, 245)) + rng.uniform(-8, 8, 3)
    r, g, b = (int(v) for v in np.clip(c, 0, 255))
    return r, g, b


def _grid() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    v, u = np.mgrid[0:PX, 0:PX] / PX
    return u, v


def _mix(mask: NDArray[np.float64], rng: np.random.Generator) -> Picture:
    a, b = np.array(colour(rng), float), np.array(colour(rng), float)
    return (a + np.clip(mask, 0, 1)[..., None] * (b - a)).astype(np.uint8)


def noise(rng: np.random.Generator, cells: int) -> NDArray[np.float64]:
    """Return smooth noise (PX, PX) in [0, 1]."""
    small = (rng.random((cells, cells)) * 255).astype(np.uint8)
    return np.asarray(Image.fromarray(small).resize((PX, PX), Image.Resampling.BICUBIC)) / 255.0


def _word(rng: np.random.Generator) -> str:
    letters = "bcdfghklmnprstvwz"
    out = "".join(rng.choice(list(letters)) + rng.choice(list("aeiou")) for _ in range(int(rng.integers(1, 4))))
    return out.upper() if rng.random() < 0.6 else out.capitalize()


def _plain(rng: np.random.Generator) -> Picture:
    return _mix(noise(rng, 3) * rng.uniform(0, 0.15), rng)


def _stripes(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    return _mix(((rng.integers(0, 3) * u + rng.integers(1, 6) * v) % 1 < rng.uniform(0.2, 0.7)).astype(float), rng)


def _checks(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    n = rng.integers(2, 7)
    return _mix(((np.floor(u * n) + np.floor(v * n)) % 2).astype(float), rng)


def _clouds(rng: np.random.Generator) -> Picture:
    return _mix(noise(rng, 4) * 0.6 + noise(rng, 12) * 0.4, rng)


def _dots(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    n = rng.integers(2, 6)
    return _mix((((u * n) % 1 - 0.5) ** 2 + ((v * n) % 1 - 0.5) ** 2 < rng.uniform(0.05, 0.16)).astype(float), rng)


def _bands(rng: np.random.Generator) -> Picture:
    out = np.empty((PX, PX, 3), np.uint8)
    cuts = np.sort(rng.integers(0, PX, int(rng.integers(1, 4))))
    for a, b in zip([0, *cuts], [*cuts, PX], strict=True):
        out[a:b] = colour(rng)
    return out


def _fade(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    return _mix(v if rng.random() < 0.6 else 0.5 * u + 0.5 * v, rng)


def _cells(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    at = rng.random((int(rng.integers(5, 14)), 2))
    near = ((u[..., None] - at[:, 0]) ** 2 + (v[..., None] - at[:, 1]) ** 2).argmin(-1)
    return np.array([colour(rng) for _ in at], np.uint8)[near]


def _printed(rng: np.random.Generator, ground: Picture, fonts: tuple[str, ...]) -> Picture:
    image = Image.fromarray(ground)
    draw = ImageDraw.Draw(image)
    if rng.random() < 0.6:
        x, y = rng.integers(0, 40), rng.integers(5, 60)
        box = [int(x), int(y), int(x + rng.integers(50, 110)), int(y + rng.integers(25, 65))]
        (draw.ellipse if rng.random() < 0.3 else draw.rectangle)(box, fill=colour(rng))
    for _ in range(int(rng.integers(1, 4))):
        font = _font(str(rng.choice(fonts)), int(rng.integers(12, 40)))
        draw.text((int(rng.integers(-5, 50)), int(rng.integers(0, 100))), _word(rng), font=font, fill=colour(rng))
    if rng.random() < 0.4:
        font, ink = _font(fonts[0], 7), colour(rng)
        y = int(rng.integers(60, 95))
        for k in range(4):
            draw.text(
                (int(rng.integers(4, 12)), y + 8 * k), " ".join(_word(rng) for _ in range(4)), font=font, fill=ink
            )
    if rng.random() < 0.5:
        x, y, s = (int(k) for k in rng.integers([0, 0, 10], [100, 100, 40]))
        draw.ellipse([x, y, x + s, y + s], fill=colour(rng))
    return np.asarray(image)


def _label(rng: np.random.Generator) -> Picture:
    return _printed(rng, [_plain, _bands, _fade][int(rng.integers(0, 3))](rng), TRAIN_FONTS)


def _busy_label(rng: np.random.Generator) -> Picture:
    return _printed(rng, [_clouds, _cells, _stripes][int(rng.integers(0, 3))](rng), TRAIN_FONTS)


def _chevrons(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    n = rng.integers(2, 6)
    return _mix(((v * n + np.abs((u * n) % 1 - 0.5) * 1.5) % 1 < rng.uniform(0.3, 0.6)).astype(float), rng)


def _plaid(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    n, w = rng.integers(2, 5), rng.uniform(0.2, 0.5)
    return _mix(0.5 * ((u * n) % 1 < w) + 0.5 * ((v * n) % 1 < w), rng)


def _rings(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    x, y = rng.random(2)
    return _mix(0.5 + 0.5 * np.sin(np.hypot(u - x, v - y) * rng.uniform(15, 50)), rng)


def _marble(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    return _mix(0.5 + 0.5 * np.sin(20 * u + 8 * v + 6 * noise(rng, 4) + 4 * noise(rng, 9)), rng)


def _code_label(rng: np.random.Generator) -> Picture:
    picture = _printed(rng, _plain(rng), HELD_OUT_FONTS).copy()
    x, y, w = (int(k) for k in rng.integers([5, 60, 30], [60, 90, 60]))
    bars = np.repeat(rng.integers(0, 2, w), 2)[: PX - x - 2] * 235 + 10
    picture[y : y + 28, x : x + len(bars)] = bars[None, :, None]
    return picture


def _diamond_label(rng: np.random.Generator) -> Picture:
    u, v = _grid()
    ground = _mix(((np.abs((u * 3) % 1 - 0.5) + np.abs((v * 3) % 1 - 0.5)) < rng.uniform(0.3, 0.6)).astype(float), rng)
    return _printed(rng, ground, HELD_OUT_FONTS)


TRAIN_TEXTURES: dict[str, Callable[[np.random.Generator], Picture]] = {
    "plain": _plain,
    "stripes": _stripes,
    "checks": _checks,
    "clouds": _clouds,
    "dots": _dots,
    "bands": _bands,
    "fade": _fade,
    "cells": _cells,
    "label": _label,
    "label again": _label,
    "busy label": _busy_label,
}
HELD_OUT_TEXTURES: dict[str, Callable[[np.random.Generator], Picture]] = {
    "chevrons": _chevrons,
    "plaid": _plaid,
    "rings": _rings,
    "marble": _marble,
    "bar code label": _code_label,
    "diamond label": _diamond_label,
}


def wood(rng: np.random.Generator) -> Picture:
    """Draw boards, table tops and walls: fibres, stains, tiles or one plain colour."""
    kind = rng.random()
    if kind < 0.35:
        u, _ = _grid()
        mask = 0.5 + 0.3 * np.sin(40 * u + 9 * noise(rng, 4)) + 0.2 * (noise(rng, 40) - 0.5)
        a = np.array(colour(rng), float)
        return np.clip(a + (mask[..., None] - 0.5) * rng.uniform(20, 90), 0, 255).astype(np.uint8)
    if kind < 0.7:
        a = np.array(colour(rng), float)
        return np.clip(a + (noise(rng, 6)[..., None] - 0.5) * rng.uniform(0, 50), 0, 255).astype(np.uint8)
    return TRAIN_TEXTURES[str(rng.choice(["plain", "clouds", "checks", "stripes", "fade"]))](rng)
