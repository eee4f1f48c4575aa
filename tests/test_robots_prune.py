"""Pruning removes what earlier versions left in the cache, and nothing that this one or a running process needs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from armwright.core.datawheels import DATA_WHEELS
from armwright.robots.bake import bake_digest
from armwright.robots.prune import outdated, prune

WHEEL = next(iter(DATA_WHEELS.values())).filename


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a cache with current, old, foreign and unfinished entries."""
    current = tmp_path / "robots" / f"franka-{bake_digest('franka')}"
    for folder in (current, tmp_path / "robots/franka-0123456789abcdef", tmp_path / "robots/other-0123456789abcdef"):
        (folder / "meshes").mkdir(parents=True)
        (folder / "robot.xml").write_text("x" * 100)
    (tmp_path / "wheels").mkdir()
    for name in (WHEEL, "robosuite-1.0-py3-none-any.whl", f".{WHEEL}.lock", f".{WHEEL}.4711", "notes.txt"):
        (tmp_path / "wheels" / name).write_text("x" * 10)
    (tmp_path / "renderer.json").write_text("{}")
    return tmp_path


def listing(cache: Path) -> set[str]:
    return {str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file()}


def test_only_what_is_old_goes(cache: Path) -> None:
    before = listing(cache)
    removed, size = prune(cache)
    gone = {"robots/franka-0123456789abcdef/robot.xml", "wheels/robosuite-1.0-py3-none-any.whl"}
    assert before - listing(cache) == gone
    assert size == 110 and {path.name for path in removed} == {"franka-0123456789abcdef", Path(sorted(gone)[1]).name}
    assert not [path for path in (cache / "robots").iterdir() if path.name.startswith(".")]
    assert prune(cache) == ([], 0)


def test_what_is_being_written_stays_until_it_is_old(cache: Path) -> None:
    partial, lock = cache / "wheels" / f".{WHEEL}.4711", cache / "wheels" / f".{WHEEL}.lock"
    prune(cache)
    assert partial.exists()
    for path in (partial, lock):
        os.utime(path, (0, 0))
    prune(cache)
    assert not partial.exists() and lock.exists()


def test_a_link_is_removed_and_not_followed(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "mine").write_text("mine")
    (cache / "robots/franka-linked").symlink_to(elsewhere)
    prune(cache)
    assert (elsewhere / "mine").read_text() == "mine" and not (cache / "robots/franka-linked").is_symlink()


def test_no_cache_yet_is_nothing_to_do(tmp_path: Path) -> None:
    assert outdated(tmp_path / "absent") == [] and prune(tmp_path / "absent") == ([], 0)


def test_the_command_and_the_doctor_agree(cli, environment, cache: Path) -> None:
    environment(ARMWRIGHT_CACHE_DIR=str(cache), ARMWRIGHT_RENDERER="rays")
    assert "armwright assets prune" in {f["fix"] for f in json.loads(cli("doctor", "--json").out)["findings"]}
    record = json.loads(cli("assets", "prune", "--json").out)
    assert len(record["removed"]) == 2 and record["bytes"] == 110
    assert "armwright assets prune" not in cli("doctor").out
