"""Interrupts: the first one unwinds the command, the second one ends the process, none is lost."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType, TracebackType
from typing import Any

# Handled alike: Ctrl-C, a polite kill (as batch systems send), a terminal that closed.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_AGAIN_S = 0.05


class Interruption:
    """Turns signals into ``KeyboardInterrupt`` while a command runs; ``signal`` says which one came, 0 for none.

    Commands need no handlers of their own: a ``KeyboardInterrupt`` passes through their ``finally`` blocks, whatever
    the signal was. What a parent process had ignored, as ``nohup`` does, stays ignored.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._repeated = False
        self._before: dict[int, Any] = {}
        self._hook = sys.unraisablehook

    def __enter__(self) -> Interruption:
        for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._before[number] = signal.signal(number, self._handle)
        sys.unraisablehook = self._unraisable
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.unraisablehook = self._hook
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def exit_code(self) -> int:
        """What a shell expects of a command that a signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + self.signal

    @property
    def verb(self) -> str:
        """How a message names what happened."""
        return "interrupted" if self.signal == signal.SIGINT else "terminated"

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.signal and not self._repeated:
            os._exit(128 + number)  # asked twice: do not wait for what the first one set off
        self.signal, self._repeated = number, False
        raise KeyboardInterrupt

    def _unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Repeat an interrupt that came inside a callback from C or a finaliser, where an exception goes nowhere."""
        if not self.signal or not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._hook(unraisable)
            return
        import threading

        timer = threading.Timer(_AGAIN_S, self._repeat)
        timer.daemon = True
        timer.start()

    def _repeat(self) -> None:
        import threading

        self._repeated = True
        if hasattr(signal, "pthread_kill"):  # unlike a flag, this also ends a wait
            signal.pthread_kill(threading.main_thread().ident or 0, self.signal)
        else:
            signal.raise_signal(self.signal)
