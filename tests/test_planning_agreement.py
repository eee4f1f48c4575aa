"""Spheres against exact geometry in a cluttered world: no contact missed, few free poses blocked."""

from itertools import pairwise

import numpy as np
import pytest

from armwright.core.pose import Pose
from armwright.planning.planner import Planner
from armwright.planning.types import Obstacle, WorldSpec
from armwright.planning.verify import Verifier
from armwright.robots.bake import baked_robot
from armwright.robots.registry import robot_names

CORNERS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
FAST = ("franka", "ur5e")
ALL = [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in sorted(robot_names())]
# A contact shallower than this is within the resolution of single-precision distance grids.
GRAZE_M = 2e-4


def box(name, center, half, yaw=0.0):
    return Obstacle(name, Pose.from_yaw(center, yaw), (CORNERS * np.asarray(half, float),))


def mug(name, center, yaw, radius=0.04, wall=0.004, height=0.09, sides=16):
    """Wedges of a wall, a floor and three bars of a handle."""
    angle = 2 * np.pi * np.arange(sides + 1) / sides
    hulls = []
    for a, b in pairwise(angle):
        flat = [(r * np.cos(t), r * np.sin(t)) for r in (radius - wall, radius) for t in (a, b)]
        hulls.append(np.array([(x, y, z) for x, y in flat for z in (0.0, height)]))
    hulls.append(np.array([(radius * np.cos(t), radius * np.sin(t), z) for t in angle[:-1] for z in (0.0, wall)]))
    for x, z, half_x, half_z in (
        (0.015, 0.025, 0.015, 0.005),
        (0.015, 0.075, 0.015, 0.005),
        (0.025, 0.05, 0.005, 0.02),
    ):
        hulls.append(CORNERS * [half_x, 0.005, half_z] + [radius + x, 0.0, z])
    return Obstacle(name, Pose.from_yaw(center, yaw), tuple(hulls))


def scene(rng):
    parts = [box("table", (0.35, 0, -0.021), (0.6, 0.75, 0.02))]
    parts += [box(f"board_{i}", (0.8, 0, z), (0.15, 0.45, 0.01)) for i, z in enumerate((0.02, 0.30, 0.58))]
    parts += [box(f"side_{i}", (0.8, y, 0.3), (0.15, 0.01, 0.3)) for i, y in enumerate((-0.46, 0.46))]
    for i in range(8):
        half = rng.uniform(0.02, 0.06, 3)
        radius, angle = rng.uniform(0.3, 0.6), rng.uniform(-1.5, 1.5)
        center = (radius * np.cos(angle), radius * np.sin(angle), half[2])
        parts.append(box(f"box_{i}", center, half, rng.uniform(0, np.pi)))
    for i in range(4):
        radius, angle = rng.uniform(0.35, 0.6), rng.uniform(-1.2, 1.2)
        parts.append(mug(f"mug_{i}", (radius * np.cos(angle), radius * np.sin(angle), 0.0), rng.uniform(0, 6)))
    return WorldSpec(tuple(parts))


def configurations(planner, rng, count):
    """Half over the whole range, half with the tool at work over the table or reaching into the shelf."""
    low, high = planner.kinematics.lower_rad, planner.kinematics.upper_rad
    at_work = []
    while sum(map(len, at_work)) < count // 2:
        q = rng.uniform(low, high, (20000, len(low)))
        pose = planner.fk(q)
        reach = np.hypot(pose[:, 0, 3], pose[:, 1, 3])
        facing = (pose[:, 2, 2] < -0.6) | ((pose[:, 0, 2] > 0.7) & (pose[:, 0, 3] > 0.5))
        near = (reach > 0.25) & (reach < 0.8) & (pose[:, 0, 3] > 0) & (pose[:, 2, 3] > 0.005) & (pose[:, 2, 3] < 0.35)
        at_work.append(q[facing & near])
    return np.concatenate([rng.uniform(low, high, (count - count // 2, len(low))), *at_work])[:count]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("opening_share", [1.0, 0.4])
def test_no_contact_is_missed_and_few_free_poses_are_blocked(name, opening_share):
    arm = baked_robot(name)
    low, high = arm.spec.gripper.opening_m
    opening = low + opening_share * (high - low)
    planner = Planner(arm.kinematics, opening_m=opening)
    rng = np.random.default_rng(5)
    free, missed, exact, searched = [], [], [], []
    for _ in range(2):
        world = scene(rng)
        planner.set_world(world)
        judge = Verifier(arm.xml_path, arm.spec, world, opening_m=opening)
        q = configurations(planner, rng, 1000)
        called_free = np.array([planner.first_collision(row[None]) is None for row in q])
        searched.append(planner.check(q))
        assert not (searched[-1] & ~called_free).any()
        truly_free = np.array([judge.is_free(row) for row in q])
        for row in q[called_free & ~truly_free]:
            report = judge.check_path(row)
            if report.depth_m > GRAZE_M:
                missed.append((report.colliding, report.depth_m))
        free.append(called_free)
        exact.append(truly_free)
    called_free, truly_free = np.concatenate(free), np.concatenate(exact)
    assert 0.15 < truly_free.mean() < 0.9
    assert not missed, missed
    # The search sees padded spheres.
    assert (~np.concatenate(searched) & truly_free).sum() / truly_free.sum() <= 0.05
