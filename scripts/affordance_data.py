"""Draw training samples for the affordance networks into a folder, shard by shard, until enough or stopped.

python scripts/affordance_data.py FOLDER --rounds 40 --worker 0 --workers 2
python scripts/affordance_data.py FOLDER --first 100 --rounds 140 --finishing
python scripts/affordance_data.py FOLDER --split validation --rounds 2
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from armwright.affordance.labelled.samples import finishing_round, training_round, training_sample


def write_shard(path: Path, samples: list[dict[str, object]]) -> None:
    """Write samples stacked by name, to a temporary name first."""
    stacked = {name: np.stack([np.asarray(sample[name]) for sample in samples]) for name in samples[0]}
    part = path.with_name(f"part-{path.name}")
    np.savez(part, **stacked)
    part.rename(path)


def main() -> None:
    """Draw rounds; a shard that is there already is not drawn again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="train", choices=("train", "validation"))
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--worker", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--finishing", action="store_true", help="Draw what the last runs of training see.")
    parser.add_argument("--only", default="", help="Draw these categories alone, twice a round: A,B,C.")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for number in range(chosen.first + chosen.worker, chosen.rounds, chosen.workers):
        path = chosen.folder / f"{chosen.split}-{number:04d}.npz"
        if path.exists():
            continue
        begun = time.perf_counter()
        names = finishing_round(number) if chosen.finishing else training_round(number)
        if chosen.only:
            names = tuple(chosen.only.split(",")) * 2
        per_round = {name: names.count(name) for name in names}
        samples = []
        for name, count in per_round.items():
            for k in range(count):
                samples.append(
                    dict(training_sample(name, number * count + k, split=chosen.split, finishing=chosen.finishing))
                )
        write_shard(path, samples)
        sys.stdout.write(f"{path.name}: {len(samples)} samples in {time.perf_counter() - begun:.0f} s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
