"""One way to compile this room's kernels: cached on disk, and with NaN left what it is, since depth may hold some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]

_FAST = {"reassoc", "contract", "arcp", "nsz", "afn"}


def kernel(function: F) -> F:
    """Compile ``function``; the machine code is kept beside the module, or in the user's cache."""
    compiled: F = numba.njit(cache=True, fastmath=_FAST, error_model="numpy", boundscheck=False)(function)
    return compiled
