"""What each axis of domain randomisation costs per image, and a Gaussian field by its size; times in milliseconds."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from armwright.assets.library import default_library
from armwright.assets.randomise import ImageFile, Looks, Randomisation, draw_looks
from armwright.assets.scene import ObjectSpec, PoseSpec, SceneSpec
from armwright.core.camera import CameraModel
from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.sim.gaussians import colour_field
from armwright.sim.rooms import room_field
from armwright.sim.splat_files import write_field
from armwright.sim.splats import orbit_cameras, render_field
from armwright.sim.textures import hash_file
from armwright.sim.world import World, WorldOptions

PX = 256
PLACES = {
    "mug": (0.50, 0.12),
    "plate": (0.55, -0.20),
    "bottle": (0.62, 0.32),
    "banana": (0.42, -0.02),
    "bowl": (0.4, 0.3),
}


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """Return the median CPU time of one call: a loaded machine does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(1e3 * (time.process_time() - start))
    return float(np.median(times))


def table_world(renderer: str | None) -> World:
    """Return a table with five objects and an arm."""
    library = default_library()
    nodes = tuple(
        ObjectSpec(id=f"{c}_1", category=c, instance=3, pose=PoseSpec.from_pose(Pose(np.array([x, y, 0.0]))))
        for c, (x, y) in PLACES.items()
    )
    models = {node.id: library.build(node.category, instance=3) for node in nodes}
    options = WorldOptions(image_px=(PX, PX), renderer=renderer)  # type: ignore[arg-type]
    world = World(SceneSpec(objects=nodes), objects=models, options=options)
    world.step(10)
    return world


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renderer", default=None)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    world = table_world(options.renderer)
    rows: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "room.ply"
        write_field(path, room_field(2))
        field = ImageFile(path=str(path), sha256=hash_file(path))
        cases: dict[str, Looks | None] = {"plain": None}
        for axis in ("texture", "lighting", "background", "noise"):
            cases[axis] = draw_looks(Randomisation().switched([axis]), world.scene, 1)
        cases["background (field)"] = draw_looks(
            Randomisation().switched(["background"]), world.scene, 1, {"splats": (field,)}
        )
        for name, looks in cases.items():
            start = time.process_time()
            world.dress(looks)
            rows[name] = {"per episode": 1e3 * (time.process_time() - start)}
            for camera in ("front", "wrist"):

                def draw(camera: str = camera) -> None:
                    world.step(1)  # the wrist moves, so that no view is drawn twice
                    world.cameras[camera].render()

                rows[name][camera] = milliseconds(draw, options.repeats)
    eye = orbit_cameras(Pose(), angles_deg=(0.0,))[0].pose_world_camera
    view = CameraModel.from_fov(width=PX, height=PX, fovy_deg=60.0, pose_world_camera=eye)
    fields = {}
    for n in (10_000, 50_000, 200_000):
        rng = rng_for(0, "benchmarks", "field", n)
        size = 1.2 * n ** (-1 / 3)
        cloud = colour_field(
            rng.uniform(-2, 2, (n, 3)).astype(np.float32),
            (size * rng.uniform(0.3, 1.0, (n, 3))).astype(np.float32),
            rng.random((n, 3)).astype(np.float32),
        )
        fields[n] = milliseconds(lambda cloud=cloud: render_field(cloud, view), 5)
    print(f"| {'looks':<20} | per episode | front | wrist |\n|---|---|---|---|")
    for name, row in rows.items():
        print(f"| {name:<20} | {row['per episode']:.0f} | {row['front']:.1f} | {row['wrist']:.1f} |")
    print("\n| Gaussians | ms |\n|---|---|")
    for n, ms in fields.items():
        print(f"| {n:,} | {ms:.0f} |")
    print(json.dumps({"looks_ms": rows, "fields_ms": fields}))


if __name__ == "__main__":
    main()
