"""Look at segmenters on one real RGB-D view of touching objects: what covers each object's origin.

    python scripts/segment_real.py FOLDER --picture masks.png

The folder holds ``color.png``, ``depth.png`` (16 bits) and ``meta.mat`` with ``intrinsic_matrix``, ``factor_depth``
and ``poses`` (3, 4, n) of n objects in the camera's frame, as in graspnet-baseline's example. An object is *missed*
where no segment covers the pixel of its origin, and *merged* where the segment covers another's too. There are no true
masks, so splits are counted by eye; printed are the segments that cover no origin.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import loadmat

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.pose import Pose
from armwright.perception.boundary import BoundarySegmenter
from armwright.perception.segmenters import Segment, segmenter


def read(folder: Path) -> tuple[RgbdFrame, np.ndarray]:
    """Return the frame and (n, 2) pixels of the objects' origins."""
    meta = loadmat(folder / "meta.mat")
    k = meta["intrinsic_matrix"]
    rgb = np.asarray(Image.open(folder / "color.png").convert("RGB"))
    depth = np.asarray(Image.open(folder / "depth.png")).astype(np.float32) / float(meta["factor_depth"].squeeze())
    camera = CameraModel(depth.shape[1], depth.shape[0], k[0, 0], k[1, 1], k[0, 2], k[1, 2], Pose())
    origins = meta["poses"][:, 3, :].T
    return RgbdFrame(rgb, depth, camera, 0.0), camera.project(origins)[0]


def tally(found: list[Segment], pixels: np.ndarray) -> dict:
    """Return which segment covers each origin, and what follows."""
    covers = []
    for u, v in pixels.astype(int):
        hits = [k for k, segment in enumerate(found) if segment.mask[v, u]]
        covers.append(hits[0] if hits else -1)
    named = [k for k in covers if k >= 0]
    return {
        "objects": len(covers),
        "missed": covers.count(-1),
        "merged": sum(named.count(k) > 1 for k in named),
        "segments": len(found),
        "without_origin": len(found) - len(set(named)),
        "covers": covers,
    }


def picture(frame: RgbdFrame, found: list[Segment], pixels: np.ndarray) -> Image.Image:
    """Return the image with the masks over it and the origins as dots."""
    out = frame.rgb.astype(np.float32)
    colours = np.random.default_rng(3).integers(40, 255, (len(found) + 1, 3))
    for colour, segment in zip(colours, found, strict=False):
        inner = segment.mask.copy()
        for axis in (0, 1):
            for step in (-2, 2):
                inner &= np.roll(segment.mask, step, axis)
        out[segment.mask] = 0.6 * out[segment.mask] + 0.4 * colour
        out[segment.mask & ~inner] = colour
    for u, v in pixels.astype(int):
        out[v - 5 : v + 6, u - 5 : u + 6] = (255, 0, 0)
    return Image.fromarray(out.astype(np.uint8))


def main() -> None:
    """Print what each segmenter finds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--segmenter", default="boundary")
    parser.add_argument("--network", type=Path, help="another boundary network (ONNX)")
    parser.add_argument("--picture", type=Path)
    args = parser.parse_args()
    frame, pixels = read(args.folder)
    finder = BoundarySegmenter(path=args.network) if args.network else segmenter(args.segmenter)
    found = finder.segment(frame)
    sys.stdout.write(json.dumps(tally(found, pixels)) + "\n")
    if args.picture:
        picture(frame, found, pixels).save(args.picture)


if __name__ == "__main__":
    main()
