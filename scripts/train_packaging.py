"""Fit the network that tells packaging and orientation from shape: ``armwright/perception/data/packaging.npz``.

Random lofted shapes (``packaging_shapes.py``), one noisy depth view each; two hidden layers, Adam, in NumPy.

    python scripts/train_packaging.py [--views 7000] [--seed 0] [--out FILE]
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from packaging_shapes import sample

from armwright.core.seeds import rng_for
from armwright.perception.packages import ORIENTATIONS, PACKAGINGS, relief

OUT = Path(__file__).parents[1] / "src/armwright/perception/data/packaging.npz"
HIDDEN = (96, 48)
DECAY, SMOOTH = 0.1, 0.05
Floats = NDArray[np.float32]


def views(count: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Return reliefs (n, f), packagings (n,), orientations (n,)."""
    x, y, z = [], [], []
    while len(x) < count:
        one = sample(rng)
        if len(one.points_m) < 100:
            continue
        x.append(relief(one.points_m, up=(0, 0, 1), towards=one.towards, hidden=one.hidden))
        y.append(PACKAGINGS.index(one.packaging))
        z.append(ORIENTATIONS.index(one.orientation))
    return np.stack(x), np.array(y), np.array(z)


def _mirrored(x: Floats) -> Floats:
    """Return reliefs with left and right exchanged."""
    from armwright.perception.packages import COLUMNS, ROWS

    out = x.copy()
    for k in range(2):
        part = slice(k * ROWS * COLUMNS, (k + 1) * ROWS * COLUMNS)
        out[:, part] = x[:, part].reshape(-1, ROWS, COLUMNS)[:, :, ::-1].reshape(len(x), -1)
    out[:, -4], out[:, -3] = x[:, -3], x[:, -4]
    return out


def fit(x: Floats, y: NDArray[np.int64], z: NDArray[np.int64], rng: np.random.Generator, epochs: int) -> dict:
    """Return the weights."""
    mean, scale = x.mean(0), np.maximum(x.std(0), 0.05)
    x = np.clip((x - mean) / scale, -6, 6).astype(np.float32)
    k, m = len(PACKAGINGS), len(ORIENTATIONS)
    sizes = (x.shape[1], *HIDDEN, k + m)
    w = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in pairwise(sizes)]
    b = [np.zeros(s, np.float32) for s in sizes[1:]]
    params = [*w, *b]
    first, second = [np.zeros_like(p) for p in params], [np.zeros_like(p) for p in params]
    # Each head's targets must sum to 1, or its outputs drift away together.
    soft = [(1 - SMOOTH) * np.eye(n)[labels] + SMOOTH / n for n, labels in ((k, y), (m, z))]
    target = np.concatenate(soft, 1).astype(np.float32)
    step, batch, steps = 0, 128, epochs * (len(x) // 128)
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(x)), max(1, len(x) // batch)):
            step += 1
            keep = [(rng.uniform(size=(len(rows), s)) > p) / (1 - p) for s, p in ((sizes[0], 0.1), (sizes[1], 0.2))]
            h0 = x[rows] * keep[0]
            a1 = h0 @ params[0] + params[3]
            h1 = np.maximum(a1, 0) * keep[1]
            a2 = h1 @ params[1] + params[4]
            h2 = np.maximum(a2, 0)
            out = h2 @ params[2] + params[5]
            p = np.concatenate([_soft(out[:, :k]), _soft(out[:, k:])], 1)
            g3 = (p - target[rows]) / len(rows)
            g2 = (g3 @ params[2].T) * (a2 > 0)
            g1 = (g2 @ params[1].T) * keep[1] * (a1 > 0)
            grads = [h0.T @ g1, h1.T @ g2, h2.T @ g3, g1.sum(0), g2.sum(0), g3.sum(0)]
            rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for i, grad in enumerate(grads):
                first[i] = 0.9 * first[i] + 0.1 * grad
                second[i] = 0.999 * second[i] + 0.001 * grad**2
                move = first[i] / (1 - 0.9**step) / (np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8)
                decay = DECAY * params[i] if i < 3 else 0.0
                params[i] = (params[i] - rate * (move + decay)).astype(np.float32)
    names = ("w1", "w2", "w3", "b1", "b2", "b3")
    return {"mean": mean, "scale": scale, **dict(zip(names, params, strict=True))}


def _soft(values: Floats) -> Floats:
    raised = np.exp(values - values.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def main() -> None:
    """Make views, fit, measure on others, write."""
    from armwright.perception.packages import PackageNetwork

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--views", type=int, default=7000)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    x, y, z = views(args.views, rng_for(args.seed, "packaging", "fit"))
    x, y, z = np.concatenate([x, _mirrored(x)]), np.tile(y, 2), np.tile(z, 2)
    weights = fit(x, y, z, rng_for(args.seed, "packaging", "network"), args.epochs)
    np.savez_compressed(args.out, **{name: value.astype(np.float32) for name, value in weights.items()})
    x, y, z = views(1200, rng_for(args.seed, "packaging", "check"))
    network = PackageNetwork(weights)
    said = [network(row) for row in x]
    kind, lies = np.array([s[0].argmax() for s in said]), np.array([s[1].argmax() for s in said])
    print(f"packaging {np.mean(kind == y):.3f}, orientation {np.mean(lies == z):.3f}, n {len(x)}")  # noqa: T201
    for k, name in enumerate(PACKAGINGS):
        row = " ".join(f"{np.mean(kind[y == k] == j):.2f}" for j in range(len(PACKAGINGS)))
        print(f"{name:8} {row}  orientation {np.mean(lies[y == k] == z[y == k]):.2f}")  # noqa: T201


if __name__ == "__main__":
    main()
