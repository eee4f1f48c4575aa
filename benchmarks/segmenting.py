"""Segmenting frames of 640x480 on one core: the built-in network, its parts, and geometry alone.

Usage: ``python benchmarks/segmenting.py [--json] [--rounds 5]``
Target: 70 ms a frame for the first look. A shelf with 20 packages, drawn by ray casting with 1 mm noise. Times are CPU
times of one thread, kernels compiled, the best round. Overlaps are those of the best segment with each package.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from _common import record, timed
from armwright.core.camera import RgbdFrame
from armwright.perception._segment_decode import decode
from armwright.perception._segment_features import pack
from armwright.perception.boundary import BoundaryOptions, BoundarySegmenter
from armwright.perception.planes import PlaneSegmenter
from armwright.perception.segmenters import Segment
from mapping import OBJECTS, drawn, shelf

VIEWS = 3
LEAST_PX = 400


def best_of(rounds: int, job: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result and the CPU time [ms] of the quickest round."""
    job()
    return min((timed(job) for _ in range(rounds)), key=lambda pair: pair[1])


def overlaps(found: list[Segment], owner: np.ndarray) -> list[float]:
    """Return each package's overlap with the best segment."""
    out = []
    for k in range(OBJECTS):
        truth = owner == k
        if truth.sum() >= LEAST_PX:
            out.append(max((float((s.mask & truth).sum() / (s.mask | truth).sum()) for s in found), default=0.0))
    return out


def main() -> None:
    """Print the table, or its record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON record and nothing else")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    frames = drawn(shelf(options.seed), VIEWS, options.seed)
    rows: list[dict[str, Any]] = []

    def row(job: str, work: Callable[[RgbdFrame], Any], *, masks: bool) -> None:
        results = [best_of(options.rounds, lambda f=frame: work(f)) for frame, _ in frames]
        held = [
            o for (found, _), (_, owner) in zip(results, frames, strict=True) if masks for o in overlaps(found, owner)
        ]
        more = {"objects": len(held), "mean_iou": float(np.mean(held))} if masks else {}
        rows.append({"by": "armwright", "job": job, "ms_per_frame": float(np.mean([ms for _, ms in results])), **more})

    first = BoundarySegmenter(BoundaryOptions(most_windows=0))
    chosen = first.options

    def network(frame: RgbdFrame) -> tuple[np.ndarray, np.ndarray]:
        fine, coarse = first._session.run(None, {"x": pack(frame.rgb, frame.depth_m, frame.camera)[None]})
        return fine[0], coarse[0]

    answers = {id(frame): network(frame) for frame, _ in frames}
    row("boundary, first look", first.segment, masks=True)
    row("boundary, with closer looks", BoundarySegmenter().segment, masks=True)
    row("of the first look: features", lambda f: pack(f.rgb, f.depth_m, f.camera), masks=False)
    row("of the first look: features and network", network, masks=False)
    row(
        "of the first look: decoding",
        lambda f: decode(*answers[id(f)], smallest_px=chosen.smallest_px, weakest=chosen.weakest, mutual=chosen.mutual),
        masks=False,
    )
    row("planes", PlaneSegmenter().segment, masks=True)
    if options.json:
        print(record("segmenting", rows, {}, options.seed))
        return
    for entry in rows:
        iou = f"  IoU {entry['mean_iou']:.3f} of {entry['objects']}" if "mean_iou" in entry else ""
        print(f"{entry['job']:<42} {entry['ms_per_frame']:6.1f} ms{iou}")


if __name__ == "__main__":
    main()
