"""A journal of finished work: one JSON line per item, safe to cut anywhere, read back on resume."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from armwright.core.errors import CacheError, OutputError, UsageError
from armwright.core.files import ensure_writable, write_json
from armwright.core.locks import file_lock

REQUEST = "request.json"
JOURNAL = "journal.jsonl"


class Journal:
    """What a long run has done so far, in its output folder; a context that keeps other processes out of it.

    Args:
        folder: Output folder.
        request: What the run is; going on with another request is refused.
        resume: Go on with what is there.

    Raises:
        UsageError: The folder holds another run, one that was not to be resumed, something else, or a run that
            another process is working on.
        OutputError: The folder cannot be written.
    """

    def __init__(self, folder: Path, request: dict[str, Any], *, resume: bool) -> None:
        ensure_writable(folder)
        self.path = folder / JOURNAL
        self._lock = ExitStack()
        try:
            self._lock.enter_context(file_lock(folder / ".lock", timeout_s=0.0))
        except CacheError as error:
            raise UsageError(
                f"another process is at work in {folder}.", hint="Wait for it, or choose another --out."
            ) from error
        try:
            self._claim(folder, request, resume=resume)
        except UsageError:
            self._lock.close()
            raise
        self.entries = self._read()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.close()

    def _claim(self, folder: Path, request: dict[str, Any], *, resume: bool) -> None:
        known = folder / REQUEST
        if known.exists():
            before = _read_request(known)
            if not resume:
                raise UsageError(
                    f"{folder} already holds a run.", hint="Add --resume to go on, or choose another --out."
                )
            differing = sorted(k for k in before.keys() | request.keys() if before.get(k) != request.get(k))
            if differing:
                shown = "; ".join(f"{k} was {before.get(k)!r}, is {request.get(k)!r}" for k in differing)
                raise UsageError(f"{folder} holds another run: {shown}.", hint="Choose another --out.")
        else:
            other = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
            if other:
                raise UsageError(
                    f"{folder} holds something else: {', '.join(other[:5])}.", hint="Choose another --out."
                )
            write_json(known, request)

    def add(self, entry: dict[str, Any]) -> None:
        """Append an item and make sure that it is on disk."""
        self.entries.append(entry)
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, allow_nan=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(
                f"cannot write {self.path}: {error.strerror or error}.",
                hint="Free some space, then go on with --resume.",
            ) from error

    def _read(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        entries, good = [], 0
        data = self.path.read_bytes()
        for line in data.splitlines(keepends=True):
            try:
                entries.append(json.loads(line))
            except ValueError:
                break
            if not line.endswith(b"\n"):
                entries.pop()
                break
            good += len(line)
        if good < len(data):
            # A line cut by a kill would run into the next one.
            with self.path.open("r+b") as file:
                file.truncate(good)
        return entries


def _read_request(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}.", hint="Choose another --out.") from error
    if not isinstance(value, dict):
        raise UsageError(f"{path} is no request of a run.", hint="Choose another --out.")
    return value
