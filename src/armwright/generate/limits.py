"""What an episode fails by whatever its states say: it took too long, or the simulation diverged."""

from __future__ import annotations

from armwright.assets.scene import ParsedTask


def overruled(parsed: ParsedTask, *, took_s: float, diverged: str) -> str:
    """Return why an episode has failed whatever the judge says of its states, or an empty string.

    An episode and its replay ask the same, so that both come to the same grade.

    Args:
        parsed: The task, with the time that it may take.
        took_s: World time from its beginning to the end of its last stage [s].
        diverged: How the simulation blew up; empty if it did not.
    """
    return late(parsed, took_s) or diverged


def late(parsed: ParsedTask, took_s: float) -> str:
    """Return that the task took longer than it may, or an empty string."""
    if parsed.time_limit_s is None or took_s <= parsed.time_limit_s:
        return ""
    return f"it took {took_s:.0f} s of the {parsed.time_limit_s:g} s that it may take"
