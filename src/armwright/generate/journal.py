"""A journal of finished work: one JSON line per item, safe to cut anywhere, read back on resume."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from armwright.core.errors import OutputError, UsageError
from armwright.core.files import ensure_writable, write_json

REQUEST = "request.json"
JOURNAL = "journal.jsonl"


class Journal:
    """What a long run has done so far, in its output folder.

    Args:
        folder: Output folder.
        request: What the run is; going on with another request is refused.
        resume: Go on with what is there.

    Raises:
        UsageError: The folder holds another run, or one that was not to be resumed.
        OutputError: The folder cannot be written.
    """

    def __init__(self, folder: Path, request: dict[str, Any], *, resume: bool) -> None:
        ensure_writable(folder)
        self.path = folder / JOURNAL
        known = folder / REQUEST
        if known.exists():
            before = json.loads(known.read_text())
            if not resume:
                raise UsageError(
                    f"{folder} already holds a run.", hint="Add --resume to go on, or choose another --out."
                )
            differing = sorted(k for k in before.keys() | request.keys() if before.get(k) != request.get(k))
            if differing:
                shown = "; ".join(f"{k} was {before.get(k)!r}, is {request.get(k)!r}" for k in differing)
                raise UsageError(f"{folder} holds another run: {shown}.", hint="Choose another --out.")
        else:
            write_json(known, request)
        self.entries = self._read()

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
