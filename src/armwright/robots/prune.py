"""Clear the cache of what is not read any more: arms baked by earlier versions, wheels no longer pinned, leftovers."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from armwright.core.datawheels import DATA_WHEELS
from armwright.core.files import cache_unwritable
from armwright.core.settings import get_settings
from armwright.robots.bake import bake_digest
from armwright.robots.registry import robot_names

# A hidden folder or file this old is no longer being written.
_LEFTOVER_S = 3600.0


def outdated(cache_dir: Path | None = None) -> list[Path]:
    """Return the folders and files of the cache that this version does not read and nobody is writing, sorted.

    Arms that this version knows nothing of belong to somebody else, and are left alone.
    """
    cache = Path(cache_dir or get_settings().cache_dir)
    current = {f"{name}-{bake_digest(name)}" for name in robot_names()}
    pinned = {wheel.filename for wheel in DATA_WHEELS.values()}
    found = [
        path
        for path in (cache / "robots").glob("*-*")
        if path.is_dir() and path.name.rsplit("-", 1)[0] in robot_names() and path.name not in current
    ]
    found += [path for path in (cache / "wheels").glob("*.whl") if path.name not in pinned]
    latest = time.time() - _LEFTOVER_S
    for path in (*(cache / "robots").glob(".*"), *(cache / "wheels").glob(".*")):
        # A lock file that is removed while one process holds it would let a second one in.
        if not path.name.endswith(".lock") and path.lstat().st_mtime < latest:
            found.append(path)
    return sorted(found)


def prune(cache_dir: Path | None = None) -> tuple[list[Path], int]:
    """Remove what is `outdated`, and return it with its size [bytes].

    A process of an earlier version that is still running loses its arm's files: wait for it first.

    Raises:
        CacheError: Something cannot be removed.
    """
    removed, size = [], 0
    for path in outdated(cache_dir):
        try:
            size += _size(path)
            if path.is_dir() and not path.is_symlink():
                # Renamed first, so that an arm is whole or absent for whoever looks at this moment.
                gone = path if path.name.startswith(".") else path.rename(path.with_name(f".{path.name}-{os.getpid()}"))
                shutil.rmtree(gone)
            else:
                path.unlink()
        except FileNotFoundError:
            continue  # somebody else prunes as well
        except OSError as error:
            raise cache_unwritable(error, path.parent) from error
        removed.append(path)
    return removed, size


def _size(path: Path) -> int:
    files = [path] if path.is_symlink() or not path.is_dir() else [p for p in path.rglob("*") if p.is_file()]
    return sum(file.lstat().st_size for file in files)
