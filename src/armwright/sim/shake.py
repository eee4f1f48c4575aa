"""A shake of one object: what it feels when the thing that carries it is jolted to and fro, both ways across."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armwright.core.pose import Array

# A tilt of 17 degrees pulls as hard; what only leans or lies on an edge gives way.
SHAKE_M_S2 = 3.0
PULSE_S = 0.12
_DIRECTIONS = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]])
SHAKE_S = PULSE_S * len(_DIRECTIONS)


@dataclass(frozen=True)
class Shake:
    """One shake, by world time: an episode's record keeps it, so that a replay shakes alike.

    Attributes:
        object_id: What is shaken.
        start_s: World time at which it begins.
    """

    object_id: str
    start_s: float

    @property
    def end_s(self) -> float:
        """World time at which it is over."""
        return self.start_s + SHAKE_S

    def acceleration(self, time_s: float) -> Array:
        """Return the acceleration (3,) [m/s²] in the world that the object feels at a time."""
        pulse = int(np.floor((time_s - self.start_s + 1e-6) / PULSE_S))
        return SHAKE_M_S2 * _DIRECTIONS[pulse] if 0 <= pulse < len(_DIRECTIONS) else np.zeros(3)
