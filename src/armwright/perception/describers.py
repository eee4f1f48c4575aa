"""The plug point for describers: who says what the masked things in a frame are; built-in ones by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UnknownNameError, UsageError, quoted
from armwright.core.plugins import load_plugin, plugin_names
from armwright.core.pose import Array
from armwright.perception.descriptions import Description

ENTRY_POINT_GROUP = "armwright.describers"
WORLD_UP = (0.0, 0.0, 1.0)


@runtime_checkable
class Describer(Protocol):
    """Says what the masked things in a frame are (OMAR §IV-A); what it cannot know it leaves empty."""

    @property
    def name(self) -> str: ...

    @property
    def note(self) -> str:
        """What the user should know of the last frame, such as that another describer had to step in; else empty."""
        ...

    def describe(
        self, frame: RgbdFrame, masks: Sequence[NDArray[np.bool_]], *, up: ArrayLike = WORLD_UP
    ) -> list[Description]:
        """Return one description per mask, in their order.

        Args:
            frame: What the camera saw.
            masks: (H, W) each.
            up: (3,) against gravity, in the world.
        """
        ...


DescriberFactory = Callable[[str | None], Describer]
"""Makes a describer; it is given the chat model's name, or None."""


class Narrowed:
    """Another describer, of whose statements only a part is kept: a base for variants such as `LabelsOnly`.

    Args:
        inner: Who is asked.
    """

    name = "narrowed"

    def __init__(self, inner: Describer) -> None:
        self._inner = inner

    @property
    def note(self) -> str:
        """What the inner describer notes."""
        return self._inner.note

    def narrowed(self, said: Description) -> Description:
        """Return what is kept of a statement."""
        return said

    def describe(
        self, frame: RgbdFrame, masks: Sequence[NDArray[np.bool_]], *, up: ArrayLike = WORLD_UP
    ) -> list[Description]:
        """Return what is kept of each description (see `Describer.describe`)."""
        return [self.narrowed(one) for one in self._inner.describe(frame, masks, up=up)]


class LabelsOnly(Narrowed):
    """The variant *Basic* of OMAR §V: another describer's labels, without attributes and without typical extents."""

    name = "basic"

    def narrowed(self, said: Description) -> Description:
        """Return label and confidence alone."""
        return Description(said.label, confidence=said.confidence)


def checked_up(up: ArrayLike) -> Array:
    """Return a unit vector (3,).

    Raises:
        UsageError: It is no vector of length above zero.
    """
    vector = np.asarray(up, float)
    length = float(np.linalg.norm(vector)) if vector.shape == (3,) else 0.0
    if not np.isfinite(length) or length < 1e-9:
        raise UsageError(
            f"up must be three finite numbers, not all 0, got {quoted(up)}.", hint="Give the world's up: (0, 0, 1)."
        )
    return vector / length


def _labels(model: str | None) -> Describer:
    from armwright.perception.labels import LabelDescriber

    return LabelDescriber()


def _basic(model: str | None) -> Describer:
    return LabelsOnly(_labels(None) if model is None else _chat(model))


def _chat(model: str | None) -> Describer:
    if model is None:
        raise UsageError("the describer 'chat' needs a model.", hint="Name one such as openai:NAME.")
    from armwright.perception.chat import ChatDescriber

    return ChatDescriber(model)


_BUILT_IN: dict[str, DescriberFactory] = {"labels": _labels, "basic": _basic, "chat": _chat}


def describer_names() -> tuple[str, ...]:
    """Return the names that `make_describer` accepts."""
    return tuple(sorted({*_BUILT_IN, *plugin_names(ENTRY_POINT_GROUP)}))


def make_describer(name: str = "labels", *, model: str | None = None) -> Describer:
    """Return the describer of that name.

    Args:
        name: ``labels`` (reads what is printed, offline), ``basic`` (its labels only), ``chat``, or one that an
            installed package offers: an entry point in ``armwright.describers`` that loads a `DescriberFactory`.
        model: Chat model such as ``openai:NAME``, for ``chat`` and, if given, ``basic``.

    Raises:
        UnknownNameError: There is none of that name.
        UsageError: What a package offers is no describer, or ``chat`` was given no model.
        MissingDependencyError: It needs a package that is not installed.
    """
    factory: DescriberFactory | None = _BUILT_IN.get(name) or load_plugin(ENTRY_POINT_GROUP, name)
    if factory is None:
        raise UnknownNameError("describer", name, describer_names())
    made: Any = factory(model)
    if not isinstance(made, Describer):
        raise UsageError(
            f"the describer {quoted(name)} is a {type(made).__name__}, which has no name, note and describe().",
            hint="Its factory must return a Describer.",
        )
    return made
