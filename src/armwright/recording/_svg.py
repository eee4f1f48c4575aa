"""The few things needed to write SVG by hand: elements, text, ticks, and the palette that all charts share."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable

INK = "#1d2433"
MUTED = "#5c667a"
FAINT = "#dfe3ea"
PANEL = "#f5f6f9"
ACCENT = "#0b62a8"
GOOD = "#14734a"
BAD = "#b3261e"
MASK = "#d55e00"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#8f4f8f", "#a97900", "#3c3c8c", "#56a0d0", "#7a7a7a")
"""Distinguishable with the common kinds of colour blindness; lines also differ by dashes."""
DASHES = ("", "", "", "", "5 3", "5 3", "2 2", "2 2")


def element(tag: str, body: str = "", **attributes: object) -> str:
    """Return one element; ``font_size`` becomes ``font-size``, ``class_`` becomes ``class``."""
    parts = [
        f'{name.rstrip("_").replace("_", "-")}="{html.escape(_number(value), quote=True)}"'
        for name, value in attributes.items()
        if value is not None
    ]
    head = " ".join([tag, *parts])
    return f"<{head}>{body}</{tag}>" if body else f"<{head}/>"


def text(x: float, y: float, content: object, **attributes: object) -> str:
    """Return escaped text."""
    attributes.setdefault("fill", INK)
    attributes.setdefault("font_size", 12)
    return element("text", html.escape(str(content)), x=x, y=y, **attributes)


def tooltip(content: str) -> str:
    """Return what a browser shows over the element that holds it, escaped."""
    return element("title", html.escape(content))


def figure(width: float, height: float, body: Iterable[str], *, label: str) -> str:
    """Return a whole picture that scales with its column and is described for screen readers."""
    return element(
        "svg",
        tooltip(label) + "".join(body),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=label,
        font_family="inherit",
    )


def ticks(low: float, high: float, *, count: int = 5) -> list[float]:
    """Return round values that cover ``low`` to ``high``."""
    span = max(high - low, 1e-9)
    step = 10 ** math.floor(math.log10(span / count))
    for factor in (1, 2, 5, 10):
        if span / (step * factor) <= count:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def short(value: float) -> str:
    """Write a number with at most four significant digits."""
    return f"{value:.4g}"


def width_of(content: str, size: float) -> float:
    """Estimate the width of a line of text [px]."""
    return 0.62 * size * len(content)


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
