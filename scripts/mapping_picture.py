"""Fuse a recording and draw it (docs/mapping.md).

Usage: ``python scripts/mapping_picture.py FOLDER --out fused.jpg [--voxel-m 0.012]``
FOLDER is laid out as `armwright.perception.recorded` says. On the left the mesh from behind all cameras, on the right
from where one of them stood.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from armwright.core.camera import CameraModel
from armwright.core.pose import Pose
from armwright.perception.draw import draw
from armwright.perception.recorded import read_view, recording
from armwright.perception.surface import Surface, surface
from armwright.perception.tsdf import empty_tsdf, integrate, prepare_view


def outside(mesh: Surface, cameras: list[CameraModel]) -> CameraModel:
    """Return a camera behind all others that looks the way they do, and a little down."""
    turns = np.array([c.pose_world_camera.rotation for c in cameras]).mean(0)
    way, down = (turns[:, k] / np.linalg.norm(turns[:, k]) for k in (2, 1))
    center = np.median(mesh.points_m, axis=0)
    eye = center - 3.0 * way - 1.2 * down
    z = (center - eye) / np.linalg.norm(center - eye)
    x = np.cross(down, z)
    x /= np.linalg.norm(x)
    return replace(cameras[0], pose_world_camera=Pose.from_rotation(np.stack([x, np.cross(z, x), z], 1), eye))


def main() -> None:
    """Write the picture and print what was fused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--voxel-m", type=float, default=0.012)
    parser.add_argument("--view", type=int, default=0)
    parser.add_argument("--coloured", action="store_true")
    options = parser.parse_args()
    frames = [read_view(view) for view in recording(options.folder)]
    integrate(empty_tsdf(options.voxel_m), prepare_view(frames[0]))  # compiles
    volume = empty_tsdf(options.voxel_m)
    start = time.thread_time()
    for frame in frames:
        integrate(volume, prepare_view(frame), max_depth_m=4.0)
    fused = time.thread_time() - start
    mesh = surface(volume, min_weight=2)
    seen = frames[options.view]
    _, depth = draw(mesh, seen.camera)
    both = (depth > 0) & (seen.depth_m > 0)
    off_mm = 1e3 * np.abs(depth - seen.depth_m)[both]
    sys.stdout.write(
        f"{len(frames)} views, {len(frames) / fused:.0f} per CPU second; {volume.bytes_held / 2**20:.0f} MB\n"
    )
    sys.stdout.write(f"{len(mesh.points_m)} vertices, {len(mesh.faces)} faces\n")
    sys.stdout.write(f"against the depth of view {options.view}: median {np.median(off_mm):.1f} mm\n")
    shown = mesh if options.coloured else replace(mesh, rgb=np.full_like(mesh.rgb, 200))
    cameras = (outside(mesh, [frame.camera for frame in frames]), seen.camera)
    Image.fromarray(np.hstack([draw(shown, camera)[0] for camera in cameras])).save(options.out, quality=85)


if __name__ == "__main__":
    main()
