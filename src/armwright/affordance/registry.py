"""Affordance models by name; other packages add theirs in the entry-point group ``armwright.affordance``."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

from armwright.affordance.oracle import OracleAffordance
from armwright.affordance.protocol import AffordanceModel
from armwright.core.errors import UnknownNameError, UsageError

ENTRY_POINT_GROUP = "armwright.affordance"


@lru_cache(maxsize=2)
def _network(name: str) -> AffordanceModel:
    from armwright.affordance.networks import NETWORKS, NetworkAffordance

    return NetworkAffordance(NETWORKS[name])


_BUILT_IN: dict[str, Callable[[], AffordanceModel]] = {
    "oracle": OracleAffordance,
    "learned": lambda: _network("learned"),
    "openad-style": lambda: _network("openad-style"),
}


def affordance_names() -> tuple[str, ...]:
    """Return every name that `affordance_model` accepts, sorted."""
    return tuple(sorted({*_BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINT_GROUP))}))


def affordance_model(name: str = "oracle") -> AffordanceModel:
    """Build the affordance model of this name; networks are read once per process.

    Args:
        name: A built-in one, or one that an installed package offers: an entry point in ``armwright.affordance``
            that loads a callable without arguments, such as a class.

    Raises:
        UnknownNameError: There is none of that name.
        UsageError: The entry point's object is no affordance model.
        CacheError: The network's files are missing or damaged.
    """
    built: Any
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        built = point.load()()
        if not isinstance(built, AffordanceModel):
            raise UsageError(
                f"entry point {point.value!r} gave a {type(built).__name__}, which has no name and predict().",
                hint="It must load a callable without arguments that returns an AffordanceModel.",
            )
        return built
    raise UnknownNameError("affordance model", name, affordance_names())
