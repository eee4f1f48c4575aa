"""All randomness: generators spawned by name from one seed, so that adding one draw moves no other."""

from __future__ import annotations

import hashlib

import numpy as np


def seed_sequence(seed: int, *names: str | int) -> np.random.SeedSequence:
    """Return the seed sequence that belongs to ``names`` under ``seed``."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    words = np.frombuffer(digest[:16], dtype=np.uint32)
    return np.random.SeedSequence([int(seed) & 0xFFFFFFFF, int(seed) >> 32 & 0xFFFFFFFF, *map(int, words)])


def rng_for(seed: int, *names: str | int) -> np.random.Generator:
    """Return a generator that depends on ``seed`` and on the names, and on nothing else."""
    return np.random.default_rng(seed_sequence(seed, *names))


def int_seed(seed: int, *names: str | int) -> int:
    """Return a 31-bit seed for code that takes an integer (compiled kernels, solvers)."""
    return int(seed_sequence(seed, *names).generate_state(1)[0]) & 0x7FFFFFFF
