"""Kinematics of one moving arm: where the tool is, and the joints nearest the present ones for where it should be."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from armwright.core.pose import Array, Pose
from armwright.planning.kernels_frames import tool_poses
from armwright.planning.kernels_ik import MAX_STEPS, ArmChain, new_ik_scratch, solve_pose, track_line
from armwright.robots.kinematics import Kinematics


class Servo:
    """The planner's compiled kinematics for one configuration at a time."""

    def __init__(self, kinematics: Kinematics) -> None:
        def doubles(array: Array) -> Array:
            return np.array(array, dtype=np.float64)

        self.kinematics = kinematics
        self._chain = ArmChain(
            doubles(kinematics.offset),
            doubles(kinematics.tool),
            doubles(kinematics.lower_rad),
            doubles(kinematics.upper_rad),
        )
        n = kinematics.dof
        self._scratch = new_ik_scratch(n)
        self._rotation, self._position = np.empty((n + 1, 3, 3)), np.empty((n + 1, 3))

    def tool(self, q_rad: ArrayLike) -> Array:
        """Return the tool frame in the base frame at (n,) joint values, (4, 4)."""
        q = np.array(q_rad, dtype=np.float64).reshape(1, -1)
        out = np.empty((1, 4, 4))
        tool_poses(self._chain.offset, self._chain.tool, q, self._rotation, self._position, out)
        return np.asarray(out[0])

    def tool_pose(self, q_rad: ArrayLike) -> Pose:
        """Return the tool's pose in the base frame at (n,) joint values."""
        return Pose.from_matrix(self.tool(q_rad))

    def near(self, pose_base_tool: Pose, q_rad: ArrayLike) -> tuple[Array, float, float]:
        """Return joint values near ``q_rad`` for a tool pose, and the distance [m] and angle [rad] that are left."""
        q = np.array(q_rad, dtype=np.float64)
        _, gap, angle = solve_pose(self._chain, pose_base_tool.matrix(), q, MAX_STEPS, self._scratch)
        return q, float(gap), float(angle)

    def line(self, q_rad: ArrayLike, pose_base_tool: Pose, *, steps: int, jump_rad: float) -> Array:
        """Return (w, n) joint values along the straight tool motion; fewer than steps + 1 rows if it breaks off."""
        out = np.empty((steps + 1, self.kinematics.dof))
        start = np.array(q_rad, dtype=np.float64)
        reached, _ = track_line(self._chain, start, pose_base_tool.matrix(), jump_rad, out, self._scratch)
        return out[: int(reached)]
