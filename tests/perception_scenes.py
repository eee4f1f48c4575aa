"""Synthetic depth: boxes and balls seen by a pinhole camera, each pixel with the thing that it shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.pose import Pose


@dataclass(frozen=True)
class Thing:
    """A box (half extents) or a ball (one half extent for all) [m]; boxes turn about z."""

    center: tuple[float, float, float]
    half: tuple[float, float, float]
    colour: tuple[int, int, int] = (200, 120, 60)
    yaw: float = 0.0
    ball: bool = False


def looking(eye, at, *, width: int = 320, height: int = 240, focal: float = 290.0) -> CameraModel:
    """Return a camera at ``eye`` that looks at ``at`` with the world's z up."""
    z = np.asarray(at, float) - eye
    z /= np.linalg.norm(z)
    up = np.array([0.0, 0.0, 1.0]) if abs(z[2]) < 0.99 else np.array([0.0, 1.0, 0.0])
    x = np.cross(z, up)
    x /= np.linalg.norm(x)
    pose = Pose.from_rotation(np.stack([x, np.cross(z, x), z], 1), eye)
    return CameraModel(width, height, focal, focal, width / 2, height / 2, pose)


def ring(count: int, *, radius: float, height: float, at=(0.0, 0.0, 0.0), span: float = 2 * np.pi, **size):
    """Return cameras on an arc around ``at`` that begins at -x."""
    turns = np.pi + (np.arange(count) / count * span if span >= 6.28 else np.linspace(-span / 2, span / 2, count))
    return [looking(np.add(at, (radius * np.cos(a), radius * np.sin(a), height)), at, **size) for a in turns]


def render(things: list[Thing], camera: CameraModel, *, noise: float = 0.0, rng=None) -> tuple[RgbdFrame, np.ndarray]:
    """Return the frame, and (H, W) the index of the thing in each pixel, -1 for none."""
    rays = camera.pose_world_camera.rotate(camera.rays())
    eye = camera.pose_world_camera.position_m
    depth = np.full(rays.shape[:2], np.inf)
    owner = np.full(rays.shape[:2], -1, np.int32)
    for index, thing in enumerate(things):
        if thing.ball:
            to = eye - np.array(thing.center)
            a, b, c = (rays**2).sum(-1), rays @ to, to @ to - thing.half[0] ** 2
            root = b * b - a * c
            hit = np.where(root > 0, (-b - np.sqrt(np.maximum(root, 0))) / a, np.inf)
        else:
            turn = Pose.from_yaw(thing.center, thing.yaw).inverse()
            start, way = turn.transform(eye), turn.rotate(rays)
            way = np.where(np.abs(way) < 1e-12, 1e-12, way)
            ends = np.stack([(-np.array(thing.half) - start) / way, (np.array(thing.half) - start) / way])
            near, far = ends.min(0).max(-1), ends.max(0).min(-1)
            hit = np.where(near < far, near, np.inf)
        closer = (hit > 1e-6) & (hit < depth)
        depth[closer], owner[closer] = hit[closer], index
    rgb = np.zeros((*depth.shape, 3), np.uint8)
    for index, thing in enumerate(things):
        rgb[owner == index] = thing.colour
    depth = np.where(owner >= 0, depth, 0)
    if noise:
        depth = np.where(owner >= 0, depth + rng.normal(0, noise, depth.shape), 0)
    return RgbdFrame(rgb, depth.astype(np.float32), camera, 0.0), owner
