"""Say how the presence threshold trades false fire for regions found, on categories that the question never saw.

    python scripts/affordance_presence.py CACHE WEIGHTS.pt

The layers that answer whether a region is there are trained anew on four fifths of the training categories and asked of
the rest, five times. What they read was trained on all, so that the fire on categories truly new is higher: the figures
serve to choose a threshold, not to foretell a rate. Nothing held out is read.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from affordance_export import networks
from affordance_phrases import Phrases
from torch import Tensor, nn
from torch.nn import functional as F
from train_affordance import ABOVE, ENCODED, Samples, bits, select

FOLDS, STEPS, BATCH = 5, 500, 256
THRESHOLDS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@torch.no_grad()
def questions(weights: Path, samples: Samples, count: int) -> tuple[Tensor, Tensor, Tensor, np.ndarray]:
    """Return what presence is judged by (n, 13, d), the answers, which of them count (n, 13), and the categories."""
    both = networks("learned")
    both.load_state_dict(torch.load(weights))
    both.eval()
    rng, phrases = np.random.default_rng(0), Phrases()
    read: list[Tensor] = []
    both["head"].presence.register_forward_pre_hook(lambda _, given: read.append(given[0].float()))
    there, asked, categories = [], [], []
    rows = rng.permutation(len(samples.rows))[:count]
    for start in range(0, len(rows), 16):
        batch = samples.batch(rows[start : start + 16])
        select(batch)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            points, tokens = both["encoder"](*[batch[name] for name in (*ENCODED, *ABOVE)], rows=batch["decoded"])
        words, known, _ = phrases.draw(batch["category"], rng, plain=True)
        both["head"](points.float(), tokens.float(), words, known)
        there.append(bits(batch["present"]))
        asked.append(bits(batch["presence_judged"]) > 0)
        categories += batch["category"]
    return torch.cat(read), torch.cat(there), torch.cat(asked), np.array(categories)


def answered_by_others(read: Tensor, there: Tensor, asked: Tensor, categories: np.ndarray) -> Tensor:
    """Return presence (n, 13) as said by layers that never saw the category."""
    rng = np.random.default_rng(0)
    names = np.unique(categories)
    fold_of = dict(zip(names, rng.permutation(len(names)) % FOLDS, strict=True))
    fold = torch.tensor([int(fold_of[name]) for name in categories])
    out = torch.zeros_like(there)
    for k in range(FOLDS):
        layers = nn.Sequential(nn.Linear(read.shape[-1], 64), nn.ReLU(), nn.Linear(64, 1))
        optimizer = torch.optim.AdamW(layers.parameters(), lr=3e-3, weight_decay=0.02)
        counts = asked[fold != k]
        given, wanted = read[fold != k][counts], there[fold != k][counts]
        for _ in range(STEPS):
            rows = torch.randint(0, len(given), (BATCH,))
            loss = F.binary_cross_entropy_with_logits(layers(given[rows]).squeeze(-1), wanted[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            out[fold == k] = layers(read[fold == k]).squeeze(-1)
    return out.sigmoid()


def main() -> None:
    """Print a line per threshold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--samples", type=int, default=1100)
    chosen = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    samples = Samples(chosen.cache, "train")
    samples.look()
    read, there, asked, categories = questions(chosen.weights, samples, chosen.samples)
    said = answered_by_others(read, there, asked, categories)
    absent, present = asked & (there == 0), asked & (there > 0)
    for threshold in THRESHOLDS:
        fires, kept = (said[absent] >= threshold).float().mean(), (said[present] >= threshold).float().mean()
        sys.stdout.write(
            f"present from {threshold}: absent regions that fire {fires:.3f} (n {int(absent.sum())}), "
            f"present ones kept {kept:.3f} (n {int(present.sum())})\n"
        )


if __name__ == "__main__":
    main()
