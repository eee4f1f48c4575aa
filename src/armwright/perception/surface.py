"""The surface of a volume: a mesh, whose vertices are also a cloud with normals, closed wherever it was observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.perception._jit import F32, I32
from armwright.perception._surface_kernels import crossing_voxels, join_faces, number_vertices, place_vertices
from armwright.perception._tsdf_kernels import CUBE
from armwright.perception.tsdf import Tsdf


@dataclass(frozen=True, eq=False)
class Surface:
    """A triangle mesh in the world.

    Attributes:
        points_m: (n, 3) float32 vertices.
        normals: (n, 3) float32 unit normals, towards the free side.
        rgb: (n, 3) uint8; grey where the volume holds no colour.
        faces: (f, 3) int32, counter-clockwise seen from the free side.
    """

    points_m: F32
    normals: F32
    rgb: NDArray[np.uint8]
    faces: I32


def surface(volume: Tsdf, *, min_weight: float = 1.0) -> Surface:
    """Return the mesh of a volume's zero crossing by surface nets: one vertex per crossed cell.

    A face is drawn where all voxels around it were observed, so the mesh is open only at the border of what was seen.

    Args:
        volume: What was fused.
        min_weight: Voxels seen fewer times do not count; 3 drops the flaps that single views leave behind edges.
    """
    n = volume.count
    keys, cells = volume.keys[:n], volume.cells[:n]
    colours = volume.colours[:n] if volume.coloured else volume.colours
    index = np.empty((n, CUBE), np.int32)
    count = number_vertices(cells, keys, volume.table, volume.table_low, np.float32(min_weight), index)
    points, normals, rgb = (np.empty((count, 3), np.float32) for _ in range(3))
    voxel = np.float32(volume.voxel_m)
    place_vertices(cells, colours, keys, volume.table, volume.table_low, index, voxel, points, normals, rgb)
    faces = join_faces(cells, keys, volume.table, volume.table_low, index, points)
    grey = np.where(rgb < 0, 150, np.clip(np.rint(rgb), 0, 255)).astype(np.uint8)
    return Surface(points, normals, grey, faces)


def near_surface(volume: Tsdf, *, min_weight: float = 1.0) -> Array:
    """Return (n, 3) centres [m] in the world of the voxels that the surface passes: quick, good to half a voxel."""
    n = volume.count
    voxel, least = np.float32(volume.voxel_m), np.float32(max(min_weight, 1e-3))
    return crossing_voxels(volume.cells[:n], volume.keys[:n], voxel, least).astype(float)
