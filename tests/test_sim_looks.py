"""Looks belong to the drawing: pictures change as asked, what is simulated and what is labelled does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from armwright.assets.randomise import (
    FLOOR,
    TABLE,
    BackgroundLook,
    LightLook,
    Looks,
    Randomisation,
    SurfaceLook,
    draw_looks,
)
from armwright.core.errors import UsageError
from armwright.sim.render import RenderedFrame
from armwright.sim.textures import folder_images, hash_file, texture_image
from armwright.sim.world import World, WorldOptions
from sim_scenes import clutter, franka

RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


@pytest.fixture(scope="module", params=["auto", "rays"])
def world(request: pytest.FixtureRequest) -> World:
    scene, models = clutter()
    options = WorldOptions(renderer=request.param, image_px=(96, 96))
    made = World(scene, objects=models, robot=franka(), options=options)
    made.step(50)
    return made


def shot(world: World, looks: Looks | None, camera: str = "front") -> RenderedFrame:
    world.dress(looks)
    return world.cameras[camera].render(rgb=True, depth=True, segmentation=True)


def owners(world: World, frame: RenderedFrame) -> np.ndarray:
    assert frame.segmentation is not None
    return np.array([*world.built.body_object, "nothing"])[frame.segmentation]


def lamp(kind: str, diffuse: tuple[float, float, float]) -> LightLook:
    return LightLook(kind=kind, position_m=(0.4, 0.0, 1.2), direction=(0.0, 0.0, -1.0), diffuse=diffuse)


@pytest.mark.parametrize("axis", ["texture", "lighting", "background", "noise"])
def test_an_axis_changes_colours_and_nothing_else(world: World, axis: str) -> None:
    before = world.snapshot()
    plain = shot(world, None)
    looks = draw_looks(Randomisation().switched([axis]), world.scene, 4)
    first, again = shot(world, looks), shot(world, looks)
    assert np.array_equal(first.rgb, again.rgb)
    assert (first.rgb != plain.rgb).mean() > 0.05
    assert np.array_equal(first.depth_m, plain.depth_m)
    assert np.array_equal(first.segmentation, plain.segmentation)
    assert np.array_equal(shot(world, None).rgb, plain.rgb)
    after = world.snapshot()
    assert np.array_equal(before.qpos, after.qpos) and before.time_s == after.time_s


def test_reset_takes_the_looks_off(world: World) -> None:
    world.reset(world.scene)
    plain = shot(world, None).rgb
    world.dress(draw_looks(Randomisation().switched(["texture", "noise"]), world.scene, 1))
    world.reset(world.scene)
    assert np.array_equal(world.cameras["front"].render().rgb, plain)


def test_a_texture_covers_its_surface_only(world: World) -> None:
    plain = shot(world, None)
    dressed = shot(world, Looks(surfaces={"bowl_1": SurfaceLook(pattern="checker", colours=(RED, BLUE))}))
    who = owners(world, plain)
    changed = (dressed.rgb != plain.rgb).any(-1)
    assert changed[who == "bowl_1"].mean() > 0.9
    assert not changed[who != "bowl_1"].any()
    red, green, blue = np.moveaxis(dressed.rgb[who == "bowl_1"].astype(int), 1, 0)
    assert ((red > green + 40) | (blue > green + 40)).mean() > 0.8


def test_table_and_floor_take_textures(world: World) -> None:
    for name in (TABLE, FLOOR):
        plain = shot(world, None)
        who = owners(world, plain)
        dressed = shot(world, Looks(surfaces={name: SurfaceLook(pattern="noise", colours=(RED, RED))}))
        changed = (dressed.rgb != plain.rgb).any(-1)
        assert changed[who == name].mean() > 0.6  # the table's edge and legs stay
        assert not changed[(who != name)].any()


def test_light_has_colour_and_reaches_as_its_type_does(world: World) -> None:
    who = owners(world, shot(world, None))
    on_table = who == TABLE
    lit = {}
    for kind in ("directional", "spot", "point"):
        rgb = shot(world, Looks(lights=(lamp(kind, (0.8, 0.0, 0.0)),), ambient=0.0)).rgb
        lit[kind] = rgb[on_table].astype(float)
        # What is left of green and blue is the headlight, which hangs on the camera.
        assert lit[kind][:, 0].mean() > 2 * lit[kind][:, 2].mean()
    assert lit["spot"][:, 0].std() > lit["directional"][:, 0].std()
    dark = shot(world, Looks(lights=(lamp("directional", (0.1, 0.1, 0.1)),), ambient=0.05)).rgb
    bright = shot(world, Looks(lights=(lamp("directional", (0.8, 0.8, 0.8)),), ambient=0.3)).rgb
    assert dark[on_table].mean() < 0.5 * bright[on_table].mean()


def test_a_texture_as_background_leaves_table_robot_and_objects(world: World) -> None:
    plain = shot(world, None)
    look = BackgroundLook(texture=SurfaceLook(pattern="checker", colours=(RED, RED)))
    drawn = shot(world, Looks(background=look))
    behind = np.isin(owners(world, plain), [FLOOR, "nothing"])
    assert 0.05 < behind.mean() < 0.9
    assert (drawn.rgb[behind] == (255, 0, 0)).all()
    assert np.array_equal(drawn.rgb[~behind], plain.rgb[~behind])


def test_noise_has_the_spread_asked_for_and_differs_by_moment_and_camera(world: World) -> None:
    plain = shot(world, None).rgb.astype(float)
    looks = Looks(noise_sigma=5.0, noise_seed=7)
    first = shot(world, looks).rgb
    middle = (plain > 30) & (plain < 225)
    error = (first - plain)[middle]
    assert error.std() == pytest.approx(5.0, rel=0.05)
    assert abs(error.mean()) < 0.2
    world.step(10)
    later = shot(world, looks).rgb - shot(world, None).rgb.astype(float)
    assert abs(np.corrcoef((first - plain)[middle], later[middle])[0, 1]) < 0.1


def test_pictures_of_the_user_are_drawn_and_watched(world: World, tmp_path: Path) -> None:
    Image.fromarray(np.full((30, 40, 3), (10, 200, 30), np.uint8)).save(tmp_path / "green.png")
    (file,) = folder_images(tmp_path)
    looks = Looks(surfaces={TABLE: SurfaceLook(pattern="image", image=file)})
    rgb = shot(world, looks).rgb[owners(world, shot(world, None)) == TABLE].astype(int)
    assert (rgb[:, 1] > rgb[:, 0] + 30).mean() > 0.6
    Image.fromarray(np.zeros((30, 40, 3), np.uint8)).save(tmp_path / "green.png")
    texture_image.__globals__["_file_image"].cache_clear()
    with pytest.raises(UsageError, match="has changed"):
        world.dress(looks)
    assert hash_file(tmp_path / "green.png") != file.sha256


@pytest.mark.parametrize("pattern", ["noise", "checker", "wood", "stripes"])
def test_patterns_use_both_colours_and_depend_on_the_seed(pattern: str) -> None:
    image = texture_image(SurfaceLook(pattern=pattern, colours=(RED, BLUE), seed=1), 64)
    assert image.shape == (64, 64, 3)
    assert not image[..., 1].any()
    assert image[..., 0].min() < 60 and image[..., 0].max() > 195
    if pattern in ("noise", "wood"):
        assert not np.array_equal(image, texture_image(SurfaceLook(pattern=pattern, colours=(RED, BLUE), seed=2), 64))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "is empty"),
        ({"notes.txt": b"hello"}, "no pictures: notes.txt"),
        ({"broken.png": b"not a picture"}, "broken.png is not a picture"),
        ({"cut.png": None}, "cut.png is not a picture"),
    ],
)
def test_a_folder_with_anything_but_pictures_is_refused(
    tmp_path: Path, files: dict[str, bytes | None], message: str
) -> None:
    for name, content in files.items():
        if content is None:
            Image.fromarray(np.random.default_rng(0).integers(0, 255, (50, 50, 3), np.uint8)).save(tmp_path / name)
            content = (tmp_path / name).read_bytes()[:2000]
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message):
        folder_images(tmp_path)
