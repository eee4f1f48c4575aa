"""Pictures of what there is: an arm with its collision spheres, a contact sheet of objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.assets.model import ObjectModel
from armwright.assets.scene import ObjectSpec, PoseSpec, SceneSpec
from armwright.core.camera import CameraModel
from armwright.core.files import atomic_path
from armwright.core.pose import Pose
from armwright.robots.bake import BakedRobot
from armwright.robots.station import looking_at
from armwright.sim.render import Renderer
from armwright.sim.world import World

TILE_PX = 240


def save_png(path: Path, rgb: NDArray[np.uint8]) -> Path:
    """Write an image, whole or not at all."""
    from PIL import Image

    with atomic_path(path) as temporary:
        Image.fromarray(rgb).save(temporary, format="PNG")
    return path


def robot_picture(robot: BakedRobot, out: Path | None) -> Path:
    """Draw an arm at home beside itself with its collision spheres."""
    scene = SceneSpec(objects=())
    world = World(scene, objects={}, robot=robot)
    camera = CameraModel.from_fov(
        width=640, height=640, fovy_deg=38.0, pose_world_camera=looking_at((1.5, 1.1, 0.95), (0.25, 0.0, 0.38))
    )
    world.step(1)  # computes where the links are
    truth = world.truth
    with Renderer(truth.model, width=640, height=640, shadows=True, samples=4) as renderer:
        plain = renderer.render(truth.data, camera, rgb=True).rgb
    assert plain is not None
    spheres = _spheres_over(robot, world, camera, plain)
    path = (out or Path()) / f"robot-{robot.spec.name}.png"
    return save_png(path, np.hstack([plain, spheres]))


def _spheres_over(robot: BakedRobot, world: World, camera: CameraModel, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Draw the collision spheres at home as discs over a picture."""
    from PIL import Image, ImageDraw

    chain = robot.kinematics
    spheres = chain.spheres[max(chain.spheres)]
    frames = [np.eye(4)]
    for offset, q in zip(chain.offset, chain.home_rad, strict=True):
        turn = np.eye(4)
        turn[:2, :2] = [[np.cos(q), -np.sin(q)], [np.sin(q), np.cos(q)]]
        frames.append(frames[-1] @ offset @ turn)
    placed = np.stack([frames[k] for k in spheres.link])
    centers = np.einsum("sij,sj->si", placed[:, :3, :3], spheres.center_m) + placed[:, :3, 3]
    pixels, depth = camera.project(world.arm.pose_world_base.transform(centers))
    shown = Image.fromarray(image).convert("RGBA")
    layer = Image.new("RGBA", shown.size)
    draw = ImageDraw.Draw(layer)
    for i in np.argsort(-depth):
        r = camera.fx * spheres.radius_m[i] / depth[i]
        x, y = pixels[i]
        draw.ellipse([x - r, y - r, x + r, y + r], fill=(40, 120, 220, 40), outline=(20, 70, 160, 200))
    return np.asarray(Image.alpha_composite(shown, layer).convert("RGB"))


def contact_sheet(
    objects: Sequence[tuple[str, ObjectModel]],
    path: Path,
    *,
    columns: int | None = None,
    px: int = TILE_PX,
    update: Callable[[int], None] = lambda done: None,
) -> tuple[Path, list[dict[str, Any]]]:
    """Draw objects in rows, each with its name, and return the picture and the facts of each.

    Args:
        objects: Name to write and object, in order.
        path: Where the picture goes.
        columns: Tiles per row; chosen from their number if None.
        px: Side of a tile [px].
        update: Called with the number of tiles that are drawn.
    """
    tiles = []
    for name, model in objects:
        tiles.append(_tile(name, model, px))
        update(len(tiles))
    wide = columns or min(6 if len(tiles) <= 36 else 11, len(tiles))
    while len(tiles) % wide:
        tiles.append(np.full_like(tiles[0], 255))
    rows = [np.hstack(tiles[k : k + wide]) for k in range(0, len(tiles), wide)]
    facts = [
        {
            "name": name,
            "category": model.category,
            "faces": int(sum(len(link.faces) for link in model.links)),
            "hulls": int(sum(len(link.hulls) for link in model.links)),
            "mass_kg": model.mass_kg,
            "parts": list(model.part_names),
            "attributes": dict(model.attributes),
        }
        for name, model in objects
    ]
    return save_png(path, np.vstack(rows)), facts


def _tile(name: str, model: ObjectModel, px: int) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    low, high = model.bounds_m
    middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
    scene = SceneSpec(
        objects=(
            ObjectSpec(
                id="it", category=model.category, pose=PoseSpec.from_pose(Pose(np.array([0.0, 0.0, -float(low[2])])))
            ),
        )
    )
    picture = draw_objects(scene, {"it": model}, looking_at(
        tuple(middle + size * np.array([-1.0, -1.1, 0.85])), tuple(middle - [0, 0, float(low[2])])
    ), px=px)  # fmt: skip
    image = Image.fromarray(picture)
    ImageDraw.Draw(image).text((8, 6), name, fill=(20, 20, 20))
    return np.asarray(image)


def draw_objects(
    scene: SceneSpec, objects: dict[str, ObjectModel], pose_world_camera: Pose, *, px: int
) -> NDArray[np.uint8]:
    """Draw objects on a table with nothing else around."""
    from armwright.sim.build import build_objects

    model, data = build_objects(scene, objects)
    camera = CameraModel.from_fov(width=px, height=px, fovy_deg=38.0, pose_world_camera=pose_world_camera)
    with Renderer(model, width=px, height=px, shadows=True, samples=4) as renderer:
        rgb = renderer.render(data, camera, rgb=True).rgb
    assert rgb is not None
    return rgb
