"""open3d's voxel block grid on the frames of `benchmarks/mapping.py`; runs in open3d's interpreter.

The whole frame at two voxel sizes, and 20 objects each with a grid of its own, fed the depth under its mask. Distance,
weight and colour are float32 as ours, truncation is three voxels, one thread, CPU time, the best of three rounds.
Prints one JSON list.

Setup: ``python -m venv ENV; ENV/bin/pip install open3d==0.20.0 plotly dash`` (400 MB; wants libusb-1.0 and libGL).
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import open3d as o3d

core = o3d.core


def grid(voxel: float, blocks: int):
    return o3d.t.geometry.VoxelBlockGrid(
        ("tsdf", "weight", "color"),
        (core.float32, core.float32, core.float32),
        ((1,), (1,), (3,)),
        voxel_size=voxel,
        block_resolution=8,
        block_count=blocks,
    )


def integrate(volume, depth, rgb, lens, extrinsic) -> None:
    try:
        seen = volume.compute_unique_block_coordinates(depth, lens, extrinsic, 1.0, 4.0, 3.0)
    except RuntimeError:  # it looks at every fourth pixel, and a sliver of a mask may fall between
        return
    volume.integrate(seen, depth, rgb, lens, lens, extrinsic, 1.0, 4.0, 3.0)


def best(frames: int, rounds: int, fuse) -> dict[str, float]:
    times = []
    for _ in range(rounds + 1):
        start = time.process_time()
        fuse()
        times.append(time.process_time() - start)
    per = min(times[1:]) / frames * 1e3
    return {"ms_per_frame": per, "frames_per_s": 1e3 / per}


def main() -> None:
    data = np.load(sys.argv[1])
    objects = int(sys.argv[2])
    fx, fy, cx, cy = data["lens"]
    # Here the middle of the first pixel is 0, not 0.5.
    lens = core.Tensor([[fx, 0, cx - 0.5], [0, fy, cy - 0.5], [0, 0, 1]], core.float64)
    depth, owner = data["depth"], data["owner"]
    colours = [o3d.t.geometry.Image(core.Tensor(rgb.astype(np.float32) / 255)) for rgb in data["rgb"]]
    poses = [core.Tensor(pose, core.float64) for pose in data["world_to_camera"]]
    rows = []
    for voxel in (0.005, 0.015):

        def whole(voxel=voxel) -> None:
            volume = grid(voxel, 5000)
            for d, colour, pose in zip(depth, colours, poses, strict=True):
                integrate(volume, o3d.t.geometry.Image(core.Tensor(d)), colour, lens, pose)

        rows.append({"by": "open3d", "job": f"whole frame {voxel * 1e3:.0f} mm", **best(len(depth), 3, whole)})
    for voxel in (0.003, 0.005):

        def each(voxel=voxel) -> None:
            volumes = [grid(voxel, 300) for _ in range(objects)]
            for d, whose, colour, pose in zip(depth, owner, colours, poses, strict=True):
                for k, volume in enumerate(volumes):
                    masked = np.where(whose == k, d, np.float32(0))
                    if masked.any():
                        integrate(volume, o3d.t.geometry.Image(core.Tensor(masked)), colour, lens, pose)

        rows.append({"by": "open3d", "job": f"{objects} objects {voxel * 1e3:.0f} mm", **best(len(depth), 1, each)})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
