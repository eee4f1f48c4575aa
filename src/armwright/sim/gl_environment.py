"""The variables that steer OpenGL and belong to others: the one place where they are read, set or hidden.

armwright's own choice is ``ARMWRIGHT_RENDERER`` (``core.settings``). ``MUJOCO_GL`` plays no part in it: MuJoCo's Python
side loads what it names on ``import mujoco``, and raises if that is unknown or broken, even where nothing is drawn.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from armwright.core.errors import RendererError

_MUJOCO_GL = "MUJOCO_GL"
_PLATFORM = "PYOPENGL_PLATFORM"
_STEERING = (
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "__EGL",
    "LIBGL",
    "MESA",
    "GALLIUM",
    "EGL_",
    "CUDA_VISIBLE",
    "MUJOCO_EGL",
)


@contextlib.contextmanager
def mujoco_gl(value: str) -> Iterator[None]:
    """Let MuJoCo see this value of ``MUJOCO_GL`` inside the block.

    Its C side reads the variable when the first context is made, its Python side when it is imported.
    """
    before = os.environ.get(_MUJOCO_GL)
    os.environ[_MUJOCO_GL] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_MUJOCO_GL, None)
        else:
            os.environ[_MUJOCO_GL] = before


def hidden_from_mujoco() -> contextlib.AbstractContextManager[None]:
    """Keep ``import mujoco``, here and in child processes, from loading any OpenGL, whatever the user set."""
    return mujoco_gl("disable")


def without_gl_choice() -> dict[str, str]:
    """Return the environment less the variables that choose an OpenGL flavour, for a process that tries one."""
    return {key: value for key, value in os.environ.items() if key not in (_MUJOCO_GL, _PLATFORM)}


def steering_variables() -> list[str]:
    """Return, as text to compare, the variables on which it depends whether an OpenGL flavour works."""
    return sorted(f"{key}={value}" for key, value in os.environ.items() if key.startswith(_STEERING))


def library_folders() -> list[str]:
    """Return the folders that ``LD_LIBRARY_PATH`` names."""
    return [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]


def claim_platform(name: str) -> None:
    """Make PyOpenGL, which loads one flavour per process, load this one.

    Raises:
        RendererError: It was already loaded for another.
    """
    platform = os.environ.get(_PLATFORM, "")
    if not platform or platform.lower() == name:
        return
    if "OpenGL" in sys.modules:
        raise RendererError(
            f"PyOpenGL was already loaded for {platform!r}, so {name} cannot draw in this process.",
            hint="Import armwright first, or unset PYOPENGL_PLATFORM.",
        )
    os.environ[_PLATFORM] = name
