"""What installed packages add at a plug point: entry points by group and name."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from armwright.core.errors import UsageError, quoted


def plugin_names(group: str) -> tuple[str, ...]:
    """Return the names that installed packages offer in an entry-point group, sorted."""
    return tuple(sorted({point.name for point in entry_points(group=group)}))


def load_plugin(group: str, name: str) -> Any | None:
    """Return the object that an installed package offers under a name, or None if none does.

    Raises:
        UsageError: It is offered, but cannot be imported.
    """
    for point in entry_points(group=group, name=name):
        try:
            return point.load()
        except Exception as error:  # a foreign module may raise anything
            raise UsageError(
                f"{quoted(name)} of the plug point {group} cannot be loaded from {point.value!r}: "
                f"{type(error).__name__}: {error}.",
                hint="Repair or uninstall the package that offers it.",
            ) from error
    return None
