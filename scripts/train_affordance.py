"""Train an affordance network on cached samples and export it to ONNX; needs torch, onnx and onnxscript.

    python scripts/affordance_data.py CACHE --rounds 60
    python scripts/affordance_data.py CACHE --split validation --rounds 2
    python scripts/train_affordance.py CACHE --model learned --cpu-minutes 25 --out src/armwright/affordance/data
    python scripts/train_affordance.py CACHE --model openad --cpu-minutes 8 --out src/armwright/affordance/data

Shards that appear while it trains are taken in. Nothing held out (categories, phrasings) is read here.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from affordance_export import export, networks, shipped
from affordance_phrases import Phrases
from torch import Tensor, nn
from torch.nn import functional as F

from armwright.affordance.prepare import FEATURES, POINTS
from armwright.core.task import REGIONS

INDICES = ("middle", "coarse", "near_fine", "near_middle", "near_coarse", "up_middle", "up_fine")
ENCODED = ("features", "middle", "coarse", "near_fine", "near_middle", "near_coarse")
ABOVE = ("up_middle", "weight_middle", "up_fine", "weight_fine")
FLOATS = ("features", "weight_middle", "weight_fine")
LABELS = ("regions", "mass", "present", "judged", "presence_judged", "category")
DECODED = 768
AVERAGING = 0.995
EASIEST = 0.15
"""How often the sample that is answered best is drawn, against one that is answered as badly as can be."""
FAVOUR = 2.0
"""How much more a point of a small region may count than one beside it: what counts too much is marked too widely."""
LOOK_AGAIN_S = 120.0
C = len(REGIONS)


class Samples:
    """The shards of a split, taken in as they appear."""

    def __init__(self, folder: Path, split: str) -> None:
        self.folder, self.split = folder, split
        self.read: set[str] = set()
        self.rows: list[tuple[dict[str, np.ndarray], int]] = []
        self.worst = np.zeros(0)
        self.looked = -1e9

    def look(self) -> None:
        """Take in shards that are new since last time."""
        if time.monotonic() - self.looked < LOOK_AGAIN_S:
            return
        self.looked = time.monotonic()
        for path in sorted(self.folder.glob(f"{self.split}-*.npz")):
            if path.name not in self.read:
                with np.load(path) as data:
                    shard = {name: data[name] for name in (*INDICES, *FLOATS, *LABELS)}
                self.rows += [(shard, k) for k in range(len(shard["category"]))]
                self.worst = np.concatenate([self.worst, np.ones(len(shard["category"]))])
                self.read.add(path.name)

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return row numbers, drawn more often the worse their worst region was answered last time."""
        chance = self.worst + EASIEST
        return rng.choice(len(self.rows), count, p=chance / chance.sum())

    def batch(self, which: np.ndarray) -> dict[str, Tensor | list[str]]:
        """Stack the rows of these numbers."""
        out: dict[str, Tensor | list[str]] = {}
        picked = [self.rows[int(i)] for i in which]
        for name in (*INDICES, "regions", "mass", "present", "judged", "presence_judged"):
            out[name] = torch.from_numpy(np.stack([shard[name][k] for shard, k in picked]).astype(np.int64))
        for name in FLOATS:
            out[name] = torch.from_numpy(np.stack([shard[name][k] for shard, k in picked]).astype(np.float32))
        out["category"] = [str(shard["category"][k]) for shard, k in picked]
        return out


def bits(values: Tensor) -> Tensor:
    """Return 1.0 where a region's bit is set, with the regions on the second axis."""
    shifts = torch.arange(C).view(1, C, *([1] * (values.dim() - 1)))
    return ((values.unsqueeze(1) >> shifts) & 1).float()


def augment(batch: dict, rng: np.random.Generator) -> None:
    """Turn each sample about z, change its size a little, and blur what points know."""
    features = batch["features"]
    count = len(features)
    angle = torch.from_numpy(rng.uniform(0, 2 * np.pi, count)).float()
    c, s = angle.cos().view(-1, 1), angle.sin().view(-1, 1)
    for k in (0, 3):
        x, y = features[..., k].clone(), features[..., k + 1].clone()
        features[..., k], features[..., k + 1] = c * x - s * y, s * x + c * y
    size = torch.from_numpy(rng.normal(0, 0.08, (count, 1))).float()
    features[..., FEATURES.index("log_extent")] += size
    features[..., FEATURES.index("log_thick")] += size
    features += torch.from_numpy(rng.normal(0, 0.01, features.shape)).float()


def select(batch: dict) -> None:
    """Decode some of the finest points: half drawn evenly, half so that each region gets as many as the next.

    ``importance`` undoes the uneven draw, so that the losses are those of the cloud's points, each of which is answered
    by one of the finest, with less noise on small parts.
    """
    member = bits(batch["regions"])
    size = member.sum(-1)
    share = (member / size.clamp(min=1).unsqueeze(-1)).sum(1) / (size > 0).sum(1, keepdim=True).clamp(min=1)
    chance = 0.5 / POINTS + 0.5 * share
    chance = chance / chance.sum(1, keepdim=True)
    rows = torch.multinomial(chance, DECODED, replacement=True)
    batch["decoded"] = rows
    batch["importance"] = batch["mass"].gather(1, rows) / (POINTS * chance.gather(1, rows))
    for name in ("up_fine", "weight_fine", "regions"):
        index = rows if batch[name].dim() == 2 else rows.unsqueeze(-1).expand(-1, -1, 3)
        batch[name] = batch[name].gather(1, index)


def encode(encoder: nn.Module, batch: dict) -> tuple[Tensor, Tensor]:
    """Run the encoder on a batch."""
    return encoder(*[batch[name] for name in (*ENCODED, *ABOVE)])


def losses(logits: Tensor, presence: Tensor, batch: dict, weight: Tensor) -> dict[str, Tensor]:
    """Return the mask and presence losses, and each sample's worst overlap loss.

    What a category is silent about counts for none of them.
    """
    target, u = bits(batch["regions"]), batch["importance"].unsqueeze(1)
    known, there = bits(batch["judged"]), bits(batch["present"])
    seen = (target.sum(-1) > 0).float()
    u = u / u.mean(-1, keepdim=True)
    part = (u * target).mean(-1, keepdim=True)
    favour = (1 / part.clamp(min=1e-3)).sqrt().clamp(max=FAVOUR)
    bce = F.binary_cross_entropy_with_logits(logits, target, reduction="none") * u * (1 + (favour - 1) * target)
    bce = bce.mean(-1)
    p = logits.sigmoid()
    dice = 1 - (2 * (u * p * target).mean(-1) + 1e-3) / ((u * p).mean(-1) + part.squeeze(-1) + 1e-3)
    factor = known * weight * (0.4 + 0.6 * there)
    mask = (factor * (bce + seen * dice)).sum() / factor.sum()
    asked = bits(batch["presence_judged"]) * weight
    says = F.binary_cross_entropy_with_logits(presence, there, reduction="none")
    worst = (known * there * seen * dice.detach()).amax(1)
    return {"mask": mask, "presence": (asked * says).sum() / asked.sum(), "worst": worst}


@torch.no_grad()
def answers(
    encoder: nn.Module, head: nn.Module, samples: Samples, phrases: Phrases
) -> Iterator[tuple[dict, Tensor, Tensor]]:
    """Yield batches of a split with targets, and the logits and presence logits of one trained phrasing per region."""
    rng = np.random.default_rng(0)
    for start in range(0, len(samples.rows), 16):
        batch = samples.batch(np.arange(start, min(start + 16, len(samples.rows))))
        words, known, _ = phrases.draw(batch["category"], rng, plain=True)
        logits, presence = head(*encode(encoder, batch), words, known)
        batch |= {"target": bits(batch["regions"]), "there": bits(batch["present"])}
        yield batch | {"asked": bits(batch["presence_judged"])}, logits, presence


def evaluate(encoder: nn.Module, head: nn.Module, samples: Samples, phrases: Phrases) -> dict[str, object]:
    """Return IoU per region on the validation draws, and how often an absent region is said to be there."""
    encoder.eval()
    head.eval()
    found: dict[str, list[float]] = {region: [] for region in REGIONS}
    absent, fired = 0, 0
    for batch, logits, presence in answers(encoder, head, samples, phrases):
        target, mask = batch["target"] > 0, logits > 0
        there, asked = batch["there"] > 0, batch["asked"] > 0
        both, either = (target & mask).sum(-1), (target | mask).sum(-1)
        for k, region in enumerate(REGIONS):
            rows = there[:, k] & asked[:, k]
            found[region] += (both[rows, k] / either[rows, k].clamp(min=1)).tolist()
        missing = asked & ~there
        absent += int(missing.sum())
        fired += int((missing & (presence > 0) & mask.any(-1)).sum())
    encoder.train()
    head.train()
    per = {region: float(np.mean(values)) for region, values in found.items() if values}
    return {"miou": float(np.mean(list(per.values()))), "fire": fired / max(absent, 1), "per_region": per}


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Train for a budget of CPU minutes, say how it goes, export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--model", choices=("learned", "openad"), default="learned")
    parser.add_argument("--cpu-minutes", type=float, default=20.0)
    parser.add_argument("--wall-minutes", type=float, default=1e9, help="Stop by then, however little was computed.")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=2.5e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="Weights to go on from, or a folder of ONNX files.")
    parser.add_argument("--weights", type=Path, help="Where to keep torch weights.")
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    torch.set_num_threads(chosen.threads)
    rng = np.random.default_rng(chosen.seed)
    train, validation = Samples(chosen.cache, "train"), Samples(chosen.cache, "validation")
    train.look()
    validation.look()
    phrases = Phrases()
    ours = chosen.model == "learned"
    both = networks(chosen.model)
    encoder, head = both["encoder"], both["head"]
    first = train.batch(rng.choice(len(train.rows), min(256, len(train.rows)), replace=False))["features"]
    encoder.mean.copy_(first.mean((0, 1)))
    encoder.spread.copy_(first.std((0, 1)).clamp(min=0.05))
    # A turn about z must not move the origin.
    for k in (0, 1, 3, 4):
        encoder.mean[k] = 0.0
    if chosen.start:
        both.load_state_dict(shipped(chosen.start, chosen.model) if chosen.start.is_dir() else torch.load(chosen.start))
    average = torch.optim.swa_utils.AveragedModel(
        both, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(AVERAGING), use_buffers=True
    )
    optimizer = torch.optim.AdamW(both.parameters(), lr=chosen.rate, weight_decay=0.02)
    present = bits(train.batch(rng.choice(len(train.rows), min(512, len(train.rows)), replace=False))["present"])
    weight = 1 / (present.mean(0) + 0.02).sqrt()
    weight = (weight / weight.mean()).view(1, C)
    begun, budget, step = time.process_time(), chosen.cpu_minutes * 60, 0
    sums: dict[str, float] = {}
    started, most = time.monotonic(), chosen.wall_minutes * 60
    while (share := max((time.process_time() - begun) / budget, (time.monotonic() - started) / most)) < 1:
        train.look()
        rate = chosen.rate * min(1.0, (step + 1) / 80) * (0.5 + 0.5 * np.cos(np.pi * share)) + 1e-5
        for group in optimizer.param_groups:
            group["lr"] = rate
        which = train.draw(chosen.batch, rng)
        batch = train.batch(which)
        augment(batch, rng)
        select(batch)
        rows = batch["decoded"]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            points, tokens = encoder(*[batch[name] for name in (*ENCODED, *ABOVE)], rows=rows)
        points, tokens = points.float(), tokens.float()
        words, known, label = phrases.draw(batch["category"], rng)
        logits, presence = head(points, tokens, words, known)
        parts = losses(logits, presence, batch, weight)
        train.worst[which] = parts["worst"].numpy()
        parts["worst"] = parts["worst"].mean()
        total = parts["mask"]
        if ours:
            parts["text"] = F.cross_entropy(head.text.concept(head.text(words, known)), label)
            total = total + 0.5 * parts["presence"] + 0.2 * parts["text"]
        optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(both.parameters(), 1.0)
        optimizer.step()
        average.update_parameters(both)
        step += 1
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + float(value.detach())
        if step % 50 == 0:
            text = " ".join(f"{name} {value / 50:.3f}" for name, value in sums.items())
            spent = time.process_time() - begun
            wall = time.monotonic() - started
            say(f"{step} {text} cpu {spent:.0f} s wall {wall:.0f} s of {len(train.rows)}")
            sums = {}
            if chosen.weights:
                torch.save(average.module.state_dict(), chosen.weights)
        if step % 400 == 0 and validation.rows:
            shown = evaluate(average.module["encoder"], average.module["head"], validation, phrases)
            per = " ".join(f"{k.replace(' ', '')}:{v:.2f}" for k, v in shown["per_region"].items())
            say(f"  validation {shown['miou']:.3f} fire {shown['fire']:.3f} {per}")
    if validation.rows:
        shown = evaluate(average.module["encoder"], average.module["head"], validation, phrases)
        say("validation " + json.dumps(shown))
    if chosen.weights:
        torch.save(average.module.state_dict(), chosen.weights)
    export(average.module["encoder"].eval(), average.module["head"].eval(), chosen.out, chosen.model)


if __name__ == "__main__":
    main()
