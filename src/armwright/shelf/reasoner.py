"""The reasoner plug point: a scene graph and a target become ranked placements with reasons (OMAR §IV-D)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from armwright.core.errors import UnknownNameError, UsageError, quoted
from armwright.core.plugins import load_plugin, plugin_names
from armwright.shelf.graph import SceneGraph
from armwright.shelf.records import Attribute, Orientation, Side, Target

ENTRY_POINT_GROUP = "armwright.shelf_reasoners"
MAX_PROPOSALS = 5
"""K of the rank weights."""


def rank_weights(count: int = MAX_PROPOSALS) -> tuple[float, ...]:
    """Return w_r = exp(-(r-1)) / sum over j of exp(-(j-1)), r = 1 … count (OMAR §IV-D)."""
    raw = np.exp(-np.arange(count, dtype=float))
    return tuple((raw / raw.sum()).tolist())


@dataclass(frozen=True)
class Proposal:
    """One placement relative to what is on the shelf.

    Attributes:
        rank: 1 is the best.
        anchor: Id of an object, or of a board where ``side`` is ``on_board``.
        side: Where beside the anchor, seen from the front of the shelf.
        orientation: How the target should stand; None leaves it open.
        weight: w_r of the rank.
        reason: Why, in words.
    """

    rank: int
    anchor: str
    side: Side
    orientation: Orientation | None
    weight: float
    reason: str


Status = Literal["ok", "no_place"]


@dataclass(frozen=True)
class Reasoning:
    """What a reasoner says of a shelf and a target.

    Attributes:
        status: ``no_place`` if nothing on the shelf has room for the target.
        proposals: Up to ``MAX_PROPOSALS``, best first.
        organisation: How the shelf is organised, in words.
        attribute_weights: Attribute -> how much it matters here, summing to 1.
        reasoner: Who answered.
        note: What went otherwise than asked, such as a model that failed; empty if nothing.
    """

    status: Status
    proposals: tuple[Proposal, ...]
    organisation: str
    attribute_weights: Mapping[Attribute, float]
    reasoner: str
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def ok(self) -> bool:
        """Whether there is a proposal."""
        return self.status == "ok"


@runtime_checkable
class Reasoner(Protocol):
    """Ranks placements of a target on a shelf."""

    name: str

    def reason(self, graph: SceneGraph, target: Target) -> Reasoning:
        """Return up to ``MAX_PROPOSALS`` ranked placements, and why."""
        ...


ReasonerFactory = Callable[[str | None], Reasoner]
"""Makes a reasoner; the argument is the model name (``openai:NAME``) or None."""


def _no_model(name: str, model: str | None) -> None:
    if model is not None:
        raise UsageError(f"the reasoner {name} takes no model, got {quoted(model)}.", hint="Choose the reasoner chat.")


def _embedded(model: str | None) -> Reasoner:
    from armwright.shelf.embedded import EmbeddedReasoner

    _no_model("embedded", model)
    return EmbeddedReasoner()


def _score(model: str | None) -> Reasoner:
    from armwright.shelf.score import ScoreReasoner

    _no_model("score", model)
    return ScoreReasoner()


def _chat(model: str | None) -> Reasoner:
    from armwright.shelf.chat import ChatReasoner

    if model is None:
        raise UsageError("the chat reasoner needs a model.", hint="Give one such as openai:NAME or anthropic:NAME.")
    return ChatReasoner(model)


_REASONERS: dict[str, ReasonerFactory] = {"embedded": _embedded, "score": _score, "chat": _chat}


def check_model_used(model: str | None, *, describer: str, reasoner: str) -> None:
    """Refuse a model that nobody would ask, which reads as if it had answered.

    Raises:
        UsageError: Neither the describer nor the reasoner asks one.
    """
    if model is not None and describer == "labels" and reasoner in ("embedded", "score"):
        raise UsageError(
            f"the model {quoted(model)} would not be asked: the describer {describer} and the reasoner {reasoner} "
            "work without one.",
            hint="Add --reasoner chat or --describer chat, or leave --model out.",
        )


def register_reasoner(name: str, factory: ReasonerFactory) -> None:
    """Add a reasoner under a name; other packages use the entry-point group ``armwright.shelf_reasoners``."""
    _REASONERS[name] = factory


def reasoner_names() -> tuple[str, ...]:
    """Return the names that ``make_reasoner`` accepts."""
    return tuple(sorted({*_REASONERS, *plugin_names(ENTRY_POINT_GROUP)}))


def make_reasoner(name: str = "embedded", *, model: str | None = None) -> Reasoner:
    """Return the reasoner of that name.

    Args:
        name: ``embedded`` (offline), ``score`` (equal weights), ``chat``, a registered one, or one that an installed
            package offers: an entry point in ``armwright.shelf_reasoners`` that loads a `ReasonerFactory`.
        model: Chat model such as ``openai:NAME``, for a reasoner that asks one.

    Raises:
        UnknownNameError: There is none of that name.
        UsageError: What a package offers is no reasoner, or the reasoner takes no model.
    """
    factory = _REASONERS.get(name) or load_plugin(ENTRY_POINT_GROUP, name)
    if factory is None:
        raise UnknownNameError("shelf reasoner", name, reasoner_names())
    made: Any = factory(model)
    if not isinstance(made, Reasoner):
        raise UsageError(
            f"the shelf reasoner {quoted(name)} is a {type(made).__name__}, which has no name and reason().",
            hint="Its factory must return a Reasoner.",
        )
    return made
