"""Tests of what vessels hold: packing, cavities, and how many beads suit."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.distance import pdist

from armwright.assets.contents import bead_positions, default_fill, in_cavity
from armwright.assets.library import default_library

VESSELS = ("mug", "cup", "paper_cup", "bowl", "pan", "pot", "kettle", "scoop", "basket")


@pytest.mark.parametrize("category", VESSELS)
@pytest.mark.parametrize("instance", [0, 5])
def test_beads_lie_in_the_cavity_and_touch_nothing(category, instance):
    model = default_library().build(category, instance=instance, attributes={})
    fill = default_fill(model)
    assert fill is not None
    count, radius_m = fill
    places = bead_positions(model, count, radius_m)
    assert len(places) == count >= 12
    assert in_cavity(model, places).all()
    assert pdist(places).min() > 2 * radius_m
    for link in model.links:
        for hull in link.hulls:
            planes = ConvexHull(hull).equations
            assert (places @ planes[:, :3].T + planes[:, 3]).max(1).min() >= radius_m


@pytest.mark.parametrize("category", ["plate", "can", "banana", "cube"])
def test_what_is_solid_holds_nothing(category):
    assert default_fill(default_library().build(category, instance=0, attributes={})) is None


def test_beside_and_above_a_vessel_is_not_in_it():
    mug = default_library().build("mug", instance=1, attributes={})
    top = float(mug.bounds_m[1][2])
    points = np.array([[0.0, 0.0, 0.5 * top], [0.2, 0.0, 0.5 * top], [0.0, 0.0, top + 0.03]])
    assert in_cavity(mug, points).tolist() == [True, False, False]


def test_places_of_beads_are_shared_and_cannot_be_written_to():
    mug = default_library().build("mug", instance=1, attributes={})
    places = bead_positions(mug, 20, 0.005)
    assert bead_positions(mug, 20, 0.005) is places and len(bead_positions(mug, 3, 0.005)) == 3
    with pytest.raises(ValueError, match="read-only"):
        places[0] += 1.0


def test_what_is_known_of_a_vessel_does_not_keep_it_alive():
    mug = replace(default_library().build("mug", instance=1, attributes={}))
    assert default_fill(mug) is not None
    seen = weakref.ref(mug)
    del mug
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("category", ["kettle", "pitcher"])
@pytest.mark.parametrize("instance", [0, 3])
def test_what_is_poured_over_a_beak_gets_fine_beads_and_no_wall_lets_them_out(category, instance):
    """The wall beside and below a beak once had no collision hulls: beads fell through it on their way to the lip."""
    model = default_library().build(category, instance=instance, attributes={})
    fill = default_fill(model)
    assert fill is not None and fill[1] == 0.004
    planes = [ConvexHull(hull).equations for hull in model.root.hulls]
    points = model.root.vertices_m[np.unique(model.root.faces[model.root.face_part == _part(model, "interior")])]
    low, high = points.min(0), points.max(0)
    ways = np.linspace(0.0, 2.0 * float(np.abs(high).max()), 300)
    # A bead's middle keeps its radius from walls, so a gap narrower than a bead lets no line of middles out.
    for z in np.linspace(low[2] + 0.01, high[2] - 0.004, 8):
        for turn in np.linspace(0.0, 2 * np.pi, 60, endpoint=False):
            line = np.stack([ways * np.cos(turn), ways * np.sin(turn), np.full(300, z)], axis=1)
            beyond = np.stack([(line @ p[:, :3].T + p[:, 3]).max(1) for p in planes]).min(0)
            assert beyond.min() < fill[1], (z, np.rad2deg(turn))


def _part(model, name: str) -> int:
    return model.root.part_names.index(name)


def test_what_is_poured_over_a_rim_gets_large_beads():
    for category in ("mug", "pan", "basket"):
        assert default_fill(default_library().build(category, instance=0, attributes={})) == (20, 0.006)
