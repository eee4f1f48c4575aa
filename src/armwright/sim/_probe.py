"""Child process of the renderer choice: draw one picture with one OpenGL backend, or die without harming the parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import Any, Literal

from armwright.sim.gl_environment import hidden_from_mujoco, mujoco_gl

GlName = Literal["egl", "osmesa"]


def gl_context_class(name: GlName) -> Any:
    """Return MuJoCo's context class of a backend; importing it loads OpenGL into this process."""
    if name == "egl":
        from mujoco.egl import GLContext as EglContext

        return EglContext
    from mujoco.osmesa import GLContext as OsmesaContext

    return OsmesaContext


def open_gl(name: GlName) -> Any:
    """Return a current OpenGL context; pictures are drawn into buffers of their own, so its size does not matter."""
    with mujoco_gl(name):
        context = gl_context_class(name)(16, 16)
        context.make_current()
        return context


def load_model(model: Any, name: GlName) -> Any:
    """Return MuJoCo's drawing resources of a model, made in the current OpenGL context."""
    import mujoco

    with mujoco_gl(name):
        return mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50.value)


_SCENE = """
<mujoco><worldbody>
  <light pos="0 0 3" dir="0 0 -1"/>
  <geom type="box" size=".2 .2 .2" rgba="1 0 0 1"/>
  <camera name="probe" pos="0 -1 0.3" xyaxes="1 0 0 0 0.3 1"/>
</worldbody></mujoco>
"""


_LIBRARY: dict[str, tuple[str, ...]] = {"egl": ("libEGL.so.1",), "osmesa": ("libOSMesa.so.8", "libOSMesa.so.6")}


def _library_loads(name: GlName) -> bool:
    for library in _LIBRARY[name]:
        with contextlib.suppress(OSError):
            ctypes.CDLL(library)
            return True
    return False


def probe(name: GlName) -> str:
    """Draw a red box with the backend; return an empty string, or what is wrong with the picture."""
    if not _library_loads(name):
        return f"{_LIBRARY[name][0]} is not installed"
    with hidden_from_mujoco():
        import mujoco
    import numpy as np

    model = mujoco.MjModel.from_xml_string(_SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    gl = open_gl(name)
    resources = load_model(model, name)
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, resources)
    scene = mujoco.MjvScene(model, maxgeom=16)
    camera = mujoco.MjvCamera()
    camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, 0
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, mujoco.mjtCatBit.mjCAT_ALL.value, scene)
    view = mujoco.MjrRect(0, 0, 32, 32)
    rgb = np.zeros((32, 32, 3), np.uint8)
    mujoco.mjr_render(view, scene, resources)
    mujoco.mjr_readPixels(rgb, None, view, resources)
    resources.free()
    gl.free()
    return "" if int(rgb[16, 16, 0]) > 40 else "the picture came out black"


def main() -> None:
    """Run the probe named on the command line and leave without the interpreter's clean-up."""
    try:
        problem = probe("egl" if sys.argv[1] == "egl" else "osmesa")
    except BaseException as error:  # a broken driver raises anything, AttributeError included
        problem = f"{type(error).__name__}: {error}"
    sys.stdout.write(f"probe:{problem.splitlines()[0] if problem else 'ok'}\n")
    sys.stdout.flush()
    os._exit(0 if not problem else 1)


if __name__ == "__main__":
    main()
