"""What importing the package may not do: pull in heavy libraries for the command line, or touch GL anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

HEAVY = ("mujoco", "numba", "pyarrow", "pydantic_ai", "trimesh", "manifold3d", "scipy", "av", "toppra", "rich.progress")
HEAVY_FOR_HELP = (*HEAVY, "pydantic_settings", "numpy", "yaml")

EVERYTHING = """
import importlib, json, os, pkgutil, sys
import armwright
for module in pkgutil.walk_packages(armwright.__path__, "armwright."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
gl = [name for name in sys.modules if name.split(".")[0] in ("OpenGL", "glfw")]
print(json.dumps({"gl": gl, "chosen": os.environ.get("MUJOCO_GL"), "modules": len(sys.modules)}))
"""


def python(code: str, **environment: str) -> str:
    clean = {key: value for key, value in os.environ.items() if key not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**clean, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("module", ["armwright", "armwright.cli.main", "armwright.generate.names"])
def test_the_command_line_starts_light(module):
    loaded = json.loads(python(f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))"))
    assert module in loaded
    assert not set(HEAVY) & set(loaded)


def test_help_of_every_command_loads_nothing_heavy():
    code = (
        "import sys, json, io, contextlib\n"
        "from armwright.cli.app import app\n"
        "with contextlib.redirect_stdout(io.StringIO()) as shown:\n"
        "    for words in ([], ['run'], ['generate'], ['bench'], ['parse'], ['dataset'], ['assets'], ['robots'],"
        " ['doctor'], ['shelf']):\n"
        "        try:\n"
        "            app([*words, '--help'], prog_name='armwright')\n"
        "        except SystemExit as end:\n"
        "            assert not end.code\n"
        "print(json.dumps([sorted(sys.modules), shown.getvalue()]))"
    )
    loaded, shown = json.loads(python(code))
    assert not set(HEAVY_FOR_HELP) & set(loaded)
    for command in ("run", "generate", "bench", "parse", "dataset", "assets", "robots", "doctor", "shelf"):
        assert f"armwright {command}" in shown


def test_no_import_touches_gl():
    seen = json.loads(python(EVERYTHING))
    assert seen["gl"] == [] and seen["chosen"] is None and seen["modules"] > 300
