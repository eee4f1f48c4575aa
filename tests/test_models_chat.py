"""Chat models against a scripted server that speaks both wire formats over real HTTP."""

from __future__ import annotations

import asyncio
import base64
import json
import socket

import pytest
from pydantic import BaseModel

from armwright.core.errors import ModelError, UnknownNameError, UsageError
from armwright.core.settings import Settings
from armwright.models.chat import chat_model
from chat_server import Step, serve

PROVIDERS = ("openai", "anthropic")


class Answer(BaseModel):
    """What the tests ask for."""

    colour: str
    count: int


GOOD = Step({"colour": "red", "count": 2})
WRONG = Step({"colour": "red", "count": "many"})
BROKEN = Step('{"colour": "red", "cou')


def _settings(provider: str, url: str, **more: object) -> Settings:
    base = url + "/v1" if provider == "openai" else url
    return Settings(**{f"{provider}_base_url": base, f"{provider}_api_key": "k", "model_timeout_s": 20, **more})


def _ask(provider: str, settings: Settings, **more: object):
    return chat_model(f"{provider}:some-model", settings=settings).ask("How many?", Answer, system="Be brief.", **more)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_good_answer_comes_typed_with_its_use(provider):
    with serve(GOOD) as server:
        answer = _ask(provider, _settings(provider, server.url))
    assert answer.value == Answer(colour="red", count=2)
    assert (answer.use.requests, answer.use.input_tokens, answer.use.output_tokens) == (1, 100, 20)
    assert answer.use.latency_s > 0
    assert answer.use.cost_usd is None


def test_cost_is_known_for_a_priced_model():
    with serve(GOOD) as server:
        model = chat_model("openai:gpt-4o-mini", settings=_settings("openai", server.url))
        answer = model.ask("How many?", Answer, system="")
    assert answer.use.cost_usd == pytest.approx(100 * 0.15e-6 + 20 * 0.6e-6)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("bad", [BROKEN, WRONG])
def test_a_bad_answer_is_asked_again_with_the_reason(provider, bad):
    with serve(bad, GOOD) as server:
        answer = _ask(provider, _settings(provider, server.url))
        assert answer.value.count == 2
        assert answer.use.requests == len(server.requests) == 2
        assert answer.use.input_tokens == 200
        assert len(server.requests[1]["messages"]) > len(server.requests[0]["messages"])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("bad", [BROKEN, WRONG])
def test_bad_answers_for_ever_end_in_an_error_that_shows_the_last(provider, bad):
    with serve(bad) as server, pytest.raises(ModelError, match=r"3 tries.*red") as caught:
        _ask(provider, _settings(provider, server.url))
    assert len(server.requests) == 3
    assert "--model" in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_failed_check_is_shown_to_the_model(provider):
    def check(value: Answer) -> None:
        if value.count > 1:
            raise ValueError("count must be at most one")

    with serve(GOOD, Step({"colour": "red", "count": 1})) as server:
        assert _ask(provider, _settings(provider, server.url), check=check).value.count == 1
        assert "count must be at most one" in str(server.requests[1]["messages"])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_that_never_answers_times_out(provider):
    with serve(Step({}, wait_s=30)) as server, pytest.raises(ModelError, match=r"no answer within 0\.3 s.*TIMEOUT"):
        _ask(provider, _settings(provider, server.url, model_timeout_s=0.3))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "message"), [(429, "rate or quota"), (500, "HTTP 500|failed"), (401, "KEY"), (404, "--model")]
)
def test_refusals_say_what_to_do(provider, status, message):
    with serve(Step(status=status)) as server, pytest.raises(ModelError, match=message):
        _ask(provider, _settings(provider, server.url, model_retries=0))
    assert len(server.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [429, 500])
def test_a_passing_refusal_is_tried_again(provider, status):
    with serve(Step(status=status), GOOD) as server:
        assert _ask(provider, _settings(provider, server.url)).value.count == 2
    assert len(server.requests) == 2


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_unreachable_server_is_named(provider):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ModelError, match=r"127\.0\.0\.1.*cannot be reached.*BASE_URL"):
            _ask(provider, _settings(provider, url, model_retries=0))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_missing_key_says_which_variable(provider, monkeypatch):
    for name in PROVIDERS:
        monkeypatch.delenv(f"{name.upper()}_API_KEY", raising=False)
        monkeypatch.delenv(f"{name.upper()}_BASE_URL", raising=False)
    with pytest.raises(ModelError, match=f"{provider.upper()}_API_KEY"):
        chat_model(f"{provider}:x", settings=Settings())


def test_keys_come_from_the_usual_variables_and_stay_out_of_repr(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    settings = Settings()
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == "from-environment"
    assert "from-environment" not in repr(settings)


def test_names_without_a_known_provider_are_misuse():
    with pytest.raises(UsageError, match="openai:NAME"):
        chat_model("gpt-4o")
    with pytest.raises(UnknownNameError, match="anthropic"):
        chat_model("antropic:x")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_pictures_go_out_as_the_provider_takes_them(provider):
    picture = b"\xff\xd8\xff picture"
    with serve(GOOD) as server:
        _ask(provider, _settings(provider, server.url), images=[picture])
        sent = json.dumps(server.requests[0]["messages"])
    assert base64.b64encode(picture).decode() in sent
    assert "image/jpeg" in sent
    assert ('"image_url"' if provider == "openai" else '"source"') in sent


def test_what_is_no_picture_is_misuse():
    with serve(GOOD) as server, pytest.raises(UsageError, match="PNG nor JPEG"):
        _ask("openai", _settings("openai", server.url), images=[b"GIF89a"])


def test_it_can_be_asked_inside_a_running_event_loop():
    with serve(GOOD) as server:

        async def inside():
            return _ask("openai", _settings("openai", server.url))

        assert asyncio.run(inside()).value.count == 2
