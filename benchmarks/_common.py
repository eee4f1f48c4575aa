"""Worlds, problems and bookkeeping that the planning and IK benchmarks share."""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

import numpy as np

from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for
from armwright.planning.planner import Planner
from armwright.planning.types import Obstacle, WorldSpec
from armwright.planning.verify import Verifier
from armwright.robots.bake import BakedRobot, baked_robot
from armwright.robots.registry import robot_names

WorldName = Literal["easy", "narrow"]
CORNERS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T.astype(float)


@dataclass(frozen=True, eq=False)
class Problem:
    """From a configuration to any of several; all are free and within limits in MuJoCo, by some clearance."""

    start_rad: Array
    goals_rad: Array


def box(name: str, center_m: Sequence[float], half_m: Sequence[float], yaw_rad: float = 0.0) -> Obstacle:
    """Return an upright box."""
    return Obstacle(name, Pose.from_yaw(np.asarray(center_m, float), yaw_rad), (CORNERS * np.asarray(half_m, float),))


def world(name: WorldName, seed: int = 0) -> WorldSpec:
    """Return a table with a shelf: open with some boxes (easy), or deep, in compartments, amid clutter (narrow)."""
    rng = rng_for(seed, "benchmarks", "world", name)
    table = box("table", (0.35, 0.0, -0.021), (0.60, 0.75, 0.02))
    narrow = name == "narrow"
    x, depth, width = 0.74, (0.19 if narrow else 0.15), 0.42
    heights = (0.02, 0.31, 0.60) if narrow else (0.02, 0.34, 0.66)
    top = heights[-1]
    parts = [box(f"board_{i}", (x, 0, z), (depth, width, 0.01)) for i, z in enumerate(heights)]
    walls = (-width, -width / 3, width / 3, width) if narrow else (-width, width)
    parts += [box(f"wall_{i}", (x, y, top / 2), (depth, 0.01, top / 2)) for i, y in enumerate(walls)]
    parts.append(box("back", (x + depth, 0, top / 2), (0.01, width, top / 2)))
    count = 18 if narrow else 6
    for i in range(count):
        half = rng.uniform((0.02, 0.02, 0.04), (0.04, 0.04, 0.11 if narrow else 0.08))
        spot = (rng.uniform(0.3, 0.52), rng.uniform(-0.5, 0.5), half[2])
        parts.append(box(f"box_{i}", spot, half, float(rng.uniform(0, np.pi))))
    return WorldSpec((table, *parts))


def tool_poses(count: int, name: WorldName, seed: int = 0) -> Array:
    """Return (count, 4, 4) tool poses: most reach into the shelf, the others down onto the table."""
    rng = rng_for(seed, "benchmarks", "poses", name)
    narrow = name == "narrow"
    poses = np.tile(np.eye(4), (count, 1, 1))
    for pose in poses:
        if rng.random() < (0.75 if narrow else 0.6):
            shelf = ((0.08, 0.24), (0.37, 0.53)) if narrow else ((0.09, 0.26), (0.42, 0.58))
            pose[:3, 3] = rng.uniform(0.66, 0.80), rng.uniform(-0.34, 0.34), rng.uniform(*shelf[rng.integers(2)])
            yaw, pitch = rng.uniform(-0.4, 0.4), rng.uniform(-0.1, 0.3)
            z = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
        else:
            pose[:3, 3] = rng.uniform(0.3, 0.55), rng.uniform(-0.45, 0.45), rng.uniform(0.03, 0.2)
            z = np.array([*rng.normal(0, 0.25, 2), -1.0])
        z /= np.linalg.norm(z)
        x = rng.normal(size=3)
        x -= z * (x @ z)
        x /= np.linalg.norm(x)
        pose[:3, :3] = np.stack([x, np.cross(z, x), z], 1)
    return poses


def problems(
    arm: BakedRobot, spec: WorldSpec, name: WorldName, count: int, *, clearance_m: float, seed: int = 0
) -> list[Problem]:
    """Return problems whose ends MuJoCo calls free; a third starts at home, the others where another one ends.

    Args:
        arm: The arm.
        spec: Its world.
        name: Which poses to reach for.
        count: How many.
        clearance_m: Least distance of the ends to anything, in MuJoCo [m].
        seed: Of poses and starts.
    """
    opening = arm.spec.gripper.opening_m[1]
    solver = Planner(arm.kinematics, opening_m=opening, seed=seed)
    judge = Verifier(arm.xml_path, arm.spec, spec, opening_m=opening)
    home = arm.kinematics.home_rad
    sets: list[Array] = []
    for pose in tool_poses(40 * count, name, seed):
        found = solver.ik(pose[None], n_seeds=24, max_solutions=12)
        free = [q for q in found.q_rad[0, : found.count[0]] if judge.is_free(q, clearance_m=clearance_m)]
        if free:
            sets.append(np.array(free))
        if len(sets) == count:
            break
    rng = rng_for(seed, "benchmarks", "starts", name)
    starts = [home if i % 3 == 0 else sets[int(rng.integers(len(sets)))][0] for i in range(len(sets))]
    return [Problem(start, goals) for start, goals in zip(starts, sets, strict=True)]


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns and the CPU time of this thread that it took [ms]."""
    start = time.thread_time()
    result = call()
    return result, (time.thread_time() - start) * 1e3


def quantiles(times_ms: Sequence[float]) -> dict[str, float]:
    """Return median and 95th percentile, rounded."""
    if not times_ms:
        return {"median_ms": float("nan"), "p95_ms": float("nan")}
    return {
        "median_ms": round(float(np.median(times_ms)), 4),
        "p95_ms": round(float(np.percentile(times_ms, 95)), 4),
    }


def arguments(description: str | None, **numbers: int) -> argparse.Namespace:
    """Parse ``--json``, ``--robots`` and integer options with the given defaults."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON record and nothing else")
    parser.add_argument("--robots", default=",".join(sorted(robot_names())))
    parser.add_argument("--seed", type=int, default=0)
    for name, default in numbers.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    return parser.parse_args()


def arms(options: argparse.Namespace) -> list[BakedRobot]:
    """Return the arms that were asked for."""
    return [baked_robot(name) for name in str(options.robots).split(",")]


def record(command: str, rows: list[dict[str, Any]], absent: dict[str, str], seed: int) -> str:
    """Return the JSON record of a benchmark."""
    versions: dict[str, str | None] = {"python": platform.python_version(), "platform": platform.platform()}
    for package in ("armwright", "mujoco", "numpy", "numba", "mink", "ompl", "roboplan", "ssik"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return json.dumps(
        {
            "schema": "armwright.result/1",
            "command": command,
            "seed": seed,
            "rows": rows,
            "absent": absent,
            "versions": versions,
        }
    )
