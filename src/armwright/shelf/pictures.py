"""Pictures of what was seen: views with masks and names, the instance map, and meshes as files."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from scipy.spatial import cKDTree

from armwright.core.camera import CameraModel
from armwright.core.files import write_bytes
from armwright.core.pose import Pose
from armwright.perception.draw import draw
from armwright.perception.instances import InstanceMap
from armwright.perception.surface import Surface, surface
from armwright.shelf.mapping import MappedView, ShelfMap

_COLOURS = np.array(
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [148, 103, 189],
     [140, 86, 75], [188, 189, 34], [23, 190, 207]], np.uint8,
)  # fmt: skip
_TINT = 0.42
_FURNITURE = (205, 198, 188)
_BESIDE_M = 0.02


def colour_of(number: int) -> NDArray[np.uint8]:
    """Return (3,) the colour in which an instance is drawn everywhere."""
    return np.asarray(_COLOURS[number % len(_COLOURS)])


def draw_view(view: MappedView, scene: InstanceMap, names: Mapping[int, str]) -> NDArray[np.uint8]:
    """Return (H, W, 3) a view with each mask tinted in its instance's colour, outlined and named.

    Args:
        view: From a `ShelfMap` or a `SeenTarget`.
        scene: Its map.
        names: Instance number -> what to write; a mask of another instance is drawn grey.
    """
    number = scene.shown_in(view.report)
    out = view.frame.rgb.astype(float)
    places: list[tuple[float, float, str]] = []
    for index, detection in enumerate(view.detections):
        mask = detection.mask
        known = number.get(index)
        colour = colour_of(known) if known in names and known is not None else np.array([120, 120, 120])
        out[mask] = (1 - _TINT) * out[mask] + _TINT * colour
        edge = mask & ~(np.roll(mask, 2, 0) & np.roll(mask, -2, 0) & np.roll(mask, 2, 1) & np.roll(mask, -2, 1))
        out[edge] = colour
        rows, columns = np.nonzero(mask)
        places.append((float(columns.mean()), float(rows.mean()), names.get(known, "") if known is not None else ""))
    picture = Image.fromarray(out.astype(np.uint8))
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(13)
    for x, y, name in places:
        if name:
            box = pen.textbbox((x, y), name, font, anchor="mm")
            pen.rectangle((box[0] - 2, box[1] - 1, box[2] + 2, box[3] + 1), "#ffffff")
            pen.text((x, y), name, "#1d2433", font, anchor="mm")
    return np.asarray(picture)


def map_mesh(mapped: ShelfMap, *, true_colours: bool = False) -> Surface:
    """Return all instances on the shelf as one mesh in the world, each in its colour or as it was seen."""
    parts = []
    for number in mapped.numbers.values():
        mesh = surface(mapped.instances.instances[number].volume)
        rgb = mesh.rgb if true_colours else np.broadcast_to(colour_of(number), mesh.rgb.shape)
        parts.append(Surface(mesh.points_m, mesh.normals, np.asarray(rgb, np.uint8), mesh.faces))
    return joined(parts)


def joined(meshes: Sequence[Surface]) -> Surface:
    """Return several meshes as one."""
    if not meshes:
        empty = np.zeros((0, 3), np.float32)
        return Surface(empty, empty, np.zeros((0, 3), np.uint8), np.zeros((0, 3), np.int32))
    starts = np.cumsum([0, *(len(m.points_m) for m in meshes[:-1])])
    return Surface(
        np.concatenate([m.points_m for m in meshes]),
        np.concatenate([m.normals for m in meshes]),
        np.concatenate([m.rgb for m in meshes]),
        np.concatenate([m.faces + at for m, at in zip(meshes, starts, strict=True)]).astype(np.int32),
    )


def draw_map(mapped: ShelfMap, *, width: int = 900, height: int = 760, true_colours: bool = False) -> NDArray[np.uint8]:
    """Return (height, width, 3) the instance map and what it stands in, from before the shelf."""
    shelf = mapped.shelf
    tall = shelf.top_m - shelf.boards_m[0]
    away = 1.3 * max(shelf.width_m, tall * width / height)
    eye = np.array([-away, -0.25 * away, shelf.boards_m[0] + 0.6 * tall])
    at = np.array([0.5 * shelf.depth_m, 0.0, shelf.boards_m[0] + 0.45 * tall])
    z = (at - eye) / np.linalg.norm(at - eye)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x /= np.linalg.norm(x)
    pose = mapped.pose_world_shelf @ Pose.from_rotation(np.stack([x, np.cross(z, x), z], 1), eye)
    focal = 0.95 * width * away / (1.3 * shelf.width_m)
    camera = CameraModel(width, height, focal, focal, width / 2, height / 2, pose)
    return draw(joined([_furniture(mapped), map_mesh(mapped, true_colours=true_colours)]), camera)[0]


def light_mesh(mapped: ShelfMap, *, most: int = 40_000) -> Surface:
    """Return objects as they were seen and, in grey, everything else, in the shelf frame, with few faces for a page.

    Args:
        mapped: The shelf.
        most: Faces of the objects at most; the coarse rest comes besides.
    """
    import fast_simplification

    things = map_mesh(mapped, true_colours=True)
    if len(things.faces) > most:
        points, faces = fast_simplification.simplify(things.points_m, things.faces, target_count=most)
        nearest = cKDTree(things.points_m).query(points)[1]
        things = Surface(
            np.asarray(points, np.float32), things.normals[nearest], things.rgb[nearest], np.asarray(faces, np.int32)
        )
    whole = joined([_furniture(mapped), things])
    to_shelf = mapped.pose_world_shelf.inverse()
    points = to_shelf.transform(whole.points_m).astype(np.float32)
    return Surface(points, whole.normals, whole.rgb, whole.faces)


def _furniture(mapped: ShelfMap) -> Surface:
    """Return everything that was seen but the mapped objects, in grey."""
    everything = surface(mapped.coarse)
    grey = np.broadcast_to(np.array(_FURNITURE, np.uint8), everything.rgb.shape)
    apart = ~_in_boxes(mapped, everything.points_m)
    return Surface(everything.points_m, everything.normals, grey, everything.faces[apart[everything.faces].all(1)])


def _in_boxes(mapped: ShelfMap, points_m: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return (n,) which points of the world are in or about a mapped object, but not on its board."""
    at = mapped.pose_world_shelf.inverse().transform(points_m)
    out = np.zeros(len(at), bool)
    for one in mapped.objects:
        low, high = np.array(one.box.low_m) - _BESIDE_M, np.array(one.box.high_m) + _BESIDE_M
        low[2] += _BESIDE_M
        out |= ((at > low) & (at < high)).all(1)
    return out


def write_ply(path: str | Path, mesh: Surface) -> None:
    """Write a mesh with colours as a binary PLY, whole or not at all.

    Raises:
        OutputError: The file cannot be written.
    """
    vertex = np.zeros(len(mesh.points_m), [("p", "<f4", 3), ("n", "<f4", 3), ("c", "u1", 3)])
    vertex["p"], vertex["n"], vertex["c"] = mesh.points_m, mesh.normals, mesh.rgb
    face = np.zeros(len(mesh.faces), [("k", "u1"), ("i", "<i4", 3)])
    face["k"], face["i"] = 3, mesh.faces
    fields = [f"property float {a}" for a in ("x", "y", "z", "nx", "ny", "nz")]
    fields += [f"property uchar {a}" for a in ("red", "green", "blue")]
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(vertex)}", *fields]
    head += [f"element face {len(face)}", "property list uchar int vertex_indices", "end_header", ""]
    out = io.BytesIO()
    out.write("\n".join(head).encode())
    out.write(vertex.tobytes())
    out.write(face.tobytes())
    write_bytes(path, out.getvalue())
