"""What each grasp source proposes, without an arm: CPU time per call, candidates, and how many lie on the region.

usage: python benchmarks/grasp_sources.py [--instances 100-104] [--robot franka] [--only mug,kettle]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from armwright.assets.catalog import CATALOG
from armwright.assets.cloud import sample_cloud
from armwright.assets.library import default_library
from armwright.core.camera import CameraModel
from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for
from armwright.core.task import RegionName
from armwright.grasping.clearance import table_plane
from armwright.grasping.request import GraspRequest
from armwright.grasping.sources import grasp_source
from armwright.grasping.types import GraspCandidate
from armwright.robots.registry import load_spec
from armwright.robots.station import station

OBJECTS: tuple[tuple[str, RegionName], ...] = (
    ("banana", "Graspable Body"),
    ("cube", "Graspable Body"),
    ("can", "Graspable Body"),
    ("mug", "Graspable Handle"),
    ("kettle", "Graspable Handle"),
    ("bowl", "Graspable Rim"),
    ("pot", "Graspable Lid"),
    ("pan", "Graspable Handle"),
)
SOURCES = (
    "affordance",
    "manual",
    *(f"generic{kind}:{top}" for kind in ("", "-filtered") for top in (50, 200, 1000)),
)
# The labelled share under both pads from which a grasp counts as on the region, as the judge asks of contacts.
ON_REGION = 0.8
NEAR_M = 0.003


def on_region(request: GraspRequest, candidate: GraspCandidate) -> bool:
    """Say whether what both pads would touch lies on the region."""
    pads, (pad_x, pad_z) = candidate.pose_object_pads, request.gripper.pad_size_m
    local = (request.points_m - pads.position_m) @ pads.rotation
    facing = request.normals @ pads.rotation[:, 1]
    under = (np.abs(local[:, 0]) < 0.5 * pad_x) & (np.abs(local[:, 2]) < 0.5 * pad_z)
    under &= np.abs(local[:, 1]) < 0.5 * candidate.opening_m
    touched: list[Array] = []
    for sign in (-1.0, 1.0):
        side = under & (sign * facing > 0.35)
        if not side.any():
            return False
        reach = (sign * local[side, 1]).max()
        touched.append(request.mask[side][sign * local[side, 1] > reach - NEAR_M])
    return float(np.concatenate(touched).mean()) >= ON_REGION


def main() -> None:
    """Print one line per source and object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", default="100-104")
    parser.add_argument("--robot", default="franka")
    parser.add_argument("--only", default=",".join(category for category, _ in OBJECTS))
    options = parser.parse_args()
    wanted = options.only.split(",")
    first, last = (int(n) for n in options.instances.split("-"))
    spec = load_spec(options.robot)
    camera: CameraModel = station().cameras["front"].model(width=640, height=480)
    print("object, region | source | CPU ms | candidates | best on region | all on region")
    for category, region in (item for item in OBJECTS if item[0] in wanted):
        rows: dict[str, list[tuple[float, int, float, float]]] = {name: [] for name in SOURCES}
        for instance in range(first, last + 1):
            rng = rng_for(instance, "bench", category)
            cloud = sample_cloud(default_library().build(category, instance=instance), 8192, rng=rng)
            pose = Pose.from_yaw([*spec.workspace_center_m, -cloud.points_m[:, 2].min()], rng.uniform(-0.5, 0.5))
            request = GraspRequest(
                cloud.points_m,
                cloud.normals,
                np.isin(cloud.part, CATALOG[category].regions[region]),
                spec.gripper,
                support_plane=table_plane(pose),
                category=category,
                region=region,
                pose_world_object=pose,
                camera=camera,
            )
            for name in SOURCES:
                source = grasp_source(name)
                source.sample(replace(request, rng=rng_for(instance, "warm")))
                began = time.process_time()
                found = source.sample(replace(request, rng=rng_for(instance, "grasps")))
                took = 1000 * (time.process_time() - began)
                good = [on_region(request, c) for c in found.candidates[::2]]
                rows[name].append(
                    (took, len(good), float(good[0]) if good else 0.0, float(np.mean(good)) if good else 0.0)
                )
        for name, row in rows.items():
            took, count, best, share = np.array(row).T
            print(
                f"{category}, {region.split()[1].lower()} | {name} | {np.median(took):.0f} | {np.median(count):.0f} | "
                f"{100 * best.mean():.0f} % | {100 * share.mean():.0f} %",
                flush=True,
            )


if __name__ == "__main__":
    main()
