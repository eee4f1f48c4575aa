"""One way to compile a kernel: cached on disk, no bounds checks, IEEE corner cases given up for speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

Floats = NDArray[np.floating[Any]]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
Flags = NDArray[np.bool_]


def kernel(function: F) -> F:
    """Compile ``function`` with numba; the machine code is kept beside the module, or in the user's cache."""
    compiled: F = numba.njit(cache=True, fastmath=True, error_model="numpy", boundscheck=False)(function)
    return compiled


def pure_kernel(function: F) -> F:
    """Compile a kernel that allocates nothing: without reference counts, which would cost more than the work."""
    compiled: F = numba.njit(cache=True, fastmath=True, error_model="numpy", boundscheck=False, _nrt=False)(function)
    return compiled


def inner_kernel(function: F) -> F:
    """Compile a pure kernel into its callers: a call that passes a scene copies some two hundred words."""
    compiled: F = numba.njit(
        cache=True, fastmath=True, error_model="numpy", boundscheck=False, _nrt=False, forceinline=True
    )(function)
    return compiled
