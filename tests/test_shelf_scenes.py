"""Scene generators and experts: seeded, collision-free, grouped, with room for the target."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import armwright.shelf.experts as experts_module
from armwright.core.errors import UnknownNameError
from armwright.shelf.candidates import HEADROOM_M, sample_candidates
from armwright.shelf.dominance import dominance_row
from armwright.shelf.embedded import EmbeddedReasoner
from armwright.shelf.experts import BUILT_IN, expert_weights
from armwright.shelf.metrics import compare, iou
from armwright.shelf.products import load_products
from armwright.shelf.records import ATTRIBUTES
from armwright.shelf.scenes import LAYOUTS, SHELF, YAW_RAD, dominated_scene, scene

EVERY = [(scene, name) for name in LAYOUTS] + [(dominated_scene, name) for name in ATTRIBUTES]


@pytest.mark.parametrize(("draw", "name"), EVERY)
def test_scenes_keep_bounds_heights_and_distances(draw, name):
    for seed in range(3):
        one = draw(name, seed)
        assert len(one.objects) >= 10
        assert iou([o.box for o in one.objects], [o.box for o in one.objects]).sum() == pytest.approx(len(one.objects))
        for o in one.objects:
            board = one.shelf.board_of(o.box.center_m[2])
            assert o.box.low_m[2] == pytest.approx(one.shelf.boards_m[board])
            assert o.box.size_m[2] + HEADROOM_M <= one.shelf.clearance_m(board)
            assert 0 <= o.box.low_m[0] < o.box.high_m[0] <= one.shelf.depth_m
            assert max(abs(o.box.low_m[1]), abs(o.box.high_m[1])) <= one.shelf.width_m / 2
            assert abs(o.yaw_rad) <= YAW_RAD
            assert o.orientation in o.product.orientations
        assert one.target.name not in {o.product.name for o in one.objects}
        assert len({o.id for o in one.objects}) == len(one.objects)
        places = sample_candidates(one.shelf, [o.box for o in one.objects], one.target_record())
        assert len(places) > 0
        assert len(one.reserved) >= 2
        assert iou(one.reserved, [o.box for o in one.objects]).max() == 0


@pytest.mark.parametrize(("draw", "name"), EVERY)
def test_the_seed_decides(draw, name):
    assert draw(name, 7) == draw(name, 7)
    assert draw(name, 7).objects != draw(name, 8).objects


def test_layouts_differ_as_the_paper_says():
    for seed in range(3):
        depth = {}
        for layout in LAYOUTS:
            one = scene(layout, seed)
            depth[layout] = np.std([o.box.center_m[0] for o in one.objects])
            assert (one.shelf == SHELF) == (layout != "varying-clearance")
        assert depth["single-row"] < 0.02 < 0.05 < depth["multi-row"]


def test_neighbours_share_a_category_more_than_chance():
    near, far = [], []
    for seed in range(8):
        objects = scene("multi-row", seed).objects
        for i, a in enumerate(objects):
            for b in objects[:i]:
                apart = np.linalg.norm(np.subtract(a.box.center_m, b.box.center_m))
                same = bool(set(a.product.categories) & set(b.product.categories))
                (near if apart < 0.12 else far).append(same)
    assert np.mean(near) > np.mean(far) + 0.2


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(UnknownNameError, match="multi-row"):
        scene("multirow", 0)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="content"):
        dominated_scene("contents", 0)  # type: ignore[arg-type]


def test_products_of_ones_own_are_drawn():
    own = [p for p in load_products() if p.packaging != "tube"]
    one = scene("multi-row", 1, products=own)
    assert {o.product.packaging for o in one.objects} <= {"box", "can", "bottle", "carton"}


@pytest.mark.parametrize("expert", BUILT_IN, ids=lambda e: e.name)
@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_each_expert_recovers_what_organised_the_scenes(expert, attribute):
    weights = expert_weights([dominated_scene(attribute, 500 + k) for k in range(3)], [expert])
    assert sum(weights.values()) == pytest.approx(1)
    assert max(weights, key=weights.get) == attribute


def test_experts_share_no_code_with_the_reasoner():
    tree = ast.parse(Path(experts_module.__file__).read_text())
    used = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    assert {m for m in used if m.startswith("armwright.shelf")} == {
        "armwright.shelf.records",
        "armwright.shelf.scenes",
    }


def test_a_row_of_table_iii_by_a_small_run():
    row = dominance_row("packaging", 5, lambda o: EmbeddedReasoner(orientations=o), sets=1, scenes=3)
    assert row.ours.shape == row.score.shape == (1, 3)
    assert (row.best >= np.maximum(row.ours, row.score) - 1e-9).all()
    assert row.unplaced == 0
    assert row.ours.mean() > row.best.mean() - 0.1
    assert compare(row.ours, row.score).n == 3
