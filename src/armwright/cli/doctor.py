"""``armwright doctor``: what works here, with the fix for each gap."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import typer

from armwright.cli.common import JsonOption, emit_json
from armwright.core.errors import ArmwrightError, OutputError, UsageError

REQUIRED = ("mujoco", "numpy", "numba", "manifold3d", "pyarrow", "av", "toppra", "ruckig", "pydantic_ai")
FREE_GB = 2.0


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report; ``gap`` works without it, ``missing`` does not."""

    name: str
    state: Literal["ok", "gap", "missing"]
    detail: str
    fix: str = ""


def doctor(json: JsonOption = False) -> None:
    """Say what works here: Python, renderer, caches, data, model keys; with the fix for each gap."""
    findings = list(_findings())
    failed = any(f.state == "missing" for f in findings)
    if json:
        emit_json({"ok": not failed, "findings": [asdict(f) for f in findings]})
    else:
        for f in findings:
            typer.echo(f"  {f.state:<8} {f.name:<16} {f.detail}".rstrip())
            if f.fix:
                typer.echo(f"{'':<11}{'':<16} fix: {f.fix}")
    raise typer.Exit(1 if failed else 0)


def _findings() -> Iterator[Finding]:
    from armwright.core.settings import get_settings

    checks: tuple[Callable[[], Iterator[Finding]], ...] = (_python, _packages, _video)
    settled: tuple[Callable[[], Iterator[Finding]], ...] = (_renderer, _cache, _data, _keys)
    try:
        get_settings()
    except UsageError as error:
        yield Finding("settings", "missing", error.args[0], error.hint)
        settled = ()
    for check in (*checks, *settled):
        try:
            yield from check()
        except ArmwrightError as error:
            yield Finding(check.__name__.strip("_"), "missing", error.args[0], error.hint or "see the message")
        except Exception as error:  # a doctor that dies on the illness it looks for helps nobody
            yield Finding(check.__name__.strip("_"), "missing", f"{type(error).__name__}: {error}", "report this")


def _python() -> Iterator[Finding]:
    from armwright.core.pool import cores

    found = ".".join(map(str, sys.version_info[:3]))
    ok = sys.version_info >= (3, 11)
    yield Finding("python", "ok" if ok else "missing", found, "" if ok else "use Python 3.11 or newer")
    has_pip = importlib.util.find_spec("pip") is not None or shutil.which("pip") is not None
    fix = "" if has_pip else "python -m ensurepip (robots are fetched with pip)"
    yield Finding("pip", "ok" if has_pip else "missing", "" if has_pip else "not found", fix)
    yield Finding("cores", "ok", str(cores()))


def _packages() -> Iterator[Finding]:
    missing = [name for name in REQUIRED if importlib.util.find_spec(name) is None]
    if missing:
        yield Finding("packages", "missing", ", ".join(missing), "pip install armwright, in a fresh environment")
        return
    try:
        shown = ", ".join(f"{name} {version(name)}" for name in ("mujoco", "numpy", "numba"))
    except PackageNotFoundError as error:
        shown = f"no metadata for {error}"
    yield Finding("packages", "ok", shown)


def _renderer() -> Iterator[Finding]:
    from armwright.sim.backend import choose_backend

    choice = choose_backend()
    if choice.name == "rays":
        fix = "apt-get install libegl1 libgl1-mesa-dri (or libosmesa6): about ten times faster pictures"
        yield Finding("renderer", "gap", f"rays ({choice.reason})", fix)
    else:
        yield Finding("renderer", "ok", f"{choice.name} ({choice.reason})")


def _cache() -> Iterator[Finding]:
    from armwright.core.files import ensure_writable
    from armwright.core.settings import get_settings
    from armwright.robots.prune import outdated

    folder = get_settings().cache_dir
    try:
        ensure_writable(folder)
    except OutputError as error:
        yield Finding("cache", "missing", error.args[0], "set ARMWRIGHT_CACHE_DIR to a folder you can write")
        return
    free_gb = shutil.disk_usage(folder).free / 1e9
    fix = "" if free_gb > FREE_GB else f"free some space: a first run needs {FREE_GB:.0f} GB"
    yield Finding("cache", "gap" if fix else "ok", f"{folder}, {free_gb:.1f} GB free", fix)
    old = outdated(folder)
    if old:
        yield Finding("old cache", "gap", f"{len(old)} entries of earlier versions", "armwright assets prune")


def _data() -> Iterator[Finding]:
    from armwright.core.datawheels import DATA_WHEELS, wheel_path
    from armwright.core.settings import get_settings
    from armwright.robots.bake import bake_digest
    from armwright.robots.registry import robot_names

    folder = get_settings().cache_dir / "robots"
    baked = [name for name in robot_names() if (folder / f"{name}-{bake_digest(name)}" / "robot.xml").exists()]
    absent = [name for name in robot_names() if name not in baked]
    detail = f"baked: {', '.join(baked) or 'none'}"
    fix = "armwright assets prefetch (else the first use of an arm fetches it)" if absent else ""
    yield Finding("robots", "gap" if absent else "ok", detail, fix)
    wheels = [name for name, wheel in DATA_WHEELS.items() if wheel_path(wheel).exists()]
    yield Finding("data wheels", "ok", f"cached: {', '.join(wheels) or 'none'}")


def _video() -> Iterator[Finding]:
    import av

    ok = "libx264" in av.codecs_available
    yield Finding(
        "video", "ok" if ok else "gap", "libx264" if ok else "no libx264 in av", "" if ok else "pip install av"
    )


def _keys() -> Iterator[Finding]:
    from armwright.core.settings import get_settings

    settings = get_settings()
    for provider in ("openai", "anthropic"):
        present = getattr(settings, f"{provider}_api_key") is not None
        fix = "" if present else f"export {provider.upper()}_API_KEY=… to use --model {provider}:NAME (optional)"
        yield Finding(f"{provider} key", "ok" if present else "gap", "set" if present else "not set", fix)
