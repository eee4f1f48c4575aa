"""Standard streams that cannot end a command: closed ones lead nowhere, and a reader may leave early."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


class _Output(io.TextIOWrapper):
    """Text output to a file descriptor; when its reader is gone, as with ``| head``, the rest is dropped in silence.

    The exit code then still tells how the command itself ended.
    """

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Send what is left nowhere, so that the interpreter's last flush does not fail as well."""
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, self.fileno())
        os.close(sink)
        if not isinstance(error, BrokenPipeError):
            raise error


def steady_streams() -> None:
    """Open what was closed (``2>&-``), and let text be written that a stream's encoding lacks.

    A closed descriptor would be given to the next file that is opened, and get the messages meant for the terminal.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            os.dup2(opened, descriptor)
            if opened != descriptor:
                os.close(opened)
            os.set_inheritable(descriptor, True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = _steady(sys.stdout, sys.__stdout__, 1)
    sys.stderr = _steady(sys.stderr, sys.__stderr__, 2)


def _steady(stream: TextIO | None, original: TextIO | None, descriptor: int) -> TextIO:
    if isinstance(stream, _Output) or (stream is not None and stream is not original):
        return stream  # somebody captures the output of this process
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if encoding.lower().replace("_", "-") in ("ascii", "us-ascii", "ansi-x3.4-1968"):
        encoding = "utf-8"
    raw = io.FileIO(descriptor, "w", closefd=False)
    return _Output(
        io.BufferedWriter(raw),
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=descriptor == 2 or os.isatty(descriptor),
    )
