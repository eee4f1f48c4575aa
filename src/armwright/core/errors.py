"""Exceptions for misuse; anything that may fail in normal work returns a report instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST_NAME = 200


def quoted(value: object, *, limit: int = 80) -> str:
    """Return ``repr(value)`` for a message, cut in the middle where it is longer than ``limit``."""
    return shortened(repr(value), limit=limit)


def shortened(text: str, *, limit: int = 1000) -> str:
    """Return the text, cut in the middle where it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    half = max(1, (limit - 1) // 2)
    return f"{text[:half]}…{text[-half:]}"


def in_one_line(error: BaseException, *, limit: int = 200) -> str:
    """Return what an error of another library says, on one line and without a full stop; its class if nothing."""
    return shortened(" ".join(str(error).split()).rstrip(".") or type(error).__name__, limit=limit)


class ArmwrightError(Exception):
    """Base of every error the package raises on purpose.

    Attributes:
        hint: One sentence that says what to do about it, or an empty string.
        exit_code: What the command line exits with when the error reaches it.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.hint}".strip() if self.hint else message


class UsageError(ArmwrightError):
    """An argument is wrong: the value, what is allowed, what to do."""


class UnknownNameError(UsageError):
    """A name that is in no registry; the message lists the nearest valid ones."""

    def __init__(self, kind: str, name: str, valid: Iterable[str]) -> None:
        names = sorted(valid)
        # Comparing takes the square of a length, and nothing that long is a mistyped name.
        lower = {n.lower(): n for n in names} if len(name) <= _LONGEST_NAME else {}
        near = [lower[n] for n in difflib.get_close_matches(name.lower(), lower, n=5, cutoff=0.5)]
        shown = near or names[:30]
        lead = "Nearest" if near else "Valid"
        super().__init__(f"unknown {kind} {quoted(name)}.", hint=f"{lead}: {', '.join(shown) or '(none)'}.")
        self.kind = kind
        self.name = name
        self.nearest = tuple(shown)

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, tuple[str, ...]]]:
        return type(self), (self.kind, self.name, self.nearest)


class MissingDependencyError(ArmwrightError):
    """An optional dependency is absent; the hint is the exact line that installs it."""


class DownloadError(ArmwrightError):
    """A data wheel could not be fetched or does not match its hash."""


class CacheError(ArmwrightError):
    """A file in the cache is missing, damaged or cannot be written."""


class OutputError(ArmwrightError):
    """The output folder cannot be written: read-only, full, or not a folder."""


class RendererError(ArmwrightError):
    """No picture can be drawn with the renderer asked for."""


class ModelError(ArmwrightError):
    """A language model gave no usable answer: unreachable, timed out, or broken after all retries."""


class SceneError(ArmwrightError):
    """A scene cannot be built as asked: an impossible relation, no free place, out of reach."""

    exit_code = 1
