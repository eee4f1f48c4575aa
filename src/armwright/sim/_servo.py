"""Kinematics of one moving arm: where the tool is, and the joints nearest the present ones for where it should be."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from armwright.core.pose import Array, Pose
from armwright.planning.planner import Planner
from armwright.robots.kinematics import Kinematics

# Way points along a straight line: joints are linear between them, so the tool strays by micrometres.
_LINE_STEP_M = 0.005


class Servo:
    """The planner's inverse kinematics for one configuration at a time; it knows no obstacles."""

    def __init__(self, kinematics: Kinematics) -> None:
        self.kinematics = kinematics
        self._planner = Planner(kinematics, opening_m=max(kinematics.spheres))

    def tool(self, q_rad: ArrayLike) -> Array:
        """Return the tool frame in the base frame at (n,) joint values, (4, 4)."""
        return np.asarray(self._planner.fk(np.asarray(q_rad, float)[None])[0])

    def tool_pose(self, q_rad: ArrayLike) -> Pose:
        """Return the tool's pose in the base frame at (n,) joint values."""
        return Pose.from_matrix(self.tool(q_rad))

    def near(self, pose_base_tool: Pose, q_rad: ArrayLike) -> Array | None:
        """Return joint values near ``q_rad`` that put the tool at a pose, or None if there are none."""
        seed = np.asarray(q_rad, float)[None]
        found = self._planner.ik(pose_base_tool.matrix()[None], seeds=seed, n_seeds=1, max_solutions=1)
        return np.asarray(found.q_rad[0, 0]) if found.count[0] else None

    def line(self, q_rad: ArrayLike, pose_base_tool: Pose) -> tuple[Array | None, str]:
        """Return (w, n) joint values, evenly spread along the straight tool motion; or None and why it breaks off."""
        report = self._planner.linear(q_rad, pose_base_tool.matrix(), step_m=_LINE_STEP_M, check=False)
        return (np.asarray(report.path_rad), "") if report.ok else (None, report.detail)


@lru_cache(maxsize=8)
def servo_of(kinematics: Kinematics) -> Servo:
    """Return the servo of an arm; it has no state, so worlds share it."""
    return Servo(kinematics)
