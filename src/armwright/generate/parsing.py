"""Sentence to task, by the built-in parser or a chat model, as plain records."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from armwright.assets.library import default_library
from armwright.assets.scene import ParsedTask
from armwright.core.errors import UsageError, quoted
from armwright.core.task import Primitive
from armwright.recording.outputs import check_text


def parse_sentence(
    sentence: str, *, model: str | None = None, parser: str | None = None
) -> tuple[ParsedTask, dict[str, Any] | None]:
    """Parse a sentence, and return as well what a chat model used for it, or None.

    Args:
        sentence: What the robot should do, or the name of a task (see `armwright.generate.suite`).
        model: Chat model for the parser ``chat``, which it selects where no parser is named.
        parser: Name of a parser (see `armwright.language.parser.make_parser`).

    Raises:
        UsageError: The sentence asks for something unknown or impossible, or is not valid UTF-8.
        UnknownNameError: There is no such parser, or no such task.
        ModelError: The chat model gave no usable answer.
    """
    from armwright.generate.suite import is_task_name, load_task
    from armwright.language.furniture import as_swings
    from armwright.language.parser import make_parser

    check_text("the sentence", sentence)
    task = load_task(sentence) if is_task_name(sentence) else None
    usual = "embedded" if model is None else "chat"
    chosen = make_parser(usual if parser is None else parser, model=model)
    parsed = as_swings(chosen.parse(sentence if task is None else task.sentence))
    if task is not None:
        if parsed.parser == "embedded":  # others may read it in another way, and are graded by what they read
            task.check(parsed)
        parsed = task.complete(parsed)
    use = getattr(chosen, "last_use", None)
    return parsed, asdict(use) if use is not None else None


def check_skills(parsed: ParsedTask) -> None:
    """Refuse a task that cannot succeed because no skill performs one of its primitives on its object.

    Raises:
        UsageError: One is understood, but not executed, or what is to be opened or closed is of one piece.
    """
    from armwright.skills import dispatch

    lacking = dict.fromkeys(p.name for p in parsed.primitives if p.name not in dispatch.SKILLS)
    if lacking:
        raise UsageError(
            f"{quoted(parsed.sentence)} needs {', '.join(lacking)}, which is understood but not executed yet.",
            hint=f"Executed are: {', '.join(sorted(dispatch.SKILLS))}.",
        )
    for step in parsed.primitives:
        if step.name in ("open", "close"):
            _check_opens(parsed, step)


def _check_opens(parsed: ParsedTask, step: Primitive) -> None:
    node = parsed.scene.object(step.object)
    model = default_library().build(node.category, instance=node.instance or 0, attributes=node.attributes)
    if len(model.links) == 1:
        raise UsageError(
            f"{quoted(parsed.sentence)} cannot be done: the {node.category.replace('_', ' ')} is of one piece, "
            f"nothing of it {step.name}s.",
            hint="Drawers, doors and hinged lids open and close.",
        )


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
