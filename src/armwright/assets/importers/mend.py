"""Make closed links of what files hold: weld, cut bad edges, turn outwards, close holes, thicken sheets."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components

from armwright.assets.importers.raw import RawMesh, Triangles
from armwright.assets.importers.report import Notes
from armwright.core.pose import Array

PANEL_M = 0.002
"""Thickness that a sheet gets: a thinner one lets a fast finger pass between two steps."""
_WELD = 1e-6
_HOLE_SHARE = 0.05
"""Share of a piece's area up to which holes are closed: a larger one may be the mouth of a vessel."""
_HOLE_FLATNESS = 0.05


@dataclass(frozen=True, eq=False)
class Shell:
    """One closed piece of surface, facing out."""

    vertices_m: Array
    faces: Triangles
    part: NDArray[np.str_]
    sheet: bool = False


def weld(mesh: RawMesh) -> tuple[Array, Triangles, NDArray[np.str_]]:
    """Return vertices, faces and parts with equal vertices merged and faces without area or twice given left out."""
    if not len(mesh.faces):
        return mesh.vertices[:0], mesh.faces, mesh.part
    used = mesh.vertices[mesh.faces]
    size = max(float(np.ptp(used.reshape(-1, 3), axis=0).max()), 1e-12)
    grid = np.round(mesh.vertices / (size * _WELD)).astype(np.int64)
    _, first, inverse = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    faces = inverse.reshape(-1)[mesh.faces]
    vertices = mesh.vertices[first]
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    good = (area > 1e-12 * size * size) & (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2])
    good &= faces[:, 2] != faces[:, 0]
    faces, part = faces[good], mesh.part[good]
    _, once = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return vertices, faces[np.sort(once)], part[np.sort(once)]


def _edges(faces: Triangles) -> tuple[Triangles, NDArray[np.int64], NDArray[np.int64]]:
    """Return directed edges (3m, 2), the undirected edge each belongs to, and how often each of those occurs."""
    directed = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    _, which, count = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True, return_counts=True)
    return directed, which.reshape(-1), count


def _patches(faces: Triangles) -> tuple[int, NDArray[np.int32], coo_matrix]:
    """Return how many pieces hang together over edges that two faces share, the piece per face, and the pairs."""
    _, which, count = _edges(faces)
    owner = np.tile(np.arange(len(faces)), 3)
    order = np.argsort(which, kind="stable")
    shared = count[which[order]] == 2
    pairs = owner[order][shared].reshape(-1, 2)
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(faces), len(faces)))
    number, label = connected_components(graph, directed=False)
    return number, label, graph


def _oriented(faces: Triangles) -> Triangles:
    """Return the faces of one piece, all turned the same way."""
    directed, which, count = _edges(faces)
    keys = {(int(a), int(b)) for a, b in directed[count[which] == 2]}
    if len(keys) == int((count[which] == 2).sum()):
        return faces
    _, _, graph = _patches(faces)
    order, before = breadth_first_order(graph, 0, directed=False)
    turned = faces.copy()
    for face in order[1:]:
        reference = turned[before[face]]
        edges = {(reference[k], reference[(k + 1) % 3]) for k in range(3)}
        own = [(turned[face][k], turned[face][(k + 1) % 3]) for k in range(3)]
        if any(edge in edges for edge in own):
            turned[face] = turned[face][::-1]
    return turned


def _volume(vertices: Array, faces: Triangles) -> float:
    triangles = vertices[faces] - vertices.mean(0)
    return float(np.linalg.det(triangles).sum() / 6.0)


def _loops(faces: Triangles) -> list[list[int]]:
    """Return the border of a piece as loops of vertices, in the sense of its faces."""
    directed, which, count = _edges(faces)
    following: dict[int, list[int]] = defaultdict(list)
    for a, b in directed[count[which] == 1]:
        following[int(a)].append(int(b))
    loops = []
    while following:
        start = next(iter(following))
        loop, at = [start], following[start].pop()
        while at != start and following.get(at):
            loop.append(at)
            at = following[at].pop()
        following = defaultdict(list, {k: v for k, v in following.items() if v})
        loops.append(loop)
    return loops


def _closed_holes(vertices: Array, faces: Triangles, part: NDArray[np.str_]) -> Shell | None:
    """Close flat holes that are small beside the piece, or return None where they are not."""
    area = 0.5 * np.linalg.norm(
        np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]]), axis=1
    )
    new_vertices, new_faces = [vertices], [faces]
    total = 0.0
    for loop in _loops(faces):
        rim = vertices[loop]
        middle = rim.mean(0)
        if len(loop) < 3:
            return None
        spread = np.linalg.svd(rim - middle, full_matrices=False)[1]
        if spread[2] > _HOLE_FLATNESS * spread[0]:
            return None
        center = sum(len(v) for v in new_vertices)
        fan = np.array([[b, a, center] for a, b in zip(loop, loop[1:] + loop[:1], strict=True)], np.int64)
        total += 0.5 * float(np.linalg.norm(np.cross(rim - middle, np.roll(rim, -1, axis=0) - middle), axis=1).sum())
        new_vertices.append(middle[None])
        new_faces.append(fan)
    if total > _HOLE_SHARE * float(area.sum()):
        return None
    every = np.concatenate(new_faces)
    names = np.concatenate([part, np.full(len(every) - len(faces), part[0])])
    return Shell(np.concatenate(new_vertices), every, names)


def _thickened(vertices: Array, faces: Triangles, part: NDArray[np.str_], thickness_m: float) -> Shell:
    """Return a sheet with a back at ``thickness_m`` behind it and walls along its border."""
    triangles = vertices[faces]
    unit = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-30)
    at_vertex = np.zeros_like(vertices)
    for corner in range(3):
        one, other = (triangles[:, (corner + k) % 3] - triangles[:, corner] for k in (1, 2))
        angle = np.arctan2(np.linalg.norm(np.cross(one, other), axis=1), np.einsum("ij,ij->i", one, other))
        np.add.at(at_vertex, faces[:, corner], angle[:, None] * unit)
    at_vertex /= np.maximum(np.linalg.norm(at_vertex, axis=1, keepdims=True), 1e-30)
    # A corner moves farther than a flat place, so that its sheets come out as thick.
    leaning = np.ones(len(vertices))
    for corner in range(3):
        np.minimum.at(leaning, faces[:, corner], np.einsum("ij,ij->i", unit, at_vertex[faces[:, corner]]))
    at_vertex /= np.maximum(leaning, 0.5)[:, None]
    n = len(vertices)
    directed, which, count = _edges(faces)
    border = directed[count[which] == 1]
    owner = np.tile(np.arange(len(faces)), 3)[count[which] == 1]
    walls = np.concatenate(
        [
            np.stack([border[:, 1], border[:, 0], border[:, 0] + n], 1),
            np.stack([border[:, 1], border[:, 0] + n, border[:, 1] + n], 1),
        ]
    )
    every = np.concatenate([faces, faces[:, ::-1] + n, walls])
    names = np.concatenate([part, part, part[owner], part[owner]])
    return Shell(np.concatenate([vertices, vertices - thickness_m * at_vertex]), every, names, sheet=True)


def _outward(shell: Shell) -> Shell:
    """Return the piece with its faces looking out."""
    if _volume(shell.vertices_m, shell.faces) >= 0:
        return shell
    return Shell(shell.vertices_m, shell.faces[:, ::-1], shell.part, shell.sheet)


def _sound_pieces(mesh: RawMesh) -> tuple[list[Shell], RawMesh]:
    """Return the pieces that are closed as they are, and what is left to weld.

    Two sound boxes that touch share vertices once welded, and edges of four faces: what is sound stays out of it.
    """
    if not len(mesh.faces):
        return [], mesh
    _, which, count = _edges(mesh.faces)
    number, label, _ = _patches(mesh.faces)
    per_face = count[which].reshape(3, -1)
    bad = np.zeros(number, bool)
    bad[np.unique(label[(per_face != 2).any(0)])] = True
    shells = []
    for k in np.nonzero(~bad)[0]:
        own = label == k
        kept, inverse = np.unique(mesh.faces[own], return_inverse=True)
        faces = _oriented(inverse.reshape(-1, 3))
        if abs(_volume(mesh.vertices[kept], faces)) < 1e-15:
            bad[k] = True
            continue
        shells.append(Shell(mesh.vertices[kept], faces, mesh.part[own]))
    left = bad[label]
    return shells, replace(mesh, faces=mesh.faces[left], part=mesh.part[left])


def closed_shells(mesh: RawMesh, notes: Notes, *, where: str, panel_m: float = PANEL_M) -> tuple[Shell, ...]:
    """Return the closed pieces that a mesh, already in metres, is made of.

    Args:
        mesh: Triangles [m].
        notes: Takes what was mended.
        where: Name of the link, for the notes.
        panel_m: Thickness that open sheets get.
    """
    whole, rest = _sound_pieces(mesh)
    vertices, faces, part = weld(rest)
    dropped = len(rest.faces) - len(faces)
    if dropped:
        notes.fix("faces", where, f"{dropped} faces without area, or given twice, were left out.")
    flipped = sum(_volume(shell.vertices_m, shell.faces) < 0 for shell in whole)
    shells = [_outward(shell) for shell in whole]
    if flipped:
        notes.fix("inside_out", where, f"{flipped} pieces faced inwards and were turned.")
    if not len(faces):
        return tuple(shells)
    _, _, count = _edges(faces)
    if (count > 2).any():
        notes.fix(
            "non_manifold", where, f"cut apart along {int((count > 2).sum())} edges that three or more faces share."
        )
    number, label, _ = _patches(faces)
    holes, sheets, flipped = 0, 0, 0
    for k in range(number):
        own = label == k
        kept, inverse = np.unique(faces[own], return_inverse=True)
        points, triangles, names = vertices[kept], _oriented(inverse.reshape(-1, 3)), part[own]
        loops = _loops(triangles)
        if loops:
            shell = _closed_holes(points, triangles, names)
            if shell is None:
                shell, sheets = _thickened(points, triangles, names, panel_m), sheets + 1
            else:
                holes += len(loops)
        else:
            shell = Shell(points, triangles, names)
        flipped += not loops and _volume(shell.vertices_m, shell.faces) < 0
        shells.append(_outward(shell))
    if flipped:
        notes.fix("inside_out", where, f"{flipped} pieces faced inwards and were turned.")
    if holes:
        notes.fix("open_mesh", where, f"{holes} holes were closed.")
    if sheets:
        notes.fix("thin_panel", where, f"{sheets} open sheets were given a thickness of {1e3 * panel_m:.0f} mm.")
    return tuple(shells)
