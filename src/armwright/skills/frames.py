"""From the pads to the tool and back, and a held object as spheres."""

from __future__ import annotations

import numpy as np

from armwright.core.pose import Array, Pose
from armwright.robots.spec import GripperSpec


def pads_z_m(gripper: GripperSpec, gap_m: float) -> float:
    """Return the z of the pads' middle in the tool frame at a gap [m]; linkage grippers reach out as they close."""
    table = np.array(gripper.table)
    if table.size == 0:
        return 0.0
    order = np.argsort(table[:, 1])
    return float(np.interp(gap_m, table[order, 1], table[order, 2]))


def pose_tool_pads(gripper: GripperSpec, gap_m: float) -> Pose:
    """Return the frame between the pads in the tool frame when they are ``gap_m`` apart."""
    return Pose(np.array([0.0, 0.0, pads_z_m(gripper, gap_m)]))


def covering_spheres(points_m: Array, normals: Array, *, radius_m: float = 0.006) -> tuple[Array, Array]:
    """Cover an object with spheres that touch its surface from inside.

    Args:
        points_m: (n, 3) surface points.
        normals: (n, 3) outward normals.
        radius_m: Radius; walls thinner than twice this are covered a little too thickly, on the safe side.

    Returns:
        Centres (k, 3), in the points' frame, and radii (k,) [m], thinned to about one per ``1.5 * radius_m`` cell.
    """
    centers = points_m - radius_m * normals
    cells = np.floor(centers / (1.5 * radius_m)).astype(np.int64)
    _, keep = np.unique(cells, axis=0, return_index=True)
    chosen = centers[np.sort(keep)]
    return chosen, np.full(len(chosen), radius_m)
