"""The chat parser: a chat model fills the same schema, validated against the catalog (AffordSim §3.1, Appendix S)."""

from __future__ import annotations

import difflib

from pydantic import BaseModel, ConfigDict, Field

from armwright.assets.catalog import CATALOG
from armwright.assets.scene import ObjectSpec, ParsedTask, Relation, SceneSpec
from armwright.core.errors import UsageError
from armwright.core.settings import Settings
from armwright.core.task import Primitive, PrimitiveName, RelationName
from armwright.language import checks
from armwright.language.lexicon import COLOUR_WORDS
from armwright.language.queries import queries_for
from armwright.models.chat import ChatModel, ModelUse, chat_model

TABLE_ID = "table"


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AnswerObject(_Answer):
    """One object of the scene."""

    id: str = Field(description="Category and number, such as mug_1.")
    category: str = Field(description="One of the catalog's categories.")
    colour: str | None = None
    size: str | None = Field(default=None, description="small or large, only if the text says so.")
    material: str | None = None
    held_by: str | None = Field(
        default=None, description="Part by which the text says it is held: handle, rim, body or lid. Null if unsaid."
    )


class AnswerRelation(_Answer):
    """What the text says of where things are before the robot acts."""

    subject: str
    relation: RelationName
    object: str


class AnswerPrimitive(_Answer):
    """One step."""

    name: PrimitiveName
    object: str
    target: str | None = None
    relation: RelationName | None = None


class Answer(_Answer):
    """Scene and steps of one instruction."""

    objects: list[AnswerObject]
    relations: list[AnswerRelation]
    primitives: list[AnswerPrimitive]
    not_understood: list[str] = Field(description="Fragments of the text, verbatim, that you could not express.")


def _system() -> str:
    lines = [
        "You turn an instruction to a one-armed robot into a scene and ordered primitives.",
        "Categories: " + "; ".join(f"{i.name} ({', '.join(i.words)})" for i in CATALOG.values()) + ".",
        "The table is always there: its id is 'table' and it is not listed among the objects.",
        "Every object mentioned is listed, also those the robot does not touch. One entry per thing.",
        "relations: only what the text says of where things are before the robot acts, without the table.",
        "place, pour, hang and hold need a pick of the same object before them. A place names its target and relation.",
        "pour: target is the receiver, relation 'in'. hang: target is the mug_rack, relation 'on'.",
        "hold: relation 'above' and a target, or neither.",
        "left_of is to the robot's left; behind is farther from the robot.",
        "An object that matches no category is named in not_understood.",
    ]
    return "\n".join(lines)


class ChatParser:
    """Asks a chat model.

    Args:
        model: ``openai:NAME``, ``anthropic:NAME`` or a chat model.
        settings: Keys, endpoints, timeout and retries; by default what the environment says.
    """

    name = "chat"

    def __init__(self, model: str | ChatModel, *, settings: Settings | None = None) -> None:
        self._model = chat_model(model, settings=settings) if isinstance(model, str) else model
        self.last_use: ModelUse | None = None

    def parse(self, sentence: str) -> ParsedTask:
        """Return scene, primitives and queries of a sentence.

        Raises:
            UsageError: The text is empty.
            ModelError: The model gave no usable answer.
        """
        if not sentence.strip():
            raise UsageError(f"the text {sentence!r} is empty.", hint='Say for example: "put the banana in the bowl".')
        answer = self._model.ask(sentence, Answer, system=_system(), check=lambda a: _check(sentence, a))
        self.last_use = answer.use
        return _to_task(sentence, answer.value, f"chat:{self._model.name}")


def _check(sentence: str, answer: Answer) -> None:
    """Raise ``ValueError`` with what the model should change."""
    for item in answer.objects:
        if item.category not in CATALOG:
            near = difflib.get_close_matches(item.category, list(CATALOG), n=3, cutoff=0.3) or list(CATALOG)
            raise ValueError(f"{item.category!r} is not a category. Nearest: {', '.join(near)}.")
        if item.colour is not None and item.colour not in COLOUR_WORDS:
            raise ValueError(
                f"{item.colour!r} is not a colour. Colours: {', '.join(sorted(set(COLOUR_WORDS.values())))}."
            )
    ids = [item.id for item in answer.objects]
    if len(set(ids)) != len(ids):
        raise ValueError(f"object ids repeat: {', '.join(ids)}.")
    named = [p.object for p in answer.primitives] + [n for r in answer.relations for n in (r.subject, r.object)]
    named += [p.target for p in answer.primitives if p.target is not None and p.target != TABLE_ID]
    for name in named:
        if name not in ids:
            raise ValueError(f"{name!r} is not the id of an object. Objects: {', '.join(ids)}.")
    if not answer.primitives:
        raise ValueError("there is no primitive; every task has at least one.")
    for fragment in answer.not_understood:
        if fragment not in sentence:
            raise ValueError(f"not_understood must quote the text, but {fragment!r} is not in it.")
    try:
        _to_task(sentence, answer, "chat")
    except UsageError as error:
        raise ValueError(str(error)) from error


def _to_task(sentence: str, answer: Answer, parser: str) -> ParsedTask:
    info = {item.id: CATALOG[item.category] for item in answer.objects}
    relations = []
    for edge in answer.relations:
        relation = checks.settle(info[edge.subject], edge.relation, info[edge.object])
        relations.append(Relation(subject=edge.subject, relation=relation, object=edge.object))
    primitives = []
    for step in answer.primitives:
        checks.check_step(step.name, info[step.object], info.get(step.target or ""))
        if step.name == "hold":
            checks.require_above(step.relation, target=step.target is not None)
        settled = step.relation
        if step.name == "place" and step.target in info and step.relation is not None:
            settled = checks.settle(info[step.object], step.relation, info[step.target])
        primitives.append(Primitive(name=step.name, object=step.object, target=step.target, relation=settled))
    moved = {step.object for step in primitives}
    objects = tuple(
        ObjectSpec(
            id=item.id,
            category=item.category,
            attributes={
                key: value
                for key, value in (
                    ("colour", COLOUR_WORDS.get(item.colour or "")),
                    ("size", item.size),
                    ("material", item.material),
                )
                if value
            },
            manipulated=item.id in moved,
        )
        for item in answer.objects
    )
    return ParsedTask(
        sentence=sentence,
        scene=SceneSpec(objects=objects, relations=tuple(relations)),
        primitives=tuple(primitives),
        queries=queries_for(
            primitives,
            categories={item.id: item.category for item in answer.objects},
            stated={item.id: item.held_by for item in answer.objects if item.held_by},
        ),
        not_understood=tuple(answer.not_understood),
        parser=parser,
    )
