"""The parser plug point."""

from __future__ import annotations

import subprocess
import sys

import pytest

from armwright.core.errors import UnknownNameError, UsageError
from armwright.language import Parser, make_parser, parse, parser_names, register_parser


def test_built_in_parsers_are_listed_and_fit_the_protocol():
    assert {"embedded", "chat"} <= set(parser_names())
    assert isinstance(make_parser("embedded"), Parser)


def test_an_unknown_parser_lists_the_known():
    with pytest.raises(UnknownNameError, match="embedded"):
        parse("put the mug on the plate", parser="embeded")


def test_a_registered_parser_is_used(monkeypatch):
    from armwright.language import parser as module

    class Fixed:
        name = "fixed"

        def parse(self, sentence):
            return parse("pick up the mug")

    monkeypatch.setattr(module, "_PARSERS", dict(module._PARSERS))
    register_parser("fixed", lambda model: Fixed())
    assert [p.object for p in parse("whatever", parser="fixed").primitives] == ["mug_1"]


def test_choosing_a_model_chooses_the_chat_parser():
    with pytest.raises(UsageError, match="openai:NAME"):
        parse("pick up the mug", model="some-model")


def test_importing_the_package_stays_light():
    heavy = ("pydantic_ai", "openai", "scipy", "mujoco")
    code = f"import sys, armwright.language; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
