"""Chat models over real HTTP: a good answer is used, a wrong one asked again, a hopeless one replaced and said so."""

from __future__ import annotations

import json

import pytest

from armwright.core.errors import ModelError
from armwright.core.settings import Settings
from armwright.shelf.chat import ChatReasoner
from armwright.shelf.embedded import EmbeddedReasoner
from armwright.shelf.experts import ChatExpert
from armwright.shelf.graph import build_graph
from armwright.shelf.reasoner import make_reasoner, rank_weights
from armwright.shelf.scenes import scene
from chat_server import Step, serve
from shelf_scenes import SHELF, sorted_shelf, wanted

GRAPH = build_graph(SHELF, sorted_shelf())
TARGET = wanted(packaging="bottle", content="milk")
WEIGHTS = {"content": 0.2, "packaging": 0.6, "edible": 0.1, "orientation": 0.1}


def _answer(anchor="thing_05", side="right", orientation="upright", weights=WEIGHTS, **more):
    first = {"anchor": anchor, "side": side, "orientation": orientation, "reason": "bottles stand there"}
    second = {"anchor": "board_1", "side": "on_board", "reason": "there is room"}
    said = {"organisation": "By packaging.", "weights": weights, "placements": [first, second]}
    return Step(said | more)


def _settings(url, provider="openai", **more):
    base = url + "/v1" if provider == "openai" else url
    return Settings(**{f"{provider}_base_url": base, f"{provider}_api_key": "k", "model_timeout_s": 5.0} | more)


def _reasoner(url, provider="openai", **more):
    return ChatReasoner(f"{provider}:m", settings=_settings(url, provider, **more))


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_answer_becomes_ranked_proposals(provider):
    with serve(_answer()) as server:
        reasoner = _reasoner(server.url, provider)
        said = reasoner.reason(GRAPH, TARGET)
        sent = json.dumps(server.requests[0])
    assert said.reasoner == f"chat:{provider}:m"
    assert said.note == ""
    assert [(p.anchor, p.side, p.weight) for p in said.proposals] == [
        ("thing_05", "right", rank_weights()[0]),
        ("board_1", "on_board", rank_weights()[1]),
    ]
    assert said.attribute_weights == pytest.approx(WEIGHTS)
    assert "thing_17" in sent
    assert "left_of" in sent
    assert reasoner.last_use is not None
    assert reasoner.last_use.requests == 1


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (_answer(anchor="thing_99"), "thing_99"),
        (_answer(anchor="board_0"), "board_0"),
        (_answer(anchor="thing_05", side="on_board"), "is not the id of a board"),
        (_answer(orientation="lying"), "lying"),
        (_answer(weights=dict.fromkeys(WEIGHTS, 0.0)), "all four weights"),
        (_answer(placements=[]), "at least 1"),
        (_answer(side="above"), "left"),
        (_answer(placements=[{"anchor": "thing_05", "side": "left", "reason": "x"}] * 2), "twice"),
    ],
)
def test_a_wrong_answer_is_asked_again(bad, told):
    with serve(bad, _answer()) as server:
        said = _reasoner(server.url).reason(GRAPH, TARGET)
        assert told in json.dumps(server.requests[1]["messages"])
    assert said.reasoner == "chat:openai:m"


@pytest.mark.parametrize(
    ("step", "provider"),
    [
        (Step("{ this is not JSON"), "openai"),
        (Step("I will not help with that."), "anthropic"),
        (_answer(anchor="nowhere"), "openai"),
        (Step(status=429), "openai"),
        (Step(status=500), "anthropic"),
        (Step(status=401), "openai"),
    ],
)
def test_a_hopeless_model_is_replaced_by_the_built_in_reasoner(step, provider):
    with serve(step) as server:
        said = _reasoner(server.url, provider, model_retries=1).reason(GRAPH, TARGET)
    assert said.proposals == EmbeddedReasoner().reason(GRAPH, TARGET).proposals
    assert said.reasoner == "embedded"
    assert "chat model was not used" in said.note


def test_silence_is_replaced_too():
    with serve(Step(wait_s=30)) as server:
        said = _reasoner(server.url, model_timeout_s=0.3, model_retries=0).reason(GRAPH, TARGET)
    assert "no answer within" in said.note
    assert said.ok


def test_the_registry_makes_one(environment):
    with serve(_answer()) as server:
        environment(OPENAI_BASE_URL=server.url + "/v1", OPENAI_API_KEY="k")
        assert make_reasoner("chat", model="openai:m").reason(GRAPH, TARGET).reasoner == "chat:openai:m"


def test_an_expert_weighs_or_fails_but_never_makes_up():
    one = scene("single-row", 0)
    with serve(Step(dict.fromkeys(WEIGHTS, 0)), Step({k: v / 2 for k, v in WEIGHTS.items()})) as server:
        expert = ChatExpert("openai:m", settings=_settings(server.url))
        assert expert.weights(one) == pytest.approx(WEIGHTS)
        assert one.objects[0].product.label in json.dumps(server.requests[0])
    with serve(Step("no")) as server, pytest.raises(ModelError):
        ChatExpert("openai:m", settings=_settings(server.url, model_retries=0)).weights(one)
