"""The chat parser: a model's answer is validated against the catalog and becomes the same ParsedTask."""

from __future__ import annotations

import pytest

from armwright.core.errors import ModelError, UsageError
from armwright.core.settings import Settings
from armwright.language import parse
from armwright.language.chat import ChatParser
from chat_server import Step, serve

SENTENCE = "pick up the red mug by its handle and place it on the plate"


def _answer(*, category: str = "mug", target: str = "plate_1", relation: str = "on", colour: str | None = "red"):
    return Step(
        {
            "objects": [
                {"id": "mug_1", "category": category, "colour": colour, "held_by": "handle"},
                {"id": "plate_1", "category": "plate"},
            ],
            "relations": [],
            "primitives": [
                {"name": "pick", "object": "mug_1"},
                {"name": "place", "object": "mug_1", "target": target, "relation": relation},
            ],
            "not_understood": [],
        }
    )


def _parser(url: str, **more: object) -> ChatParser:
    return ChatParser("openai:m", settings=Settings(openai_base_url=url + "/v1", openai_api_key="k", **more))


def test_it_agrees_with_the_embedded_parser():
    with serve(_answer()) as server:
        parser = _parser(server.url)
        task = parser.parse(SENTENCE)
    expected = parse(SENTENCE)
    assert task.scene == expected.scene
    assert task.primitives == expected.primitives
    assert task.queries == expected.queries
    assert task.parser == "chat:openai:m"
    assert parser.last_use is not None
    assert parser.last_use.requests == 1


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (_answer(category="mugg"), "Nearest: mug"),
        (_answer(target="plate_2"), "plate_2"),
        (_answer(relation="in_front"), "in_front_of"),
        (_answer(colour="mauve"), "Colours: "),
        (_answer(category="shelf"), "fixed in place"),
    ],
)
def test_what_the_catalog_lacks_is_asked_again(bad, told):
    with serve(bad, _answer()) as server:
        task = _parser(server.url).parse(SENTENCE)
        assert told in str(server.requests[1]["messages"])
    assert [p.name for p in task.primitives] == ["pick", "place"]


def test_a_hold_beside_something_is_asked_again():
    beside = _answer()
    beside.arguments["primitives"][1] |= {"name": "hold", "relation": "next_to"}
    with serve(beside, _answer()) as server:
        _parser(server.url).parse(SENTENCE)
        assert "held next to" in str(server.requests[1]["messages"])


def test_an_answer_that_stays_wrong_is_a_model_error():
    with serve(_answer(category="unicorn")) as server, pytest.raises(ModelError, match="unicorn"):
        _parser(server.url).parse(SENTENCE)


def test_empty_text_is_not_sent():
    with serve(_answer()) as server, pytest.raises(UsageError, match="empty"):
        _parser(server.url).parse("  ")
    assert not server.requests


def test_the_chat_parser_needs_a_model():
    with pytest.raises(UsageError, match="--model"):
        parse(SENTENCE, parser="chat")
