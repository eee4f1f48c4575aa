"""Evaluate 200 grasp candidates on each arm: IK, filter, approach, plan, shortcut (AffordSim §3.2, stage 2).

Usage: ``python benchmarks/grasps.py [--json] [--robots franka,ur5e] [--candidates 200] [--repeats 5]``
Target: 200 candidates within 200 ms on one core. Thread CPU time is printed beside wall time: machines are shared.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter

import numpy as np

from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.planning.planner import Planner
from armwright.planning.types import Obstacle, WorldSpec
from armwright.robots.bake import baked_robot
from armwright.robots.registry import robot_names

TARGET_MS = 200.0


def box(name: str, center_m: tuple[float, float, float], half_m: tuple[float, float, float]) -> Obstacle:
    """Return an upright box."""
    corners = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    return Obstacle(name, Pose(np.array(center_m)), (corners * half_m,))


def shelf_world(seed: int = 0) -> WorldSpec:
    """Return a table, a three-board shelf with sides and back, and six boxes and six eight-sided cans on both."""
    rng = rng_for(seed, "world")
    x, depth, width, height = 0.72, 0.15, 0.40, 0.66
    boards = [box(f"board_{i}", (x, 0, z), (depth, width, 0.01)) for i, z in enumerate((0.02, 0.34, 0.66))]
    sides = [box(f"side_{s}", (x, s * width, height / 2), (depth, 0.01, height / 2)) for s in (-1, 1)]
    back = box("back", (x + depth, 0, height / 2), (0.01, width, height / 2))
    clutter = []
    for i in range(12):
        half = rng.uniform([0.02, 0.02, 0.03], [0.04, 0.04, 0.09])
        if i % 2:
            spot = (rng.uniform(0.3, 0.5), rng.choice([-1, 1]) * rng.uniform(0.15, 0.45), half[2])
        else:
            spot = (x + rng.uniform(-0.08, 0.08), rng.uniform(-0.34, 0.34), half[2] + (0.03 if i % 4 else 0.35))
        if i < 6:
            clutter.append(box(f"box_{i}", spot, tuple(half)))
        else:
            turn = np.linspace(0, 2 * np.pi, 8, endpoint=False)
            ring = np.stack([half[0] * np.cos(turn), half[0] * np.sin(turn)], 1)
            prism = np.concatenate([np.column_stack([ring, np.full(8, z)]) for z in (-half[2], half[2])])
            clutter.append(Obstacle(f"can_{i}", Pose(np.array(spot)), (prism,)))
    table = box("table", (0.35, 0.0, -0.02), (0.60, 0.75, 0.02))
    return WorldSpec((table, *boards, *sides, back, *clutter))


def candidates(count: int, seed: int = 0) -> np.ndarray:
    """Return (count, 4, 4) tool poses: 60 % into the shelf, 40 % down onto the table."""
    rng = rng_for(seed, "candidates")
    poses = np.tile(np.eye(4), (count, 1, 1))
    for pose in poses:
        if rng.random() < 0.6:
            height = rng.choice([rng.uniform(0.09, 0.26), rng.uniform(0.42, 0.58)])
            pose[:3, 3] = rng.uniform(0.66, 0.78), rng.uniform(-0.3, 0.3), height
            yaw, pitch = rng.uniform(-0.5, 0.5), rng.uniform(-0.1, 0.3)
            z = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
        else:
            pose[:3, 3] = rng.uniform(0.3, 0.58), rng.uniform(-0.45, 0.45), rng.uniform(0.03, 0.2)
            z = np.array([*rng.normal(0, 0.25, 2), -1.0])
        z /= np.linalg.norm(z)
        x = rng.normal(size=3)
        x -= z * (x @ z)
        x /= np.linalg.norm(x)
        pose[:3, :3] = np.stack([x, np.cross(z, x), z], 1)
    return poses


def measure(robot: str, *, count: int, repeats: int) -> dict[str, object]:
    """Return one row of the table."""
    arm = baked_robot(robot)
    planner = Planner(arm.kinematics, opening_m=arm.spec.gripper.opening_m[1])
    start = time.thread_time()
    planner.set_world(shelf_world())
    world_ms = (time.thread_time() - start) * 1e3
    poses = candidates(count)
    home = arm.kinematics.home_rad
    result = planner.evaluate_grasps(home, poses)
    batch_cpu, batch_wall = [], []
    for _ in range(repeats):
        cpu, wall = time.thread_time(), time.perf_counter()
        planner.evaluate_grasps(home, poses)
        batch_cpu.append((time.thread_time() - cpu) * 1e3)
        batch_wall.append((time.perf_counter() - wall) * 1e3)
    single = []
    for pose in poses:
        cpu = time.thread_time()
        planner.evaluate_grasps(home, pose[None])
        single.append((time.thread_time() - cpu) * 1e3)
    return {
        "robot": robot,
        "candidates": count,
        "status": dict(Counter(result.status)),
        "world_ms": round(world_ms, 1),
        "single_median_ms": round(float(np.median(single)), 3),
        "single_p95_ms": round(float(np.percentile(single, 95)), 3),
        "batch_cpu_ms": round(float(np.median(batch_cpu)), 1),
        "batch_wall_ms": round(float(np.median(batch_wall)), 1),
        "target_ms": TARGET_MS * count / 200,
        "ratio_to_target": round(float(np.median(batch_cpu)) / (TARGET_MS * count / 200), 2),
    }


def main() -> None:
    """Print one row per arm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--robots", default=",".join(robot_names()))
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows = [measure(name, count=options.candidates, repeats=options.repeats) for name in options.robots.split(",")]
    if options.json:
        print(json.dumps({"rows": rows}))
        return
    for row in rows:
        print(
            f"{row['robot']:8} one {row['single_median_ms']:.2f} ms median, {row['single_p95_ms']:.2f} p95; "
            f"{row['candidates']} in {row['batch_cpu_ms']} ms CPU ({row['batch_wall_ms']} wall), "
            f"target {row['target_ms']:.0f}, ratio {row['ratio_to_target']}; {row['status']}"
        )


if __name__ == "__main__":
    main()
