"""Compare reference affordances with the masks of part labels: ``python scripts/reference_overlap.py [--json]``."""

from __future__ import annotations

import json
import sys
from collections import defaultdict

import numpy as np

from armwright.assets.cloud import sample_cloud
from armwright.assets.index import instance
from armwright.assets.reference import overlap, reference_instances, reference_mask, reference_regions

POINTS = 20_000


def overlaps() -> dict[tuple[str, str], float]:
    """Return the intersection over union per object and region, over points spread evenly by area."""
    found = {}
    for name in reference_instances():
        model = instance(name).build()
        cloud = sample_cloud(model, POINTS, rng=np.random.default_rng(0))
        for region in reference_regions(name):
            drawn = reference_mask(name, region, cloud.points_m, cloud.normals)
            found[name, region] = overlap(drawn, np.isin(cloud.part, model.regions[region]))
    return found


def main() -> None:
    """Print the overlap per region, and the pairs that differ most."""
    found = overlaps()
    by_region = defaultdict(list)
    for (_, region), value in found.items():
        by_region[region].append(value)
    table = {region: {"n": len(v), "mean": float(np.mean(v)), "lowest": min(v)} for region, v in by_region.items()}
    total = {"objects": len(reference_instances()), "regions": len(found), "mean": float(np.mean(list(found.values())))}
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps({"by_region": table, **total}, indent=2) + "\n")
        return
    lines = [
        f"{region:<18} {row['n']:>3} regions  IoU {row['mean']:.2f}  lowest {row['lowest']:.2f}"
        for region, row in table.items()
    ]
    lines.append(f"{total['objects']} objects, {total['regions']} regions, mean IoU {total['mean']:.2f}")
    worst = sorted(found.items(), key=lambda pair: pair[1])[:8]
    lines += [f"  {value:.2f}  {name} {region}" for (name, region), value in worst]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
