"""Ask the learned network about objects in real RGB-D frames and draw its answers.

    python scripts/affordance_real.py CLUTTER_FOLDER ROOM_FOLDER --out FILE

CLUTTER_FOLDER holds ``color.png``, ``depth.png`` [mm] and ``meta.mat`` (graspnet-baseline's doc/example_data);
ROOM_FOLDER frames of the 7-Scenes data as packed by tsdf-fusion-python. An object is what stands out of the plane
around a box in the picture: the largest connected piece. Only the points drawn are kept of the frames.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage
from scipy.spatial import cKDTree

from armwright.affordance.networks import NetworkAffordance
from armwright.affordance.protocol import ObjectCloud
from armwright.affordance.registry import affordance_model

CELL, COLUMNS = 260, 4
GREY, RED = np.array([188, 190, 194]), np.array([214, 48, 38])


@dataclass(frozen=True)
class Thing:
    """An object in a frame: its box [pixels], how far it stands out at least and a jump in depth that parts it [m]."""

    frame: str
    name: str
    box: tuple[int, int, int, int]
    above_m: float
    jump_m: float


CLUTTER = "clutter"
BANANA = Thing(CLUTTER, "banana", (440, 80, 610, 370), 0.006, 0.01)
BOTTLE = Thing(CLUTTER, "bottle", (280, 180, 535, 395), 0.006, 0.01)
DRILL = Thing(CLUTTER, "drill", (405, 425, 655, 630), 0.006, 0.003)
CUP = Thing(CLUTTER, "cup", (590, 265, 708, 382), 0.02, 0.03)
MUG = Thing("frame-000600", "mug", (325, 280, 450, 372), 0.012, 0.03)
ASKED: tuple[tuple[Thing, str], ...] = (
    (BANANA, "where to hold the banana"),
    (BOTTLE, "the body of the bottle"),
    (BOTTLE, "unscrew the lid"),
    (DRILL, "the handle of the drill"),
    (CUP, "inside of the cup"),
    (CUP, "the rim"),
    (MUG, "hold the mug by its handle"),
    (MUG, "press the button"),
)


def read(thing: Thing, clutter: Path, room: Path) -> np.ndarray:
    """Return (h, w, 3) places in the camera's frame [m], NaN where there is no reading."""
    if thing.frame == CLUTTER:
        from scipy.io import loadmat

        inner = np.asarray(loadmat(clutter / "meta.mat")["intrinsic_matrix"], float)
        depth = np.asarray(Image.open(clutter / "depth.png"), float) / 1000
    else:
        inner = np.loadtxt(room / "camera-intrinsics.txt")
        depth = np.asarray(Image.open(room / f"{thing.frame}.depth.png"), float)
        depth = np.where(depth == 65535, 0, depth) / 1000
    row, column = np.mgrid[: depth.shape[0], : depth.shape[1]]
    x, y = (column - inner[0, 2]) / inner[0, 0] * depth, (row - inner[1, 2]) / inner[1, 1] * depth
    return np.where((depth > 0)[..., None], np.stack([x, y, depth], -1), np.nan)


def plane(points: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the normal towards the camera and a point of the plane that most of (n, 3) points lie in."""
    some = points[rng.choice(len(points), min(4000, len(points)), replace=False)]
    best, kept = 0, some
    for _ in range(300):
        a, b, c = some[rng.choice(len(some), 3, replace=False)]
        normal = np.cross(b - a, c - a)
        length = float(np.linalg.norm(normal))
        if length > 1e-6:
            near = np.abs((some - a) @ (normal / length)) < 0.005
            if near.sum() > best:
                best, kept = int(near.sum()), some[near]
    middle = kept.mean(0)
    normal = np.linalg.eigh(np.cov((kept - middle).T))[1][:, 0]
    return (normal if normal @ middle < 0 else -normal), middle


def cut_out(thing: Thing, places: np.ndarray) -> ObjectCloud:
    """Return the object's cloud with z up from what it stands on."""
    u0, v0, u1, v1 = thing.box
    around = int(0.5 * max(u1 - u0, v1 - v0))
    wide = places[max(v0 - around, 0) : v1 + around, max(u0 - around, 0) : u1 + around].reshape(-1, 3)
    up, ground = plane(wide[np.isfinite(wide[:, 2])], np.random.default_rng(0))
    own = places[v0:v1, u0:u1]
    height = (own - ground) @ up
    inside = np.isfinite(height) & (height > thing.above_m)
    edge = np.zeros_like(inside)
    for axis in (0, 1):
        jump = np.abs(np.diff(own[..., 2], axis=axis)) > thing.jump_m
        edge |= np.concatenate([jump, np.zeros_like(jump.take([0], axis))], axis)
    label, count = ndimage.label(inside & ~edge)
    if not count:
        raise SystemExit(f"nothing stands out in the box of the {thing.name}.")
    points = own[label == 1 + int(np.argmax(np.bincount(label.ravel())[1:]))]
    tree = cKDTree(points)
    _, near = tree.query(points, k=min(40, len(points)))
    spread = points[near] - points[near].mean(1, keepdims=True)
    normals = np.linalg.eigh(np.einsum("nki,nkj->nij", spread, spread))[1][:, :, 0]
    normals *= -np.sign((normals * points).sum(1, keepdims=True))
    side = np.cross(up, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    axes = np.stack([side, np.cross(up, side), up])
    return ObjectCloud(thing.name, thing.name, (points - ground) @ axes.T, normals @ axes.T)


def cell(model: NetworkAffordance, cloud: ObjectCloud, phrase: str, back: np.ndarray) -> Image.Image:
    """Return one picture: the cloud from where the camera stood, the answer in red."""
    answer = model.predict_phrases(cloud, [phrase])[0]
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    x, y, depth = cloud.points_m @ right, cloud.points_m @ np.cross(back, right), cloud.points_m @ back
    size = max(np.ptp(x), np.ptp(y)) * 1.25
    column = (x - (x.min() + x.max()) / 2) / size * CELL + CELL / 2
    row = CELL / 2 - (y - (y.min() + y.max()) / 2) / size * CELL
    picture = Image.new("RGB", (CELL, CELL + 36), "white")
    draw = ImageDraw.Draw(picture)
    for k in np.argsort(depth):
        shade = 0.55 + 0.45 * max(0.0, float(cloud.normals[k] @ back))
        colour = tuple(int(v) for v in (RED if answer.mask[k] else GREY) * shade)
        draw.ellipse([column[k] - 1.5, row[k] - 1.5, column[k] + 1.5, row[k] + 1.5], fill=colour)
    draw.text((6, CELL + 2), f'"{phrase}"', fill="black")
    text = f"{cloud.object_id}, {len(cloud.points_m)} points: {answer.status}, {answer.presence:.2f}"
    draw.text((6, CELL + 17), text, fill=(90, 90, 90))
    return picture


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clutter", type=Path)
    parser.add_argument("room", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    model = affordance_model("learned")
    assert isinstance(model, NetworkAffordance)
    clouds = {thing: cut_out(thing, read(thing, chosen.clutter, chosen.room)) for thing, _ in ASKED}
    sheet = Image.new("RGB", (COLUMNS * CELL, (CELL + 36) * -(-len(ASKED) // COLUMNS)), "white")
    for k, (thing, phrase) in enumerate(ASKED):
        cloud = clouds[thing]
        # What a camera saw faces it: the mean normal is about the way back to it.
        back = np.add(cloud.normals.mean(0), [0.0, 0.0, 1e-3])
        back = np.add(back, [0.3, 0.0, 0.0]) if abs(back[:2]).max() < 0.1 else back
        picture = cell(model, cloud, phrase, back / np.linalg.norm(back))
        sheet.paste(picture, ((k % COLUMNS) * CELL, (k // COLUMNS) * (CELL + 36)))
    sheet.save(chosen.out, optimize=True)


if __name__ == "__main__":
    main()
