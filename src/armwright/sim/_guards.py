"""A guard at work: the conditions of `Guard`, checked against the simulated arm at control rate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from armwright.control.protocols import ArmState, Guard
from armwright.sim._armmap import ArmMap
from armwright.sim._servo import Servo
from armwright.sim.physics import Physics

_SMOOTHING = 0.5


class Watch:
    """Remembers where a motion began and says when its guard becomes true.

    The contact force is what a sensor in the wrist would feel beyond the gripper's own weight: the sum of the contact
    forces on everything beyond the last joint, less the weight of what both pads hold. While an object still stands
    on its support its weight is not carried, so the smaller of the changes since the start and since free hanging
    counts.
    """

    def __init__(
        self, guard: Guard, physics: Physics, servo: Servo, arm: ArmMap, state: Callable[[], ArmState]
    ) -> None:
        self._guard = guard
        self._physics = physics
        self._servo = servo
        self._arm = arm
        self._state = state
        self._start_s = physics.now_s
        self._start_m = servo.tool(physics.data.qpos[arm.qpos])[:3, 3]
        self._tare = arm.readings(physics.data).force_n if guard.contact_n is not None else np.zeros(3)
        self._smooth = 0.0
        self._free_s = physics.now_s
        self._gravity = np.array(physics.model.opt.gravity)
        self.detail = ""

    def check(self) -> str | None:
        """Return which condition is true, or None."""
        guard, physics = self._guard, self._physics
        if guard.contact_n is not None:
            reading = self._arm.readings(physics.data)
            carried = reading.payload_kg * self._gravity
            force = min(
                float(np.linalg.norm(reading.force_n - self._tare)), float(np.linalg.norm(reading.force_n - carried))
            )
            self._smooth += _SMOOTHING * (force - self._smooth)
            if self._smooth <= guard.contact_n:
                self._free_s = physics.now_s
            elif physics.now_s - self._free_s > guard.contact_s - 1e-9:
                self.detail = f"the tool felt {self._smooth:.1f} N"
                return "contact"
        if guard.timeout_s is not None and physics.now_s - self._start_s >= guard.timeout_s - 1e-9:
            self.detail = f"{guard.timeout_s} s were over"
            return "timeout"
        if guard.distance_m is not None:
            gone = float(np.linalg.norm(self._servo.tool(physics.data.qpos[self._arm.qpos])[:3, 3] - self._start_m))
            if gone >= guard.distance_m:
                self.detail = f"the tool had gone {gone:.3f} m"
                return "distance"
        if guard.predicate is not None and guard.predicate(self._state()):
            self.detail = f"{guard.predicate_name} became true"
            return guard.predicate_name
        return None
