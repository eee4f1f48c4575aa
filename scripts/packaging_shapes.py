"""Random packages as lofted meshes, and the points that one noisy depth view shows of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel
from armwright.core.pose import Array, Pose
from armwright.perception.draw import draw
from armwright.perception.surface import Surface

AROUND = 40
SIDE_PX = 140
FOCAL_PX = 579.0


@dataclass(frozen=True)
class Loft:
    """Sections along z: half width, half depth, exponent of the outline (2 is an ellipse, high is a box)."""

    heights: Array
    half_width: Array
    half_depth: Array
    exponent: Array

    def mesh(self) -> tuple[Array, NDArray[np.int32]]:
        """Return vertices (n, 3) and faces (f, 3), with both ends closed."""
        angle = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
        c, s = np.cos(angle), np.sin(angle)
        rings = []
        for z, w, d, p in zip(self.heights, self.half_width, self.half_depth, self.exponent, strict=True):
            # The outline by rays from the middle, so that boxes get their corners.
            r = (np.abs(c) ** p + np.abs(s) ** p) ** (-1 / p)
            rings.append(np.stack([d * r * c, w * r * s, np.full(AROUND, z)], 1))
        n = len(rings)
        middles = [[0, 0, self.heights[0]], [0, 0, self.heights[-1]]]
        points = np.concatenate([*rings, np.array(middles, float)])
        k = np.arange(AROUND)
        after = (k + 1) % AROUND
        faces = []
        for i in range(n - 1):
            a, b = i * AROUND, (i + 1) * AROUND
            faces += [np.stack([a + k, a + after, b + after], 1), np.stack([a + k, b + after, b + k], 1)]
        bottom, top = n * AROUND, n * AROUND + 1
        faces.append(np.stack([np.full(AROUND, bottom), after, k], 1))
        last = (n - 1) * AROUND
        faces.append(np.stack([np.full(AROUND, top), last + k, last + after], 1))
        return points, np.concatenate(faces).astype(np.int32)


def _straight(height: float, width: float, depth: float, exponent: float) -> Loft:
    two = np.ones(2)
    return Loft(np.array([0.0, height]), two * width / 2, two * depth / 2, two * exponent)


def box(rng: np.random.Generator) -> list[Loft]:
    """A cuboid with sharp edges."""
    width, depth = rng.uniform(0.04, 0.2), rng.uniform(0.025, 0.09)
    height = rng.uniform(max(0.6 * width, 0.9 * depth), 0.3)
    return [_straight(height, width, depth, 80.0)]


def carton(rng: np.random.Generator) -> list[Loft]:
    """A gabled carton, a brick with a cap, or a plain slender brick."""
    width, depth = rng.uniform(0.045, 0.11), rng.uniform(0.035, 0.1)
    kind = rng.uniform()
    if kind < 0.6:
        height = rng.uniform(1.3, 3.2) * width
        roof = rng.uniform(0.3, 0.75) * depth
        fin = rng.uniform(0.005, 0.02)
        thin = 0.002
        z = np.array([0.0, height - roof - fin, height - fin, height])
        d = np.array([depth / 2, depth / 2, thin, thin])
        return [Loft(z, np.full(4, width / 2), d, np.full(4, 80.0))]
    height = rng.uniform(1.2, 3.0) * width
    parts = [_straight(height, width, depth, 80.0)]
    if kind < 0.93:
        radius, tall = rng.uniform(0.009, min(0.02, 0.4 * depth)), rng.uniform(0.006, 0.022)
        at = rng.uniform(-0.3, 0.3) * width
        parts.append(_moved(_straight(tall, 2 * radius, 2 * radius, 2.0), at, height))
    return parts


@dataclass(frozen=True)
class _Moved(Loft):
    y: float = 0.0

    def mesh(self) -> tuple[Array, NDArray[np.int32]]:
        points, faces = super().mesh()
        return points + np.array([0.0, self.y, 0.0]), faces


def _moved(loft: Loft, y: float, z: float) -> Loft:
    return _Moved(loft.heights + z, loft.half_width, loft.half_depth, loft.exponent, y)


def can(rng: np.random.Generator) -> list[Loft]:
    """A cylinder, mostly with rims; now and then flat, oval or with a domed shoulder."""
    radius = rng.uniform(0.022, 0.06)
    height = float(np.clip(rng.uniform(0.5, 3.2) * 2 * radius, 0.025, 0.22))
    squash = rng.uniform(0.55, 0.95) if rng.uniform() < 0.15 else 1.0
    rim, cut = rng.uniform(0.002, 0.005), rng.uniform(0.0, 0.003)
    z = np.array([0.0, rim, rim + 0.001, height - rim - 0.001, height - rim, height])
    r = np.array([radius, radius, radius - cut, radius - cut, radius, radius])
    if rng.uniform() < 0.2:
        r[-1] = r[-2] = radius * rng.uniform(0.8, 0.95)
        z[-2] = height - 0.003
        z[-3] = height - rng.uniform(0.006, 0.015)
    return [Loft(z, r, squash * r, np.full(6, 2.0))]


def bottle(rng: np.random.Generator) -> list[Loft]:
    """A body, a shoulder, a neck and a cap; jars have wide necks."""
    radius = rng.uniform(0.022, 0.06)
    squash = rng.uniform(0.45, 0.95) if rng.uniform() < 0.35 else 1.0
    round_body = rng.uniform() < 0.75
    exponent = 2.0 if round_body else rng.uniform(3.0, 9.0)
    jar = rng.uniform() < 0.12
    height = rng.uniform(1.2, 1.9) * 2 * radius if jar else rng.uniform(1.7, 4.5) * 2 * radius
    height = float(np.clip(height, 0.07, 0.34))
    neck = radius * squash * (rng.uniform(0.7, 0.88) if jar else rng.uniform(0.2, 0.6))
    cap_high = rng.uniform(0.01, 0.03)
    shoulder = min(rng.uniform(0.3, 1.4) * (radius - neck) + 0.006, 0.4 * height)
    free = rng.uniform(0.0, 0.06) * height
    body = height - cap_high - free - shoulder
    t = np.linspace(0, 1, 6)
    bent = np.cos(t * np.pi / 2) if rng.uniform() < 0.5 else (1 + np.cos(t * np.pi)) / 2
    z = np.concatenate([[0.0, 0.06 * body], body + shoulder * t, [height - cap_high - 1e-4, height - cap_high, height]])
    r = np.concatenate([[0.95 * radius, radius], neck + (radius - neck) * bent, [neck, neck * 1.15, neck * 1.15]])
    if rng.uniform() < 0.25:
        # A waist.
        z = np.insert(z, 2, 0.5 * body)
        r = np.insert(r, 2, rng.uniform(0.85, 1.0) * radius)
    share = np.clip((r - neck) / max(radius - neck, 1e-6), 0, 1)
    d = r * (1 + (squash - 1) * share)
    p = 2 + (exponent - 2) * share
    return [Loft(z, r, d, p)]


def tube(rng: np.random.Generator) -> list[Loft]:
    """A squeeze tube: round at its cap, flat at its seam; it stands on its cap."""
    depth = rng.uniform(0.025, 0.055)
    width = depth * rng.uniform(1.1, 1.57)
    height = rng.uniform(2.2, 5.0) * depth
    cap_high, cap = rng.uniform(0.1, 0.22) * height, rng.uniform(0.3, 0.5) * depth
    seam = rng.uniform(0.004, 0.014)
    s = np.linspace(0, 1, 9)
    flat = s ** rng.uniform(0.6, 1.6)
    body = cap_high + rng.uniform(0.0, 0.01)
    z = np.concatenate([[0.0, cap_high], body + 1e-4 + (height - seam - body) * s, [height]])
    thin = 0.0015
    d = depth / 2 * np.sqrt(np.clip(1 - flat, 0, 1))
    d = np.maximum(d, thin)
    w = depth / 2 + (width - depth) / 2 * flat
    half_d, half_w = np.concatenate([[cap, cap], d, [thin]]), np.concatenate([[cap, cap], w, [width / 2]])
    return [Loft(z, half_w, half_d, np.full(len(z), 2.0))]


KINDS = {"box": box, "bottle": bottle, "can": can, "carton": carton, "tube": tube}
_LIES = {"box": 0.3, "carton": 0.3, "bottle": 0.04, "can": 0.04, "tube": 0.04}


@dataclass(frozen=True)
class Example:
    """One view of a package.

    Attributes:
        points_m: (n, 3) with z up.
        towards: (3,) to the camera.
        hidden: (4,) how far its left, right, lower and upper outline is cut off.
        packaging, orientation: What it is.
    """

    points_m: Array
    towards: Array
    hidden: Array
    packaging: str
    orientation: str


def sample(rng: np.random.Generator) -> Example:
    """Draw one view."""
    kind = str(rng.choice(sorted(KINDS)))
    parts = [loft.mesh() for loft in KINDS[kind](rng)]
    lies = rng.uniform() < _LIES[kind]
    offset, points, faces = 0, [], []
    for p, f in parts:
        points.append(p)
        faces.append(f + offset)
        offset += len(p)
    vertices = np.concatenate(points)
    if lies:
        vertices = np.stack([vertices[:, 2], vertices[:, 1], -vertices[:, 0]], 1)
        yaw = rng.choice([0, 0, np.pi, np.pi / 2, -np.pi / 2]) + rng.normal(0, 0.15)
    else:
        yaw = rng.normal(0, 0.2) if rng.uniform() < 0.75 else rng.uniform(-np.pi, np.pi)
    c, s = np.cos(yaw), np.sin(yaw)
    vertices = vertices @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    vertices -= (vertices.min(0) + vertices.max(0)) / 2
    seen, towards, hidden = _view(vertices, np.concatenate(faces), rng)
    return Example(seen, towards, hidden, kind, "lying" if lies else "upright")


def _view(vertices: Array, faces: NDArray[np.int32], rng: np.random.Generator) -> tuple[Array, Array, Array]:
    away = rng.uniform(0.35, 1.0)
    azimuth, elevation = rng.normal(0, 0.35), np.deg2rad(rng.uniform(-5, 45))
    towards = np.array([-np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    eye = away * towards
    z = -towards
    x = np.cross(z, [0, 0, 1])
    x /= np.linalg.norm(x)
    pose = Pose.from_rotation(np.stack([x, np.cross(z, x), z], 1), eye)
    span = 1.15 * float(np.ptp(vertices, axis=0).max())
    focal = min(FOCAL_PX, SIDE_PX * (away - span / 2) / span)
    camera = CameraModel(SIDE_PX, SIDE_PX, focal, focal, SIDE_PX / 2, SIDE_PX / 2, pose)
    points32 = vertices.astype(np.float32)
    mesh = Surface(points32, np.zeros_like(points32), np.zeros(points32.shape, np.uint8), faces)
    _, depth = draw(mesh, camera, shaded=False)
    depth = _noisy(depth, rng)
    kept, hidden = _cut(depth > 0, rng)
    v, u = np.nonzero(kept)
    d = depth[v, u].astype(float)
    local = np.stack([(u + 0.5 - camera.cx) / focal * d, (v + 0.5 - camera.cy) / focal * d, d], -1)
    return pose.transform(local), towards, hidden


def _noisy(depth: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """White and correlated noise that grow with the square of the distance, holes at grazing edges."""
    level, cell = rng.uniform(0.0003, 0.003), int(rng.integers(4, 12))
    white = rng.normal(0, 1, depth.shape)
    coarse = rng.normal(0, 1, (SIDE_PX // cell + 1, SIDE_PX // cell + 1))
    smooth = np.kron(coarse, np.ones((cell, cell)))[:SIDE_PX, :SIDE_PX]
    noise = level * depth**2 * (0.7 * white + 0.7 * smooth)
    steep = np.hypot(*np.gradient(depth)) > 0.02
    lost = steep & (rng.uniform(size=depth.shape) < rng.uniform(0.2, 0.9))
    step = 0.001 if rng.uniform() < 0.5 else 1e-5
    return np.where((depth > 0) & ~lost, np.round((depth + noise) / step) * step, 0).astype(np.float32)


def _cut(mask: NDArray[np.bool_], rng: np.random.Generator) -> tuple[NDArray[np.bool_], Array]:
    """Hide parts of every second one: behind neighbours, behind what stands in front, beyond the picture's edge.

    Returns the rest, and (4,) how far the left, right, lower and upper outline is cut off.
    """
    hidden = np.zeros(4)
    if rng.uniform() > 0.55 or not mask.any():
        return mask, hidden
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    out = mask.copy()
    for side, chance, most in ((0, 0.3, 0.6), (1, 0.3, 0.6), (2, 0.45, 0.75), (3, 0.12, 0.5)):
        if rng.uniform() > chance:
            continue
        share = rng.uniform(0.08, most)
        before = out.copy()
        if side == 0:
            out[:, : int(columns[0] + share * len(columns))] = False
        elif side == 1:
            out[:, int(columns[-1] - share * len(columns)) :] = False
        elif side == 2:
            out[int(rows[-1] - share * len(rows)) :] = False
        else:
            out[: int(rows[0] + share * len(rows))] = False
        if out.sum() < 200:
            out = before
            continue
        # What hides it is not always noticed.
        hidden[side] = rng.uniform(0.4, 1.0) if rng.uniform() < 0.9 else 0.0
    return out, hidden
