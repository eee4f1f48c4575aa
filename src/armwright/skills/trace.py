"""Follow a sequence of tool poses in joint space, from a given configuration, on one branch and without touching."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armwright.core.pose import Array
from armwright.planning.backend import PlanningBackend


def trace_poses(
    planner: PlanningBackend, start_rad: Array, poses_base_tool: Sequence[Array], *, without_targets: bool = False
) -> Array | None:
    """Return the joint path through tool poses, or None where it jumps, leaves the limits or touches something.

    Args:
        planner: Knows the world and what is held.
        start_rad: (n,) where the path begins.
        poses_base_tool: Poses (4, 4) in the base frame, near each other, in order.
        without_targets: Leave the planner's targets out of the check.

    Returns:
        (w, n) way points, the start first.
    """
    path = [np.asarray(start_rad, float)[None]]
    for pose in poses_base_tool:
        part = planner.linear(path[-1][-1], pose, check=True, without_targets=without_targets)
        if not part.ok:
            return None
        path.append(part.path_rad[1:])
    return np.concatenate(path)
