"""A mesh in a page: the shaders compile, the script runs with a stand-in for the browser, the data is what went in."""

import base64
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from armwright.core.errors import ArmwrightError
from armwright.recording.mesh_view import FRAGMENT_SHADER, VERTEX_SHADER, mesh_view

POINTS = np.array([[0.0, -0.5, 0.1], [0.2, 0.5, 0.1], [0.1, 0.0, 0.9]])
RGB = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
FACES = np.array([[0, 1, 2]])


def test_the_data_is_what_went_in():
    page = mesh_view(POINTS, RGB, FACES, identity="m")
    (text,) = re.findall(r"\}\)\((\{.*\})\);</script>", page, flags=re.DOTALL)
    data = json.loads(text)
    steps = np.frombuffer(base64.b64decode(data["points"]), "<u2").reshape(-1, 3)
    assert np.allclose(POINTS.min(0) + steps / 65535 * data["size"], POINTS, atol=2e-5)
    assert np.frombuffer(base64.b64decode(data["faces"]), "<u4").tolist() == [0, 1, 2]
    assert np.array_equal(np.frombuffer(base64.b64decode(data["colours"]), np.uint8).reshape(-1, 3), RGB)
    assert "http" not in page


def test_nothing_and_nonsense():
    assert mesh_view(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3))) == ""
    with pytest.raises(ArmwrightError, match="faces name vertices"):
        mesh_view(POINTS, RGB, [[0, 1, 3]])


STAND_IN = """
const calls = []; const handlers = {};
const gl = new Proxy({}, {get: (t, k) => /^[A-Z_0-9]+$/.test(k) ? k : (...a) => { calls.push([k, a]); return 1; }});
const canvas = {clientWidth: 400, clientHeight: 300, getContext: () => gl, addEventListener: (n, f) => handlers[n] = f};
global.document = {getElementById: () => canvas}; global.window = {addEventListener: () => 0};
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the page's script")
def test_the_script_draws_and_turns(tmp_path):
    page = mesh_view(POINTS, RGB, FACES)
    (script,) = re.findall(r"<script>(.*)</script>", page, flags=re.DOTALL)
    after = """
    const matrix = () => calls.filter(c => c[0] == 'uniformMatrix4fv').at(-1)[1][2];
    const first = Array.from(matrix());
    handlers.pointermove({buttons: 1, movementX: 50, movementY: 10});
    handlers.wheel({deltaY: 300, preventDefault() {}});
    const bad = [...first, ...matrix()].some(x => !Number.isFinite(x));
    console.log(JSON.stringify({first, last: Array.from(matrix()), bad,
      draws: calls.filter(c => c[0] == 'drawElements').length}));
    """
    (tmp_path / "page.js").write_text(STAND_IN + script + after)
    done = subprocess.run(["node", tmp_path / "page.js"], capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    assert said["draws"] == 3 and not said["bad"] and said["first"] != said["last"]
    # What is up in the mesh is up on the screen, what is left is left, and what is far is behind what is near.
    m = np.array(said["first"]).reshape(4, 4).T

    def seen(p):
        x, y, z, w = m @ [*p, 1]
        return x / w, y / w, z / w

    assert seen((0, 0, 0.3))[1] > seen((0, 0, -0.3))[1]
    assert seen((0, 0.3, 0))[0] < seen((0, -0.3, 0))[0]
    assert seen((0.3, 0, 0))[2] > seen((-0.3, 0, 0))[2]
    assert all(abs(v) < 1 for p in POINTS - POINTS.mean(0) for v in seen(p))


def test_the_shaders_compile():
    try:
        from mujoco.egl import GLContext

        context = GLContext(64, 64)
        context.make_current()
        from OpenGL import GL
    except Exception as error:
        pytest.skip(f"no EGL here: {error}")
    try:
        for kind, text in ((GL.GL_VERTEX_SHADER, VERTEX_SHADER), (GL.GL_FRAGMENT_SHADER, FRAGMENT_SHADER)):
            shader = GL.glCreateShader(kind)
            GL.glShaderSource(shader, text)
            GL.glCompileShader(shader)
            assert shader, "no shader"
            assert GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS), GL.glGetShaderInfoLog(shader)
    finally:
        context.free()
