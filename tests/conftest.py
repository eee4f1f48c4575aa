"""Fixtures that several test files share: one session per arm, parsed sentences, the command line in this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import pytest

# The catalogue holds what a user imported; tests must not see it.
os.environ["ARMWRIGHT_LIBRARY_DIR"] = "/nonexistent/armwright-objects"

from armwright.assets.scene import ParsedTask
from armwright.core.settings import get_settings
from armwright.generate.parsing import parse_sentence
from armwright.generate.session import Session

FIVE_SENTENCES = (
    "pick up the mug by its handle and place it on the plate",
    "put the banana in the bowl",
    "place the soup can on the shelf",
    "grasp the bottle and set it to the left of the box",
    "hold the red cup above the tray",
)


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def session_of() -> Callable[[str], Session]:
    """Return a session by the arm's name; each is opened once."""
    return cache(Session.open)


@pytest.fixture(scope="session")
def task() -> Callable[[str], ParsedTask]:
    """Return a sentence's meaning by the built-in parser."""
    return cache(lambda sentence: parse_sentence(sentence)[0])


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Set environment variables that the settings read, for one test."""

    def put(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        get_settings.cache_clear()

    yield put
    monkeypatch.undo()
    get_settings.cache_clear()


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command line in this process, with its error messages and exit codes."""
    from armwright.cli.main import main

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["armwright", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return Ran(int(end.value.code or 0), captured.out, captured.err)

    return run
