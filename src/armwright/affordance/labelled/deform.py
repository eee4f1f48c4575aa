"""Shapes changed as a whole: stretched, mirrored, turned, tilted, cut to a close-up."""

from __future__ import annotations

import numpy as np

from armwright.affordance.labelled.soup import Soup
from armwright.affordance.labelled.views import RegionCloud
from armwright.core.pose import Array


def stretched(soup: Soup, *, rng: np.random.Generator, most: float = 1.35) -> Soup:
    """Return the shape scaled by up to ``most`` in height, in width, and as a whole; perhaps mirrored."""
    low = np.log(most)
    xy, z, whole = np.exp(rng.uniform(-low, low, 3) * [0.5, 0.8, 0.5])
    slim = float(np.exp(rng.uniform(-0.15, 0.15)))
    scale = np.array([xy * slim, xy / slim, z]) * whole
    triangles = soup.triangles_m * scale
    if rng.random() < 0.5:
        # A mirror turns faces inside out unless two corners change places.
        triangles = (triangles * [1.0, -1.0, 1.0])[:, [0, 2, 1]]
    return soup.with_triangles(triangles)


def turned(soup: Soup, *, rng: np.random.Generator, tilt_rad: float = 0.35) -> Soup:
    """Return the shape turned about z by any angle and, one time in four, tilted by up to ``tilt_rad``."""
    matrix = about((0.0, 0.0, 1.0), rng.uniform(0, 2 * np.pi))
    if rng.random() < 0.25:
        azimuth = rng.uniform(0, 2 * np.pi)
        matrix = about((float(np.cos(azimuth)), float(np.sin(azimuth)), 0.0), rng.uniform(0, tilt_rad)) @ matrix
    return soup.with_triangles(soup.triangles_m @ matrix.T)


def close_up(cloud: RegionCloud, *, center_m: Array, radius_m: float) -> RegionCloud:
    """Return the points within a radius of a place."""
    near = np.linalg.norm(cloud.points_m - center_m, axis=1) < radius_m
    return RegionCloud(cloud.points_m[near], cloud.normals[near], cloud.regions[near])


def about(axis: tuple[float, float, float], angle_rad: float) -> Array:
    """Return the rotation about a unit axis."""
    x, y, z = axis
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + s * k + (1 - c) * (k @ k))
