"""Numbers in the attributes of an XML model: as many as there must be, all finite, or an error that names the place."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from armwright.core.errors import UsageError, quoted
from armwright.core.pose import Array


def numbers(
    element: Element | None,
    attribute: str,
    *,
    count: int,
    where: str,
    default: tuple[float, ...] | None = None,
    above: float = -np.inf,
) -> Array:
    """Return the numbers of an attribute, (count,) float.

    Args:
        element: What has the attribute; None where it is left out.
        attribute: Its name.
        count: How many numbers there must be.
        where: File and link, joint or material, for the message.
        default: What it is where it is left out; None if it must be there.
        above: Every number must be larger.

    Raises:
        UsageError: It is missing, no list of ``count`` finite numbers, or one is too small.
    """
    text = None if element is None else element.get(attribute)
    if text is None and default is not None:
        return np.array(default, float)
    name = f"<{element.tag}> {attribute}" if element is not None else attribute
    wanted = "a number" if count == 1 else f"{count} numbers"
    wanted += "" if above == -np.inf else f" above {above:g}"
    if text is None:
        raise UsageError(f"{where}: {name} is missing; it must be {wanted}.", hint="Correct the file.")
    try:
        values = np.array([float(word) for word in text.split()], float)
    except ValueError:
        values = np.array([np.nan])
    if len(values) != count or not np.isfinite(values).all() or (values <= above).any():
        raise UsageError(f"{where}: {name} is {quoted(text)}; it must be {wanted}.", hint="Correct the file.")
    return values


def number(
    element: Element | None, attribute: str, *, where: str, default: float | None = None, above: float = -np.inf
) -> float:
    """Return the one number of an attribute, as `numbers` does.

    Raises:
        UsageError: It is missing, no finite number, or too small.
    """
    given = None if default is None else (default,)
    return float(numbers(element, attribute, count=1, where=where, default=given, above=above)[0])
