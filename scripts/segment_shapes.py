"""Shapes for the segmenter's renders: families of packaged goods as textured meshes, some held out for the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SIDES = 28


@dataclass(frozen=True, eq=False)
class Piece:
    """A mesh with one look: vertices (n, 3) [m], normals (n, 3), uv (n, 2), faces (m, 3), and which look it takes."""

    vertices: Array
    normals: Array
    uv: Array
    faces: NDArray[np.int32]
    look: int = 0


@dataclass(frozen=True, eq=False)
class Shape:
    """An object standing on z = 0 around the z axis.

    Attributes:
        family: Its name.
        pieces: Look 0 is the printed one, look 1 a plain cap or handle.
        footprint: (n, 2) points whose hull is its outline seen from above [m].
        height_m: Its top.
        flat: Whether it may lie on its side or carry others.
    """

    family: str
    pieces: tuple[Piece, ...]
    footprint: Array
    height_m: float
    flat: bool = False
    extent_m: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0))


def lathe(profile: list[tuple[float, float]], *, sides: int = SIDES, look: int = 0, squash: float = 1.0) -> Piece:
    """Turn (radius, height) pairs about z; creases stay sharp, ``squash`` scales y."""
    rings = np.asarray(profile, float)
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(rings, axis=0), axis=1))])
    length /= max(length[-1], 1e-9)
    vertices, normals, uv, faces = [], [], [], []
    for k in range(len(rings) - 1):
        (r0, z0), (r1, z1) = rings[k], rings[k + 1]
        out = np.array([z1 - z0, r0 - r1])
        norm = np.linalg.norm(out)
        if norm < 1e-9:
            continue
        out /= norm
        base = sum(len(v) for v in vertices)
        for r, z, t in ((r0, z0, length[k]), (r1, z1, length[k + 1])):
            x, y = np.cos(angle), np.sin(angle)
            vertices.append(np.stack([r * x, squash * r * y, np.full_like(x, z)], -1))
            n = np.stack([out[0] * x, out[0] * y / squash, np.full_like(x, out[1])], -1)
            normals.append(n / np.linalg.norm(n, axis=1, keepdims=True))
            uv.append(np.stack([angle / (2 * np.pi) * 2, np.full_like(x, 1 - t)], -1))
        i = np.arange(sides) + base
        j = i + sides + 1
        faces += [np.stack([i, i + 1, j + 1], -1), np.stack([i, j + 1, j], -1)]
    return Piece(*map(np.concatenate, (vertices, normals, uv)), np.concatenate(faces).astype(np.int32), look)


def polyhedron(corners: Array, sides: list[list[int]], *, look: int = 0) -> Piece:
    """Return a mesh of flat polygons given counterclockwise seen from outside, each with the whole texture on it."""
    vertices, normals, uv, faces = [], [], [], []
    for side in sides:
        p = corners[side]
        n = np.cross(p[1] - p[0], p[2] - p[0])
        if np.linalg.norm(n) < 1e-12:
            n = np.cross(p[2] - p[0], p[3] - p[0])
        n /= np.linalg.norm(n)
        up = np.array([0, 0, 1.0]) if abs(n[2]) < 0.9 else np.array([0, 1.0, 0])
        right = np.cross(up, n)
        right /= np.linalg.norm(right)
        up = np.cross(n, right)
        at = np.stack([p @ right, p @ up], -1)
        at = (at - at.min(0)) / np.maximum(np.ptp(at, axis=0), 1e-9)
        at[:, 1] = 1 - at[:, 1]
        base = sum(len(v) for v in vertices)
        vertices.append(p)
        normals.append(np.tile(n, (len(p), 1)))
        uv.append(at)
        faces.append(np.array([[base, base + k, base + k + 1] for k in range(1, len(p) - 1)]))
    return Piece(*map(np.concatenate, (vertices, normals, uv)), np.concatenate(faces).astype(np.int32), look)


def cuboid(x: float, y: float, z0: float, z1: float, *, look: int = 0, centre: tuple[float, float] = (0, 0)) -> Piece:
    """Return a box with half sides x, y from z0 to z1."""
    c = np.array([[sx * x + centre[0], sy * y + centre[1], z] for z in (z0, z1) for sy in (-1, 1) for sx in (-1, 1)])
    sides = [[0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6], [4, 5, 7, 6], [0, 2, 3, 1]]
    return polyhedron(c, sides, look=look)


def prism(outline: Array, z0: float, z1: float, *, top: float = 1.0, look: int = 0) -> Piece:
    """Return a prism over a convex outline (n, 2), counterclockwise, whose top is scaled."""
    n = len(outline)
    c = np.concatenate([np.c_[outline, np.full(n, z0)], np.c_[outline * top, np.full(n, z1)]])
    sides = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    return polyhedron(c, [*sides, list(range(n, 2 * n)), list(range(n))[::-1]], look=look)


def loft(levels: list[tuple[float, float, float]], *, sides: int = SIDES, look: int = 0) -> Piece:
    """Return a skin through ellipses (half width x, half depth y, height)."""
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    rings = [np.stack([a * np.cos(angle), b * np.sin(angle), np.full_like(angle, z)], -1) for a, b, z in levels]
    v = np.concatenate(rings)
    n = np.concatenate([np.stack([np.cos(angle) / a, np.sin(angle) / b, 0 * angle], -1) for a, b, _ in levels])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    z = v[:, 2]
    uv = np.stack([np.tile(angle / np.pi, len(levels)), 1 - (z - z.min()) / np.ptp(z)], -1)
    faces = []
    for k in range(len(levels) - 1):
        i = np.arange(sides) + k * (sides + 1)
        j = i + sides + 1
        faces += [np.stack([i, i + 1, j + 1], -1), np.stack([i, j + 1, j], -1)]
    return Piece(v, n, uv, np.concatenate(faces).astype(np.int32), look)


def bow(r: float, reach: float, z0: float, z1: float, thick: float, *, look: int = 1) -> Piece:
    """Return a C-shaped handle on the +x side of a body of radius r."""
    t = np.linspace(0, np.pi, 13)
    path = np.stack([r * 0.94 + reach * np.sin(t), 0 * t, (z0 + z1) / 2 - (z1 - z0) / 2 * np.cos(t)], -1)
    along = np.gradient(path, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.array([0, 1.0, 0])
    a = np.linspace(0, 2 * np.pi, 9)
    n = np.cos(a)[None, :, None] * np.cross(side, along)[:, None] + np.sin(a)[None, :, None] * side
    v = path[:, None] + thick * n
    uv = np.stack(np.broadcast_arrays(a[None] / 6, np.linspace(0, 1, len(t))[:, None]), -1)
    faces = []
    for k in range(len(t) - 1):
        i = np.arange(8) + k * 9
        faces += [np.stack([i, i + 1, i + 10], -1), np.stack([i, i + 10, i + 9], -1)]
    return Piece(v.reshape(-1, 3), n.reshape(-1, 3), uv.reshape(-1, 2), np.concatenate(faces).astype(np.int32), look)


def _round(r: float) -> Array:
    a = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    return r * np.stack([np.cos(a), np.sin(a)], -1)


def _rect(x: float, y: float) -> Array:
    return np.array([[-x, -y], [x, -y], [x, y], [-x, y]])


def _box(rng: np.random.Generator) -> Shape:
    x, y, h = rng.uniform(0.02, 0.075), rng.uniform(0.012, 0.05), rng.uniform(0.04, 0.24)
    return Shape("box", (cuboid(x, y, 0, h),), _rect(x, y), h, True, (x, y, h / 2))


def _carton(rng: np.random.Generator) -> Shape:
    x, y, h = rng.uniform(0.03, 0.05), rng.uniform(0.025, 0.045), rng.uniform(0.12, 0.22)
    cap = lathe([(0.0, h), (0.014, h), (0.014, h + 0.018), (0, h + 0.018)], look=1)
    return Shape("carton", (cuboid(x, y, 0, h), cap), _rect(x, y), h + 0.018, False, (x, y, h / 2))


def _can(rng: np.random.Generator) -> Shape:
    r, h, e = rng.uniform(0.025, 0.055), rng.uniform(0.04, 0.15), rng.uniform(0.001, 0.004)
    body = lathe([(0, 0), (r - e, 0), (r, e), (r, h - e), (r - e, h)])
    lid = lathe([(r - e, h), (r - 1.5 * e, h - 0.002), (0, h - 0.002)], look=1)
    return Shape("can", (body, lid), _round(r), h, True, (r, r, h / 2))


def _bottle(rng: np.random.Generator) -> Shape:
    r, h, s = rng.uniform(0.025, 0.045), rng.uniform(0.14, 0.29), rng.uniform(0.55, 0.8)
    n, c = rng.uniform(0.009, 0.016), rng.uniform(0.012, 0.03)
    squash = float(rng.choice([1.0, 1.0, rng.uniform(0.5, 0.8)]))
    mid = 0.5 * (r + n) + rng.uniform(-0.1, 0.25) * (r - n)
    neck = s + (1 - s) * rng.uniform(0.35, 0.7)
    body = lathe(
        [(0, 0), (r * 0.95, 0), (r, 0.006), (r, s * h), (mid, (s * 0.45 + neck * 0.55) * h), (n, neck * h), (n, h)],
        squash=squash,
    )
    cap = lathe([(n * 1.15, h - c * 0.4), (n * 1.15, h + c), (0, h + c)], look=1, squash=squash)
    return Shape("bottle", (body, cap), _round(r) * [1, squash], h + c, False, (r, r * squash, h / 2))


def _tub(rng: np.random.Generator) -> Shape:
    r, h, k = rng.uniform(0.03, 0.065), rng.uniform(0.04, 0.12), rng.uniform(1.05, 1.3)
    body = lathe([(0, 0), (r, 0), (r * k, h)])
    lid = lathe([(r * k, h), (r * k + 0.003, h), (r * k + 0.003, h + 0.008), (0, h + 0.008)], look=1)
    return Shape("tub", (body, lid), _round(r * k + 0.003), h + 0.008, True, (r, r, h / 2))


def _tube(rng: np.random.Generator) -> Shape:
    r, h, c = rng.uniform(0.017, 0.03), rng.uniform(0.11, 0.19), rng.uniform(0.012, 0.03)
    cap = lathe([(0, 0), (r * 0.8, 0), (r * 0.8, c), (0, c)], look=1)
    body = loft([(r * 0.85, r * 0.85, c), (r, r, c * 1.3), (r * 1.2, r * 0.55, h * 0.7), (r * 1.35, 0.0015, h)])
    return Shape("tube", (body, cap), np.concatenate([_round(r), _rect(r * 1.35, 0.002)]), h, False, (r, r, h / 2))


def _mug(rng: np.random.Generator) -> Shape:
    r, h, k = rng.uniform(0.032, 0.048), rng.uniform(0.07, 0.12), rng.uniform(0.85, 1.1)
    w = 0.004
    body = lathe([(0, 0), (r * k, 0), (r, h), (r - w, h), (r * k - w, w), (0, w)])
    reach, look = rng.uniform(0.02, 0.034), int(rng.integers(0, 2))
    handle = bow(r, reach, 0.2 * h, 0.8 * h, rng.uniform(0.003, 0.006), look=look)
    return Shape("mug", (body, handle), np.concatenate([_round(r), [[r + reach, 0.005], [r + reach, -0.005]]]), h)


def _jar(rng: np.random.Generator) -> Shape:
    r, h, n = rng.uniform(0.028, 0.05), rng.uniform(0.06, 0.15), rng.uniform(0.7, 0.9)
    c = rng.uniform(0.01, 0.022)
    body = lathe([(0, 0), (r * 0.94, 0), (r, 0.005), (r, h * 0.85), (r * n, h), (0, h)])
    lid = lathe([(r * n * 1.06, h - 0.002), (r * n * 1.06, h + c), (0, h + c)], look=1)
    return Shape("jar", (body, lid), _round(r), h + c, True, (r, r, h / 2))


def _ball(rng: np.random.Generator) -> Shape:
    r, k = rng.uniform(0.025, 0.045), rng.uniform(0.8, 1.25)
    t = np.linspace(0, np.pi, 13)
    body = lathe([(r * np.sin(a), r * k * (1 - np.cos(a))) for a in t])
    return Shape("ball", (body,), _round(r), 2 * r * k)


def _block(rng: np.random.Generator) -> Shape:
    x, h = rng.uniform(0.015, 0.04), rng.uniform(0.015, 0.05)
    y = x * rng.uniform(0.6, 1.0)
    return Shape("block", (cuboid(x, y, 0, h),), _rect(x, y), h, True, (x, y, h / 2))


def _pot(rng: np.random.Generator) -> Shape:
    r, h, w = rng.uniform(0.05, 0.08), rng.uniform(0.05, 0.09), 0.004
    body = lathe([(0, 0), (r * 0.95, 0), (r, 0.01), (r, h), (r - w, h), (r - w, w), (0, w)])
    handle = bow(r, rng.uniform(0.015, 0.025), 0.55 * h, 0.85 * h, 0.005)
    end = r + 0.025
    return Shape("pot", (body, handle), np.concatenate([_round(r), [[end, 0.005], [end, -0.005]]]), h)


def _sack(rng: np.random.Generator) -> Shape:
    x, y, h = rng.uniform(0.035, 0.06), rng.uniform(0.02, 0.035), rng.uniform(0.12, 0.2)
    body = loft(
        [(x * 0.9, y * 0.9, 0), (x, y, 0.02), (x, y, h * 0.75), (x * 0.8, y * 0.4, h * 0.92), (x * 0.8, 0.002, h)]
    )
    return Shape("sack", (body,), _rect(x, y), h)


def _gable(rng: np.random.Generator) -> Shape:
    x, y, h = rng.uniform(0.03, 0.045), rng.uniform(0.03, 0.045), rng.uniform(0.13, 0.2)
    g, f = h * rng.uniform(0.15, 0.25), 0.014
    c = np.array(
        [[sx * x, sy * y, z] for z in (0, h) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        + [[-x, 0, h + g], [x, 0, h + g]]
    )
    sides = [[0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7], [4, 5, 9, 8], [6, 7, 8, 9], [5, 6, 9], [7, 4, 8]]
    fin = cuboid(x, 0.0015, h + g, h + g + f, look=1)
    return Shape("gable carton", (polyhedron(c, sides), fin), _rect(x, y), h + g + f, False, (x, y, h / 2))


def _hexagon(rng: np.random.Generator) -> Shape:
    r, h = rng.uniform(0.03, 0.055), rng.uniform(0.06, 0.16)
    a = np.arange(6) * np.pi / 3
    outline = r * np.stack([np.cos(a), np.sin(a)], -1)
    lid = prism(outline * 1.03, h, h + 0.014, look=1)
    return Shape("hexagonal tin", (prism(outline, 0, h), lid), outline * 1.03, h + 0.014, True, (r, r, h / 2))


def _pouch(rng: np.random.Generator) -> Shape:
    x, y, h = rng.uniform(0.04, 0.065), rng.uniform(0.018, 0.032), rng.uniform(0.11, 0.19)
    body = loft([(x * 0.8, y, 0), (x * 0.95, y * 0.95, h * 0.25), (x, y * 0.5, h * 0.7), (x, 0.002, h)])
    spout = lathe([(0.008, h - 0.003), (0.008, h + 0.012), (0, h + 0.012)], look=1)
    return Shape("pouch", (body, spout), _rect(x, y), h + 0.012)


def _spray(rng: np.random.Generator) -> Shape:
    r, h = rng.uniform(0.028, 0.04), rng.uniform(0.14, 0.19)
    body = lathe([(0, 0), (r, 0), (r, 0.62 * h), (0.014, 0.9 * h), (0.014, h)], squash=0.7)
    head = cuboid(0.026, 0.012, h, h + 0.03, look=1, centre=(0.01, 0))
    trigger = cuboid(0.004, 0.008, h - 0.035, h, look=1, centre=(0.03, 0))
    return Shape("spray bottle", (body, head, trigger), _rect(r + 0.004, r * 0.7), h + 0.03)


def _bowl(rng: np.random.Generator) -> Shape:
    r, h, w = rng.uniform(0.05, 0.08), rng.uniform(0.035, 0.06), 0.004
    t = np.linspace(0.35, np.pi / 2, 7)
    outer = [(r * np.sin(a), h * (1 - np.cos(a)) / (1 - np.cos(np.pi / 2))) for a in t]
    inner = [(max(a - w, 0.001), b + w * 0.7) for a, b in outer[::-1]]
    return Shape("bowl", (lathe([(0, outer[0][1]), *outer, *inner, (0, inner[-1][1])]),), _round(r), h)


TRAIN_FAMILIES: dict[str, Callable[[np.random.Generator], Shape]] = {
    "box": _box,
    "carton": _carton,
    "can": _can,
    "bottle": _bottle,
    "tub": _tub,
    "tube": _tube,
    "mug": _mug,
    "jar": _jar,
    "ball": _ball,
    "block": _block,
    "pot": _pot,
    "sack": _sack,
}
HELD_OUT_FAMILIES: dict[str, Callable[[np.random.Generator], Shape]] = {
    "gable carton": _gable,
    "hexagonal tin": _hexagon,
    "pouch": _pouch,
    "spray bottle": _spray,
    "bowl": _bowl,
}
