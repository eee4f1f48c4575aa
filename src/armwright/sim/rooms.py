"""A small room made of Gaussians, to try field backgrounds with where there is no reconstruction at hand."""

from __future__ import annotations

import numpy as np

from armwright.assets.randomise import PATTERNS, SurfaceLook
from armwright.core.pose import Array
from armwright.core.seeds import rng_for
from armwright.sim.gaussians import Float32, GaussianField, colour_field
from armwright.sim.textures import texture_image

_TEXTURE_PX = 256
_THICKNESS_M = 0.002
# Corner, two edges [m] and spacing of the Gaussians [m]: a table top at z = 0 around the arm, floor and four walls.
_TABLE = ((-0.25, -0.8, 0.0), (1.2, 0.0, 0.0), (0.0, 1.6, 0.0), 0.012)
_SHELL = (
    ((-2.0, -2.5, -0.75), (5.0, 0.0, 0.0), (0.0, 5.0, 0.0), 0.05),
    ((-2.0, -2.5, -0.75), (0.0, 5.0, 0.0), (0.0, 0.0, 2.6), 0.04),
    ((3.0, -2.5, -0.75), (0.0, 5.0, 0.0), (0.0, 0.0, 2.6), 0.04),
    ((-2.0, -2.5, -0.75), (5.0, 0.0, 0.0), (0.0, 0.0, 2.6), 0.04),
    ((-2.0, 2.5, -0.75), (5.0, 0.0, 0.0), (0.0, 0.0, 2.6), 0.04),
)


def room_field(seed: int) -> GaussianField:
    """Return a textured room with a table, metric and in the arm's base frame (anchor: scale 1, no offset).

    Args:
        seed: Decides textures and colours.
    """
    parts = [_sheet(k, seed, *sheet) for k, sheet in enumerate((_TABLE, *_SHELL))]
    mean, scale, turn, rgb = (np.concatenate([part[i] for part in parts]) for i in range(4))
    return colour_field(mean, scale, rgb, opacity=0.99, quat_wxyz=turn)


def _sheet(
    number: int,
    seed: int,
    corner_m: tuple[float, float, float],
    first_m: tuple[float, float, float],
    second_m: tuple[float, float, float],
    spacing_m: float,
) -> tuple[Float32, Float32, Float32, Float32]:
    """Cover a rectangle with flat Gaussians, coloured by a texture."""
    rng = rng_for(seed, "room", number)
    first, second = np.asarray(first_m), np.asarray(second_m)
    lengths = np.linalg.norm(first), np.linalg.norm(second)
    counts = [max(1, round(float(length) / spacing_m)) for length in lengths]
    u, v = (np.ravel(a) for a in np.meshgrid(*((np.arange(n) + 0.5) / n for n in counts), indexing="ij"))
    mean = np.asarray(corner_m) + u[:, None] * first + v[:, None] * second
    colours = rng.uniform(0.25, 0.95, (2, 3)).tolist()
    look = SurfaceLook(
        pattern=PATTERNS[int(rng.integers(len(PATTERNS)))],
        seed=int(rng.integers(2**31)),
        colours=(tuple(colours[0]), tuple(colours[1])),
        repeats=float(rng.integers(2, 7)),
    )
    image = texture_image(look, _TEXTURE_PX)
    rgb = image[(v * (_TEXTURE_PX - 1)).astype(int), (u * (_TEXTURE_PX - 1)).astype(int)] / 255.0
    size = np.where(np.abs(_normal(first, second)) > 0.5, _THICKNESS_M, 0.6 * spacing_m)
    turn = np.tile(np.array([1.0, 0.0, 0.0, 0.0]), (len(mean), 1))
    return (
        mean.astype(np.float32),
        np.tile(size, (len(mean), 1)).astype(np.float32),
        turn.astype(np.float32),
        rgb.astype(np.float32),
    )


def _normal(first: Array, second: Array) -> Array:
    cross = np.cross(first, second)
    return np.asarray(cross / np.linalg.norm(cross))
