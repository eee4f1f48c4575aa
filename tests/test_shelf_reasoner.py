"""The built-in reasoner: which attribute explains a shelf, and where a thing belongs; the plug point; the baseline."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from armwright.core.errors import UnknownNameError, UsageError
from armwright.shelf.candidates import sample_candidates
from armwright.shelf.evidence import _adjacency, _swap_costs, infer, settled
from armwright.shelf.fit import candidate_fits, semantic_fit
from armwright.shelf.graph import build_graph
from armwright.shelf.reasoner import (
    MAX_PROPOSALS,
    Reasoning,
    make_reasoner,
    rank_weights,
    reasoner_names,
    register_reasoner,
)
from armwright.shelf.records import ATTRIBUTES, Box, Described
from armwright.shelf.scenes import dominated_scene
from armwright.shelf.score import rank_candidates
from shelf_scenes import SHELF, sorted_shelf, thing, wanted


def test_it_names_the_attribute_that_sorts_the_shelf():
    evidence = infer(build_graph(SHELF, sorted_shelf()))
    weights = evidence.weights()
    assert sum(weights.values()) == pytest.approx(1)
    assert max(weights, key=weights.get) == "packaging"
    packaging = evidence.attributes["packaging"]
    assert packaging.agreement > 0.85 > 0.55 > packaging.chance
    assert packaging.log_ratio > 3.84
    assert evidence.attributes["orientation"].log_ratio == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_it_finds_what_dominates_drawn_scenes(attribute):
    found = []
    for seed in range(4):
        one = dominated_scene(attribute, seed)
        weights = infer(build_graph(one.shelf, one.records())).weights()
        found.append(max(weights, key=weights.get) == attribute)
    assert sum(found) >= 3


def test_a_shuffled_shelf_explains_nothing():
    objects = sorted_shelf()
    rng = np.random.default_rng(0)
    strong = 0
    for _ in range(20):
        order = rng.permutation(len(objects))
        mixed = [dataclasses.replace(o, nature=objects[k].nature) for o, k in zip(objects, order, strict=True)]
        strong += infer(build_graph(SHELF, mixed)).attributes["packaging"].log_ratio >= 3.84
    assert strong <= 4


def test_swap_costs_are_those_of_really_swapping():
    graph = build_graph(SHELF, sorted_shelf())
    natures = [o.nature for o in graph.objects]
    like, _ = settled(natures, natures)
    near = _adjacency(graph)
    costs = _swap_costs(near, like)
    first, second = np.triu_indices(len(natures), 1)

    def total(order):
        return (near[:, :, None] * like[np.ix_(order, order)]).sum((0, 1)) / 2

    for row in (0, 17, 60, 100):
        order = np.arange(len(natures))
        order[[first[row], second[row]]] = order[[second[row], first[row]]]
        assert np.allclose(costs[row], total(np.arange(len(natures))) - total(order))


def test_the_target_goes_to_its_kind_with_a_reason():
    graph = build_graph(SHELF, sorted_shelf())
    said = make_reasoner().reason(graph, wanted(packaging="bottle", content="milk"))
    assert said.ok
    assert "packaging" in said.organisation
    assert 1 <= len(said.proposals) <= MAX_PROPOSALS
    best = said.proposals[0]
    assert graph.object(best.anchor).nature.packaging == "bottle"
    assert "packaging (bottle)" in best.reason
    assert [p.weight for p in said.proposals] == list(rank_weights()[: len(said.proposals)])
    assert [p.rank for p in said.proposals] == list(range(1, len(said.proposals) + 1))


def test_an_empty_board_or_shelf_gets_a_proposal_and_a_full_one_none():
    reasoner = make_reasoner()
    empty = reasoner.reason(build_graph(SHELF, []), wanted())
    assert {p.anchor for p in empty.proposals} == {"board_0", "board_1"}
    assert "empty" in empty.organisation
    walls = [
        dataclasses.replace(thing(f"w{k}", 0, 0, board=k), box=Box((0.15, 0.0, z), (0.3, 0.9, 0.2)))
        for k, z in enumerate((0.12, 0.44))
    ]
    full = reasoner.reason(build_graph(SHELF, walls), wanted())
    assert full.status == "no_place"
    assert not full.ok
    assert full.proposals == ()


def test_what_cannot_be_read_is_neither_like_nor_unlike():
    blank = [dataclasses.replace(o, nature=Described()) for o in sorted_shelf()]
    said = make_reasoner().reason(build_graph(SHELF, blank), wanted())
    assert said.ok
    assert list(said.attribute_weights.values()) == pytest.approx([0.25] * 4)
    unsure, sure = Described(packaging="can", confidences={"packaging": 0.0}), Described(packaging="can")
    like, _ = settled([sure], [unsure, sure], chance=np.full(4, 0.3))
    assert like[0, 0, 1] == pytest.approx(0.3)
    assert like[0, 1, 1] == pytest.approx(1)


def test_the_target_may_also_be_on_the_shelf():
    graph = build_graph(SHELF, sorted_shelf())
    twin = graph.objects[0].nature
    assert make_reasoner().reason(graph, wanted(**{n: getattr(twin, n) for n in ATTRIBUTES})).ok


def test_score_weighs_all_the_same():
    one = dominated_scene("packaging", 3)
    graph, target = build_graph(one.shelf, one.records()), one.target_record()
    assert set(make_reasoner("score").reason(graph, target).attribute_weights.values()) == {0.25}
    places = sample_candidates(one.shelf, [o.box for o in one.objects], target)
    fit = semantic_fit(candidate_fits(graph, target, places))
    order = rank_candidates(graph, target, places)
    assert sorted(order) == list(range(len(places)))
    assert np.all(np.diff(fit[order]) <= 1e-9)


def test_reasoners_are_found_by_name():
    assert {"embedded", "score", "chat"} <= set(reasoner_names())
    with pytest.raises(UnknownNameError, match="embedded"):
        make_reasoner("embeded")
    for name in ("embedded", "score"):
        with pytest.raises(UsageError, match="no model"):
            make_reasoner(name, model="openai:m")
    with pytest.raises(UsageError, match="openai:NAME"):
        make_reasoner("chat")

    class Mine:
        name = "mine"

        def reason(self, graph, target):
            return Reasoning("no_place", (), "", {}, "mine")

    register_reasoner("mine", lambda model: Mine())
    assert make_reasoner("mine").reason(build_graph(SHELF, []), wanted()).reasoner == "mine"
    register_reasoner("broken", lambda model: object())  # type: ignore[arg-type, return-value]
    with pytest.raises(UsageError, match="no name"):
        make_reasoner("broken")
