"""Stages that something else is done after: they count if they held on the way, each after the one before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from armwright.core.task import Primitive

_UNDONE_BY: Mapping[str, Literal["open", "close"]] = {"open": "close", "close": "open"}


def passes(primitives: Sequence[Primitive], index: int) -> bool:
    """Tell whether a stage is over when the task ends, so that it is judged at a moment when it held.

    Leaves are opened for good unless the same ones may be meant when they are closed again, and the other way round.
    What is poured into something that is emptied later is judged before that.

    Args:
        primitives: The task.
        index: Which of its stages.
    """
    step, later = primitives[index], primitives[index + 1 :]
    if step.name in _UNDONE_BY:
        undoing = [p for p in later if p.object == step.object and p.name == _UNDONE_BY[step.name]]
        return any(_same_leaf(step, p) for p in undoing)
    if step.name == "pour":
        return any(p.name == "pour" and p.object == step.target for p in later)
    names = {p.name for p in later if p.object == step.object}
    if step.name in ("pick", "hold"):
        return bool(names)
    return bool(names - {"open", "close"})


def _same_leaf(a: Primitive, b: Primitive) -> bool:
    return a.spot is None or b.spot is None or a.spot == b.spot


class Order:
    """The stages of a task that pass, by object: the first that has not held yet is the one that is waited for.

    Args:
        primitives: The task.
    """

    def __init__(self, primitives: Sequence[Primitive]) -> None:
        self.passing = frozenset(k for k in range(len(primitives)) if passes(primitives, k))
        self._waiting: dict[str, list[int]] = {}
        for k in sorted(self.passing):
            if primitives[k].name != "pour":
                self._waiting.setdefault(primitives[k].object, []).append(k)

    def awaited(self) -> tuple[int, ...]:
        """Return the stages that are waited for now, at most one per object."""
        return tuple(waiting[0] for waiting in self._waiting.values() if waiting)

    def is_awaited(self, index: int, subject: str) -> bool:
        """Tell whether everything of the object that passes before a stage has held."""
        waiting = self._waiting.get(subject)
        return not waiting or waiting[0] >= index

    def done(self, index: int) -> None:
        """Note that a stage that was waited for has held."""
        for waiting in self._waiting.values():
            if waiting and waiting[0] == index:
                waiting.pop(0)
