"""Clouds of labelled triangles: whole, or what one depth camera sees of them."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from armwright.affordance.labelled.soup import Bits, Soup
from armwright.core.pose import Array


@dataclass(frozen=True, eq=False)
class RegionCloud:
    """Points in the object's frame with their normals and the bits of their regions; (n, 3), (n, 3), (n,)."""

    points_m: Array
    normals: Array
    regions: Bits


def whole_cloud(soup: Soup, n: int, *, rng: np.random.Generator) -> RegionCloud:
    """Draw n points evenly by area."""
    triangles = soup.triangles_m
    a, b = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    cross = np.cross(a, b)
    area = np.linalg.norm(cross, axis=1)
    face = np.sort(rng.choice(len(area), n, p=area / area.sum()))
    u, v = rng.random((2, n, 1))
    fold = u + v > 1
    u, v = np.where(fold, 1 - u, u), np.where(fold, 1 - v, v)
    points = triangles[face, 0] + u * a[face] + v * b[face]
    return RegionCloud(points, cross[face] / area[face, None], soup.regions[face])


def seen_cloud(
    soup: Soup,
    *,
    rng: np.random.Generator,
    pixels: int = 160,
    noise_m: float = 0.001,
    elevation_rad: tuple[float, float] = (0.2, 1.3),
) -> RegionCloud:
    """Return what a depth camera looking at the object sees: one side, noisy, with readings missing.

    Args:
        soup: The object.
        rng: Draws the direction, the noise and which readings are missing.
        pixels: Pixels across the object's bounding sphere.
        noise_m: Standard deviation of depth at 0.6 m, where it stands for a depth camera's; it grows with size.
        elevation_rad: Range of the camera's height above the horizon.
    """
    points = soup.triangles_m.reshape(-1, 3)
    center = (points.min(0) + points.max(0)) / 2
    radius = float(np.linalg.norm(points - center, axis=1).max())
    azimuth, height = rng.uniform(0, 2 * np.pi), rng.uniform(*elevation_rad)
    back = np.array([np.cos(azimuth) * np.cos(height), np.sin(azimuth) * np.cos(height), np.sin(height)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    axes = np.stack([right, np.cross(back, right), back])
    distance = max(0.6, 2.5 * radius)
    local = (soup.triangles_m - center) @ axes.T
    depth = distance - local[..., 2]
    scale = 0.48 * pixels * distance / (radius * 1.05)
    flat = local[..., :2] * (scale / depth)[..., None] + pixels / 2
    face, seen = rasterise(flat, depth, pixels)
    row, column = np.nonzero(face >= 0)
    z = seen[row, column]
    hit = face[row, column]
    cross = np.cross(local[:, 1] - local[:, 0], local[:, 2] - local[:, 0])
    normals = cross[hit] / np.maximum(np.linalg.norm(cross[hit], axis=1, keepdims=True), 1e-30)
    x, y = (column + 0.5 - pixels / 2) / scale, (row + 0.5 - pixels / 2) / scale
    rays = np.stack([x, y, -np.ones(len(x))], axis=1)
    facing = -(normals * rays).sum(1) / np.linalg.norm(rays, axis=1)
    kept = (facing > 0.12) & (rng.random(len(z)) > 0.05)
    if rng.random() < 0.5:
        kept &= ~_blotches(row, column, pixels, rng)
    z, rays, normals, hit = z[kept], rays[kept], normals[kept], hit[kept]
    z = z + rng.normal(0.0, noise_m * max(1.0, distance / 0.6), len(z))
    cloud = rays * z[:, None] + np.array([0.0, 0.0, distance])
    wobble = normals + rng.normal(0.0, 0.12, normals.shape)
    wobble /= np.linalg.norm(wobble, axis=1, keepdims=True)
    return RegionCloud(cloud @ axes + center, wobble @ axes, soup.regions[hit])


def _blotches(
    row: NDArray[np.int64], column: NDArray[np.int64], pixels: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which pixels lie in one of a few discs without readings, as shiny places have."""
    lost = np.zeros(len(row), bool)
    for _ in range(int(rng.integers(1, 4))):
        size = rng.uniform(0.02, 0.07) * pixels
        k = int(rng.integers(len(row))) if len(row) else 0
        if len(row):
            lost |= (row - row[k]) ** 2 + (column - column[k]) ** 2 < size**2
    return lost


@numba.njit(cache=True)
def rasterise(flat, depth, pixels):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the nearest triangle (-1 for none) and its depth per pixel, from (m, 3, 2) pixels and (m, 3) depths."""
    face = np.full((pixels, pixels), -1, np.int32)
    nearest = np.full((pixels, pixels), np.inf)
    for t in range(len(flat)):
        x0, y0 = flat[t, 0, 0], flat[t, 0, 1]
        x1, y1 = flat[t, 1, 0], flat[t, 1, 1]
        x2, y2 = flat[t, 2, 0], flat[t, 2, 1]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if abs(area) < 1e-12:
            continue
        left = max(0, int(np.floor(min(x0, x1, x2) - 0.5)))
        right = min(pixels - 1, int(np.ceil(max(x0, x1, x2) - 0.5)))
        low = max(0, int(np.floor(min(y0, y1, y2) - 0.5)))
        high = min(pixels - 1, int(np.ceil(max(y0, y1, y2) - 0.5)))
        for j in range(low, high + 1):
            for i in range(left, right + 1):
                x, y = i + 0.5, j + 0.5
                w1 = ((x - x0) * (y2 - y0) - (x2 - x0) * (y - y0)) / area
                w2 = ((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)) / area
                w0 = 1.0 - w1 - w2
                if w0 < 0.0 or w1 < 0.0 or w2 < 0.0:
                    continue
                z = 1.0 / (w0 / depth[t, 0] + w1 / depth[t, 1] + w2 / depth[t, 2])
                if z < nearest[j, i]:
                    nearest[j, i] = z
                    face[j, i] = t
    return face, nearest
