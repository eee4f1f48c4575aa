"""Plug points: what an installed package offers is found by name, and said plainly when it is broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
class Shouting:
    name = "shouting"

    def parse(self, sentence):
        from armwright.language import parse

        return parse(sentence.lower()).model_copy(update={"parser": self.name})

def shouting(model):
    return Shouting()

def nothing(model):
    return None
"""
POINTS = """
[armwright.parsers]
shouting = shouting_parsers:shouting
nothing = shouting_parsers:nothing
absent = no_such_module:parser
[armwright.chat_models]
absent = shouting_parsers:no_such_factory
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds an installed package with entry points."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "shouting_parsers.py").write_text(MODULE)
    info = folder / "shouting_parsers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting-parsers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    return folder


def armwright(package: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "armwright", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_a_parser_of_another_package_parses(package: Path) -> None:
    ran = armwright(package, "parse", "PUT THE BANANA IN THE BOWL", "--parser", "shouting", "--json")
    assert ran.returncode == 0, ran.stderr
    assert '"parser": "shouting"' in ran.stdout and '"banana_1"' in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--parser", "absent"), "cannot be loaded from 'no_such_module:parser': ModuleNotFoundError"),
        (("--parser", "nothing"), "the parser 'nothing' is a NoneType, which has no name and parse()."),
        (("--parser", "shoutin"), "unknown parser 'shoutin'. Nearest: shouting"),
        (("--model", "absent:x"), "cannot be loaded from 'shouting_parsers:no_such_factory': AttributeError"),
        (("--model", "abset:x"), "unknown model provider 'abset'. Nearest: absent."),
    ],
)
def test_a_broken_one_is_named(package: Path, arguments: tuple[str, ...], message: str) -> None:
    ran = armwright(package, "parse", "pick up the mug", *arguments)
    assert ran.returncode == 2 and ran.stdout == "" and "Traceback" not in ran.stderr
    assert ran.stderr.startswith("armwright: ") and message in ran.stderr
