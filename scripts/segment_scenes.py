"""Render RGB-D scenes with instance labels for the segmenter: training families, and held-out ones for the test.

    python scripts/segment_scenes.py CACHE --split train --shards 40
    python scripts/segment_scenes.py CACHE --split shapes --shards 2

Splits: ``train`` and ``draws`` (the same families, other draws), ``textures`` (held-out textures and typefaces),
``shapes`` (held-out families and textures), ``flush`` (boxes pressed together on a shelf), ``same`` (flush boxes
that share one print). Only ``train`` is ever trained on. A shard is ``NAME-rgb.npy`` (n, 480, 640, 3) uint8,
``NAME-depth.npy`` uint16 of 0.1 mm, ``NAME-label.npy`` uint8 (0 background), without noise, ``NAME-focal.npy`` [px].
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from segment_layouts import AWAY, Placed, Slot, cluster, shelf_rows, turn
from segment_shapes import HELD_OUT_FAMILIES, TRAIN_FAMILIES, Shape
from segment_textures import (
    HELD_OUT_FONTS,
    HELD_OUT_TEXTURES,
    TRAIN_FONTS,
    TRAIN_TEXTURES,
    Picture,
    colour,
    wood,
)

from armwright.core.camera import CameraModel
from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.sim.render import Renderer

WIDTH, HEIGHT = 640, 480
FRAMES = 60
PRODUCTS, TEXTURES, WOODS, FIXTURES = 24, 36, 10, 14
SPLITS = ("train", "draws", "textures", "shapes", "flush", "same")
FROZEN = "de582125a2661d1c"
"""Of the names of the families, textures and typefaces on either side; a change of these voids the tables."""


def held_out_hash() -> str:
    """Return the hash of what is trained on and what is held out."""
    names = [TRAIN_FAMILIES, HELD_OUT_FAMILIES, TRAIN_TEXTURES, HELD_OUT_TEXTURES, TRAIN_FONTS, HELD_OUT_FONTS]
    return hashlib.sha256(json.dumps([list(group) for group in names]).encode()).hexdigest()[:16]


class Library:
    """A compiled MuJoCo model with objects, prints and fixtures, rearranged for every picture.

    Args:
        rng: Draws shapes and prints.
        families, textures: What to draw from.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        families: dict[str, Callable[[np.random.Generator], Shape]],
        textures: dict[str, Callable[[np.random.Generator], Picture]],
    ) -> None:
        spec = mujoco.MjSpec()
        spec.visual.map.znear, spec.visual.map.zfar = 0.02, 20.0
        spec.stat.extent = 1.0
        spec.visual.headlight.ambient = [0.4, 0.4, 0.4]
        self.prints = [self._material(spec, f"print{k}", self._draw(textures, rng), rng) for k in range(TEXTURES)]
        self.woods = [self._material(spec, f"wood{k}", wood(rng), rng) for k in range(WOODS)]
        world = spec.worldbody
        names = list(families)
        self.slots: list[Slot] = []
        self.pieces: list[list[str]] = []
        for product in range(PRODUCTS):
            family = names[int(rng.integers(0, len(names)))]
            shape = families[family](rng)
            for k, piece in enumerate(shape.pieces):
                mesh = spec.add_mesh(name=f"m{product}_{k}", uservert=piece.vertices.ravel())
                mesh.usernormal, mesh.usertexcoord = piece.normals.ravel(), piece.uv.ravel()
                mesh.userface = piece.faces.ravel()
                mesh.userfacenormal = mesh.userfacetexcoord = piece.faces.ravel()
                mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
            points = np.concatenate([piece.vertices for piece in shape.pieces])
            for copy in range(int(rng.choice([1, 1, 2, 3]))):
                body = world.add_body(name=f"o{product}_{copy}", mocap=True)
                geoms = []
                for k, piece in enumerate(shape.pieces):
                    geoms.append(f"g{product}_{copy}_{k}_{piece.look}")
                    body.add_geom(
                        name=geoms[-1],
                        type=mujoco.mjtGeom.mjGEOM_MESH,
                        meshname=f"m{product}_{k}",
                        contype=0,
                        conaffinity=0,
                        material=self.prints[0],
                    )
                self.slots.append(Slot(product, family, points, shape.flat or family == "bottle", shape.flat))
                self.pieces.append(geoms)
        for k in range(FIXTURES):
            world.add_geom(
                name=f"fix{k}",
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=[0.1] * 3,
                contype=0,
                conaffinity=0,
                material=self.woods[0],
            )
        for k in range(4):
            body = world.add_body(name=f"hand{k}", mocap=True)
            body.add_geom(name=f"hand{k}", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.01] * 3, contype=0, conaffinity=0)
        for k in range(3):
            world.add_light(name=f"lamp{k}", pos=[0, 0, 2], dir=[0, 0, -1], castshadow=k == 0)
        self.model = spec.compile()
        # Fixtures are moved by writing their poses, so none may be taken to share its body's frame.
        self.model.geom_sameframe[:] = 0
        self.data = mujoco.MjData(self.model)
        m = self.model
        self.bodies = [m.body(f"o{s.product}_{self._copy(i)}").id for i, s in enumerate(self.slots)]
        # A mesh is moved to its centre of mass on compiling; its geom's pose puts it back.
        self.geoms = [[m.geom(name).id for name in names] for names in self.pieces]

    def _copy(self, slot: int) -> int:
        return sum(s.product == self.slots[slot].product for s in self.slots[:slot])

    @staticmethod
    def _draw(textures: dict[str, Callable[[np.random.Generator], Picture]], rng: np.random.Generator) -> Picture:
        return textures[str(rng.choice(list(textures)))](rng)

    @staticmethod
    def _material(spec: Any, name: str, picture: Picture, rng: np.random.Generator) -> str:
        texture = spec.add_texture(
            name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=picture.shape[1], height=picture.shape[0], nchannel=3
        )
        texture.data = np.ascontiguousarray(picture).tobytes()
        shine = float(rng.choice([0.0, 0.2, 0.6]))
        material = spec.add_material(name=name, specular=shine, shininess=float(rng.uniform(0.1, 0.9)))
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
        if name.startswith("wood"):
            material.texrepeat = rng.integers(1, 5, 2).astype(float)
        return name

    def arrange(self, rng: np.random.Generator, kind: str) -> CameraModel:
        """Put up a new scene and return the camera that looks at it; kinds: shelf, table, flush, same."""
        m, d = self.model, self.data
        d.mocap_pos[:] = AWAY
        m.geom_pos[[m.geom(f"fix{k}").id for k in range(FIXTURES)]] = AWAY
        self._dress(rng)
        order = self._order(rng, kind)
        if kind == "table":
            placed, eye, look = self._table(rng, order)
        else:
            placed, eye, look = self._shelf(rng, order, kind)
        for one in placed:
            mocap = m.body_mocapid[self.bodies[one.slot]]
            d.mocap_pos[mocap] = one.position
            mujoco.mju_mat2Quat(d.mocap_quat[mocap], one.rotation.ravel())
        self._paint(rng, placed, kind)
        camera = self._camera(rng, eye, look)
        self._hand(rng, camera)
        mujoco.mj_kinematics(m, d)
        mujoco.mj_camlight(m, d)
        return camera

    def _order(self, rng: np.random.Generator, kind: str) -> list[int]:
        """Return slots in the order of use: copies of a product often side by side; boxes alone where asked for."""
        products = list(rng.permutation(PRODUCTS))
        order: list[int] = []
        for product in products:
            copies = [i for i, s in enumerate(self.slots) if s.product == product]
            order += copies if rng.random() < 0.6 else copies[:1]
        if kind in ("flush", "same"):
            order = [i for i in order if self.slots[i].family in ("box", "block", "carton")]
        return order

    def _shelf(self, rng: np.random.Generator, order: list[int], kind: str) -> tuple[list[Placed], Any, Any]:
        width, depth = rng.uniform(0.55, 1.2), rng.uniform(0.24, 0.42)
        thick = rng.uniform(0.01, 0.03)
        spacing = rng.uniform(0.24, 0.4)
        boards = int(rng.integers(1, 4))
        z0 = rng.uniform(0.0, 0.8)
        board_look, wall_look = (int(k) for k in rng.integers(0, WOODS, 2))
        fixtures = iter(range(FIXTURES))
        everything: list[Placed] = []
        for level in range(boards + int(rng.random() < 0.6)):
            z = z0 + level * spacing
            self._fix(next(fixtures), [depth / 2, 0, z - thick / 2], [depth / 2, width / 2, thick / 2], board_look)
            if level >= boards:
                continue
            touching = 1.0 if kind in ("flush", "same") else (0.85 if rng.random() < 0.85 else 0.1)
            placed, order = shelf_rows(
                self.slots, order, rng, width=width - 0.03, depth=depth, clear=spacing - thick, touching=touching
            )
            for one in placed:
                one.position = one.position + np.array([0, 0, z])
            everything += placed
        top = z0 + boards * spacing
        middle, half = (top + z0) / 2, (top - z0) / 2 + thick
        for side in (-1, 1):
            if rng.random() < 0.7:
                self._fix(
                    next(fixtures),
                    [depth / 2, side * (width / 2 + thick / 2), middle],
                    [depth / 2, thick / 2, half],
                    board_look if rng.random() < 0.7 else wall_look,
                )
        if rng.random() < 0.75:
            self._fix(next(fixtures), [depth + 0.005, 0, middle], [0.005, width / 2, half], wall_look)
        self._room(rng, fixtures, behind=depth + rng.uniform(0.02, 1.2), floor=z0 - rng.uniform(0.02, 0.8))
        target = z0 + spacing * int(rng.integers(0, boards)) + rng.uniform(0.02, 0.16)
        look = np.array([depth * 0.4, rng.uniform(-0.4, 0.4) * width, target])
        distance, yaw, pitch = rng.uniform(0.42, 1.0), rng.normal(0, 0.22), np.deg2rad(rng.uniform(-8, 35))
        away = np.array([-np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
        return everything, look + distance * away, look

    def _table(self, rng: np.random.Generator, order: list[int]) -> tuple[list[Placed], Any, Any]:
        fixtures = iter(range(FIXTURES))
        size = rng.uniform(0.3, 0.9, 2)
        self._fix(next(fixtures), [0, 0, -0.02], [*size, 0.02], int(rng.integers(0, WOODS)))
        if rng.random() < 0.25:
            self._fix(
                next(fixtures), [0.0, rng.choice([-1, 1]) * 0.35, 0.06], [0.3, 0.008, 0.06], int(rng.integers(0, WOODS))
            )
        self._room(rng, fixtures, behind=rng.uniform(0.5, 2.0), floor=-rng.uniform(0.05, 0.9))
        style = rng.random()
        if style < 0.12:
            count, touching = int(rng.integers(1, 3)), 0.0
        elif style < 0.3:
            count, touching = int(rng.integers(3, 9)), 0.05
        else:
            count, touching = int(rng.integers(3, 14)), 0.85
        placed, _ = cluster(self.slots, order, rng, count=count, touching=touching, spread=min(0.32, *size))
        look = np.array([*rng.uniform(-0.08, 0.08, 2), rng.uniform(0, 0.08)])
        distance, yaw, pitch = rng.uniform(0.4, 0.95), rng.uniform(-1.2, 1.2), np.deg2rad(rng.uniform(12, 80))
        away = np.array([-np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
        return placed, look + distance * away, look

    def _room(self, rng: np.random.Generator, fixtures: Any, *, behind: float, floor: float) -> None:
        self._fix(next(fixtures), [0, 0, floor - 0.05], [4, 4, 0.05], int(rng.integers(0, WOODS)))
        self._fix(next(fixtures), [behind + 0.05, 0, 1], [0.05, 4, 3], int(rng.integers(0, WOODS)))
        for side in (-1, 1):
            if rng.random() < 0.5:
                at = side * rng.uniform(0.9, 2.5)
                self._fix(next(fixtures), [0, at, 1], [3, 0.05, 3], int(rng.integers(0, WOODS)))

    def _fix(self, k: int, at: Any, half: Any, look: int) -> None:
        i = self.model.geom(f"fix{k}").id
        self.model.geom_pos[i], self.model.geom_size[i] = at, half
        self.model.geom_matid[i] = self.model.mat(self.woods[look]).id

    def _dress(self, rng: np.random.Generator) -> None:
        m = self.model
        m.vis.headlight.ambient[:] = rng.uniform(0.15, 0.55)
        m.vis.headlight.diffuse[:] = rng.uniform(0.0, 0.4)
        m.vis.headlight.specular[:] = rng.uniform(0.0, 0.3)
        for k in range(3):
            on = k == 0 or rng.random() < 0.5
            tint = rng.uniform(0.85, 1.0, 3)
            m.light_diffuse[k] = tint * (rng.uniform(0.15, 0.7) if on else 0.0)
            m.light_specular[k] = rng.uniform(0, 0.5) if on else 0.0
            at = np.array([rng.uniform(-2.0, 0.3), rng.uniform(-2, 2), rng.uniform(0.8, 3)])
            m.light_pos[k] = at
            aim = np.array([0.1, 0, 0.3]) - at
            m.light_dir[k] = aim / np.linalg.norm(aim)

    def _paint(self, rng: np.random.Generator, placed: list[Placed], kind: str) -> None:
        m = self.model
        print_of: dict[int, int] = {}
        last = int(rng.integers(0, TEXTURES))
        shared = kind == "same"
        for one in placed:
            product = self.slots[one.slot].product
            if product not in print_of:
                if not (shared or rng.random() < 0.12):
                    last = int(rng.integers(0, TEXTURES))
                print_of[product] = last
            cap = np.array(colour(rng)) / 255
            for geom, name in zip(self.geoms[one.slot], self.pieces[one.slot], strict=True):
                if name.endswith("_0") or rng.random() < 0.2:
                    m.geom_matid[geom] = m.mat(self.prints[print_of[product]]).id
                    m.geom_rgba[geom, :3] = 1.0
                else:
                    m.geom_matid[geom] = -1
                    m.geom_rgba[geom] = [*cap, 1]

    def _camera(self, rng: np.random.Generator, eye: Any, look: Any) -> CameraModel:
        forward = np.asarray(look) - eye
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, [0, 0, 1.0])
        right /= np.linalg.norm(right)
        rotation = np.stack([right, np.cross(forward, right), forward], -1) @ turn(2, rng.normal(0, 0.06))
        pose = Pose.from_rotation(rotation, eye)
        return CameraModel.from_fov(width=WIDTH, height=HEIGHT, fovy_deg=rng.uniform(38, 60), pose_world_camera=pose)

    def _hand(self, rng: np.random.Generator, camera: CameraModel) -> None:
        """Let a gripper's fingers reach in over the lower or upper border now and then."""
        if rng.random() > 0.12:
            return
        z, side = rng.uniform(0.1, 0.2), float(rng.choice([-1, 1]))
        edge = side * z * camera.cy / camera.fy
        opening, grey = rng.uniform(0.005, 0.045), rng.uniform(0.03, 0.6)
        rotation = camera.pose_world_camera.rotation
        for k, x in enumerate((-opening, opening)):
            self._hand_box(
                k,
                camera,
                rotation,
                [x + np.sign(x) * 0.01, edge - side * rng.uniform(-0.01, 0.03), z],
                [0.008, 0.012, rng.uniform(0.02, 0.05)],
                grey,
            )
        self._hand_box(2, camera, rotation, [0, edge + side * 0.01, z - 0.05], [0.05, 0.014, 0.02], grey)

    def _hand_box(self, k: int, camera: CameraModel, rotation: Any, at: Any, half: Any, grey: float) -> None:
        m, d = self.model, self.data
        mocap = m.body_mocapid[m.body(f"hand{k}").id]
        d.mocap_pos[mocap] = camera.pose_world_camera.transform(np.asarray(at))
        mujoco.mju_mat2Quat(d.mocap_quat[mocap], rotation.ravel())
        i = m.geom(f"hand{k}").id
        m.geom_size[i], m.geom_rgba[i] = half, [grey, grey, grey * 1.05, 1]


def labels_of(bodies: NDArray[np.int32], library: Library) -> NDArray[np.uint8]:
    """Turn body numbers into 1, 2, … for the objects and 0 for everything else."""
    table = np.zeros(library.model.nbody + 1, np.uint8)
    for k, body in enumerate(library.bodies):
        table[body] = k + 1
    return table[bodies]


def kinds(split: str, rng: np.random.Generator) -> str:
    """Draw the kind of scene that a split shows."""
    if split in ("flush", "same"):
        return split
    u = rng.random()
    if split == "train" and u > 0.86:
        return "flush" if u > 0.93 else "same"
    return "shelf" if u < 0.5 else "table"


def families_of(split: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a split draws shapes and textures from."""
    shapes = HELD_OUT_FAMILIES if split == "shapes" else TRAIN_FAMILIES
    if split in ("flush", "same"):
        shapes = {name: TRAIN_FAMILIES[name] for name in ("box", "block", "carton")}
    return shapes, TRAIN_TEXTURES if split in ("train", "draws") else HELD_OUT_TEXTURES


def shard(folder: Path, split: str, number: int, seed: int, frames: int) -> None:
    """Render and write one shard, unless it is there."""
    name = f"{split}-{seed}-{number:03d}"
    if (folder / f"{name}-label.npy").exists():
        return
    rng = rng_for(seed, "segment-scenes", split, number)
    shapes, textures = families_of(split)
    library = Library(rng, shapes, textures)
    rgb = np.empty((frames, HEIGHT, WIDTH, 3), np.uint8)
    depth = np.empty((frames, HEIGHT, WIDTH), np.uint16)
    label = np.empty((frames, HEIGHT, WIDTH), np.uint8)
    focal = np.empty(frames, np.float32)
    started = time.process_time()
    with Renderer(library.model, width=WIDTH, height=HEIGHT, shadows=number % 4 == 3) as renderer:
        k = 0
        while k < frames:
            camera = library.arrange(rng, kinds(split, rng))
            seen = renderer.render(library.data, camera, depth=True, segmentation=True)
            label[k] = labels_of(seen.segmentation, library)
            if (label[k] > 0).mean() < 0.02:
                continue
            rgb[k], focal[k] = seen.rgb, camera.fx
            depth[k] = np.clip(seen.depth_m * 1e4, 0, 65535).astype(np.uint16)
            k += 1
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}-rgb.npy", rgb)
    np.save(folder / f"{name}-depth.npy", depth)
    np.save(folder / f"{name}-focal.npy", focal)
    np.save(folder / f"{name}-label.npy", label)
    sys.stdout.write(f"{name}: {frames} frames, {time.process_time() - started:.1f} CPU s\n")
    sys.stdout.flush()


def main() -> None:
    """Render shards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if held_out_hash() != FROZEN:
        raise SystemExit(f"the held-out names hash to {held_out_hash()}, the frozen ones to {FROZEN}.")
    for number in range(args.first, args.first + args.shards):
        shard(args.cache, args.split, number, args.seed, args.frames)


if __name__ == "__main__":
    main()
