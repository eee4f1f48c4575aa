"""The parser plug point: a protocol, a registry by name, and ``parse``."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from armwright.assets.scene import ParsedTask
from armwright.core.errors import UnknownNameError, UsageError, quoted
from armwright.core.plugins import load_plugin, plugin_names

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
    if model is not None:
        raise UsageError(f"the embedded parser takes no model, got {quoted(model)}.", hint="Choose the parser chat.")
    return _embedded_parser()


@lru_cache(maxsize=1)
def _embedded_parser() -> Parser:
    from armwright.language.embedded import EmbeddedParser

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


def parser_names() -> tuple[str, ...]:
    """Return the names that ``parse`` accepts."""
    return tuple(sorted({*_PARSERS, *plugin_names(ENTRY_POINT_GROUP)}))


def make_parser(name: str, *, model: str | None = None) -> Parser:
    """Return the parser of that name.

    Args:
        name: A built-in one, a registered one, or one that an installed package offers: an entry point in
            ``armwright.parsers`` that loads a `ParserFactory`.
        model: Chat model such as ``openai:NAME``, for a parser that asks one.

    Raises:
        UnknownNameError: There is none of that name.
        UsageError: What a package offers cannot be loaded or is no parser, or the parser takes no model.
    """
    factory = _PARSERS.get(name) or load_plugin(ENTRY_POINT_GROUP, name)
    if factory is None:
        raise UnknownNameError("parser", name, parser_names())
    made: Any = factory(model)
    if not isinstance(made, Parser):
        raise UsageError(
            f"the parser {quoted(name)} is a {type(made).__name__}, which has no name and parse().",
            hint="Its factory must return a Parser.",
        )
    return made


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
