"""Texture images: procedural patterns in two colours, and files, as small square arrays."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.assets.randomise import ImageFile, SurfaceLook
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.core.seeds import rng_for

Image = NDArray[np.uint8]
# The kinds of files that a texture folder may hold; other formats that Pillow reads are rarely meant.
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")


def texture_image(look: SurfaceLook, px: int) -> Image:
    """Return the texture as an image (px, px, 3) that repeats without a seam where the pattern has none.

    Raises:
        UsageError: It is a file that is gone, has changed, or is no image.
    """
    if look.image is not None:
        return _file_image(look.image.path, look.image.sha256, px)
    pattern = {"noise": _noise, "checker": _checker, "wood": _wood, "stripes": _stripes}[look.pattern]
    mix = np.clip(pattern(rng_for(look.seed, "texture"), max(1, round(look.repeats)), px), 0.0, 1.0)[..., None]
    first, second = (np.asarray(colour) for colour in look.colours)
    return np.asarray((255.0 * (first + mix * (second - first)) + 0.5).astype(np.uint8))


def _grid(px: int) -> tuple[Array, Array]:
    axis = (np.arange(px) + 0.5) / px
    u, v = np.meshgrid(axis, axis)
    return u, v


def _smooth_noise(rng: np.random.Generator, cells: int, px: int) -> Array:
    """Return (px, px) periodic value noise in [0, 1] with ``cells`` cells a side."""
    values = rng.random((cells, cells))
    at = (np.arange(px) + 0.5) / px * cells
    low = at.astype(int) % cells
    high = (low + 1) % cells
    t = at - np.floor(at)
    t = t * t * (3.0 - 2.0 * t)
    rows = values[:, low] * (1 - t) + values[:, high] * t
    return np.asarray(rows[low] * (1 - t)[:, None] + rows[high] * t[:, None])


def _noise(rng: np.random.Generator, repeats: int, px: int) -> Array:
    octaves = [0.5**k * _smooth_noise(rng, repeats * 2**k, px) for k in range(4)]
    total = np.sum(octaves, axis=0)
    return np.asarray((total - total.min()) / max(float(np.ptp(total)), 1e-9))


def _checker(rng: np.random.Generator, repeats: int, px: int) -> Array:
    u, v = _grid(px)
    return ((np.floor(2 * repeats * u) + np.floor(2 * repeats * v)) % 2).astype(float)


def _stripes(rng: np.random.Generator, repeats: int, px: int) -> Array:
    u, v = _grid(px)
    along, across = int(rng.integers(0, 2)) * repeats, repeats
    duty = rng.uniform(0.3, 0.7)
    return ((across * u + along * v) % 1.0 < duty).astype(float)


def _wood(rng: np.random.Generator, repeats: int, px: int) -> Array:
    v = _grid(px)[1]
    bend = _smooth_noise(rng, 3, px)
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (repeats * v + 1.5 * bend))
    fibre = _smooth_noise(rng, max(8, px // 4), px)
    return np.asarray(0.75 * rings**2 + 0.25 * fibre)


@lru_cache(maxsize=64)
def _file_image(path: str, sha256: str, px: int) -> Image:
    if hash_file(Path(path)) != sha256:
        raise UsageError(
            f"the texture {path} has changed since the looks were drawn.", hint="Put the file back that it was."
        )
    image = read_image(Path(path))
    side = min(image.shape[:2])
    top, left = (image.shape[0] - side) // 2, (image.shape[1] - side) // 2
    from PIL import Image as Pillow

    square = Pillow.fromarray(image[top : top + side, left : left + side])
    return np.asarray(square.resize((px, px), Pillow.Resampling.BOX if side > px else Pillow.Resampling.BILINEAR))


def read_image(path: Path) -> Image:
    """Read a picture as (H, W, 3).

    Raises:
        UsageError: It cannot be read, or is no picture.
    """
    from PIL import Image as Pillow

    try:
        with Pillow.open(path) as opened:
            return np.asarray(opened.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Pillow.DecompressionBombError) as error:
        raise UsageError(
            f"{path} is not a picture that can be read: {error}.",
            hint=f"Take it out of the folder, or save it again as one of {', '.join(SUFFIXES)}.",
        ) from error


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}.", hint="Give a file that exists.") from error


def folder_images(folder: Path) -> tuple[ImageFile, ...]:
    """Return the pictures of a folder by name, every one of them opened and decoded.

    Raises:
        UsageError: It is no folder, holds no pictures, or holds something else.
    """
    if not folder.is_dir():
        raise UsageError(f"the texture folder {folder} is not a folder.", hint="Name a folder of pictures.")
    found: list[Any] = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    other = [path.name for path in found if not path.is_file() or path.suffix.lower() not in SUFFIXES]
    if other:
        raise UsageError(
            f"the texture folder {folder} holds {len(other)} that are no pictures: {', '.join(other[:5])}.",
            hint=f"Leave only {', '.join(SUFFIXES)} in it.",
        )
    if not found:
        raise UsageError(f"the texture folder {folder} is empty.", hint=f"Put {', '.join(SUFFIXES)} into it.")
    for path in found:
        read_image(path)
    return tuple(ImageFile(path=str(path.absolute()), sha256=hash_file(path)) for path in found)
