"""Scenes on disk: they come back as they were, and what is wrong with a file is named."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from armwright.cli.app import app
from armwright.core.errors import UnknownNameError, UsageError
from armwright.shelf.scene_files import SCENE_NAMES, draw_scene, read_scene, write_scene


@pytest.mark.parametrize("name", SCENE_NAMES)
def test_a_scene_comes_back_as_it_was(tmp_path, name):
    drawn = draw_scene(name, 14)
    write_scene(tmp_path / "scene.json", drawn)
    assert read_scene(tmp_path / "scene.json") == drawn


def test_what_is_wrong_with_a_file_is_named(tmp_path):
    path = tmp_path / "scene.json"
    with pytest.raises(UsageError, match="cannot read"):
        read_scene(path)
    path.write_text("{")
    with pytest.raises(UsageError, match=r"scene\.json"):
        read_scene(path)
    write_scene(path, draw_scene("single-row", 14))
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"target": "tomato_soop"}))
    with pytest.raises(UnknownNameError, match="tomato_soup"):
        read_scene(path)
    path.write_text(json.dumps(record | {"shelf": record["shelf"] | {"boards_m": [0.3, 0.1]}}))
    with pytest.raises(UsageError, match="ascend"):
        read_scene(path)


def test_an_unknown_scene_is_named():
    with pytest.raises(UnknownNameError, match="multi-row"):
        draw_scene("multi-rows", 1)


def test_the_command_writes_scenes_and_a_record(tmp_path):
    words = ["shelf", "scenes", "--scene", "packaging", "-n", "2", "--seed", "31", "--no-pictures", "--json"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record == json.loads((tmp_path / "result.json").read_text())
    assert [row["seed"] for row in record["scenes"]] == [31, 32]
    assert {path.name for path in tmp_path.glob("[!.]*")} == {"packaging-31.json", "packaging-32.json", "result.json"}
