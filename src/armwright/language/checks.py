"""What can be done with what: relations between categories, and the actions each category allows."""

from __future__ import annotations

from collections.abc import Callable

from armwright.assets.catalog import CATALOG, CategoryInfo
from armwright.core.errors import UsageError
from armwright.core.task import RelationName

_FLAT = ("plate", "tray", "shelf", "cutting_board", "coffee_machine")
"""Categories that people put things *in* though nothing has walls: it means *on*."""
_ROOM_BELOW = ("shelf", "coffee_machine")
_STATIC_IN = ("microwave", "cabinet")
MAX_NAMED = 12
"""Most names in a message."""
MAX_OBJECTS = 12
"""Most objects of one scene that a table of 1 m has room for."""


def _names(test: Callable[[CategoryInfo], bool]) -> str:
    names = [info.name for info in CATALOG.values() if test(info)]
    more = f", … ({len(names)} in all; `armwright assets list`)" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def has_opening_part(info: CategoryInfo) -> bool:
    """Return whether something on it opens: a door or drawer, or a lid."""
    return "Openable Handle" in info.regions or "Graspable Lid" in info.regions


def can_pour(info: CategoryInfo) -> bool:
    """Return whether its contents can be poured out."""
    return "Pour Out" in info.regions and not info.static


def default_goal(target: CategoryInfo, item: CategoryInfo | None = None) -> RelationName:
    """Return what *to the X* means for X, and for an item that may be too large to go in."""
    if item is not None and target.receives_in and not opening_fits(item, target):
        return "next_to"
    if (target.receives_in and not target.static) or target.name in _STATIC_IN:
        return "in"
    return "on" if target.name in _FLAT else "next_to"


def default_source(target: CategoryInfo, phrase: str) -> RelationName:
    """Return where something is that is taken *from* / *off* / *out of* the target."""
    if phrase.startswith(("off", "from off", "from on")) or not target.receives_in:
        return "on"
    return "in"


def opening_fits(item: CategoryInfo, target: CategoryInfo) -> bool:
    """Return whether the two smaller extents of ``item`` pass the footprint of ``target``."""
    small, middle, _ = sorted(item.size_m)
    inner_small, inner_large = sorted(target.size_m[:2])
    return small <= inner_small and middle <= inner_large


def settle(item: CategoryInfo, relation: RelationName, target: CategoryInfo) -> RelationName:
    """Return the relation meant, in the words of the scene.

    Raises:
        UsageError: It cannot hold; the message says why and what could.
    """
    if relation == "in":
        if target.name in _FLAT:
            return "on"
        if not target.receives_in:
            raise UsageError(
                f"a {_say(item)} cannot be in a {_say(target)}: a {_say(target)} has no opening.",
                hint=f"Things go into: {_names(lambda i: i.receives_in)}.",
            )
        if not opening_fits(item, target):
            raise UsageError(
                f"a {_say(item)} cannot be in a {_say(target)}: it is too large "
                f"({_size(item)} m against an opening of {_size(target, 2)} m).",
                hint=f"It fits into: {_names(lambda i: i.receives_in and i is not item and opening_fits(item, i))}.",
            )
    if relation == "on" and hangs(item) and has_hook(target):
        return "on"
    if relation == "on" and not target.receives_on and (not target.receives_in or target.static):
        raise UsageError(
            f"nothing can stand on a {_say(target)}.",
            hint=f"Things stand on: table, {_names(lambda i: i.receives_on)}.",
        )
    if relation == "under" and target.name not in _ROOM_BELOW:
        raise UsageError(
            f"there is no room under a {_say(target)} for a {_say(item)}.",
            hint=f"There is room under: {', '.join(_ROOM_BELOW)}.",
        )
    return relation


def require_movable(info: CategoryInfo, action: str) -> None:
    """Refuse to move what is fixed.

    Raises:
        UsageError: ``info`` is static.
    """
    if info.static:
        raise UsageError(
            f"cannot {action} the {_say(info)}: it is fixed in place.",
            hint=f"It can be a target, or be {_static_uses(info)}. Movable: {_names(lambda i: not i.static)}.",
        )


def require(info: CategoryInfo, action: str, able: Callable[[CategoryInfo], bool]) -> None:
    """Refuse an action that the category does not allow, naming the categories that do.

    Raises:
        UsageError: ``able(info)`` is false.
    """
    if not able(info):
        raise UsageError(f"cannot {action} a {_say(info)}.", hint=f"Possible with: {_names(able)}.")


def require_above(relation: RelationName | None, *, target: bool) -> None:
    """Refuse to hold a thing anywhere but above another or just in the hand: what is held rests on nothing.

    Raises:
        UsageError: Another relation, or a target without one.
    """
    if relation not in (None, "above") or (target and relation is None):
        where = f"{relation.replace('_', ' ')} something" if relation else "at something"
        raise UsageError(
            f"nothing can be held {where}: a thing in the hand is held above another, or just held.",
            hint="Say: hold it above …, hold it, or place it there instead.",
        )


def _static_uses(info: CategoryInfo) -> str:
    return "opened, closed, pulled or pushed" if "Openable Handle" in info.regions else "named as a place"


def _say(info: CategoryInfo) -> str:
    return info.name.replace("_", " ")


def _size(info: CategoryInfo, n: int = 3) -> str:
    return " x ".join(f"{value:g}" for value in info.size_m[:n])


def hangs(info: CategoryInfo) -> bool:
    """Return whether it can hang on a hook."""
    return "Hanging Handle" in info.regions


def has_hook(info: CategoryInfo) -> bool:
    """Return whether something can be hung on it."""
    return "Hook" in info.regions


def can_receive_pour(info: CategoryInfo) -> bool:
    """Return whether something can be poured into it."""
    return "Pour In" in info.regions


def check_step(name: str, item: CategoryInfo, target: CategoryInfo | None) -> None:
    """Refuse a primitive that its object or target does not allow.

    Raises:
        UsageError: It is impossible; the message says what would be possible.
    """
    if name in ("pick", "place", "hold", "hang", "pour"):
        require_movable(item, {"hang": "hang", "pour": "pour from"}.get(name, name))
    if name == "pour":
        require(item, "pour from", can_pour)
        if target is not None:
            require(target, "pour into", can_receive_pour)
    if name == "hang":
        require(item, "hang", hangs)
        if target is not None:
            require(target, "hang something on", has_hook)
    if name in ("open", "close"):
        require(item, name, has_opening_part)
    if name in ("push", "pull") and not {"Openable Handle", "Button"} & set(item.regions):
        require_movable(item, name)
