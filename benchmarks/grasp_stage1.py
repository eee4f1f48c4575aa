"""Stage 1 grasps against physics, without an arm: hold rate and compliance per category and region.

    python benchmarks/grasp_stage1.py [--instances 100-119] [--robots franka,ur5e] [--only mug/handle] [--json]

Every object stands on a table; each trial closes a free gripper at one candidate, lifts 15 cm, shakes, and counts as
held when both pads still touch the object. Compliant: at least 80 % of the pads' contacts during the lift lie on the
parts of the region asked for. Times are CPU time of one call.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from _grasp_rig import Rig
from armwright.affordance.oracle import OracleAffordance
from armwright.affordance.protocol import ObjectCloud
from armwright.assets.cloud import nearest_part, sample_cloud
from armwright.assets.library import default_library
from armwright.core.seeds import rng_for
from armwright.core.task import AffordanceQuery
from armwright.grasping.affordance import sample_grasps
from armwright.grasping.clearance import table_plane
from armwright.grasping.options import GraspOptions
from armwright.robots.spec import GripperSpec

CASES: tuple[tuple[str, str], ...] = (
    ("mug", "Graspable Handle"), ("mug", "Graspable Body"), ("mug", "Graspable Rim"), ("cup", "Graspable Body"),
    ("paper_cup", "Graspable Body"), ("bowl", "Graspable Rim"), ("plate", "Graspable Rim"),
    ("banana", "Graspable Body"), ("can", "Graspable Body"), ("bottle", "Graspable Body"), ("box", "Graspable Body"),
    ("cube", "Graspable Body"), ("carton", "Graspable Body"), ("tube", "Graspable Body"),
    ("carrot", "Graspable Body"), ("pan", "Graspable Handle"), ("pot", "Graspable Handle"),
    ("kettle", "Graspable Handle"), ("scoop", "Graspable Handle"), ("basket", "Graspable Handle"),
    ("tray", "Graspable Rim"), ("cutting_board", "Graspable Handle"),
)  # fmt: skip

POINTS = 8192


def gripper_of(robot: str) -> GripperSpec:
    from armwright.robots.registry import load_spec

    return load_spec(robot).gripper


def run_case(
    category: str, region: Any, gripper: GripperSpec, instances: range, *, options: GraspOptions, random_trials: int
) -> dict[str, Any]:
    """Try the best candidate and a few random ones of every instance."""
    library = default_library()
    oracle = OracleAffordance()
    row: dict[str, Any] = {"category": category, "region": region, "gripper": gripper.name}
    count = dict.fromkeys(("objects", "with_grasp", "top", "top_held", "top_ok", "any", "any_held", "any_ok"), 0)
    times, sizes, slips, down, contacts_hit = [], [], [], 0, []
    dropped: dict[str, int] = {}
    touched: dict[str, int] = {}
    for instance in instances:
        try:
            model = library.build(category, instance=instance)
        except KeyError:
            break
        rng = rng_for(0, "grasp_stage1", category, instance)
        cloud = sample_cloud(model, POINTS, rng=rng)
        query = AffordanceQuery(object="x", region=region, role="grasp")
        labelled = ObjectCloud("x", category, cloud.points_m, cloud.normals, cloud.part, cloud.link)
        mask = oracle.predict(labelled, query).mask
        rig = Rig(model, gripper)
        plane = table_plane(rig.pose_world_object)
        start = time.process_time()
        found = sample_grasps(cloud.points_m, cloud.normals, mask, gripper, options=options, support_plane=plane)
        times.append(time.process_time() - start)
        for key, value in found.dropped.items():
            dropped[key] = dropped.get(key, 0) + value
        sizes.append(len(found.candidates))
        count["objects"] += 1
        if not found.candidates:
            continue
        count["with_grasp"] += 1
        up = plane[:3]
        down += any(c.pose_object_pads.rotation[:, 2] @ up < -0.7 for c in found.candidates)
        picks = [0, *rng.integers(0, len(found.candidates), random_trials).tolist()]
        parts = model.regions.get(region, ())
        for k, pick in enumerate(picks):
            trial = rig.run(found.candidates[pick])
            share = 0.0
            if len(trial.contacts):
                hit = nearest_part(model, trial.contacts)
                share = float(np.isin(hit, parts).mean())
                for name, times_hit in zip(*np.unique(hit, return_counts=True), strict=True):
                    touched[str(name)] = touched.get(str(name), 0) + int(times_hit)
            kind = "top" if k == 0 else "any"
            count[kind] += 1
            count[f"{kind}_held"] += trial.held
            count[f"{kind}_ok"] += trial.held and share >= 0.8
            if trial.held:
                slips.append(trial.slip_m)
                contacts_hit.append(share)
    row |= count
    row |= {
        "candidates": float(np.median(sizes or [0])),
        "with_top_down": down,
        "ms": round(1e3 * float(np.median(times or [0])), 1),
        "slip_mm": round(1e3 * float(np.median(slips)), 1) if slips else None,
        "on_part": round(float(np.mean(contacts_hit)), 2) if contacts_hit else None,
        "dropped": dropped,
        "touched": touched,
    }
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", default="100-119")
    parser.add_argument("--robots", default="franka")
    parser.add_argument("--only", default="", help="CATEGORY or CATEGORY/REGION word, comma separated")
    parser.add_argument("--random", type=int, default=3, help="random candidates per object besides the best")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE of GraspOptions")
    parser.add_argument("--parts", action="store_true", help="print which parts the pads touched")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    first, _, last = args.instances.partition("-")
    instances = range(int(first), int(last or first) + 1)
    options = GraspOptions(**{k: json.loads(v) for k, _, v in (s.partition("=") for s in args.set)})
    rows = []
    if not args.json:
        print(
            f"{'gripper':12} {'category':13} {'region':16}  n with down cand    ms | top held   ok | any held   ok |"
            " slip part"
        )
    for robot in args.robots.split(","):
        gripper = gripper_of(robot)
        for category, region in CASES:
            wanted = [w.partition("/") for w in args.only.split(",") if w]
            if wanted and not any(w[0] == category and w[2].lower() in region.lower() for w in wanted):
                continue
            row = run_case(category, region, gripper, instances, options=options, random_trials=args.random)
            rows.append(row)
            if not args.json:
                top, every = max(row["top"], 1), max(row["any"], 1)
                print(
                    f"{row['gripper']:12} {category:13} {region:16} {row['objects']:2} {row['with_grasp']:4} "
                    f"{row['with_top_down']:4} {row['candidates']:4.0f} {row['ms']:5.1f} | "
                    f"{100 * row['top_held'] / top:7.0f}% {100 * row['top_ok'] / top:3.0f}% | "
                    f"{100 * row['any_held'] / every:7.0f}% {100 * row['any_ok'] / every:3.0f}% | "
                    f"{row['slip_mm']} {row['on_part']} {row['touched'] if args.parts else ''}",
                    flush=True,
                )
    if args.json:
        print(json.dumps({"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
