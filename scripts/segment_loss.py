"""The losses of the boundary network with their gradients, compiled: in torch they cost more than the network."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armwright.perception._jit import kernel
from armwright.perception._segment_decode import NEIGHBOURS, OFFSETS

F32 = NDArray[np.float32]
SPLIT_WEIGHT = 4.0
"""How much more a pair of two objects counts than a pair within one, of neighbouring pixels."""
FAR_SPLIT_WEIGHT = 1.5
EDGE_WEIGHT = 3.0
"""How much more a pixel within `EDGE_PX` of an object's edge counts for the foreground."""
EDGE_PX = 4
SHARES = {"front": 1.0, "near": 0.5, "pairs": 1.0, "far": 1.0}


def losses(fine: F32, coarse: F32, label: NDArray[np.uint8]) -> tuple[dict[str, float], F32, F32]:
    """Return each loss and the gradients of their weighted sum.

    Foreground: binary cross-entropy of every pixel. Pairs: the same of "these two pixels are of one object", over pairs
    with at least one in the foreground.

    Args:
        fine: (n, H / 4, W / 4, 3 * 16) logits as the network's head gives them, before they are spread over the pixels.
        coarse: (n, H / 4, W / 4, len(OFFSETS) * 4), likewise over half the pixels.
        label: (n, H, W), 0 background.
    """
    to_fine, to_coarse = np.zeros_like(fine), np.zeros_like(coarse)
    half = np.ascontiguousarray(label[:, ::2, ::2])
    out = {"front": _front(fine, label, EDGE_PX, EDGE_WEIGHT, SHARES["front"], to_fine)}
    near = [(0, 1), (1, 0)]
    out["near"] = 0.0
    for k, (dy, dx) in enumerate(near):
        share = SHARES["near"] / len(near)
        out["near"] += _pairs(fine, 1 + k, 2, label, dy, dx, SPLIT_WEIGHT, share, to_fine) / len(near)
    out["pairs"] = out["far"] = 0.0
    for k, (dy, dx) in enumerate(OFFSETS):
        name, count = ("pairs", NEIGHBOURS) if k < NEIGHBOURS else ("far", len(OFFSETS) - NEIGHBOURS)
        weight = SPLIT_WEIGHT if k < NEIGHBOURS else FAR_SPLIT_WEIGHT
        share = SHARES[name] / count
        out[name] += _pairs(coarse, k, 1, half, dy, dx, weight, share, to_coarse) / count
    return out, to_fine, to_coarse


@kernel
def _front(head, label, reach, edge_weight, share, gradient):  # type: ignore[no-untyped-def]
    count, height, width = label.shape
    total, weights = 0.0, 0.0
    for i in range(count):
        for y in range(height):
            for x in range(width):
                there = label[i, y, x] > 0
                weight = np.float32(1)
                if (
                    (label[i, max(y - reach, 0), x] > 0) != there
                    or (label[i, min(y + reach, height - 1), x] > 0) != there
                    or (label[i, y, max(x - reach, 0)] > 0) != there
                    or (label[i, y, min(x + reach, width - 1)] > 0) != there
                ):
                    weight = np.float32(edge_weight)
                c = (y & 3) * 4 + (x & 3)
                logit = head[i, y >> 2, x >> 2, c]
                z = logit if there else -logit
                e = np.exp(-abs(z))
                total += weight * (np.log(np.float32(1) + e) + max(-z, np.float32(0)))
                miss = e / (np.float32(1) + e) if z > 0 else np.float32(1) / (np.float32(1) + e)
                gradient[i, y >> 2, x >> 2, c] = -weight * miss if there else weight * miss
                weights += weight
    scale = np.float32(share / max(weights, 1.0))
    for i in range(count):
        for y in range(height >> 2):
            for x in range(width >> 2):
                for c in range(16):
                    gradient[i, y, x, c] *= scale
    return total / max(weights, 1.0)


@kernel
def _pairs(head, plane, shift, label, dy, dx, split_weight, share, gradient):  # type: ignore[no-untyped-def]
    count, height, width = label.shape
    last, first = (1 << shift) - 1, plane << 2 * shift
    total, weights = 0.0, 0.0
    for i in range(count):
        for y in range(height - dy):
            for x in range(max(-dx, 0), width - max(dx, 0)):
                a, b = label[i, y, x], label[i, y + dy, x + dx]
                if a == 0 and b == 0:
                    continue
                same = a == b
                weight = np.float32(1) if same else np.float32(split_weight)
                c = first + ((y & last) << shift) + (x & last)
                logit = head[i, y >> shift, x >> shift, c]
                z = logit if same else -logit
                e = np.exp(-abs(z))
                total += weight * (np.log(np.float32(1) + e) + max(-z, np.float32(0)))
                miss = e / (np.float32(1) + e) if z > 0 else np.float32(1) / (np.float32(1) + e)
                gradient[i, y >> shift, x >> shift, c] = -weight * miss if same else weight * miss
                weights += weight
    scale = np.float32(share / max(weights, 1.0))
    for i in range(count):
        for y in range(height >> shift):
            for x in range(width >> shift):
                for c in range(first, first + (1 << 2 * shift)):
                    gradient[i, y, x, c] *= scale
    return total / max(weights, 1.0)
