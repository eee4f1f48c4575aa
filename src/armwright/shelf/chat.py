"""The chat reasoner: a chat model reads the scene graph and ranks placements (OMAR §IV-D)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from armwright.core.errors import ModelError
from armwright.core.settings import Settings
from armwright.models.chat import ChatModel, ModelUse, chat_model
from armwright.shelf.embedded import EmbeddedReasoner
from armwright.shelf.graph import SceneGraph, board_id
from armwright.shelf.reasoner import MAX_PROPOSALS, Proposal, Reasoning, rank_weights
from armwright.shelf.records import ATTRIBUTES, Attribute, Orientation, Side, Target


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AnswerWeights(_Answer):
    """How much each attribute explains this shelf, 0 to 1."""

    content: float = Field(ge=0, le=1)
    packaging: float = Field(ge=0, le=1)
    edible: float = Field(ge=0, le=1)
    orientation: float = Field(ge=0, le=1)


class AnswerPlacement(_Answer):
    """One placement, beside an object or on a board."""

    anchor: str = Field(description="Id of an object; of a board only with side on_board.")
    side: Side
    orientation: Orientation | None = Field(
        default=None, description="How the target should stand; null leaves it open."
    )
    reason: str = Field(min_length=1)


class Answer(_Answer):
    """How the shelf is organised, and where the target belongs, best first."""

    organisation: str = Field(min_length=1, description="How the shelf is organised, in one or two sentences.")
    weights: AnswerWeights
    placements: list[AnswerPlacement] = Field(min_length=1, max_length=MAX_PROPOSALS)


_SYSTEM = (
    "You put objects away on shelves. You get the scene graph of a shelf as JSON and an object to place. First "
    "infer from the arrangement which attributes organise this shelf: content, packaging, edible, orientation; "
    "judge what stands beside what, not what is usual. Then rank up to five placements that keep to it, best "
    "first. A placement is beside an object that is on the shelf: left, right, front or behind, seen from the "
    "front of the shelf (left is +y, behind is +x); or on_board for a board. Use only ids of the graph. Mind the "
    "room: boxes are center_m and size_m (x, y, z)."
)


class ChatReasoner:
    """Asks a chat model; if it gives no usable answer, the built-in reasoner answers and the result says so.

    Args:
        model: ``openai:NAME``, ``anthropic:NAME`` or a chat model.
        settings: Keys, endpoints, timeout and retries; by default what the environment says.
        orientations: How the target may be put down, of what its packaging allows; by default all of that.
    """

    name = "chat"

    def __init__(
        self,
        model: str | ChatModel,
        *,
        settings: Settings | None = None,
        orientations: Sequence[Orientation] | None = None,
    ) -> None:
        self._model = chat_model(model, settings=settings) if isinstance(model, str) else model
        self._orientations = orientations
        self.last_use: ModelUse | None = None

    def reason(self, graph: SceneGraph, target: Target) -> Reasoning:
        """Return the model's placements, or the built-in reasoner's with a note on what the model did."""
        self.last_use = None
        allowed = tuple(o for o in target.sizes() if self._orientations is None or o in self._orientations)
        try:
            answer = self._model.ask(
                _prompt(graph, target, allowed),
                Answer,
                system=_SYSTEM,
                check=lambda value: _check(graph, allowed, value),
            )
        except ModelError as error:
            built_in = EmbeddedReasoner(orientations=self._orientations).reason(graph, target)
            return dataclasses.replace(
                built_in, note=f"The chat model was not used, the built-in reasoner was: {error}"
            )
        self.last_use = answer.use
        said = answer.value
        raw: dict[Attribute, float] = {name: getattr(said.weights, name) for name in ATTRIBUTES}
        total = sum(raw.values())
        ranks = rank_weights()
        proposals = tuple(
            Proposal(k + 1, p.anchor, p.side, p.orientation, ranks[k], p.reason) for k, p in enumerate(said.placements)
        )
        weights = {name: v / total for name, v in raw.items()}
        return Reasoning("ok", proposals, said.organisation, weights, f"chat:{self._model.name}")


def _prompt(graph: SceneGraph, target: Target, allowed: Sequence[Orientation]) -> str:
    nature = {k: v for k, v in dataclasses.asdict(target.nature).items() if v not in (None, {})}
    wanted = {**nature, "size_m": target.size_m, "orientations_allowed": list(allowed)}
    boards = {board_id(k): graph.shelf.clearance_m(k) for k in range(len(graph.shelf.boards_m))}
    return (
        f"Object to place: {json.dumps(wanted)}\n"
        f"Clear height over each board [m]: {json.dumps(boards)}\n"
        f"Scene graph: {graph.to_json()}"
    )


def _check(graph: SceneGraph, allowed: Sequence[Orientation], answer: Answer) -> None:
    """Raise ``ValueError`` with what the model should change."""
    objects = [o.id for o in graph.objects]
    boards = [board_id(k) for k in range(len(graph.shelf.boards_m))]
    said = set()
    for one in answer.placements:
        known = boards if one.side == "on_board" else objects
        if one.anchor not in known:
            kind = "board" if one.side == "on_board" else "object"
            raise ValueError(f"{one.anchor!r} is not the id of a {kind} here. Ids: {', '.join(known) or '(none)'}.")
        if one.orientation is not None and one.orientation not in allowed:
            raise ValueError(f"the target must not be put down {one.orientation}; allowed: {', '.join(allowed)}.")
        if (one.anchor, one.side, one.orientation) in said:
            raise ValueError(f"{one.side} of {one.anchor} is listed twice; each placement must differ.")
        said.add((one.anchor, one.side, one.orientation))
    w = answer.weights
    if w.content + w.packaging + w.edible + w.orientation <= 0:
        raise ValueError("all four weights are 0; at least one attribute must count.")
