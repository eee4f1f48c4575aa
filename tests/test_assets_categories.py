"""Every category, many draws: sound meshes, exact labels, open cavities, plausible masses, rest, true hulls."""

from __future__ import annotations

from dataclasses import replace

import manifold3d
import numpy as np
import pytest

from armwright.assets.build import LinkBuilder
from armwright.assets.catalog import CATALOG
from armwright.assets.categories import MAKERS
from armwright.assets.cloud import link_mesh, nearest_triangles
from armwright.assets.export import link_volume
from armwright.assets.library import Library
from armwright.core.pose import Pose
from assets_measures import HullSet, compile_object, fidelity, ray_down

DRAWS = 20
NAMES = sorted(CATALOG)
MASS_KG = {
    "mug": (0.20, 0.45), "cup": (0.03, 0.15), "paper_cup": (0.01, 0.04), "bowl": (0.2, 0.6), "plate": (0.28, 0.75),
    "can": (0.23, 0.42), "bottle": (0.12, 0.5), "box": (0.08, 0.5), "carton": (0.12, 0.5), "tube": (0.05, 0.2),
    "banana": (0.10, 0.2), "carrot": (0.03, 0.12), "cube": (0.02, 0.1), "cutting_board": (0.25, 0.65),
    "pan": (0.32, 0.8), "pot": (0.35, 1.0), "kettle": (0.3, 1.0), "scoop": (0.03, 0.15), "tray": (0.25, 0.65),
    "basket": (0.1, 0.5), "mug_rack": (0.5, 2), "shelf": (3, 12), "coffee_machine": (2.5, 5), "cabinet": (3, 15),
    "microwave": (8, 15), "apple": (0.06, 0.16), "mandarin": (0.08, 0.17), "pear": (0.09, 0.22), "lemon": (0.06, 0.16),
    "egg": (0.04, 0.08), "bell_pepper": (0.04, 0.14), "eggplant": (0.12, 0.35), "corn": (0.12, 0.35),
    "leek": (0.05, 0.16), "spoon": (0.015, 0.15), "ladle": (0.06, 0.35), "knife": (0.08, 0.25), "fork": (0.03, 0.1),
    "spatula": (0.03, 0.15), "rolling_pin": (0.15, 0.5), "hammer": (0.3, 0.9), "screwdriver": (0.05, 0.2),
    "wrench": (0.08, 0.3), "scissors": (0.04, 0.15), "drill": (0.8, 2.0), "pen": (0.006, 0.03),
    "marker": (0.01, 0.04), "stapler": (0.1, 0.4), "tape": (0.015, 0.12), "book": (0.3, 1.2), "phone": (0.12, 0.25),
    "remote_control": (0.07, 0.2), "computer_mouse": (0.06, 0.18), "toothbrush": (0.008, 0.03),
    "brush": (0.05, 0.2), "comb": (0.006, 0.03), "sponge": (0.01, 0.04), "soap_dispenser": (0.12, 0.5),
    "spray_bottle": (0.15, 0.7), "pitcher": (0.25, 0.9), "teapot": (0.3, 0.8), "watering_can": (0.12, 0.5),
    "wine_glass": (0.08, 0.25), "jar": (0.1, 0.4), "vase": (0.25, 0.9), "flower_pot": (0.2, 0.7),
    "bucket": (0.12, 0.4), "paper_box": (0.08, 0.5), "handbag": (0.12, 0.5), "trash_can": (0.5, 1.6), "oven": (5, 11),
    "fridge": (11, 20), "toaster": (0.8, 2), "laptop": (0.9, 2), "lamp": (0.6, 1.6), "stool": (1.2, 4.5),
    "ring": (0.02, 0.15),
}  # fmt: skip


def draws(name, count=DRAWS, first=0):
    library = Library()
    return (library.build(name, instance=i) for i in range(first, first + count))


def check_mesh(model):
    for link in model.links:
        edges = np.sort(np.concatenate([link.faces[:, [0, 1]], link.faces[:, [1, 2]], link.faces[:, [2, 0]]]), axis=1)
        _, counts = np.unique(edges, axis=0, return_counts=True)
        assert (counts == 2).all(), f"{model.category} {link.name} is not watertight"
        assert link_volume(link) > 0
        solid = manifold3d.Manifold(manifold3d.Mesh64(link.vertices_m, link.faces.astype(np.uint64)))
        assert solid.status() == manifold3d.Error.NoError
        outside = [piece for piece in solid.decompose() if piece.volume() > 0]
        assert len(outside) == 1, f"{model.category} {link.name} falls into {len(outside)} pieces"
        assert len(link.face_part) == len(link.faces) and set(link.face_part) == set(range(len(link.part_names)))
        assert set(link.part_rgba) == set(link.part_names) and set(link.hull_part) <= set(link.part_names)
        assert len(link.hulls) == len(link.hull_part) and all(np.isfinite(hull).all() for hull in link.hulls)
    low, high = model.bounds_m
    assert abs(low[2]) < 1e-6 and MASS_KG[model.category][0] <= model.mass_kg <= MASS_KG[model.category][1]
    assert (np.abs((high - low) / CATALOG[model.category].size_m - 1) < 0.45).all(), high - low


def check_open(model):
    for container in model.containers:
        assert container.rim_z_m - container.floor_z_m > 0.01
        hulls = HullSet(next(link for link in model.links if link.name == container.link))
        covered = any(link.parent for link in model.links)
        top = container.rim_z_m - 1e-3 if covered else 1.0
        for sx, sy in ((0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            half_x, half_y = container.half_extents_m
            at = container.center_m + np.array([sx * half_x, sy * half_y, 0])
            hit = ray_down(model, [at[0] + 1e-6, at[1] + 2e-6, top], links=[container.link])
            assert hit is not None and hit[0] == container.part, (model.category, hit)
            assert abs(hit[1] - container.floor_z_m) < 2e-4
            column = np.column_stack(
                [np.tile(at[:2], (9, 1)), np.linspace(container.floor_z_m + 0.002, container.rim_z_m, 9)]
            )
            assert not hulls.inside(column).any(), f"{model.category}: a hull fills its cavity"
    for support in model.supports:
        z = support.pose_object_surface.position_m[2]
        for sx, sy in ((0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            corner = [sx * support.half_extents_m[0] + 1e-6, sy * support.half_extents_m[1] + 2e-6, 0]
            at = support.pose_object_surface.transform(corner)
            hit = ray_down(model, [at[0], at[1], z + min(support.clearance_m, 0.5) - 1e-3], links=[support.link])
            assert hit is not None and abs(hit[1] - z) < 2e-3, (model.category, support.name, hit)


def check_rest(model):
    import mujoco

    m = compile_object(model)
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    for contact in data.contact:
        pair = m.geom_bodyid[contact.geom]
        assert 0 in pair or contact.dist > -1e-4, f"{model.category}: links start inside each other"
    start = data.qpos.copy()
    mujoco.mj_step(m, data, nstep=500)
    assert np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all()
    assert not any(data.warning[i].number for i in range(len(data.warning)))
    for j in range(m.njnt):
        address = m.jnt_qposadr[j]
        if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
            q = data.qpos[address : address + 7]
            tilt = np.degrees(np.arccos(np.clip(1 - 2 * (q[4] ** 2 + q[5] ** 2), -1, 1)))
            drift = np.linalg.norm(q[:3] - start[address : address + 3])
            assert tilt < 5 and drift < 0.005, f"{model.category} {model.params}: tilt {tilt:.1f} drift {drift:.4f}"
        else:
            assert abs(data.qpos[address] - start[address]) < 0.02 * (m.jnt_range[j, 1] - m.jnt_range[j, 0])
    assert not len(data.qvel) or np.abs(data.qvel).max() < 0.02, f"{model.category} still moves"


def check_hulls(model, *, n=500):
    for link in model.links:
        out, off = fidelity(link, n=n, rng=np.random.default_rng(1))
        assert np.percentile(out, 95) <= 0.003, (
            f"{model.category} {link.name}: hulls stand {np.percentile(out, 95)} out"
        )
        assert np.percentile(off, 95) <= 0.003, f"{model.category} {link.name}: mesh {np.percentile(off, 95)} uncovered"


def test_catalog_and_makers_name_the_same_categories():
    assert set(MAKERS) == set(CATALOG) and len(CATALOG) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_meshes_are_sound_and_masses_plausible(name):
    for model in draws(name):
        check_mesh(model)
        assert sum(len(link.faces) for link in model.links) <= 1500
        assert sum(len(link.hulls) for link in model.links) <= 40


@pytest.mark.parametrize("name", NAMES)
def test_cavities_are_open_and_surfaces_are_there(name):
    info = CATALOG[name]
    for model in draws(name, 6):
        check_open(model)
        assert bool(model.containers) or not info.receives_in
        assert bool(model.supports) or not info.receives_on


@pytest.mark.parametrize("name", NAMES)
def test_regions_exist_on_every_draw(name):
    for model in draws(name, 5):
        assert set(model.regions) == set(CATALOG[name].regions)
        for region, parts in model.regions.items():
            assert parts == CATALOG[name].regions[region]
            assert set(parts) <= set(model.part_names)
        assert CATALOG[name].grasp in model.regions


@pytest.mark.parametrize("name", NAMES)
def test_every_face_lies_on_the_part_it_is_named_after(name, monkeypatch):
    sources = {}
    label = LinkBuilder._label

    def spy(self, part, solid):
        mesh = solid.to_mesh64()
        triangles = np.asarray(mesh.vert_properties)[:, :3][np.asarray(mesh.tri_verts, int)]
        sources.setdefault((self.name, part), []).append(triangles)
        return label(self, part, solid)

    monkeypatch.setattr(LinkBuilder, "_label", spy)
    model = Library().build(name, instance=101)
    for link in model.links:
        triangles, _, part = link_mesh(link)
        for one in link.part_names:
            centers = triangles[part == one].mean(1)
            distance = nearest_triangles(centers, np.concatenate(sources[link.name, one]))[1]
            assert distance.max() < 2e-5, (name, link.name, one, distance.max())


@pytest.mark.parametrize("name", NAMES)
def test_objects_rest_upright(name):
    for model in draws(name, 5):
        check_rest(model)


@pytest.mark.parametrize("name", NAMES)
def test_hulls_follow_the_mesh_within_three_millimetres(name):
    for model in draws(name, 2):
        check_hulls(model)


def test_the_checks_notice_what_they_are_for():
    mug = Library().build("mug", instance=3)
    link = mug.root
    with pytest.raises(AssertionError, match="watertight"):
        check_mesh(replace(mug, links=(replace(link, faces=link.faces[1:], face_part=link.face_part[1:]),)))
    filled = replace(mug, links=(replace(link, hulls=(link.vertices_m,), hull_part=("body",)),))
    with pytest.raises(AssertionError, match="fills its cavity"):
        check_open(filled)
    with pytest.raises(AssertionError, match="stand"):
        check_hulls(filled)
    with pytest.raises(AssertionError, match="uncovered"):
        check_hulls(replace(mug, links=(replace(link, hulls=link.hulls[1:8], hull_part=link.hull_part[1:8]),)))
    leaning = Pose([0, 0, 0.02], [np.cos(0.2), np.sin(0.2), 0, 0])
    hulls = tuple(leaning.transform(hull) for hull in link.hulls)
    with pytest.raises(AssertionError, match="tilt"):
        check_rest(replace(mug, links=(replace(link, hulls=hulls, vertices_m=leaning.transform(link.vertices_m)),)))
    scoop = Library().build("scoop", instance=3)
    short = tuple(h for h, part in zip(scoop.root.hulls, scoop.root.hull_part) if part != "handle")
    with pytest.raises(AssertionError, match="tilt"):
        check_rest(replace(scoop, links=(replace(scoop.root, hulls=short),)))


FINGER_M = (0.012, 0.026, 0.022)
"""Thickness, length and width of a finger that reaches through a handle."""
THICKEST_BAR_M = 0.0135
LOOPS = {
    "mug": [(1, 0, 0)], "kettle": [(1, 0, 0)], "pot": [(1, 0, 0), (-1, 0, 0)], "cabinet": [(-1, 0, 0)],
    "microwave": [(-1, 0, 0)], "tray": [(0, 0, 1)], "basket": [(0, 0, 1)],
    "pitcher": [(1, 0, 0)], "teapot": [(1, 0, 0)], "watering_can": [(1, 0, 0)], "handbag": [(0, 0, 1)],
    "oven": [(-1, 0, 0)], "fridge": [(-1, 0, 0)],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(LOOPS))
def test_a_finger_fits_through_every_handle_loop(name):
    """The finger stands behind the middle of the bar that it will close on, square to it."""
    for model in draws(name, 8):
        for link in (one for one in model.links if "handle" in one.part_names):
            triangles, _, part = link_mesh(link)
            points = triangles[part == "handle"].reshape(-1, 3)
            if name in ("tray", "basket"):
                points = points[points[:, 1] > 0]
            hulls = HullSet(link)
            for out in np.array(LOOPS[name], float):
                outer = (points @ out).max()
                bar = points[points @ out > outer - 1e-3]
                middle = 0.5 * (bar.min(0) + bar.max(0))
                center = middle + (outer - THICKEST_BAR_M - FINGER_M[0] / 2 - middle @ out) * out
                half = np.full(3, FINGER_M[1] / 2)
                half[np.argmax(np.ptp(bar, axis=0))], half[np.argmax(np.abs(out))] = FINGER_M[2] / 2, FINGER_M[0] / 2
                grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 7)] * 3), -1).reshape(-1, 3)
                assert not hulls.inside(center + grid * half).any(), f"{name} {model.params}"


GRIP_M = 0.070


@pytest.mark.parametrize("name", [n for n in NAMES if CATALOG[n].fits_in_hand])
def test_the_grasp_region_fits_a_seventy_millimetre_gripper(name):
    """Some horizontal or vertical width through the grasp region is below 70 mm."""
    for model in draws(name):
        triangles, normals, part = (np.concatenate(x) for x in zip(*[link_mesh(link) for link in model.links]))
        on = np.isin(part, model.regions[CATALOG[name].grasp])
        centers = triangles.mean(1)
        best = np.inf
        for face in np.nonzero(on)[0][:: 1 + on.sum() // 120]:
            facing = on & (normals @ normals[face] < -0.9)
            if facing.any():
                offset = centers[facing] - centers[face]
                depth = -offset @ normals[face]
                aside = np.linalg.norm(offset + depth[:, None] * normals[face], axis=1)
                close = depth[(aside < 0.02) & (depth > 0)]
                best = min(best, close.min(initial=np.inf))
        assert best < GRIP_M, f"{name}: {best}"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_two_hundred_draws(name):
    for model in draws(name, 200, first=1000):
        check_mesh(model)
        check_open(model)
        check_rest(model)
        check_hulls(model, n=300)
