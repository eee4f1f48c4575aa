"""The chat describer over real HTTP: pictures go out in both wire formats; whatever comes back, the run goes on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.core.settings import Settings
from armwright.perception.chat import ChatDescriber, numbered
from armwright.perception.describers import make_describer
from armwright.perception.labels import LabelDescriber
from chat_server import Step, serve
from label_scenes import Scripted, halves, line, packages

FRAME, MASKS = packages("OAT MILK", "SOAP")
OBJECT = {
    "number": 1,
    "label": "oat milk",
    "content": "oat milk",
    "packaging": "carton",
    "edible": True,
    "orientation": "upright",
    "extent_m": [0.07, 0.07, 0.2],
    "confidence": 0.9,
}
SOAP = OBJECT | {"number": 2, "label": "", "content": "", "packaging": "", "edible": None, "extent_m": None}


def _said(*objects, **more):
    return Step({"objects": list(objects or (OBJECT, SOAP))} | more)


def _describer(server, folder, provider="openai", **more):
    base = server.url + "/v1" if provider == "openai" else server.url
    names = {f"{provider}_base_url": base, f"{provider}_api_key": "k", "model_timeout_s": 5.0, "cache_dir": folder}
    read = Scripted(line("OAT MILK", 20, 60, height=14))
    return ChatDescriber(
        f"{provider}:m",
        settings=Settings(**(names | more)),
        fallback=lambda: LabelDescriber(reader=read),
    )


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_answer_becomes_descriptions_and_pictures_go_out(provider, tmp_path):
    with serve(_said(SOAP, OBJECT)) as server:
        describer = _describer(server, tmp_path, provider)
        milk, soap = describer.describe(FRAME, MASKS)
        sent = json.dumps(server.requests[0]["messages"])
    assert (milk.label, milk.packaging, milk.edible, milk.extent_m) == ("oat milk", "carton", True, (0.07, 0.07, 0.2))
    assert (soap.label, soap.packaging, soap.edible) == ("", "", None)
    assert soap.confidence <= 0.2
    assert sent.count("iVBORw0KGgo") == 2
    assert describer.note == ""
    assert describer.last_use is not None


def test_an_answer_is_kept_for_this_picture_and_these_masks(tmp_path):
    with serve(_said()) as server:
        first = _describer(server, tmp_path).describe(FRAME, MASKS)
        again = _describer(server, tmp_path)
        assert again.describe(FRAME, MASKS) == first
        assert again.last_use is None
        assert len(server.requests) == 1
        again.describe(FRAME, [MASKS[1], MASKS[0]])
        assert len(server.requests) == 2
        for kept in (tmp_path / "descriptions").iterdir():
            kept.write_text("{ damaged")
        assert again.describe(FRAME, MASKS) == first
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (_said(OBJECT, SOAP, OBJECT | {"number": 7}), "no object 7"),
        (_said(OBJECT), "object 2 is missing"),
        (_said(OBJECT, SOAP, SOAP), "twice"),
        (_said(OBJECT | {"packaging": "jug"}, SOAP), "carton"),
        (_said(OBJECT | {"extent_m": [7, 7, 20]}, SOAP), "in metres"),
        (_said(OBJECT | {"confidence": 90}, SOAP), "less than or equal to 1"),
        (Step("{ this is not JSON"), "JSON"),
    ],
)
def test_a_wrong_answer_is_asked_again_with_the_error(bad, told, tmp_path):
    with serve(bad, _said()) as server:
        describer = _describer(server, tmp_path)
        assert describer.describe(FRAME, MASKS)[0].label == "oat milk"
        assert told in json.dumps(server.requests[1]["messages"])
    assert describer.note == ""


@pytest.mark.parametrize(
    ("step", "provider"),
    [
        (Step("I will not describe that."), "anthropic"),
        (Step("{ this is not JSON"), "openai"),
        (_said(OBJECT), "anthropic"),
        (Step(status=429), "openai"),
        (Step(status=500), "anthropic"),
        (Step(wait_s=30), "openai"),
    ],
)
def test_a_hopeless_model_leaves_the_frame_to_the_built_in_describer(step, provider, tmp_path):
    with serve(step) as server:
        describer = _describer(
            server, tmp_path, provider, model_retries=1, model_timeout_s=2.0 - 1.6 * bool(step.wait_s)
        )
        said = describer.describe(FRAME, MASKS)
    assert [one.label for one in said] == ["oat milk", ""]
    assert "labels did" in describer.note


def test_a_passing_refusal_is_tried_again(tmp_path):
    with serve(Step(status=429), Step(status=503), _said()) as server:
        describer = _describer(server, tmp_path)
        describer.describe(FRAME, MASKS)
    assert describer.note == ""
    assert len(server.requests) == 3


def test_a_model_that_stays_away_is_left_alone(tmp_path):
    with serve(Step(status=401)) as server:
        describer = _describer(server, tmp_path)
        for _ in range(4):
            assert len(describer.describe(FRAME, MASKS)) == 2
            assert "labels did" in describer.note
        assert len(server.requests) == 2


def test_nothing_to_see_is_not_asked_about(tmp_path):
    nothing = [np.zeros_like(MASKS[0])]
    with serve(_said()) as server:
        describer = _describer(server, tmp_path)
        assert describer.describe(FRAME, []) == []
        assert describer.describe(FRAME, nothing)[0].label == ""
        assert server.requests == []
        assert [one.label for one in describer.describe(FRAME, [MASKS[0], *nothing])] == ["oat milk", ""]


def test_numbers_are_drawn_at_the_masks():
    drawn = numbered(FRAME.rgb, dict(enumerate(halves(), 1)))
    changed = (drawn != FRAME.rgb).any(-1)
    assert 0 < changed.mean() < 0.1


def test_chat_needs_a_model():
    with pytest.raises(UsageError, match="openai:NAME"):
        make_describer("chat")
