"""The renderer, chosen at run time: EGL, else OSMesa, else ray casting, which needs nothing but MuJoCo."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from armwright.core.errors import OutputError, RendererError
from armwright.core.files import write_json
from armwright.core.settings import RendererName, get_settings
from armwright.sim.gl_environment import claim_platform, library_folders, steering_variables, without_gl_choice

BackendName = Literal["egl", "osmesa", "rays"]
GlName = Literal["egl", "osmesa"]

FIX: Mapping[str, str] = {
    "egl": "apt-get install -y libegl1 libgl1-mesa-dri",
    "osmesa": "apt-get install -y libosmesa6",
}
_SONAMES: Mapping[str, tuple[str, ...]] = {"egl": ("libEGL.so.1",), "osmesa": ("libOSMesa.so.8", "libOSMesa.so.6")}
_LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
)
_PROBE_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class BackendChoice:
    """Which renderer draws the pictures, and why.

    Attributes:
        name: ``egl`` and ``osmesa`` draw with OpenGL, ``rays`` casts rays in MuJoCo.
        reason: One sentence.
        tried: What each candidate tried before it answered, by name; ``ok`` or the problem.
        fix: The line that would make a faster backend work, or an empty string.
    """

    name: BackendName
    reason: str
    tried: Mapping[str, str]
    fix: str = ""


def choose_backend(requested: RendererName | None = None, *, refresh: bool = False) -> BackendChoice:
    """Choose the renderer: the one asked for, or the first of EGL, OSMesa and rays that draws a picture.

    OpenGL candidates are tried in a child process, since a broken driver may end the process that loads it. Answers
    are kept in the cache folder until the libraries or the variables that steer them change.

    Args:
        requested: A backend, ``auto``, or None for what the settings say (``ARMWRIGHT_RENDERER``).
        refresh: Try again even if the answer is known.

    Raises:
        RendererError: The backend asked for by name does not work here; the hint is the line that installs it.
    """
    wanted = requested or get_settings().renderer
    if wanted == "rays":
        return BackendChoice("rays", "Ray casting was asked for.", {})
    candidates: tuple[GlName, ...] = ("egl", "osmesa") if wanted == "auto" else (wanted,)
    answers = _Answers.load() if not refresh else _Answers.empty()
    tried: dict[str, str] = {}
    for name in candidates:
        tried[name] = answers.get(name, _probe)
        if tried[name] == "ok":
            return BackendChoice(name, f"{name.upper()} draws here.", tried)
    if wanted != "auto":
        raise RendererError(
            f"the renderer {wanted!r} does not work here: {tried[wanted]}.",
            hint=f"Install it ({FIX[wanted]}), or use auto, which falls back to ray casting.",
        )
    reason = "No OpenGL works here (" + "; ".join(f"{k}: {v}" for k, v in tried.items()) + "); rays are cast instead."
    return BackendChoice("rays", reason, tried, fix=FIX["egl"])


def _probe(name: GlName) -> str:
    if sys.platform != "linux":
        return f"not offered on {sys.platform}"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "armwright.sim._probe", name],
            capture_output=True,
            text=True,
            timeout=_PROBE_TIMEOUT_S,
            env=without_gl_choice(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the probe did not answer ({type(error).__name__})"
    for line in done.stdout.splitlines():
        if line.startswith("probe:"):
            return line.removeprefix("probe:")
    last = done.stderr.strip().splitlines()[-1:] or [f"it ended with code {done.returncode}"]
    return f"the probe died: {last[0]}"


class _Answers:
    """Probe answers on disk, valid for one fingerprint of the machine."""

    def __init__(self, path: Path, fingerprint: str, known: dict[str, str]) -> None:
        self._path = path
        self._fingerprint = fingerprint
        self._known = known

    @classmethod
    def empty(cls) -> _Answers:
        return cls(get_settings().cache_dir / "renderer.json", _fingerprint(), {})

    @classmethod
    def load(cls) -> _Answers:
        answers = cls.empty()
        try:
            stored = json.loads(answers._path.read_text())
            if stored["fingerprint"] == answers._fingerprint:
                answers._known.update({str(k): str(v) for k, v in stored["answers"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return answers

    def get(self, name: GlName, probe: Callable[[GlName], str]) -> str:
        if name not in self._known:
            self._known[name] = probe(name)
            # A read-only cache only costs the probe of the next run.
            with contextlib.suppress(OutputError):
                write_json(self._path, {"fingerprint": self._fingerprint, "answers": self._known})
        return self._known[name]


def _fingerprint() -> str:
    """Describe all that a probe's answer depends on, at the price of a few stat calls."""
    return json.dumps([_mujoco_version(), sys.executable, *_libraries(), *steering_variables()])


@lru_cache(maxsize=1)
def _mujoco_version() -> str:
    return version("mujoco")


def _libraries() -> list[str]:
    folders = [*library_folders(), *_LIBRARY_FOLDERS]
    files = [Path(folder) / so for folder in folders for names in _SONAMES.values() for so in names]
    files += [Path("/etc/ld.so.cache"), Path("/usr/share/glvnd/egl_vendor.d")]
    files += [Path(folder) / "dri" for folder in folders]
    return [f"{file}:{stat}" for file in files if (stat := _modified(file))]


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _loaded_gl() -> list[GlName]:
    return []


def claim_gl(name: GlName) -> None:
    """Note that this process draws with ``name``; OpenGL can be loaded only once, in one flavour.

    Raises:
        RendererError: Another flavour is already loaded.
    """
    loaded = _loaded_gl()
    if loaded and loaded[0] != name:
        raise RendererError(
            f"this process already draws with {loaded[0]}, so it cannot draw with {name} too.",
            hint="Choose one renderer per process, or rays beside it.",
        )
    if not loaded:
        claim_platform(name)
        loaded.append(name)
