"""Tiny model files that the import tests write: good ones, and one of every bad kind."""

from __future__ import annotations

import json
import struct

import numpy as np

CUBE_FACES = [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7),
              (2, 7, 6), (3, 0, 4), (3, 4, 7)]  # fmt: skip


def cube(low, high):
    """Return vertices and outward triangles of a box."""
    (a, b, c), (d, e, f) = low, high
    vertices = [(a, b, c), (d, b, c), (d, e, c), (a, e, c), (a, b, f), (d, b, f), (d, e, f), (a, e, f)]
    return np.array(vertices, float), np.array(CUBE_FACES)


def write_obj(path, groups, *, extra=""):
    """Write groups of (name, vertices, faces)."""
    lines, start = [extra] if extra else [], 1
    for name, vertices, faces in groups:
        lines.append(f"g {name}")
        lines += ["v " + " ".join(f"{v:.6g}" for v in vertex) for vertex in vertices]
        lines += ["f " + " ".join(str(i + start) for i in face) for face in faces]
        start += len(vertices)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def mug_groups(scale=1.0, *, without_top=False):
    """Return a square mug: four walls, a floor, a handle; parts overlap."""
    groups = []
    for name, low, high in (
        ("body", (-0.04, -0.04, 0), (0.04, 0.04, 0.006)),
        ("body", (-0.04, -0.04, 0), (-0.035, 0.04, 0.09)),
        ("body", (0.035, -0.04, 0), (0.04, 0.04, 0.09)),
        ("body", (-0.04, -0.04, 0), (0.04, -0.035, 0.09)),
        ("body", (-0.04, 0.035, 0), (0.04, 0.04, 0.09)),
        ("handle", (0.065, -0.006, 0.02), (0.073, 0.006, 0.075)),
        ("handle", (0.037, -0.006, 0.067), (0.073, 0.006, 0.075)),
        ("handle", (0.037, -0.006, 0.02), (0.073, 0.006, 0.028)),
    ):
        vertices, faces = cube(np.array(low) * scale, np.array(high) * scale)
        groups.append((name, vertices, faces))
    return groups


def write_glb(path, vertices, faces):
    """Write one triangle mesh as binary glTF."""
    points = np.asarray(vertices, "<f4").tobytes()
    indices = np.asarray(faces, "<u4").tobytes()
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "name": "thing"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [0.8, 0.1, 0.1, 1.0]}}],
        "buffers": [{"byteLength": len(points) + len(indices)}],
        "bufferViews": [{"buffer": 0, "byteLength": len(points)},
                        {"buffer": 0, "byteOffset": len(points), "byteLength": len(indices)}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(vertices), "type": "VEC3",
             "min": np.min(vertices, 0).tolist(), "max": np.max(vertices, 0).tolist()},
            {"bufferView": 1, "componentType": 5125, "count": 3 * len(faces), "type": "SCALAR"},
        ],
    }  # fmt: skip
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    data = points + indices
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    path.write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks)
    return path


def partnet_folder(folder, *, mesh_path="textured_objs/{name}.obj", moving=True):
    """Write a cabinet with a door in the layout of PartNet-Mobility: sheets as panels, part names in result.json."""
    box = [
        ("original-1", cube((-0.3, -0.3, 0), (0.3, 0.3, 0.02))),
        ("original-2", cube((-0.3, -0.3, 0.58), (0.3, 0.3, 0.6))),
        ("original-3", (np.array([(-0.3, -0.3, 0), (-0.3, 0.3, 0), (-0.3, 0.3, 0.6), (-0.3, -0.3, 0.6)]),
                        np.array([(0, 2, 1), (0, 3, 2)]))),
        ("original-4", cube((0.3, -0.3, 0), (0.32, 0.3, 0.6))),
        ("original-5", cube((0.33, 0.2, 0.25), (0.35, 0.22, 0.35))),
    ]  # fmt: skip
    for name, (vertices, faces) in box:
        write_obj(folder / "textured_objs" / f"{name}.obj", [("x", vertices, faces)])
    door = [{"name": "cabinet_door_surface", "objs": ["original-4"]}, {"name": "handle", "objs": ["original-5"]}]
    children = [
        {"name": "cabinet_frame", "objs": ["original-1", "original-2", "original-3"]},
        {"name": "cabinet_door", "objs": ["original-4", "original-5"], "children": door},
    ]
    (folder / "result.json").write_text(json.dumps([{"name": "storage_furniture", "objs": [], "children": children}]))
    (folder / "semantics.txt").write_text("link_0 hinge rotation_door\nlink_1 heavy furniture_body\n")

    def visuals(names):
        files = [mesh_path.format(name=name) for name in names]
        return "".join(f'<visual><geometry><mesh filename="{file}"/></geometry></visual>' for file in files)

    joint = "revolute" if moving else "fixed"
    (folder / "mobility.urdf").write_text(
        f"""<robot name="partnet"><link name="base"/>
        <link name="link_0">{visuals(["original-4", "original-5"])}</link>
        <link name="link_1">{visuals(["original-1", "original-2", "original-3"])}</link>
        <joint name="j0" type="{joint}"><origin xyz="0 0 0"/><axis xyz="0 0 1"/>
        <parent link="link_1"/><child link="link_0"/>
        <limit lower="0" upper="1.5"/></joint>
        <joint name="j1" type="fixed"><origin rpy="0 0 3.14159265"/><parent link="base"/><child link="link_1"/></joint>
        </robot>"""
    )
    return folder
