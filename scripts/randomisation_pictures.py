"""Draw the pictures of docs/randomisation.md: one strip per axis of domain randomisation, four episodes each."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from armwright.assets.randomise import AXES, ImageFile, Looks, Randomisation, draw_looks
from armwright.core.camera import CameraModel
from armwright.core.pose import Pose
from armwright.generate.parsing import parse_sentence
from armwright.generate.session import Session
from armwright.generate.solve import Workspace, solve_scene
from armwright.sim.rooms import room_field
from armwright.sim.splat_files import write_field
from armwright.sim.splats import orbit_cameras, render_field
from armwright.sim.textures import hash_file
from armwright.sim.world import World, WorldOptions

SENTENCE = "put the banana in the bowl next to the mug and the bottle"
PX = 256


def shot(world: World, looks: Looks | None) -> np.ndarray:
    """Draw the front camera with shadows and smooth edges."""
    world.dress(looks)
    return world.cameras["front"].picture(-1.0, -1, PX, PX)


def strip(images: list[np.ndarray], path: Path) -> None:
    """Save images side by side."""
    Image.fromarray(np.hstack(images)).save(path, quality=88)
    sys.stdout.write(f"{path}\n")


def main() -> None:
    """Draw all strips."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    session = Session.open("franka", options=WorldOptions(image_px=(PX, PX)))
    parsed, _ = parse_sentence(SENTENCE)
    space = Workspace.of(session.robot.spec)

    def scene(seed: int, ranges: Randomisation) -> World:
        task = parsed.model_copy(update={"scene": parsed.scene.model_copy(update={"window": ranges.window()})})
        world = session.world(solve_scene(task, session.library, seed=seed, reach=session.reach, workspace=space))
        world.clock.sleep(0.4)
        return world

    # One set of instances, so that only the poses differ.
    pinned = tuple(node.model_copy(update={"instance": 3}) for node in parsed.scene.objects)
    parsed = parsed.model_copy(update={"scene": parsed.scene.model_copy(update={"objects": pinned})})
    strip([shot(scene(k, Randomisation()), None) for k in range(4)], options.out / "randomise-pose.jpg")
    world = scene(options.seed, Randomisation())
    for axis in AXES[1:]:
        ranges = Randomisation().switched([axis])
        if axis == "noise":
            ranges = ranges.model_copy(update={"noise": ranges.noise.model_copy(update={"sigma": (4.0, 24.0)})})
        drawn = [shot(world, draw_looks(ranges, world.scene, seed)) for seed in range(1, 5)]
        strip(drawn, options.out / f"randomise-{axis}.jpg")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "room.ply"
        field = room_field(2)
        write_field(path, field)
        file = ImageFile(path=str(path), sha256=hash_file(path))
        ranges = Randomisation().switched(["background"])
        anchor = {"scale": 1.0, "offset_m": (0.0, 0.0, 0.0)}
        ranges = ranges.model_copy(update={"background": ranges.background.model_copy(update=anchor)})
        behind = [shot(world, draw_looks(ranges, world.scene, seed, {"splats": (file,)})) for seed in (1, 2, 3)]
        orbit = orbit_cameras(Pose(), angles_deg=(0.0,), scale=PX / 1536)[0]
        side = (orbit.width - PX) / 2
        square = CameraModel(PX, PX, orbit.fx, orbit.fy, orbit.cx - side, orbit.cy, orbit.pose_world_camera)
        strip([render_field(field, square).rgb, *behind], options.out / "randomise-field.jpg")


if __name__ == "__main__":
    main()
