"""Files that are whole or absent: written under a temporary name, then renamed."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from armwright.core.errors import CacheError, OutputError


def reason(error: OSError, path: str | os.PathLike[str]) -> str:
    """Say why ``path`` could not be made or written: what stands in its way, else what the system said."""
    target = Path(path)
    for place in (target, *target.parents):
        with contextlib.suppress(OSError):
            if place.is_symlink() and not place.exists():
                return f"{place} is a link to {place.readlink()}, which does not exist"
            if place.is_file():
                return f"{place} is a file" if place != target or isinstance(error, FileExistsError) else _said(error)
    return _said(error)


def cache_unwritable(error: OSError, folder: str | os.PathLike[str]) -> CacheError:
    """Return the error that says why a folder of the cache cannot be written, and what to do."""
    remedy = "Free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "Make it writable"
    # The disk that is full may be another one: that of temporary files.
    place = Path(error.filename).parent if error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename else folder
    return CacheError(
        f"cannot write into the cache {place}: {reason(error, place)}.",
        hint=f"{remedy}, or name another folder with ARMWRIGHT_CACHE_DIR.",
    )


def _said(error: OSError) -> str:
    return error.strerror or str(error)


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it on success, delete it on failure.

    Raises:
        OutputError: The folder cannot be made or written, or the disk is full.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix)
        os.close(fd)
    except OSError as error:
        raise OutputError(
            f"cannot write {target}: {reason(error, target)}.",
            hint="Choose another folder with --out, or free some space.",
        ) from error
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    except OSError as error:
        raise OutputError(
            f"cannot write {target}: {reason(error, target)}.",
            hint="Choose another folder with --out, or free some space.",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    write_bytes(path, text.encode())


def write_json(path: str | os.PathLike[str], value: Any, *, indent: int | None = 2) -> None:
    """Write JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=indent, allow_nan=False) + "\n")


def ensure_writable(folder: str | os.PathLike[str]) -> Path:
    """Make ``folder`` and prove that a file can be written in it.

    Raises:
        OutputError: It cannot.
    """
    root = Path(folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=root, prefix=".probe-"):
            pass
    except OSError as error:
        raise OutputError(
            f"cannot write into {root}: {reason(error, root)}.", hint="Choose another folder with --out."
        ) from error
    return root
