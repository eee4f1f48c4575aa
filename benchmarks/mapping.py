"""Fusing depth at 640x480 into 20 objects and a coarse map, on one core, beside open3d.

Usage: ``python benchmarks/mapping.py [--json] [--views 16] [--rounds 3] [--recording FOLDER] [--peer-python PYTHON]``
Target: 40 frames a second with 20 objects. The shelf is drawn by ray casting, with 1 mm of noise; masks are the true
ones. Times are CPU times of one thread, kernels compiled, the best round; errors are those of the mesh's vertices to
the boxes' true surfaces. ``peers/open3d_fusion.py`` says how the peer is set up. ``--recording`` also fuses real views.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from _common import record, timed
from armwright.core.camera import RgbdFrame
from armwright.core.pose import Array
from armwright.core.seeds import rng_for
from armwright.perception.descriptions import Description
from armwright.perception.instances import Detection, InstanceMap, MappingOptions, observe
from armwright.perception.recorded import read_view, recording
from armwright.perception.surface import surface
from armwright.perception.tsdf import Tsdf, empty_tsdf, integrate, prepare_view, region_tsdf

# The ray caster of the tests: one drawing of depth for both.
sys.path.append(str(Path(__file__).parents[1] / "tests"))
from perception_scenes import Thing, looking, render

OBJECTS = 20
LOW, HIGH = np.array([-0.4, -0.75, -0.1]), np.array([0.4, 0.75, 0.95])
Frames = list[tuple[RgbdFrame, np.ndarray]]


def shelf(seed: int) -> list[Thing]:
    """Return 20 packages in two rows on two boards, then the shelf itself."""
    rng = rng_for(seed, "benchmarks", "mapping", "shelf")
    things = []
    for k in range(OBJECTS):
        board, column = divmod(k, OBJECTS // 2)
        half = rng.uniform((0.025, 0.03, 0.05), (0.04, 0.045, 0.11))
        place = (-0.08 + 0.11 * (k % 2), -0.5 + 0.11 * column, 0.01 + 0.36 * board + half[2])
        colour = tuple(int(v) for v in rng.integers(40, 255, 3))
        things.append(Thing(place, tuple(half), colour, float(rng.uniform(-0.17, 0.17))))
    boards = [Thing((0.0, 0.0, z), (0.2, 0.62, 0.01), (120, 90, 60)) for z in (0.0, 0.36, 0.72)]
    return [*things, *boards, Thing((0.21, 0.0, 0.36), (0.01, 0.62, 0.37), (90, 90, 90))]


def drawn(things: list[Thing], views: int, seed: int) -> Frames:
    """Return frames from an arc before the shelf, with whose each pixel is (-1 for the shelf)."""
    rng = rng_for(seed, "benchmarks", "mapping", "noise")
    frames = []
    for angle, height in zip(np.linspace(-0.6, 0.6, views), np.tile((0.3, 0.65), views), strict=False):
        eye = (-1.0 * np.cos(angle), 1.0 * np.sin(angle), height)
        camera = looking(eye, (0.0, 0.0, 0.33), width=640, height=480, focal=585.0)
        frame, owner = render(things, camera, noise=0.001, rng=rng)
        frames.append((frame, np.where(owner < OBJECTS, owner, -1)))
    return frames


def off_surface(points: Array, thing: Thing) -> Array:
    """Return how far points are from a box's surface [m]."""
    turn = np.array([[np.cos(thing.yaw), np.sin(thing.yaw)], [-np.sin(thing.yaw), np.cos(thing.yaw)]])
    local = points - np.array(thing.center)
    local[:, :2] = local[:, :2] @ turn.T
    beyond = np.abs(local) - np.array(thing.half)
    return np.abs(np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(1), 0))


def best_of(rounds: int, make: Callable[[], Callable[[], Any]]) -> tuple[Any, float]:
    """Return the result and CPU time [ms] of the quickest round; ``make`` prepares one, untimed."""
    results = [timed(make()) for _ in range(rounds + 1)]
    return min(results[1:], key=lambda pair: pair[1])


def fuse_objects(frames: Frames, make: Callable[[int], Tsdf], coarse: Callable[[], Tsdf] | None) -> list[Tsdf]:
    """Fuse all frames into one volume per object, and into a coarse one."""
    volumes = [make(k) for k in range(OBJECTS)]
    whole = coarse() if coarse else None
    for frame, owner in frames:
        view = prepare_view(frame, owner, owners=OBJECTS)
        for k, volume in enumerate(volumes):
            integrate(volume, view, k)
        if whole is not None:
            integrate(whole, view)
    return volumes


def fuse_whole(frames: list[RgbdFrame], voxel: float) -> Tsdf:
    volume = empty_tsdf(voxel)
    for frame in frames:
        integrate(volume, prepare_view(frame), max_depth_m=4.0)
    return volume


def map_instances(frames: Frames, voxel: float) -> InstanceMap:
    scene = InstanceMap()
    coarse = region_tsdf(LOW, HIGH, 0.015)
    for frame, owner in frames:
        found = [Detection(owner == k, Description(f"thing {k}")) for k in range(OBJECTS)]
        observe(scene, frame, [d for d in found if d.mask.any()], options=MappingOptions(voxel_m=voxel))
        integrate(coarse, prepare_view(frame))
    return scene


def peer_rows(python: str, frames: Frames) -> list[dict[str, Any]]:
    """Run open3d on the same frames."""
    camera = frames[0][0].camera
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frames.npz"
        np.savez(
            path,
            depth=np.stack([f.depth_m for f, _ in frames]),
            rgb=np.stack([f.rgb for f, _ in frames]),
            owner=np.stack([o for _, o in frames]),
            lens=np.array([camera.fx, camera.fy, camera.cx, camera.cy]),
            world_to_camera=np.stack([f.camera.pose_world_camera.inverse().matrix() for f, _ in frames]),
        )
        script = Path(__file__).parent / "peers" / "open3d_fusion.py"
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [python, str(script), str(path), str(OBJECTS)], capture_output=True, text=True, env=environment, check=False
        )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it said nothing")
    rows: list[dict[str, Any]] = json.loads(done.stdout.strip().splitlines()[-1])
    return rows


def main() -> None:
    """Print the table, or its record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON record and nothing else")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--views", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recording", type=Path)
    parser.add_argument("--peer-python")
    options = parser.parse_args()
    things = shelf(options.seed)
    frames = drawn(things, options.views, options.seed)
    plain = [frame for frame, _ in frames]
    rows: list[dict[str, Any]] = []

    def row(job: str, milliseconds: float, count: int, **more: Any) -> None:
        per = milliseconds / count
        rows.append({"by": "armwright", "job": job, "ms_per_frame": per, "frames_per_s": 1e3 / per, **more})

    def coarse() -> Tsdf:
        return region_tsdf(LOW, HIGH, 0.015)

    for voxel in (0.003, 0.005):
        name = f"20 objects {voxel * 1e3:.0f} mm"
        volumes, ms = best_of(
            options.rounds, lambda v=voxel: lambda: fuse_objects(frames, lambda k: empty_tsdf(v), coarse)
        )
        meshes, mesh_ms = best_of(1, lambda held=volumes: lambda: [surface(volume) for volume in held])
        off = np.concatenate(
            [off_surface(m.points_m.astype(float), t) for m, t in zip(meshes, things[:OBJECTS], strict=True)]
        )
        row(
            f"{name} + coarse 15 mm",
            ms,
            len(frames),
            blocks=sum(v.count for v in volumes),
            mb=sum(v.bytes_held for v in volumes) / 2**20,
            mesh_ms=mesh_ms,
            median_mm=float(np.median(off) * 1e3),
            p95_mm=float(np.quantile(off, 0.95) * 1e3),
        )
        _, ms = best_of(options.rounds, lambda v=voxel: lambda: fuse_objects(frames, lambda k: empty_tsdf(v), None))
        row(name, ms, len(frames))

        def full(k: int, v: float = voxel) -> Tsdf:
            reach = float(np.hypot(things[k].half[0], things[k].half[1])) + 3 * v
            way = np.array([reach, reach, things[k].half[2] + 3 * v])
            return region_tsdf(np.array(things[k].center) - way, np.array(things[k].center) + way, v, coloured=True)

        dense, ms = best_of(options.rounds, lambda make=full: lambda: fuse_objects(frames, make, None))
        row(f"{name}, every block of its box", ms, len(frames), blocks=sum(v.count for v in dense))
        _, ms = best_of(1, lambda v=voxel: lambda: map_instances(frames, v))
        row(f"{name} + coarse, associating, evidence, merging", ms, len(frames))
    for voxel in (0.005, 0.015):
        volume, ms = best_of(options.rounds, lambda v=voxel: lambda: fuse_whole(plain, v))
        _, mesh_ms = best_of(1, lambda held=volume: lambda: surface(held))
        row(f"whole frame {voxel * 1e3:.0f} mm", ms, len(frames), blocks=volume.count, mesh_ms=mesh_ms)
    if options.recording:
        real = [read_view(view) for view in recording(options.recording)]
        volume, ms = best_of(options.rounds, lambda: lambda: fuse_whole(real, 0.012))
        row("recording, whole frame 12 mm", ms, len(real), blocks=volume.count)
    absent: dict[str, str] = {}
    if options.peer_python:
        try:
            rows += peer_rows(options.peer_python, frames)
        except (OSError, RuntimeError, ValueError) as error:
            absent["open3d"] = f"{error}; see benchmarks/peers/open3d_fusion.py"
    else:
        absent["open3d"] = "name its interpreter with --peer-python; see benchmarks/peers/open3d_fusion.py"
    mine = {r["job"]: r["ms_per_frame"] for r in rows if r["by"] == "armwright"}
    for entry in rows:
        entry["ratio"] = entry["ms_per_frame"] / mine[entry["job"]]
    if options.json:
        print(record("benchmarks/mapping.py", rows, absent, options.seed))
        return
    for entry in rows:
        rest = ", ".join(
            f"{key} {entry[key]:.4g}" for key in ("blocks", "mb", "mesh_ms", "median_mm", "p95_mm") if key in entry
        )
        print(
            f"{entry['by']:10} {entry['job']:58} {entry['ms_per_frame']:8.2f} ms  {entry['frames_per_s']:6.1f} /s  "
            f"{entry['ratio']:6.1f} x ours  {rest}"
        )
    for name, hint in absent.items():
        print(f"{name} is absent: {hint}")


if __name__ == "__main__":
    main()
