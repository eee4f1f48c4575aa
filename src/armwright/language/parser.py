"""The parser plug point: a protocol, a registry by name, and ``parse``."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Protocol, runtime_checkable

from armwright.assets.scene import ParsedTask
from armwright.core.errors import UnknownNameError, UsageError

ENTRY_POINT_GROUP = "armwright.parsers"


@runtime_checkable
class Parser(Protocol):
    """Turns a sentence into a scene, primitives and affordance queries."""

    name: str

    def parse(self, sentence: str) -> ParsedTask:
        """Return what the sentence means; raise ``UsageError`` if it asks for nothing possible."""
        ...


ParserFactory = Callable[[str | None], Parser]
"""Makes a parser; the argument is the model name (``openai:NAME``) or None."""


def _embedded(model: str | None) -> Parser:
    from armwright.language.embedded import EmbeddedParser

    if model is not None:
        raise UsageError(f"the embedded parser takes no model, got {model!r}.", hint="Use parser='chat'.")
    return EmbeddedParser()


def _chat(model: str | None) -> Parser:
    from armwright.language.chat import ChatParser

    if model is None:
        raise UsageError("the chat parser needs a model.", hint="Give one with --model openai:NAME or anthropic:NAME.")
    return ChatParser(model)


_PARSERS: dict[str, ParserFactory] = {"embedded": _embedded, "chat": _chat}


def register_parser(name: str, factory: ParserFactory) -> None:
    """Add a parser under a name; other packages use the entry-point group ``armwright.parsers``."""
    _PARSERS[name] = factory
    make_parser.cache_clear()


def parser_names() -> tuple[str, ...]:
    """Return the names that ``parse`` accepts."""
    return tuple(sorted({*_PARSERS, *(point.name for point in entry_points(group=ENTRY_POINT_GROUP))}))


@lru_cache(maxsize=8)
def make_parser(name: str, *, model: str | None = None) -> Parser:
    """Return the parser of that name, made once.

    Raises:
        UnknownNameError: There is none of that name.
    """
    factory = _PARSERS.get(name)
    if factory is None:
        point = next((p for p in entry_points(group=ENTRY_POINT_GROUP) if p.name == name), None)
        if point is None:
            raise UnknownNameError("parser", name, parser_names())
        factory = point.load()
    return factory(model)


def parse(sentence: str, *, parser: str = "embedded", model: str | None = None) -> ParsedTask:
    """Return the scene, ordered primitives and affordance queries that a sentence asks for (AffordSim §3.1).

    Args:
        sentence: English text: a task, possibly with a description of the scene.
        parser: ``embedded`` (offline, the default), ``chat``, or a registered name.
        model: Chat model such as ``openai:NAME``; choosing one selects the ``chat`` parser.

    Raises:
        UsageError: The text is empty, not English, asks for nothing the robot can do, names an unknown object, or asks
            for something impossible.
        ModelError: The chat model gave no usable answer.
    """
    if model is not None and parser == "embedded":
        parser = "chat"
    return make_parser(parser, model=model).parse(sentence)
