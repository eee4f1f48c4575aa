"""Check a sentence and an output folder before anything is built: text that can be stored, a place that can be used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from armwright.core.errors import CacheError, OutputError, UsageError, quoted
from armwright.core.files import ensure_writable, reason
from armwright.core.locks import file_lock
from armwright.recording.layout import INFO, SCHEMA

REQUEST = "request.json"
RESULT = "result.json"
LOCK = ".lock"
_UNKNOWN = "another command"
# About as long as the longest name of a file below an output folder.
_BELOW = Path("d" * 120)


def check_text(kind: str, text: str) -> None:
    """Refuse text that is no UTF-8, such as an argument whose bytes could not be decoded.

    Raises:
        UsageError: It cannot be stored.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{kind} is not valid UTF-8: {quoted(text)}.", hint="Write it in UTF-8.") from None


def check_out(out: Path) -> None:
    """Refuse a name that no output folder can have; makes nothing.

    Raises:
        UsageError: It is not text, or names no file.
        OutputError: It is too long, or something stands in its way.
    """
    check_text("the output folder", str(out))
    if "\0" in str(out):
        raise UsageError(f"the output folder {quoted(str(out))} has a zero in its name.", hint="Choose another --out.")
    for path in (out, out.absolute() / _BELOW):
        try:
            path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise OutputError(
                f"cannot write into {quoted(str(out))}: {reason(error, out)}.", hint="Choose another folder with --out."
            ) from error


@contextmanager
def claimed(out: Path) -> Iterator[Path]:
    """Make the output folder, and keep other processes out of it while the block runs.

    Raises:
        UsageError: Its name cannot be used, or another process is at work in it.
        OutputError: It cannot be written.
    """
    check_out(out)
    ensure_writable(out)
    with ExitStack() as stack:
        try:
            stack.enter_context(file_lock(out / LOCK, timeout_s=0.0))
        except CacheError as error:
            raise UsageError(
                f"another process is at work in {out}.", hint="Wait for it, or choose another --out."
            ) from error
        yield out


def held(out: Path) -> str:
    """Say in words what an output folder holds; an empty string if nothing but hidden files."""
    command = command_of(out)
    if command != _UNKNOWN:
        return f"already holds a run of {command} ({REQUEST})"
    for name in (REQUEST, RESULT, "dataset"):
        if (out / name).exists():
            return f"already holds a result ({name})"
    if (out / INFO).exists() or (out / SCHEMA).exists():
        return "is the folder of a dataset"
    names = sorted(path.name for path in out.iterdir() if not path.name.startswith("."))
    return f"holds something else: {', '.join(names[:5])}" if names else ""


def command_of(out: Path) -> str:
    """Return which command's run a folder holds, by its request."""
    try:
        request = json.loads((out / REQUEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        request = {}
    return kind_of(request) if isinstance(request, dict) else _UNKNOWN


def kind_of(request: dict[str, object]) -> str:
    """Return which command a stored request is of: what it says itself, or what its fields tell."""
    if isinstance(command := request.get("command"), str):
        return command
    return "bench" if "sentences" in request else "generate" if "sentence" in request else _UNKNOWN
