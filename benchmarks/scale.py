"""What a demonstration costs, from which a cluster is sized: CPU, bytes, memory, start-up, joining, checking.

Usage: ``python benchmarks/scale.py [--json] [--attempts 6] [--image-attempts 3] [--every 7] [--robot franka]
[--seed 11] [--copies 200,800]``

Every n-th of the fifty tasks is made as a shard is made by a worker, without images and with two cameras; only CPU time
is reported, so that a busy machine does not count. Joining and checking are measured on datasets that hold the
episodes with cameras many times over, each time under other seeds, in shards of 100; two sizes give the cost of one
more episode.
There is no peer: no published generator of this kind states these costs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PER_SHARD = 100


@contextmanager
def computing(row: dict[str, Any], name: str) -> Iterator[None]:
    before = time.process_time()
    yield
    row[name] = time.process_time() - before


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def startup(robot: str) -> dict[str, float]:
    """Measure imports and an arm's session, then the first attempt beside the second, in a process of its own."""
    program = f"""
import json, time
from armwright.generate.parsing import parse_sentence
from armwright.generate.session import Session
from armwright.generate.episode import EpisodeRequest, run_episode
parsed = parse_sentence("put the banana in the bowl")[0]
session = Session.open({robot!r})
row = {{"open_s": time.process_time()}}
for name in ("first_s", "second_s"):
    before = time.process_time()
    run_episode(session, EpisodeRequest(parsed, 11))
    row[name] = time.process_time() - before
print(json.dumps(row))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    row: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return row


def tasks(
    robot: str, names: list[str], attempts: int, seed: int, folder: Path, *, images: bool
) -> list[dict[str, Any]]:
    """Measure each task's attempts, joining and checking its own dataset included, once the process is warm."""
    from armwright.generate.attempt import Attempt, attempt_writer, run_attempt
    from armwright.generate.parsing import parse_sentence
    from armwright.generate.request import GenerateRequest

    rows = []
    for number, name in enumerate(["put the banana in the bowl", *names]):
        request = GenerateRequest(name, attempts, robot=robot, images=images)
        parsed = parse_sentence(name)[0]
        out = folder / f"{number:02d}"
        row: dict[str, Any] = {"task": name, "images": images}
        with computing(row, "cpu_s"):
            entries = [
                run_attempt(Attempt(request, parsed, seed * 1_000_000 + index, str(out))) for index in range(attempts)
            ]
            summary = attempt_writer(request, str(out)).finalize()
        row |= {"attempts": attempts, "successes": summary.episodes, "frames": summary.frames, "bytes": size_of(out)}
        row["failed"] = sorted({str(entry["failed"]) for entry in entries if not entry["ok"]})
        if number:  # the first one warms up
            rows.append(row)
            print(f"  {row}", file=sys.stderr)
    return rows


@dataclass(frozen=True, eq=False)
class Reseeded:
    """An episode under another seed."""

    source: Any
    seed: int

    @property
    def instruction(self) -> str:
        return str(self.source.instruction)

    @property
    def length(self) -> int:
        return int(self.source.length)

    def record(self) -> dict[str, Any]:
        return {**self.source.record(), "seed": self.seed}

    def frames(self) -> Any:
        return self.source.frames()

    def world(self) -> Any:
        return self.source.world()


def copies(sources: list[Path], out: Path, count: int) -> list[Path]:
    """Write shards of 100 episodes, ``count`` in all, out of the episodes of other datasets."""
    from armwright.recording.layout import load_schema
    from armwright.recording.lerobot import DatasetWriter
    from armwright.recording.merge import _parts

    schema = load_schema(sources[0])
    pieces = [piece for root in sources for part in _parts(root, schema) for piece in part.pieces(lambda key: True)]
    single: list[tuple[Any, dict[str, Path]]] = []
    for number, piece in enumerate(pieces):
        videos = {camera: piece.videos(camera, "", number)[0] for camera in schema.cameras}
        start = 0
        for episode in piece.episodes:
            cut = {camera: cut_one(videos[camera], out, start, episode.length, schema.fps) for camera in videos}
            single.append((episode, cut))
            start += episode.length
    roots = []
    for first in range(0, count, PER_SHARD):
        numbers = range(first, min(first + PER_SHARD, count))
        chosen = [single[number % len(single)] for number in numbers]
        writer = DatasetWriter(out / f"{first // PER_SHARD:05d}", schema)
        group: list[Any] = []
        files: dict[str, list[Path]] = {camera: [] for camera in schema.cameras}
        frames = 0
        for number, (episode, videos) in zip(numbers, chosen, strict=True):
            if group and frames + episode.length > schema.batch_frames:
                writer.commit(group, files)
                group, files, frames = [], {camera: [] for camera in schema.cameras}, 0
            group.append(Reseeded(episode, number))
            frames += episode.length
            for camera, path in videos.items():
                files[camera].append(path)
        writer.commit(group, files)
        writer.finalize()
        roots.append(writer.root)
    return roots


def cut_one(video: Path, folder: Path, start: int, count: int, fps: int) -> Path:
    from armwright.recording.video import cut_video

    target = folder / "single" / f"{abs(hash((video, start)))}.mp4"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        cut_video(video, target, start=start, count=count, fps=fps)
    return target


def joining(roots: list[Path], out: Path) -> dict[str, Any]:
    """Measure joining and checking in a process of its own."""
    program = f"""
import json, time
def peak_mb():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
from armwright.recording.merge import merge_datasets
from armwright.recording.verify import verify_dataset
row = {{}}
def take(name, call):
    before = time.process_time()
    result = call()
    row[name + "_s"] = time.process_time() - before
    row[name + "_peak_mb"] = peak_mb()
    return result
summary = take("join", lambda: merge_datasets({[str(root) for root in roots]!r}, {str(out)!r}))
row["episodes"] = summary.episodes
assert take("check", lambda: verify_dataset({str(out)!r}, decode=False)).ok
assert take("check_frames", lambda: verify_dataset({str(out)!r})).ok
print(json.dumps(row))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    row: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    new = [path for path in out.rglob("*") if path.is_file() and path.stat().st_nlink == 1]
    row["bytes"] = size_of(out)
    row["bytes_written"] = sum(path.stat().st_size for path in new)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--attempts", type=int, default=6)
    parser.add_argument("--image-attempts", type=int, default=3)
    parser.add_argument("--every", type=int, default=7)
    parser.add_argument("--robot", default="franka")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--copies", default="200,800")
    options = parser.parse_args()
    from armwright.generate.suite import suite

    names = list(suite("fifty"))[:: options.every]
    record: dict[str, Any] = {"command": "benchmarks/scale.py", "robot": options.robot, "seed": options.seed}
    record["startup"] = startup(options.robot)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        record["tasks"] = []
        for images, count in ((False, options.attempts), (True, options.image_attempts)):
            record["tasks"] += tasks(
                options.robot, names, count, options.seed, folder / f"images-{images}", images=images
            )
            record[f"peak_mb_{'images' if images else 'states'}"] = (
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            )
        sources = [root for root in sorted((folder / "images-True").iterdir()) if (root / "data").exists()]
        record["joining"] = []
        for count in map(int, options.copies.split(",")):
            made = folder / f"copies-{count}"
            roots = copies(sources, made, count)
            record["joining"].append(joining(roots, made / "joined"))
    record["summary"] = summarise(record)
    print(json.dumps(record, indent=None if options.json else 2))


def summarise(record: dict[str, Any]) -> dict[str, Any]:
    """Return costs per successful demonstration."""
    found: dict[str, Any] = {}
    for images in (False, True):
        rows = [row for row in record["tasks"] if row["images"] is images]
        wins = sum(row["successes"] for row in rows)
        found["images" if images else "states"] = {
            "attempts": sum(row["attempts"] for row in rows),
            "successes": wins,
            "cpu_s_per_attempt": sum(row["cpu_s"] for row in rows) / sum(row["attempts"] for row in rows),
            "cpu_s_per_success": sum(row["cpu_s"] for row in rows) / max(1, wins),
            "bytes_per_success": sum(row["bytes"] for row in rows if row["successes"]) / max(1, wins),
            "seconds_per_success": sum(row["frames"] for row in rows) / max(1, wins) / 20,
        }
    small, large = record["joining"][0], record["joining"][-1]
    more = large["episodes"] - small["episodes"]
    for name in ("join_s", "check_s", "check_frames_s", "join_peak_mb", "check_peak_mb", "bytes", "bytes_written"):
        found[f"{name}_per_episode"] = (large[name] - small[name]) / max(1, more)
    return found


if __name__ == "__main__":
    main()
