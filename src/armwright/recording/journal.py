"""A journal of finished work: one JSON line per item, safe to cut anywhere, read back on resume."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from pydantic import BaseModel, ValidationError

from armwright.core.errors import OutputError, UsageError
from armwright.core.files import write_json
from armwright.recording.outputs import REQUEST, claimed, held, kind_of

JOURNAL = "journal.jsonl"


class Journal:
    """What a long run has done so far, in its output folder; a context that keeps other processes out of it.

    Args:
        folder: Output folder.
        request: What the run is; going on with another request is refused.
        resume: Go on with what is there.
        entry: What every line must be.

    Raises:
        UsageError: The folder holds another run, one that was not to be resumed, something else, a run that
            another process is working on, or a journal with a damaged line.
        OutputError: The folder cannot be written.
    """

    def __init__(
        self, folder: Path, request: dict[str, Any], *, resume: bool, entry: type[BaseModel] | None = None
    ) -> None:
        self.path = folder / JOURNAL
        self._entry = entry
        with ExitStack() as stack:
            stack.enter_context(claimed(folder))
            self._claim(folder, request, resume=resume)
            self.entries = self._read()
            self._lock = stack.pop_all()

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
            kind, wanted = kind_of(before), kind_of(request)
            if kind != wanted:
                raise UsageError(f"{folder} holds a run of {kind}, not of {wanted}.", hint="Choose another --out.")
            if not resume:
                raise UsageError(
                    f"{folder} already holds a run.", hint="Add --resume to go on, or choose another --out."
                )
            differing = sorted(k for k in before.keys() | request.keys() if before.get(k) != request.get(k))
            if differing:
                shown = "; ".join(f"{k} was {before.get(k)!r}, is {request.get(k)!r}" for k in differing)
                raise UsageError(f"{folder} holds another run: {shown}.", hint="Choose another --out.")
        else:
            if resume and (folder / JOURNAL).exists():
                raise UsageError(
                    f"{known} is missing, so that it cannot be told what {folder} is a run of.",
                    hint="Restore it from a copy, or choose another --out.",
                )
            other = held(folder)
            if other:
                raise UsageError(f"{folder} {other}.", hint="Choose another --out.")
            write_json(known, request)

    def add(self, *entries: dict[str, Any]) -> None:
        """Append items and make sure that they are on disk."""
        self.entries += entries
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(entry, allow_nan=False) + "\n" for entry in entries)
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
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise OutputError(f"cannot read {self.path}: {error.strerror or error}.") from error
        *lines, cut = data.split(b"\n")
        entries = [self._parse(line, number) for number, line in enumerate(lines, 1)]
        if cut:
            # A line cut by a kill would run into the next one.
            with self.path.open("r+b") as file:
                file.truncate(len(data) - len(cut))
        return entries

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = json.loads(line.decode())
            if not isinstance(entry, dict):
                raise ValueError("it is no JSON object")
            if self._entry is not None:
                self._entry.model_validate(entry)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"line {number} of {self.path} is damaged: {_why(error)}.",
                hint="Restore the file from a copy, or delete that line: what it stood for is then done again.",
            ) from error
        return entry


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
    return str(error)


def _read_request(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}.", hint="Choose another --out.") from error
    if not isinstance(value, dict):
        raise UsageError(f"{path} is no request of a run.", hint="Choose another --out.")
    return value
