"""Measure segmenters on rendered scenes they have not seen: touching, apart, flush boxes, one print, and by size.

    python scripts/segment_scenes.py CACHE --split shapes --seed 1 --shards 2
    python scripts/segment_eval.py CACHE --segmenters boundary,planes --splits draws,textures,shapes,flush,same

For every object with at least 400 visible pixels (of 640 x 480) the best overlap (IoU) with any segment counts. It is
*touching* where another object's mask comes within 4 pixels of its own. Depth is given a depth camera's faults first.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, find_objects
from segment_samples import Frames, whole

from armwright.core.camera import RgbdFrame
from armwright.core.seeds import rng_for
from armwright.perception.boundary import BoundaryOptions, BoundarySegmenter
from armwright.perception.segmenters import Segmenter, segmenter

LEAST_PX = 400
NEAR_PX = 4
SIZES = (400, 1000, 2500, 6000, 10**9)


def touching(label: NDArray[np.uint8]) -> dict[int, bool]:
    """Return for each object of at least `LEAST_PX` pixels whether another one is near its mask."""
    out = {}
    for k, box in enumerate(find_objects(label.astype(np.int32)), 1):
        if box is None or (label[box] == k).sum() < LEAST_PX:
            continue
        window = tuple(slice(max(s.start - NEAR_PX, 0), s.stop + NEAR_PX) for s in box)
        around = binary_dilation(label[window] == k, np.ones((3, 3)), iterations=NEAR_PX)
        out[k] = bool((around & (label[window] != k) & (label[window] > 0)).any())
    return out


def measure(finder: Segmenter, folder: Path, split: str, limit: int, seed: int) -> tuple[list[dict], dict]:
    """Return a row per object, and what was found that is no object."""
    frames = Frames(folder, split)
    frames.look()
    rows: list[dict] = []
    spurious = found = 0
    used = []
    for k in range(min(limit, len(frames))):
        sample = whole(frames, k, rng_for(seed, "segment-eval", split, k))
        frame = RgbdFrame(sample.rgb, sample.depth_m, sample.camera(), 0.0)
        if k == 0:
            finder.segment(frame)
        started = time.process_time()
        segments = finder.segment(frame)
        used.append(time.process_time() - started)
        names = np.zeros(sample.label.shape, np.int64)
        for number, segment in enumerate(segments, 1):
            names[segment.mask] = number
        table = np.bincount(
            sample.label.astype(np.int64).ravel() * (len(segments) + 1) + names.ravel(),
            minlength=256 * (len(segments) + 1),
        ).reshape(256, -1)
        truth, seen = table.sum(1), table.sum(0)
        for number, near in touching(sample.label).items():
            both = table[number, 1:]
            iou = both / np.maximum(truth[number] + seen[1:] - both, 1)
            parts = int((both > 0.15 * truth[number]).sum())
            best = int(iou.argmax()) if len(iou) else -1
            merged = best >= 0 and (table[1:, best + 1] > 0.3 * np.maximum(truth[1:], 1)).sum() > 1
            rows.append(
                {
                    "iou": float(iou.max(initial=0.0)),
                    "touching": near,
                    "px": int(truth[number]),
                    "split": parts > 1,
                    "merged": bool(merged),
                }
            )
        found += len(segments)
        spurious += int((table[0, 1:] > 0.5 * seen[1:]).sum())
    extra = {"frames": len(used), "found": found, "spurious": spurious, "ms": 1e3 * float(np.median(used))}
    return rows, extra


def summary(rows: list[dict]) -> dict:
    """Return n, the mean IoU, the share above 0.75, and how many are split or merged."""
    iou = np.array([row["iou"] for row in rows])
    if len(iou) == 0:
        return {"n": 0}
    return {
        "n": len(iou),
        "iou": round(float(iou.mean()), 4),
        "above_75": round(float((iou > 0.75).mean()), 4),
        "split": sum(row["split"] for row in rows),
        "merged": sum(row["merged"] for row in rows),
    }


def say(text: str) -> None:
    """Print a line now."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print a table for each segmenter and split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--splits", default="draws,textures,shapes,flush,same")
    parser.add_argument("--segmenters", default="boundary")
    parser.add_argument("--network", type=Path, help="another boundary network (ONNX)")
    parser.add_argument("--options", default="{}", help="BoundaryOptions as JSON")
    parser.add_argument("--frames", type=int, default=10**6)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    out = {}
    for name in args.segmenters.split(","):
        finder: Segmenter = (
            segmenter(name)
            if name != "boundary"
            else BoundarySegmenter(BoundaryOptions(**json.loads(args.options)), path=args.network)
        )
        for split in args.splits.split(","):
            rows, extra = measure(finder, args.cache, split, args.frames, args.seed)
            groups = {
                "touching": [row for row in rows if row["touching"]],
                "apart": [row for row in rows if not row["touching"]],
            }
            for low, high in pairwise(SIZES):
                groups[f"{low}-{high}" if high < 10**9 else f"{low}-"] = [r for r in rows if low <= r["px"] < high]
            out[f"{name}/{split}"] = {key: summary(group) for key, group in groups.items()} | extra
            if not args.json:
                say(f"{name} on {split}: {extra}")
                for key in groups:
                    say(f"  {key:>12}: {out[f'{name}/{split}'][key]}")
    if args.json:
        say(json.dumps(out))


if __name__ == "__main__":
    main()
