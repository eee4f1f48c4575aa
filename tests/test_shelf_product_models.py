"""Products as meshes: closed, of the stated size, printed legibly, and inside their collision hulls."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull

from armwright.core.seeds import rng_for
from armwright.shelf.label_art import CAP_M, LEAST_CONTRAST, PX_PER_M, contrast, draw_label, readable, set_words
from armwright.shelf.patches import Patch, join, quad, turned
from armwright.shelf.product_models import BODY, product_model, standing
from armwright.shelf.products import load_products
from armwright.shelf.records import PACKAGINGS

PRODUCTS = load_products()
FIRST = {kind: next(p for p in PRODUCTS if p.packaging == kind) for kind in PACKAGINGS}
# One of each build, the gable and the brick among them.
SOME = [*PRODUCTS[::9], *FIRST.values()]


@pytest.mark.parametrize("product", SOME, ids=lambda p: p.name)
def test_the_mesh_is_closed_and_of_the_products_size(product):
    model = product_model(product)
    link = model.root
    mesh = trimesh.Trimesh(link.vertices_m, link.faces, process=False)
    assert mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0
    low, high = model.bounds_m
    width, depth, height = product.extent_m
    assert np.allclose(high - low, (depth, width, height), atol=1e-4)
    assert low[2] == pytest.approx(0.0, abs=1e-9)
    assert 0.005 < model.mass_kg < 3.0


@pytest.mark.parametrize("product", SOME, ids=lambda p: p.name)
def test_normals_look_out_of_the_faces_and_the_image_is_used(product):
    link = product_model(product).root
    surface = link.surfaces[BODY]
    mesh = trimesh.Trimesh(link.vertices_m, link.faces, process=False)
    assert (np.einsum("fkc,fc->fk", surface.normals, mesh.face_normals) > 0).all()
    assert np.allclose(np.linalg.norm(surface.normals, axis=2), 1.0, atol=1e-6)
    assert surface.uv.min() >= 0 and surface.uv.max() <= 1


@pytest.mark.parametrize("product", FIRST.values(), ids=lambda p: p.name)
def test_hulls_cover_the_mesh_closely(product):
    link = product_model(product).root
    inside = np.zeros(len(link.vertices_m), bool)
    for hull in link.hulls:
        planes = ConvexHull(hull).equations
        inside |= (link.vertices_m @ planes[:, :3].T + planes[:, 3] < 0.002).all(1)
        reach = np.array([np.linalg.norm(link.vertices_m - corner, axis=1).min() for corner in hull])
        assert reach.max() < 0.012  # a corner lies near some vertex of the mesh
    assert inside.all()


def test_a_lying_package_shows_its_front_upwards_and_its_bottom_to_the_front():
    carton = next(p for p in PRODUCTS if "lying" in p.orientations)
    pose = standing("lying", carton.extent_m[1])
    assert np.allclose(pose.rotate([-1.0, 0.0, 0.0]), (0, 0, 1))
    assert np.allclose(pose.rotate([0.0, 0.0, -1.0]), (-1, 0, 0))
    points = pose.transform(product_model(carton).root.vertices_m)
    assert np.allclose(np.ptp(points, axis=0), carton.size_m("lying"), atol=1e-4)
    assert points[:, 2].min() == pytest.approx(0.0, abs=1e-6)


def test_print_on_the_front_reads_from_left_to_right():
    points = quad((0, 0, 0), (-1, 0, 0), (0, 0, 1), (2.0, 1.0))
    # Seen from -x with z up, left is +y.
    assert points[0, 0].tolist() == [0, 1.0, 0.5] and points[1, 1].tolist() == [0, -1.0, -0.5]
    label = np.zeros((4, 9, 3), np.uint8)
    label[:, 0] = 255
    mesh = join([Patch(points, label)])
    corner = mesh.vertices_m[mesh.faces].reshape(-1, 3)[:, 1]
    u = mesh.surface.uv.reshape(-1, 2)[:, 0]
    assert u[corner > 0].max() < u[corner < 0].min()


def test_a_wrapped_label_has_its_middle_at_the_front():
    grid = turned([(1.0, 1.0), (1.0, 0.0)], segments=8)
    assert np.allclose(grid[0, 4], (-1, 0, 1))
    assert np.allclose(grid[:, 0], grid[:, -1])


def test_words_are_as_tall_as_the_face_allows_and_never_wider_than_it():
    wide, tall = set_words(["TOMATO", "SOUP"], 0, 0.12 * PX_PER_M, 0.10 * PX_PER_M)
    assert tall == pytest.approx(CAP_M * PX_PER_M) and " ".join(wide) == "TOMATO SOUP"
    lines, cap = set_words(["CONDENSED", "MILK"], 0, 0.04 * PX_PER_M, 0.10 * PX_PER_M)
    assert lines == ["CONDENSED", "MILK"] and cap < 0.008 * PX_PER_M


@pytest.mark.parametrize("product", PRODUCTS[::7], ids=lambda p: p.name)
def test_ink_can_be_told_from_its_ground(product):
    from armwright.shelf.label_art import rgb

    ground, ink = (rgb(c) for c in product.colours)
    assert contrast(readable(ink, ground), ground) >= LEAST_CONTRAST


def test_the_same_product_is_drawn_the_same_and_each_face_differently():
    size = (0.08, 0.12)
    first, again, other = (
        draw_label(["OAT", "DRINK"], size, ground=(240, 240, 230), ink=(20, 60, 90), style=rng_for(0, "label", n))
        for n in ("a", "a", "b")
    )
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert first.shape == (240, 160, 3)
