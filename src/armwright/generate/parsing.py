"""Sentence to task, by the built-in parser or a chat model, as plain records."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from armwright.assets.scene import ParsedTask


def parse_sentence(sentence: str, *, model: str | None = None) -> tuple[ParsedTask, dict[str, Any] | None]:
    """Parse a sentence; with a chat model's name, also return what the model used.

    Raises:
        UsageError: The sentence asks for something unknown or impossible.
        ModelError: The chat model gave no usable answer.
    """
    if model is None:
        from armwright.language.parser import parse

        return parse(sentence), None
    from armwright.language.chat import ChatParser

    parser = ChatParser(model)
    parsed = parser.parse(sentence)
    return parsed, asdict(parser.last_use) if parser.last_use is not None else None


def parsed_record(parsed: ParsedTask, use: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the JSON record that ``armwright parse`` prints."""
    record: dict[str, Any] = {
        "schema": "armwright.result/1",
        "command": "parse",
        "ok": True,
        "sentence": parsed.sentence,
        "parser": parsed.parser,
        "objects": [{"id": n.id, "category": n.category, "attributes": n.attributes} for n in parsed.scene.objects],
        "relations": [[r.subject, r.relation, r.object] for r in parsed.scene.relations],
        "primitives": [p.model_dump() for p in parsed.primitives],
        "queries": [{"object": q.object, "region": q.region, "role": q.role} for q in parsed.queries],
        "not_understood": list(parsed.not_understood),
        "assumptions": list(parsed.assumptions),
    }
    if use is not None:
        record["model_use"] = use
    return record
