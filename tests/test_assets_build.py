from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armwright.assets import hulls, solids
from armwright.assets.build import BuildError, LinkBuilder
from armwright.assets.categories._hollow import between, offset_profile
from armwright.assets.categories._kit import Draw, rgba
from armwright.assets.export import link_inertia, link_volume
from armwright.assets.library import Library
from armwright.core.errors import UsageError
from assets_measures import hull_triangles

GREY = {"*": (0.5, 0.5, 0.5, 1.0)}
length = st.floats(0.005, 0.3)


@settings(max_examples=30, deadline=None)
@given(st.tuples(length, length, length), st.tuples(*[st.floats(-0.5, 0.5)] * 3))
def test_inertia_of_a_box_is_the_textbook_one(size, shift):
    size, shift = np.array(size), np.array(shift)
    link = LinkBuilder().add("body", solids.box(shift - size / 2, shift + size / 2)).link(colours=GREY, mass_kg=2.0)
    com, inertia = link_inertia(link)
    expected = (
        2.0 / 12.0 * np.diag([size[1] ** 2 + size[2] ** 2, size[0] ** 2 + size[2] ** 2, size[0] ** 2 + size[1] ** 2])
    )
    assert np.allclose(com, shift, atol=1e-7)
    assert np.allclose(inertia, expected, rtol=1e-4, atol=1e-9)
    assert np.isclose(link_volume(link), size.prod(), rtol=1e-4)


@pytest.mark.parametrize("name", ["mug", "kettle", "banana", "cabinet"])
def test_inertia_is_physical_and_agrees_with_sampling(name):
    for link in Library().build(name, instance=8).links:
        com, inertia = link_inertia(link)
        moments = np.linalg.eigvalsh(inertia)
        assert (moments > 0).all() and moments[0] + moments[1] >= moments[2] * (1 - 1e-9)
        low, high = link.vertices_m.min(0), link.vertices_m.max(0)
        assert (com > low).all() and (com < high).all()


def test_a_lathe_has_the_volume_of_its_prism_and_a_loft_faces_out():
    cylinder = solids.lathe([[0, 0], [0.03, 0], [0.03, 0.1], [0, 0.1]], segments=32)
    area = 0.5 * 32 * 0.03**2 * np.sin(2 * np.pi / 32)
    assert np.isclose(cylinder.volume(), area * 0.1, rtol=1e-6)
    square = solids.rounded_rectangle(0.02, 0.03, 0.0, per_corner=1)
    up = solids.loft([solids.at_height(square, 0.0), solids.at_height(square, 0.05)])
    down = solids.loft([solids.at_height(square, 0.05), solids.at_height(square, 0.0)])
    assert np.isclose(up.volume(), 0.04 * 0.06 * 0.05, rtol=1e-3) and np.isclose(down.volume(), up.volume())
    with pytest.raises(UsageError, match="bound no volume"):
        solids.loft(np.zeros((2, 4, 3)))


@given(st.integers(3, 40), st.floats(0.005, 0.2))
def test_chords_miss_the_circle_equally_both_ways(segments, radius):
    corners = hulls.turned([[radius, 0.0], [radius, 0.01]], segments=segments)
    far = np.linalg.norm(corners[:, :2], axis=1).max()
    near = far * np.cos(np.pi / segments)
    assert np.isclose(far - radius, radius - near)


def test_wedges_fill_the_ring_and_stay_convex():
    section = np.array([[0.03, 0.0], [0.034, 0.0], [0.036, 0.08], [0.032, 0.08]])
    wedges = hulls.turned_ring(section, segments=12)
    volume = sum(
        abs(np.einsum("ij,ij->", t[:, 0], np.cross(t[:, 1], t[:, 2]))) / 6 for t, _ in map(hull_triangles, wedges)
    )
    exact = np.pi * 0.08 * ((0.035**2 + 0.001**2 / 3) - (0.031**2 + 0.001**2 / 3))
    assert len(wedges) == 12 and all(len(wedge) == 8 for wedge in wedges)
    assert abs(volume / exact - 1) < 0.05


def test_cutting_names_the_hollow_and_simplify_keeps_every_part():
    builder = LinkBuilder().add("body", solids.box([-0.05, -0.05, 0], [0.05, 0.05, 0.1]))
    builder.cut("interior", solids.box([-0.04, -0.04, 0.01], [0.04, 0.04, 0.2]))
    link = builder.link(colours=GREY, density_kg_m3=1000.0)
    assert set(link.part_names) == {"body", "interior"}
    inside = link.vertices_m[link.faces[link.face_part == link.part_names.index("interior")]]
    assert inside[..., 2].min() == pytest.approx(0.01) and np.abs(inside[..., :2]).max() == pytest.approx(0.04)
    assert link.mass_kg == pytest.approx(1000 * (0.1 * 0.1 * 0.1 - 0.08 * 0.08 * 0.09), rel=1e-6)


def test_defects_of_a_category_are_named():
    with pytest.raises(BuildError, match="empty solid"):
        LinkBuilder("base").add("body", solids.lathe([[0.0, 0.0], [0.0, 0.1], [0.0, 0.2]]))
    builder = LinkBuilder().add("body", solids.box([0, 0, 0], [1, 1, 1]))
    with pytest.raises(BuildError, match="density"):
        builder.link(colours=GREY)


def test_profiles_are_cut_where_asked_and_offset_squarely():
    profile = np.array([[0.02, 0.0], [0.03, 0.05], [0.03, 0.1]])
    part = between(profile, 0.025, 0.08)
    assert np.allclose(part, [[0.025, 0.025], [0.03, 0.05], [0.03, 0.08]])
    moved = offset_profile(profile, 0.004)
    assert np.allclose(moved[-1], [0.026, 0.1]) and moved[0, 0] < 0.02


def test_sizes_split_the_range_in_thirds():
    for i, size in enumerate(("small", "medium", "large")):
        draw = Draw(np.random.default_rng(0), size)
        values = [draw.size(0.0, 3.0) for _ in range(50)]
        assert i <= min(values) and max(values) <= i + 1
    assert rgba("red", shade=0.5)[0] < rgba("red")[0] < rgba("red", shade=1.5)[0]


@given(st.integers(5, 40), st.floats(0.01, 0.2))
def test_a_base_stands_on_four_corners_that_span_most_of_it(segments, radius):
    disc = hulls.turned([[radius, 0.0], [radius, 0.05]], segments=segments)
    footed = hulls.on_four_feet(disc, 0.0)
    feet = footed[footed[:, 2] < 1e-9]
    assert len(feet) == 4 and np.abs(footed - disc).max() <= hulls.FOOT_M + 1e-12
    x, y = feet[np.argsort(np.arctan2(feet[:, 1], feet[:, 0])), :2].T
    assert 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) > 1.2 * radius**2
    assert np.array_equal(hulls.on_four_feet(disc, -0.1), disc)
    cube = solids.box_corners([0, 0, 0], [1, 1, 1])
    assert np.array_equal(hulls.on_four_feet(cube, 0.0), cube)
