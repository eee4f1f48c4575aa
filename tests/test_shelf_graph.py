"""The scene graph: hierarchy, neighbours, inverses, round trip, picture."""

from __future__ import annotations

import json

import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.shelf.embedded import EmbeddedReasoner
from armwright.shelf.graph import INVERSE, build_graph, from_json, order_on_board
from armwright.shelf.graph_picture import draw_graph
from armwright.shelf.scenes import scene
from shelf_scenes import SHELF, thing, wanted


@pytest.fixture(scope="module")
def small():
    return build_graph(
        SHELF,
        [
            thing("a", 0.05, 0.2),
            thing("b", 0.05, 0.0),
            thing("c", 0.20, 0.0),
            thing("far", 0.05, -0.3),
            thing("above", 0.05, 0.1, board=1),
        ],
    )


def test_relations_are_those_of_the_nearest_on_the_same_board(small):
    has = set(small.relations())
    assert {("a", "left_of", "b"), ("b", "in_front_of", "c"), ("b", "left_of", "far")} <= has
    assert ("a", "left_of", "far") not in has
    assert not any({"above", other} == {x, y} for x, _, y in has for other in "abc")
    assert ("above", "on_top_of", "board_1") in has
    assert ("board_1", "part_of", "shelf") in has
    assert [o.id for o in order_on_board(small, 0)] == ["a", "b", "c", "far"]


def test_every_edge_has_its_inverse():
    for seed in range(3):
        one = scene("multi-row", seed)
        has = set(build_graph(one.shelf, one.records()).relations())
        assert all((b, INVERSE[r], a) in has for a, r, b in has)
        for a, relation, b in has:
            boxes = {o.id: o.box for o in one.objects}
            if relation == "left_of":
                assert boxes[a].center_m[1] > boxes[b].center_m[1]
            if relation == "behind":
                assert boxes[a].center_m[0] > boxes[b].center_m[0]


def test_round_trip(small):
    again = from_json(small.to_json())
    assert again.relations() == small.relations()
    assert again.objects == small.objects
    assert again.shelf == small.shelf
    unknown = build_graph(SHELF, [thing("x", 0.1, 0.0, content=None, edible=None, confidences={"packaging": 0.4})])
    assert from_json(unknown.to_json()).objects == unknown.objects


def test_a_file_that_contradicts_itself_is_refused(small):
    data = json.loads(small.to_json())
    data["relations"].pop()
    with pytest.raises(UsageError, match="contradict"):
        from_json(json.dumps(data))
    for text in ("{", "[]", "{}", json.dumps(data | {"schema": "armwright.shelf_graph/9"})):
        with pytest.raises(UsageError, match="scene graph"):
            from_json(text)


def test_ids_are_unique():
    for name in ("a", "shelf", "board_0"):
        with pytest.raises(UsageError, match="twice"):
            build_graph(SHELF, [thing("a", 0.05, 0.2), thing(name, 0.05, 0.0)])


def test_the_picture_shows_objects_and_proposals(small):
    target = wanted()
    proposals = EmbeddedReasoner().reason(small, target).proposals
    plain = np.asarray(draw_graph(small))
    told = np.asarray(draw_graph(small, proposals=proposals, target=target))
    assert plain.shape == told.shape
    red = (told[..., 0] > 150) & (told[..., 1] < 80)
    assert red.sum() > 300
    assert not ((plain[..., 0] > 170) & (plain[..., 1] < 60) & (plain[..., 2] < 60)).any()


def test_an_empty_shelf_is_a_graph():
    graph = build_graph(SHELF, [])
    assert graph.objects == ()
    assert from_json(graph.to_json()).relations() == graph.relations()
