"""How much of the reserved places an arm's station before the shelf reaches: ``python benchmarks/shelf_station.py``.

A place counts if the tool can hold something there, level or tilted down by 25 degrees and turned by up to 25 degrees,
and can be drawn straight out in front of the shelf; the arm must be clear of shelf and table. Neighbours and what is
held are left out: they belong to the run.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace

import numpy as np

from armwright.core.pose import Pose
from armwright.planning.types import WorldSpec
from armwright.shelf.scenes import scene
from armwright.shelf.worlds import SHELF_AT_M, ShelfWorld, open_scene

PITCHES_DEG, YAWS_DEG, ROLLS_DEG = (0.0, 25.0), (-25.0, 0.0, 25.0), (0.0, 180.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=20, help="scenes of each layout")
    parser.add_argument("--seed", type=int, default=11, help="seed of the first scene")
    parser.add_argument("--at", type=float, nargs=2, metavar=("X", "Z"), action="append", help="shelf position [m]")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    seeds = range(asked.seed, asked.seed + asked.scenes)
    drawn = [scene(layout, seed) for layout in ("single-row", "multi-row", "varying-clearance") for seed in seeds]
    world = open_scene(drawn[0])
    rows = []
    for x, z in asked.at or [(SHELF_AT_M[0], SHELF_AT_M[2])]:
        started = time.process_time()
        here = Pose(np.array([x, 0.0, z]))
        found = [
            one
            for each in drawn
            for one in reached(replace(world, scene=each, shelf=each.shelf, pose_world_shelf=here))
        ]
        share = {f"board_{k}": round(float(np.mean([ok for board, ok in found if board == k])), 3) for k in range(3)}
        all_ = round(float(np.mean([ok for _, ok in found])), 3)
        rows.append({"shelf_x_m": x, "shelf_z_m": z, "places": len(found), "reached": all_, **share})
        rows[-1]["cpu_s"] = round(time.process_time() - started, 1)
        if not asked.json:
            print(rows[-1], flush=True)
    if asked.json:
        json.dump(rows, sys.stdout, indent=2)


def reached(world: ShelfWorld) -> list[tuple[int, bool]]:
    """Return board and whether it is reached, for each reserved place of a scene."""
    planner = world.planner
    planner.set_world(WorldSpec(world.planner_world().obstacles))
    front = world.pose_world_shelf.position_m[0] - 0.13
    found = []
    for place in world.scene.reserved:
        at = world.pose_world_shelf.transform(np.array(place.center_m))
        poses = np.stack([tool(at, *turn) for turn in turns()])
        solved = planner.ik(poses, n_seeds=8, max_solutions=4)
        joints = np.array([solved.q_rad[i, k] for i in range(len(poses)) for k in range(int(solved.count[i]))])
        ok = False
        for q in joints[planner.check(joints)][:8] if len(joints) else ():
            out = planner.fk(q[None])[0]
            out[0, 3] = front
            if planner.linear(q, out, step_m=0.03).ok:
                ok = True
                break
        found.append((world.shelf.board_of(place.low_m[2]), ok))
    return found


def turns() -> list[tuple[float, float, float]]:
    return [(p, y, r) for p in PITCHES_DEG for y in YAWS_DEG for r in ROLLS_DEG]


def tool(at_m: np.ndarray, pitch_deg: float, yaw_deg: float, roll_deg: float) -> np.ndarray:
    """Return the (4, 4) tool pose that points into the shelf, closing sideways."""
    p, w, r = np.deg2rad((pitch_deg, yaw_deg, roll_deg))
    z = np.array([np.cos(p) * np.cos(w), np.cos(p) * np.sin(w), -np.sin(p)])
    y = np.array([-np.sin(w), np.cos(w), 0.0]) * np.cos(r)
    out = np.eye(4)
    out[:3, :3] = np.stack([np.cross(y, z), y, z], 1)
    out[:3, 3] = at_m
    return out


if __name__ == "__main__":
    main()
