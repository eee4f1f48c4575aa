"""A lock that several processes share through a file in the cache."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from armwright.core.errors import CacheError
from armwright.core.files import cache_unwritable

_POLL_S = 0.1


def _try_lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def file_lock(path: str | os.PathLike[str], *, timeout_s: float = 900.0) -> Iterator[None]:
    """Hold an exclusive lock on ``path`` while the block runs; the kernel frees it if the process dies.

    Raises:
        CacheError: The file cannot be made, or another process held the lock for ``timeout_s``.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(target, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise cache_unwritable(error, target.parent) from error
    try:
        deadline = time.monotonic() + timeout_s
        while not _try_lock(handle):
            if time.monotonic() > deadline:
                raise CacheError(
                    f"{target} was held by another process for {timeout_s:.0f} s.",
                    hint="Wait for it to finish, or end it, then try again.",
                )
            time.sleep(_POLL_S)
        yield
    finally:
        os.close(handle)
