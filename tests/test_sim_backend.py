from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from armwright.core.errors import RendererError
from armwright.core.settings import get_settings
from armwright.sim import backend

HIDDEN = {"__EGL_VENDOR_LIBRARY_FILENAMES": os.devnull}


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMWRIGHT_CACHE_DIR", str(tmp_path))
    get_settings.cache_clear()
    yield tmp_path
    get_settings.cache_clear()


def in_child(code: str, cache: object, **environment: str) -> str:
    env = {**os.environ, "ARMWRIGHT_CACHE_DIR": str(cache), **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_rays_need_no_probe(monkeypatch):
    monkeypatch.setattr(backend, "_probe", lambda name: pytest.fail("rays must not probe"))
    assert backend.choose_backend("rays").name == "rays"


def test_first_candidate_that_draws_is_chosen(own_cache, monkeypatch):
    monkeypatch.setattr(backend, "_probe", lambda name: "ok" if name == "osmesa" else "libEGL.so.1 is not installed")
    choice = backend.choose_backend("auto")
    assert choice.name == "osmesa"
    assert dict(choice.tried) == {"egl": "libEGL.so.1 is not installed", "osmesa": "ok"}


def test_nothing_draws_gives_rays_and_a_fix(own_cache, monkeypatch):
    monkeypatch.setattr(backend, "_probe", lambda name: f"{name} is broken")
    choice = backend.choose_backend("auto")
    assert choice.name == "rays"
    assert "apt-get install" in choice.fix
    assert "egl is broken" in choice.reason


def test_backend_by_name_that_fails_names_the_fix(own_cache, monkeypatch):
    monkeypatch.setattr(backend, "_probe", lambda name: "no library")
    with pytest.raises(RendererError, match="libosmesa6"):
        backend.choose_backend("osmesa")


def test_answer_is_probed_once(own_cache, monkeypatch):
    asked = []
    monkeypatch.setattr(backend, "_probe", lambda name: asked.append(name) or "ok")
    assert backend.choose_backend("auto") == backend.choose_backend("auto")
    assert asked == ["egl"]
    backend.choose_backend("auto", refresh=True)
    assert asked == ["egl", "egl"]


def test_answer_is_forgotten_when_the_machine_changes(own_cache, monkeypatch):
    answers = iter(["broken", "ok"])
    monkeypatch.setattr(backend, "_probe", lambda name: next(answers) if name == "egl" else "absent")
    assert backend.choose_backend("auto").name == "rays"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(own_cache))
    assert backend.choose_backend("auto").name == "egl"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"fingerprint": 1}', "null"])
def test_damaged_answer_file_is_probed_again(own_cache, monkeypatch, content):
    (own_cache / "renderer.json").write_text(content)
    monkeypatch.setattr(backend, "_probe", lambda name: "ok")
    assert backend.choose_backend("auto").name == "egl"
    assert json.loads((own_cache / "renderer.json").read_text())["answers"] == {"egl": "ok"}


def test_read_only_cache_costs_nothing_but_time(own_cache, monkeypatch):
    monkeypatch.setenv("ARMWRIGHT_CACHE_DIR", "/proc/armwright")
    get_settings.cache_clear()
    monkeypatch.setattr(backend, "_probe", lambda name: "ok")
    assert backend.choose_backend("auto").name == "egl"


def test_hidden_gl_falls_back_to_rays_and_draws(tmp_path):
    code = (
        "import mujoco\n"
        "from armwright.core.camera import CameraModel\n"
        "from armwright.sim.render import Renderer\n"
        'm = mujoco.MjModel.from_xml_string(\'<mujoco><worldbody><geom size="1" rgba="1 0 0 1" pos="0 0 3"/>'
        "</worldbody></mujoco>')\n"
        "d = mujoco.MjData(m); mujoco.mj_forward(m, d)\n"
        "from armwright.core.pose import Pose\n"
        "c = CameraModel.from_fov(width=32, height=32, fovy_deg=30, pose_world_camera=Pose())\n"
        "r = Renderer(m, width=32, height=32)\n"
        "f = r.render(d, c, depth=True)\n"
        "print(r.choice.name, f.rgb[16, 16, 0] > 50, round(float(f.depth_m[16, 16]), 2))\n"
    )
    osmesa = subprocess.run([sys.executable, "-m", "armwright.sim._probe", "osmesa"], capture_output=True, text=True)
    expected = "osmesa" if "probe:ok" in osmesa.stdout else "rays"
    assert in_child(code, tmp_path, **HIDDEN) == f"{expected} True 2.0"


def test_importing_the_room_loads_no_graphics(tmp_path):
    code = (
        "import sys, pkgutil, importlib, armwright.sim\n"
        "for m in pkgutil.iter_modules(armwright.sim.__path__): importlib.import_module('armwright.sim.' + m.name)\n"
        "maps = open('/proc/self/maps').read() if sys.platform == 'linux' else ''\n"
        "print([n for n in ('libEGL', 'libOSMesa', 'libGL.', 'libGLX') if n in maps], 'OpenGL' in sys.modules,\n"
        "      'mujoco' in sys.modules)\n"
    )
    assert in_child(code, tmp_path) == "[] False False"
