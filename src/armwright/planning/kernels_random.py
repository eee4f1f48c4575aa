"""Random numbers inside kernels, from a state that the caller owns (splitmix64), so that a call repeats exactly."""

from __future__ import annotations

import numpy as np

from armwright.planning._jit import U64, pure_kernel


@pure_kernel
def uniform(state: U64) -> float:
    """Return a number in [0, 1) and advance ``state`` (1,)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


def random_state(seed: int) -> U64:
    """Return a fresh kernel state."""
    return np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64)
