from __future__ import annotations

import numpy as np
import pytest

from armwright.assets.cloud import link_mesh, nearest_faces, nearest_part, point_triangle_distance, sample_cloud
from armwright.assets.library import Library
from armwright.core.errors import UnknownNameError, UsageError
from assets_measures import winding_number

MUG = Library().build("mug", instance=6)
CABINET = Library().build("cabinet", instance=6)


def test_points_lie_on_the_surface_with_outward_normals():
    cloud = sample_cloud(MUG, 800, rng=np.random.default_rng(0))
    triangles = link_mesh(MUG.root)[0]
    assert cloud.points_m.shape == (800, 3) and np.allclose(np.linalg.norm(cloud.normals, axis=1), 1)
    assert (winding_number(cloud.points_m + 1e-4 * cloud.normals, triangles) < 0.5).mean() > 0.99
    assert (winding_number(cloud.points_m - 1e-4 * cloud.normals, triangles) > 0.5).mean() > 0.99
    part, distance = nearest_faces(MUG, cloud.points_m)
    assert distance.max() < 1e-9 and (part == cloud.part).mean() > 0.995


def test_points_are_spread_by_area_and_seeded():
    points, _, part, link = sample_cloud(CABINET, 4000, rng=np.random.default_rng(3))
    again = sample_cloud(CABINET, 4000, rng=np.random.default_rng(3))
    assert np.array_equal(points, again.points_m) and np.array_equal(part, again.part)
    areas = {}
    for one in CABINET.links:
        t = one.vertices_m[one.faces]
        area = 0.5 * np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1)
        areas[one.name] = area.sum()
    for name, area in areas.items():
        assert abs((link == name).mean() - area / sum(areas.values())) < 0.04
    only = sample_cloud(CABINET, 100, rng=np.random.default_rng(3), parts=("handle",))
    assert set(only.part) == {"handle"} and len(set(only.link)) > 1


def test_nearest_faces_agrees_with_brute_force():
    rng = np.random.default_rng(1)
    low, high = MUG.bounds_m
    points = rng.uniform(low - 0.03, high + 0.03, (60, 3))
    triangles, _, part = link_mesh(MUG.root)
    every = np.stack([point_triangle_distance(np.tile(p, (len(triangles), 1)), triangles) for p in points])
    names, distance = nearest_faces(MUG, points)
    assert np.allclose(distance, every.min(1), atol=1e-12)
    for row, name in enumerate(names):
        assert name in set(part[every[row] < every[row].min() + 1e-9])


def test_point_triangle_distance_against_a_dense_grid():
    rng = np.random.default_rng(2)
    triangles, points = rng.normal(size=(40, 3, 3)), rng.normal(size=(40, 3))
    u, v = (g.ravel() for g in np.meshgrid(np.linspace(0, 1, 120), np.linspace(0, 1, 120)))
    keep = u + v <= 1
    u, v = u[keep, None], v[keep, None]
    for point, t, got in zip(points, triangles, point_triangle_distance(points, triangles), strict=True):
        grid = np.linalg.norm(t[0] + u * (t[1] - t[0]) + v * (t[2] - t[0]) - point, axis=1).min()
        assert got <= grid + 1e-9 and grid - got < 0.05


def test_parts_by_place():
    top = MUG.params["height_m"]
    reach = MUG.bounds_m[1][0]
    points = [[reach, 0, top / 2], [-0.05, 0, top / 2], [0, 0, 0.01], [-MUG.params["top_radius_m"], 0, top + 0.01]]
    assert list(nearest_part(MUG, points)) == ["handle", "body", "interior", "rim"]
    handle = sample_cloud(CABINET, 5, rng=np.random.default_rng(0), parts=("handle",)).points_m
    assert set(nearest_part(CABINET, handle)) == {"handle"}
    assert "handle" not in set(nearest_part(CABINET, handle, link="base"))


def test_misuse():
    with pytest.raises(UnknownNameError):
        sample_cloud(MUG, 10, rng=np.random.default_rng(0), parts=("lid",))
    with pytest.raises(UnknownNameError):
        nearest_part(MUG, [[0, 0, 0]], link="door")
    with pytest.raises(UsageError):
        nearest_part(MUG, [[0, np.nan, 0]])
