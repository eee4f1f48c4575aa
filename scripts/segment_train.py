"""Train the boundary network on rendered scenes; needs torch, onnx and the package.

    python scripts/segment_scenes.py CACHE --split train --shards 60
    python scripts/segment_train.py CACHE --state STATE.pt --cpu-minutes 30
    python scripts/segment_train.py CACHE --state STATE.pt --cpu-minutes 20 --rate 1e-3      # a further leg
    python scripts/segment_train.py CACHE --state STATE.pt --export src/armwright/perception/data/boundary.onnx

Training goes on from the state where there is one, and keeps it every two minutes. Shards that appear meanwhile are
taken in. Only the split ``train`` is read. What is exported is the running average of the weights.
"""

from __future__ import annotations

import argparse
import copy
import math
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed
from segment_loss import losses
from segment_network import BoundaryNetwork, export
from segment_samples import Frames, crop

from armwright.core.seeds import rng_for

BATCH, HEIGHT, WIDTH = 4, 352, 416
KEPT, USES = 40, 2.5
"""Prepared samples are kept for a while and used a few times: to prepare one costs as much as to learn from it."""
KEEP_S = 120.0
AVERAGING = 0.995


def prepare(folder: Path, seed: int, rank: int, steps: int, queue: multiprocessing.Queue) -> None:
    """Fill the queue with batches (features in half precision, labels, frames known so far); a process of its own."""
    frames, rng = Frames(folder, "train"), rng_for(seed, "segment-train", rank, steps)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    owed = 0.0
    while True:
        frames.look()
        if len(frames) == 0:
            time.sleep(2)
            continue
        owed += BATCH / USES
        while owed > 0 or len(kept) < BATCH:
            sample = crop(frames, rng, HEIGHT, WIDTH)
            kept.append((sample.features().astype(np.float16), sample.label))
            owed -= 1
        if len(kept) > KEPT:
            del kept[: len(kept) - KEPT]
        chosen = [kept[int(k)] for k in rng.choice(len(kept), BATCH, replace=False)]
        queue.put((*(np.stack(part) for part in zip(*chosen, strict=True)), len(frames)))


class Training:
    """The network, its average and the optimiser, kept in one file."""

    def __init__(self, path: Path, rate: float) -> None:
        self.path = path
        self.network = BoundaryNetwork().to(memory_format=torch.channels_last)
        self.average = copy.deepcopy(self.network)
        self.optimiser = torch.optim.AdamW(self.network.parameters(), lr=rate, weight_decay=1e-3)
        self.steps, self.cpu_s = 0, 0.0
        if path.exists():
            state = torch.load(path, weights_only=True)
            self.network.load_state_dict(state["network"])
            self.average.load_state_dict(state["average"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.steps, self.cpu_s = state["steps"], state["cpu_s"]

    def keep(self) -> None:
        """Write everything, so that a stopped training goes on from here."""
        state = {
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "steps": self.steps,
            "cpu_s": self.cpu_s,
        }
        beside = self.path.with_suffix(".new")
        torch.save(state, beside)
        beside.replace(self.path)

    @torch.no_grad()
    def follow(self) -> None:
        """Move the average towards the network."""
        share = min(AVERAGING, (1 + self.steps) / (10 + self.steps))
        for mean, now in zip(self.average.state_dict().values(), self.network.state_dict().values(), strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(now, 1 - share)
            else:
                mean.copy_(now)


def share_gradients(network: torch.nn.Module, ranks: int) -> None:
    """Average the gradients over the ranks, so that they all take the same step."""
    gradients = [p.grad for p in network.parameters() if p.grad is not None]
    flat = torch.cat([g.flatten() for g in gradients])
    torch.distributed.all_reduce(flat)
    flat /= ranks
    for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def train(rank: int, args: argparse.Namespace) -> None:
    """Train until the CPU or wall time is used up, with a rate that falls along a cosine; one process of ``ranks``."""
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    if args.ranks > 1:
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{args.state.absolute()}.meeting", rank=rank, world_size=args.ranks
        )
    training = Training(args.state, args.rate)
    queue: multiprocessing.Queue = multiprocessing.Queue(3)
    multiprocessing.Process(
        target=prepare, args=(args.cache, args.seed, rank, training.steps, queue), daemon=True
    ).start()
    started, wall, kept, begun = time.process_time(), time.monotonic(), time.monotonic(), training.cpu_s
    first, smooth = training.steps, {}
    used = torch.zeros(1)
    while True:
        cpu_s, wall_s = time.process_time() - started, time.monotonic() - wall
        used[0] = max(cpu_s / (60 * args.cpu_minutes), wall_s / (60 * args.wall_minutes))
        if args.ranks > 1:
            torch.distributed.broadcast(used, 0)
        if float(used) >= 1:
            break
        falling = 0.02 + 0.49 * (1 + math.cos(math.pi * float(used)))
        rate = args.rate * min(1.0, (training.steps - first + 1) / 30) * falling
        for group in training.optimiser.param_groups:
            group["lr"] = rate
        features, names, known = queue.get()
        x = torch.from_numpy(features).to(torch.bfloat16).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            heads = training.network.heads(x)
        parts, *slopes = losses(*(h.detach().permute(0, 2, 3, 1).float().contiguous().numpy() for h in heads), names)
        training.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(
            heads, [torch.from_numpy(g).to(h.dtype).permute(0, 3, 1, 2) for g, h in zip(slopes, heads, strict=True)]
        )
        if args.ranks > 1:
            share_gradients(training.network, args.ranks)
        torch.nn.utils.clip_grad_norm_(training.network.parameters(), 1.0)
        training.optimiser.step()
        training.steps += 1
        if rank > 0:
            continue
        training.follow()
        for name, value in parts.items():
            smooth[name] = 0.97 * smooth.get(name, value) + 0.03 * value
        training.cpu_s = begun + args.ranks * (time.process_time() - started)
        if training.steps % 25 == 0:
            said = " ".join(f"{name} {value:.3f}" for name, value in smooth.items())
            sys.stdout.write(f"{training.steps} steps, {training.cpu_s:.0f} CPU s, {known} frames: {said}\n")
            sys.stdout.flush()
        if time.monotonic() - kept > KEEP_S:
            training.keep()
            kept = time.monotonic()
    if rank == 0:
        training.keep()


def main() -> None:
    """Train a leg, or export."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--cpu-minutes", type=float, default=30.0)
    parser.add_argument("--wall-minutes", type=float, default=1e9)
    parser.add_argument("--ranks", type=int, default=1, help="processes that share every step")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--export", type=Path)
    args = parser.parse_args()
    if args.export:
        export(Training(args.state, args.rate).average, args.export)
    elif args.ranks == 1:
        train(0, args)
    else:
        Path(f"{args.state.absolute()}.meeting").unlink(missing_ok=True)
        others = [multiprocessing.Process(target=train, args=(k, args)) for k in range(1, args.ranks)]
        for other in others:
            other.start()
        train(0, args)
        for other in others:
            other.join()


if __name__ == "__main__":
    main()
