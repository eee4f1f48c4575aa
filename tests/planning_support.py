"""Worlds and brute-force checks that the planning tests share."""

from functools import cache
from itertools import pairwise

import numpy as np

from armwright.core.pose import Pose
from armwright.planning.planner import Planner
from armwright.planning.types import Obstacle, WorldSpec
from armwright.robots.bake import BakedRobot, baked_robot
from armwright.robots.kinematics import Kinematics, SphereSet


@cache
def arm(name: str = "franka") -> BakedRobot:
    return baked_robot(name)


def box(name, center, half, yaw=0.0):
    corners = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    return Obstacle(name, Pose.from_yaw(center, yaw), (corners * np.asarray(half, float),))


def prism(name, center, radius, height, sides=8):
    turn = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.stack([radius * np.cos(turn), radius * np.sin(turn)], 1)
    hull = np.concatenate([np.column_stack([ring, np.full(sides, z)]) for z in (-height / 2, height / 2)])
    return Obstacle(name, Pose(np.asarray(center, float)), (hull,))


def cup(name, center, radius=0.04, height=0.09, sides=12, wall=0.004):
    """A ring of wall segments and a floor: hollow, of many hulls."""
    turn = np.linspace(0, 2 * np.pi, sides + 1)
    hulls = []
    for a, b in pairwise(turn):
        flat = [(r * np.cos(t), r * np.sin(t)) for r in (radius - wall, radius) for t in (a, b)]
        hulls.append(np.array([(x, y, z) for x, y in flat for z in (0.0, height)]))
    ring = np.stack([radius * np.cos(turn[:-1]), radius * np.sin(turn[:-1])], 1)
    hulls.append(np.concatenate([np.column_stack([ring, np.full(sides, z)]) for z in (0.0, wall)]))
    return Obstacle(name, Pose(np.asarray(center, float)), tuple(hulls))


def desk(*, targets=()):
    """A table, a shelf board on two sides, a box and two round things."""
    return WorldSpec(
        (
            box("table", (0.35, 0, -0.03), (0.6, 0.75, 0.03)),
            box("board", (0.75, 0, 0.35), (0.12, 0.3, 0.01)),
            box("left", (0.75, 0.3, 0.18), (0.12, 0.01, 0.18)),
            box("right", (0.75, -0.3, 0.18), (0.12, 0.01, 0.18)),
            box("carton", (0.42, 0.3, 0.09), (0.04, 0.03, 0.09), 0.4),
            prism("can", (0.5, -0.25, 0.05), 0.03, 0.1),
            cup("cup", (0.45, 0.0, 0.0)),
        ),
        frozenset(targets),
    )


def planner(world=None, name="franka", seed=0):
    robot = arm(name)
    made = Planner(robot.kinematics, opening_m=robot.spec.gripper.opening_m[1], seed=seed)
    made.set_world(desk() if world is None else world)
    return made


def random_joints(kinematics: Kinematics, count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(kinematics.lower_rad + 2e-4, kinematics.upper_rad - 2e-4, (count, kinematics.dof))


def frames_of(kinematics: Kinematics, q):
    """Return (n + 1, 4, 4) link frames by plain matrix products."""
    out = [np.eye(4)]
    for offset, angle in zip(kinematics.offset, q):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.eye(4)
        turn[:2, :2] = [[c, -s], [s, c]]
        out.append(out[-1] @ offset @ turn)
    return np.array(out)


def spheres_at(kinematics: Kinematics, spheres: SphereSet, q):
    frames = frames_of(kinematics, q)[spheres.link]
    return np.einsum("sij,sj->si", frames[:, :3, :3], spheres.center_m) + frames[:, :3, 3]


def box_distance(obstacle, points):
    """Exact distance of points (k, 3) to a box obstacle of `box`."""
    half = np.abs(obstacle.hulls[0]).max(0)
    away = np.abs(obstacle.pose_base_obstacle.inverse().transform(points)) - half
    return np.linalg.norm(np.maximum(away, 0), axis=-1) + np.minimum(away.max(-1), 0)


def dense(path, step=0.01):
    """Return the path (w, n) sampled so that no joint moves more than ``step``."""
    rows = [path[:1]]
    for a, b in pairwise(path):
        count = max(1, int(np.ceil(np.abs(b - a).max() / step)))
        rows.append(a + (b - a) * (np.arange(1, count + 1) / count)[:, None])
    return np.concatenate(rows)


def down_at(x, y, z, yaw=0.0):
    pose = np.eye(4)
    c, s = np.cos(yaw), np.sin(yaw)
    pose[:3, :3] = np.array([[c, s, 0], [s, -c, 0], [0, 0, -1]])
    pose[:3, 3] = x, y, z
    return pose
