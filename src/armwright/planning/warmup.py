"""Compile every kernel once, so that the wait comes at a moment of the caller's choosing."""

from __future__ import annotations

import time

import numpy as np

from armwright.core.pose import Pose
from armwright.planning.planner import Planner
from armwright.planning.types import Obstacle, WorldSpec
from armwright.robots.kinematics import Kinematics, SphereSet


def warm_up() -> float:
    """Compile all planning kernels, or load them from the cache of an earlier run; return the seconds that took.

    The machine code is kept beside the package, or in the user's cache directory where that cannot be written.
    """
    start = time.perf_counter()
    planner = Planner(_small_arm(), opening_m=0.04)
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    wedge = np.array([[0.0, 0, 0], [0.05, 0, 0], [0, 0.05, 0], [0, 0, 0.05]])
    planner.set_world(
        WorldSpec(
            (
                Obstacle("box", Pose(np.array([0.0, 0.5, 0.6])), (corners * 0.05,)),
                Obstacle("wedge", Pose(np.array([0.0, -0.5, 0.6])), (wedge,)),
            )
        )
    )
    home = planner.kinematics.home_rad
    other = home + 0.2
    planner.attach([[0.0, 0.0, 0.02]], [0.01])
    planner.clearance(home[None])
    planner.check_edges(home[None], other[None])
    planner.plan(home, other[None])
    pose = planner.fk(other[None])
    planner.ik(pose)
    planner.linear(home, pose[0])
    planner.evaluate_grasps(home, pose)
    return time.perf_counter() - start


def _small_arm() -> Kinematics:
    """Return a six-joint arm with a sphere on each link."""
    offset = np.tile(np.eye(4), (6, 1, 1))
    tilt = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    for k in range(6):
        offset[k, :3, :3] = np.eye(3) if k == 0 else tilt if k % 2 else tilt.T
        offset[k, :3, 3] = (0.0, 0.0, 0.15) if k % 2 == 0 else (0.0, -0.05, 0.1)
    tool = np.eye(4)
    tool[2, 3] = 0.1
    spheres = SphereSet(np.zeros((7, 3)), np.full(7, 0.03), np.arange(7, dtype=np.int32))
    return Kinematics(
        name="warm-up",
        offset=offset,
        tool=tool,
        lower_rad=np.full(6, -2.5),
        upper_rad=np.full(6, 2.5),
        velocity_rad_s=np.full(6, 2.0),
        acceleration_rad_s2=np.full(6, 8.0),
        home_rad=np.array([0.0, 0.4, 0.3, 0.5, 0.2, 0.1]),
        spheres={0.08: spheres},
        self_pairs=np.array([[0, 3], [1, 5]], np.int32),
    )
