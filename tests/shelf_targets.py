"""Clouds of solids as a few views from one side would show them."""

from __future__ import annotations

import numpy as np

from armwright.core.pose import Pose
from armwright.shelf.target_solids import Solid, sections


def box(depth: float = 0.05, width: float = 0.08, height: float = 0.14) -> Solid:
    """Return a box."""
    return sections("rectangle", [0, height], [depth / 2] * 2, [width / 2] * 2, family="box")


def can(radius: float = 0.033, height: float = 0.11) -> Solid:
    """Return a cylinder."""
    return sections("ellipse", [0, height], [radius] * 2, [radius] * 2, family="round")


def bottle(radius: float = 0.032, height: float = 0.20) -> Solid:
    """Return a bottle with a neck of 14 mm."""
    half = [radius, radius, 0.014, 0.014]
    return sections("ellipse", [0, 0.62 * height, 0.75 * height, height], half, half, family="round")


def gable() -> Solid:
    """Return a carton with a ridge along y."""
    return sections("rectangle", [0, 0.13, 0.16], [0.03, 0.03, 0.003], [0.04] * 3, family="carton")


def seen(solid: Solid, pose: Pose, *, toward: float = 0.3, span: float = 2.4, views: int = 3, noise: float = 0.001):
    """Return (n, 3) points and normals of what views spread over ``span`` rad of azimuth show."""
    rng = np.random.default_rng(5)
    points, normals = pose.transform(solid.points_m), pose.rotate(solid.normals)
    shown = np.zeros(len(points), bool)
    for azimuth in toward + np.linspace(-span / 2, span / 2, views):
        eye = pose.position_m + 0.5 * np.array([np.cos(azimuth) * 0.8, np.sin(azimuth) * 0.8, 0.6])
        ray = eye - points
        shown |= np.einsum("ij,ij->i", ray, normals) > 0.25 * np.linalg.norm(ray, axis=1)
    points, normals = points[shown], normals[shown] + rng.normal(0, 0.1, (shown.sum(), 3))
    return points + rng.normal(0, noise, points.shape), normals / np.linalg.norm(normals, axis=1, keepdims=True)
