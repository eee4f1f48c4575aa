"""One choice of Stage 1 at a time, measured by physics: what the defaults of GraspOptions rest on.

    python benchmarks/grasp_stage1_sweep.py [--instances 0-4] [--robot franka] [--json]

``ready`` is the share of (object, heading) pairs, 12 headings each, with at least four candidates that an arm in front
of the object can expect to reach: the hand comes from above (30 degrees or more below level) or from the arm's side.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from typing import Any

import numpy as np

from _grasp_rig import Rig
from armwright.assets.cloud import nearest_part, sample_cloud
from armwright.assets.library import default_library
from armwright.core.seeds import rng_for
from armwright.grasping.affordance import sample_grasps
from armwright.grasping.clearance import table_plane
from armwright.grasping.options import GraspOptions
from grasp_stage1 import gripper_of

CASES = (
    ("mug", "Graspable Handle"), ("cup", "Graspable Body"), ("bowl", "Graspable Rim"), ("banana", "Graspable Body"),
    ("can", "Graspable Body"), ("bottle", "Graspable Body"), ("box", "Graspable Body"),
    ("kettle", "Graspable Handle"), ("carrot", "Graspable Body"), ("carton", "Graspable Body"),
)  # fmt: skip

VARIANTS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("defaults", {}, 8192),
    ("K 4", {"approaches": 4}, 8192),
    ("K 6", {"approaches": 6}, 8192),
    ("K 12", {"approaches": 12}, 8192),
    ("tilt 0.3", {"tilt_rad": 0.3}, 8192),
    ("tilt 0.45", {"tilt_rad": 0.45}, 8192),
    ("tilt 0.8", {"tilt_rad": 0.8}, 8192),
    ("tilt 1.0", {"tilt_rad": 1.0}, 8192),
    ("one ring (the paper)", {"extra_tilts_rad": ()}, 8192),
    ("ring and -n", {"extra_tilts_rad": (0.0,)}, 8192),
    ("ring and tangent", {"extra_tilts_rad": (1.5708,)}, 8192),
    ("m 8", {"neighbours": 8}, 8192),
    ("m 32", {"neighbours": 32}, 8192),
    ("modes, four at least", {"contacts": 1}, 8192),
    ("contacts 8", {"contacts": 8}, 8192),
    ("contacts 20", {"contacts": 20}, 8192),
    ("yaws 4", {"yaws": 4}, 8192),
    ("on-region 0.85", {"min_on_region": 0.85}, 8192),
    ("quality 0", {"min_quality": 0.0}, 8192),
    ("quality 0.2", {"min_quality": 0.2}, 8192),
    ("cloud 4096", {}, 4096),
    ("cloud 2048", {}, 2048),
)


def ready(directions: np.ndarray) -> float:
    """Return the share of 12 headings with at least four reachable-looking approaches."""
    good = 0
    for k in range(12):
        yaw = 2 * np.pi * k / 12
        forward = np.cos(yaw) * directions[:, 0] - np.sin(yaw) * directions[:, 1]
        above = directions[:, 2] < -0.5
        good += int((above | ((forward > 0.5) & (directions[:, 2] < 0.1))).sum() >= 4)
    return good / 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", default="0-4")
    parser.add_argument("--robot", default="franka")
    parser.add_argument("--only", default="", help="variants by name, comma separated")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    first, _, last = args.instances.partition("-")
    gripper = gripper_of(args.robot)
    library = default_library()
    variants = [v for v in VARIANTS if not args.only or v[0] in args.only.split(",")]
    totals = {name: {"cpu": [], "count": [], "ready": [], "top": [], "any": [], "none": 0} for name, *_ in variants}
    for category, region in CASES:
        for instance in range(int(first), int(last or first) + 1):
            model = library.build(category, instance=instance)
            parts = model.regions[region]
            rig = Rig(model, gripper)
            plane = table_plane(rig.pose_world_object)
            for name, change, points in variants:
                rng = rng_for(0, "grasp_sweep", category, instance)
                cloud = sample_cloud(model, points, rng=rng)
                mask = np.isin(cloud.part, parts)
                options = replace(GraspOptions(), **change)
                start = time.process_time()
                found = sample_grasps(
                    cloud.points_m, cloud.normals, mask, gripper, options=options, support_plane=plane
                ).candidates
                total = totals[name]
                total["cpu"].append(time.process_time() - start)
                total["count"].append(len(found))
                if not found:
                    total["none"] += 1
                    total["ready"].append(0.0)
                    continue
                total["ready"].append(ready(np.array([c.pose_object_pads.rotation[:, 2] for c in found])))
                for kind, pick in (("top", 0), *(("any", k) for k in rng.integers(0, len(found), 2).tolist())):
                    trial = rig.run(found[pick])
                    on_part = len(trial.contacts) and np.isin(nearest_part(model, trial.contacts), parts).mean() >= 0.8
                    total[kind].append((trial.held, bool(trial.held and on_part)))
    rows = []
    for name, total in totals.items():
        top, every = np.array(total["top"]).mean(0), np.array(total["any"]).mean(0)
        rows.append(
            {
                "variant": name,
                "ms": 1e3 * float(np.median(total["cpu"])),
                "candidates": float(np.median(total["count"])),
                "none": total["none"],
                "ready": float(np.mean(total["ready"])),
                "n": len(total["top"]),
                "top_held": float(top[0]),
                "top_ok": float(top[1]),
                "any_held": float(every[0]),
                "any_ok": float(every[1]),
            }
        )
    if args.json:
        print(json.dumps({"rows": rows}, indent=1))
        return
    print("variant                    ms  cand none    n  ready top held ok  any held ok")
    for r in rows:
        shares = " ".join(f"{100 * r[key]:5.0f}%" for key in ("ready", "top_held", "top_ok", "any_held", "any_ok"))
        print(f"{r['variant']:23} {r['ms']:5.1f} {r['candidates']:5.0f} {r['none']:4} {r['n']:4} {shares}")


if __name__ == "__main__":
    main()
