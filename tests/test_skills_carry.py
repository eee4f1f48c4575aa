"""What is held is carried no faster than its grip bears."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.control.protocols import Trajectory
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery
from armwright.grasping.types import GraspCandidate
from armwright.skills.carry import GENTLEST_M_S2, bearable_m_s2, peak_acceleration, speed_share
from armwright.skills.context import Held
from skill_scenes import bench

HANDLE = AffordanceQuery(object="mug", region="Graspable Handle", role="grasp")


def swing(start_rad: np.ndarray, size_rad: float, duration_s: float) -> Trajectory:
    """Return a smooth swing of the first joint; its largest acceleration is 2 pi size / duration²."""
    time_s = np.linspace(0.0, duration_s, 251)
    share = time_s / duration_s - np.sin(2 * np.pi * time_s / duration_s) / (2 * np.pi)
    position = np.tile(start_rad, (len(time_s), 1))
    position[:, 0] += size_rad * share
    return Trajectory(time_s, position, np.gradient(position, time_s, axis=0))


def test_a_mug_held_far_from_its_middle_is_carried_slowly(session_of):
    stage = bench(session_of("franka"), mug="mug")
    ctx = stage.ctx
    fast = swing(ctx.arm.state().target_rad, 1.0, 0.5)
    assert speed_share(ctx, fast) == 1.0

    def hold(lever_m: float) -> None:
        pads = Pose([lever_m, 0.0, 0.045])
        candidate = GraspCandidate(pads, 0.01, 0.02, np.zeros(3), np.array([1.0, 0.0, 0.0]))
        ctx.held = Held("mug", Pose([0.0, 0.0, 0.0]), candidate, HANDLE, Pose())

    hold(0.0)
    by_the_middle = bearable_m_s2(ctx)
    hold(0.06)
    assert by_the_middle > bearable_m_s2(ctx) == GENTLEST_M_S2
    share = speed_share(ctx, fast)
    peak = peak_acceleration(ctx, fast)
    reach_m = float(np.linalg.norm(ctx.planner.fk(fast.position_rad[:1])[0, :2, 3]))
    assert peak == pytest.approx(reach_m * 8 * np.pi, rel=0.25)
    slow = swing(ctx.arm.state().target_rad, 1.0, 0.5 / share)
    assert peak_acceleration(ctx, slow) == pytest.approx(GENTLEST_M_S2, rel=0.15)
    ctx.held = None
