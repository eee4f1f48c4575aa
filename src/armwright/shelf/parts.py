"""Which parts a shelf pipeline is made of: what a run, a bench and each of its trials are told alike."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from armwright.shelf.views import SHELF_VIEWS, TARGET_VIEWS


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts by name.

    Attributes:
        segmenter: Finds objects in views; ``simulated`` may be one.
        describer: Says what they are.
        reasoner: Ranks placements.
        model: Chat model, for the describer ``chat`` and the reasoner ``chat``.
        noise: Of the depth camera.
        shelf_views, target_views: How many viewpoints.
    """

    segmenter: str = "boundary"
    describer: str = "labels"
    reasoner: str = "embedded"
    model: str | None = None
    noise: str = "stereo"
    shelf_views: int = SHELF_VIEWS
    target_views: int = TARGET_VIEWS

    def parts(self) -> dict[str, Any]:
        """Return the parts as keyword arguments of another class that has them."""
        return {name: getattr(self, name) for name in PART_NAMES}


PART_NAMES: tuple[str, ...] = tuple(field.name for field in fields(Parts))
