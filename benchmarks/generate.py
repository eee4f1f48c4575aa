"""Pick-and-place in clutter, checked for collision and recorded, beside robosuite's own Can task.

Usage: ``python benchmarks/generate.py [--json] [--episodes 70] [--rounds 3] [--image-episodes 8] [--workers 2]
[--robot franka] [--images/--no-images] [--peer-python ENV/bin/python]``

Targets on two cores: 8,000 successful episodes per hour without images, 800 with two cameras of 256x256 at 20 Hz drawn
by OpenGL, 60 images per CPU second, at most 1.5 GB per worker and no growth over 200 episodes. An episode is: draw and
solve the scene, let it settle, sample and rank grasps, plan, time, verify every path in MuJoCo, execute, judge, write.
Start-up (imports, compiled kernels, the arm) is measured by itself and is not in the rates; joining the files is.

The peer, ``benchmarks/peers/robosuite_pick_place.py``, runs in an interpreter of its own; it needs another MuJoCo:
``python -m venv ENV; ENV/bin/pip install robosuite==1.5.2 mujoco==3.3.7``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

SENTENCE = "pick up the can and put it in the basket; there is a mug, a box and a bottle on the table"
PEER = Path(__file__).parent / "peers" / "robosuite_pick_place.py"
INSTALL = "python -m venv ENV; ENV/bin/pip install robosuite==1.5.2 mujoco==3.3.7"
PEER_LACKS = "robosuite's Can task: one object, no clutter, no planner, no collision check, nothing written."
MEMORY_EVERY = 50
WARM_UP = 2
PATIENCE_S = 3600.0


@dataclass(frozen=True)
class Job:
    """What every worker does."""

    sentence: str
    robot: str
    images: bool
    episodes: int
    rounds: int
    folder: str


@dataclass
class Round:
    """What one worker, or all together, did between two gates."""

    attempts: int = 0
    successes: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    sim_s: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)

    def merge(self, other: Round) -> None:
        """Add a worker that ran at the same time."""
        self.attempts += other.attempts
        self.successes += other.successes
        self.cpu_s += other.cpu_s
        self.sim_s += other.sim_s
        self.wall_s = max(self.wall_s, other.wall_s)
        self.failures += other.failures


def memory_mb(key: str) -> float:
    """Return ``VmRSS`` or ``VmHWM`` of this process."""
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith(key))
    return int(line.split()[1]) / 1024


class Worker:
    """A session and a writer, as `armwright generate` has them in each of its processes."""

    def __init__(self, job: Job) -> None:
        from armwright.generate.parsing import parse_sentence
        from armwright.generate.record import dataset_schema
        from armwright.generate.session import Session
        from armwright.recording.lerobot import DatasetWriter

        self.job = job
        self.parsed, _ = parse_sentence(job.sentence)
        self.session = Session.open(job.robot)
        self.writer = DatasetWriter(job.folder, dataset_schema(self.session, images=job.images))

    def episode(self, seed: int, into: Round, *, write: bool = True) -> Any:
        """Run one episode and write it if it succeeded."""
        from armwright.core.errors import SceneError
        from armwright.generate.episode import EpisodeRequest, run_episode
        from armwright.generate.record import episode_data

        into.attempts += 1
        try:
            episode = run_episode(self.session, EpisodeRequest(self.parsed, seed))
        except SceneError as error:
            into.failures[f"scene: {error.args[0]}"] += 1
            return None
        into.sim_s += episode.sim_s
        if not episode.ok:
            into.failures[str(episode.failed_stage)] += 1
            return None
        into.successes += 1
        if write:
            self.writer.add_episode(episode_data(self.session, episode, images=self.job.images))
        return episode


def work(job: Job, index: int, gate: Any, results: Any) -> None:
    """Warm up, then run rounds between gates; report each, and the memory after every 50 episodes."""
    started, cpu_started = time.perf_counter(), time.process_time()
    worker = Worker(job)
    for k in range(WARM_UP):
        worker.episode(900_000 + 100 * index + k, Round(), write=job.images)
    startup = time.perf_counter() - started, time.process_time() - cpu_started
    memory: list[float] = []
    done = 0
    for number in range(job.rounds):
        gate.wait(PATIENCE_S)
        row = Round()
        wall, cpu = time.perf_counter(), time.process_time()
        for k in range(job.episodes):
            worker.episode(100_000 * index + number * job.episodes + k, row)
            done += 1
            if done % MEMORY_EVERY == 0:
                memory.append(round(memory_mb("VmRSS")))
        row.wall_s, row.cpu_s = time.perf_counter() - wall, time.process_time() - cpu
        results.put((number, row, startup, memory, memory_mb("VmHWM")))
        gate.wait(PATIENCE_S)


def ours(job: Job, workers: int) -> dict[str, Any]:
    """Run the job on some processes and return the row of the table."""
    from armwright.core.pool import one_thread_each

    context = multiprocessing.get_context("spawn")
    gate, results = context.Barrier(workers), context.Queue()
    processes = [context.Process(target=work, args=(job, i, gate, results)) for i in range(workers)]
    with one_thread_each():
        for process in processes:
            process.start()
    rounds = [Round() for _ in range(job.rounds)]
    startup: list[tuple[float, float]] = []
    memory: list[list[float]] = []
    peak = 0.0
    for _ in range(workers * job.rounds):
        number, row, started, resident, most = results.get(timeout=PATIENCE_S)
        rounds[number].merge(row)
        peak = max(peak, most)
        if number == job.rounds - 1:
            startup.append(started)
            memory.append(resident)
    for process in processes:
        process.join()
    from armwright.generate.record import dataset_schema
    from armwright.generate.session import Session
    from armwright.recording.lerobot import DatasetWriter

    schema = dataset_schema(Session.open(job.robot), images=job.images)
    began = time.perf_counter()
    written = DatasetWriter(job.folder, schema).finalize()
    join_s = time.perf_counter() - began
    total = Round()
    for row in rounds:
        total.attempts, total.successes = total.attempts + row.attempts, total.successes + row.successes
        total.cpu_s, total.sim_s = total.cpu_s + row.cpu_s, total.sim_s + row.sim_s
        total.failures += row.failures
    join_each = join_s / max(written.episodes, 1)
    return {
        "name": "armwright, 2 cameras" if job.images else "armwright",
        "workers": workers,
        "attempts": total.attempts,
        "successes": total.successes,
        "per_hour": [3600 / (r.wall_s / max(r.successes, 1) + join_each) for r in rounds],
        "per_cpu_hour": 3600 * total.successes / total.cpu_s,
        "cpu_ms_per_success": 1e3 * total.cpu_s / max(total.successes, 1),
        "sim_s_per_episode": total.sim_s / max(total.attempts, 1),
        "join_ms_per_episode": 1e3 * join_each,
        "written": {"episodes": written.episodes, "frames": written.frames},
        "startup_wall_s": max(s[0] for s in startup),
        "startup_cpu_s": max(s[1] for s in startup),
        "memory_mb": {str(MEMORY_EVERY * (k + 1)): [m[k] for m in memory] for k in range(min(map(len, memory)))},
        "memory_peak_mb": round(peak),
        "failures": dict(total.failures),
    }


def pictures(robot: str, repeats: int = 5) -> dict[str, Any]:
    """Draw and encode an episode's images, each by itself; return images per CPU second, median and range."""
    from armwright.generate.record import CAMERAS, FPS, camera_images
    from armwright.recording.video import VideoEncoder
    from armwright.sim.backend import choose_backend

    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(Job(SENTENCE, robot, True, 1, 1, folder))
        seeds = iter(range(800_000, 800_050))
        episode = None
        while episode is None:
            episode = worker.episode(next(seeds), Round(), write=False)
        since = episode.times_s[0][0] - 1e-9
        drawn, coded, walls, bytes_each = [], [], [], 0.0
        for repeat in range(repeats + 1):
            wall, cpu = time.perf_counter(), time.process_time()
            images = {name: list(camera_images(episode, name, since)) for name in CAMERAS}
            draw = time.process_time() - cpu
            count = sum(map(len, images.values()))
            wall = time.perf_counter() - wall
            cpu = time.process_time()
            for name, frames in images.items():
                with VideoEncoder(Path(folder) / f"{name}-{repeat}.mp4", fps=FPS) as encoder:
                    for frame in frames:
                        encoder.add(frame)
            code = time.process_time() - cpu
            if repeat:  # the first makes the renderer
                drawn.append(draw / count)
                coded.append(code / count)
                walls.append(wall / count)
            bytes_each = sum(path.stat().st_size for path in Path(folder).glob(f"*-{repeat}.mp4")) / count
    both = np.add(drawn, coded)
    return {
        "name": "images",
        "renderer": choose_backend().name,
        "images": count,
        "drawn_per_cpu_s": [1 / d for d in drawn],
        "encoded_per_cpu_s": [1 / c for c in coded],
        "both_per_cpu_s": [1 / b for b in both],
        "drawn_per_wall_s": [1 / w for w in walls],
        "bytes_per_image": round(bytes_each),
    }


def peer(python: str, *, images: bool, episodes: int, rounds: int, processes: int) -> dict[str, Any]:
    """Run robosuite's Can task in its own interpreter and return the row of the table."""
    command = [python, str(PEER), "--episodes", str(episodes), "--rounds", str(rounds), "--processes", str(processes)]
    done = subprocess.run(
        command + (["--images"] if images else []), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{python} cannot run robosuite: {done.stderr.strip().splitlines()[-1:]}\nInstall: {INSTALL}")
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    rows = answer["rounds"]
    successes, cpu = sum(r["successes"] for r in rows), sum(r["cpu_s"] for r in rows)
    steps = sum(r["steps"] for r in rows)
    return {
        "name": "robosuite, 2 cameras" if images else "robosuite",
        "workers": processes,
        "attempts": sum(r["attempts"] for r in rows),
        "successes": successes,
        "per_hour": [3600 * r["successes"] / r["wall_s"] for r in rows],
        "per_cpu_hour": 3600 * successes / cpu,
        "cpu_ms_per_success": 1e3 * cpu / max(successes, 1),
        "steps_per_episode": steps / max(sum(r["attempts"] for r in rows), 1),
        "images_per_cpu_s": 2 * steps / cpu if images else None,
        "startup_wall_s": max(r["startup_s"] for r in rows),
        "versions": answer["versions"],
        "hard_reset": answer["hard_reset"],
        "lacks": PEER_LACKS,
    }


def spread(values: list[float]) -> str:
    """Return the median and the range."""
    return f"{np.median(values):,.0f} ({min(values):,.0f}-{max(values):,.0f})"


def show(rows: list[dict[str, Any]]) -> None:
    """Print the tables."""
    print(f"{'':24}{'workers':>8}{'success':>11}{'successes/h':>24}{'per CPU h':>11}{'CPU ms':>8}{'start-up s':>12}")
    for row in (r for r in rows if "per_hour" in r):
        share = f"{row['successes']}/{row['attempts']}"
        print(
            f"{row['name']:24}{row['workers']:>8}{share:>11}{spread(row['per_hour']):>24}"
            f"{row['per_cpu_hour']:>11,.0f}{row['cpu_ms_per_success']:>8,.0f}{row['startup_wall_s']:>12.1f}"
        )
    for row in rows:
        if row.get("memory_mb"):
            trace = ", ".join(f"{k}: {'/'.join(f'{v:.0f}' for v in values)}" for k, values in row["memory_mb"].items())
            print(f"{row['name']}: MB per worker after episodes {trace}; peak {row['memory_peak_mb']}")
        elif "memory_peak_mb" in row:
            print(f"{row['name']}: peak {row['memory_peak_mb']} MB per worker")
        if row.get("failures"):
            print(f"{row['name']}: failed {row['failures']}")
        if row["name"] == "images":
            print(
                f"images per CPU s ({row['renderer']}, 256x256): drawn {spread(row['drawn_per_cpu_s'])}, encoded "
                f"{spread(row['encoded_per_cpu_s'])}, both {spread(row['both_per_cpu_s'])}; "
                f"{row['bytes_per_image']} bytes each"
            )
        if row.get("images_per_cpu_s"):
            print(f"{row['name']}: {row['images_per_cpu_s']:.1f} images per CPU s, steps included, nothing encoded")
    by_name = {row["name"]: row for row in rows}
    for name in ("", ", 2 cameras"):
        mine, theirs = by_name.get("armwright" + name), by_name.get("robosuite" + name)
        if mine and theirs:
            wall = np.median(mine["per_hour"]) / np.median(theirs["per_hour"])
            cpu = mine["per_cpu_hour"] / theirs["per_cpu_hour"]
            print(f"ratio{name}: {wall:.1f}x per hour, {cpu:.1f}x per CPU hour. {PEER_LACKS}")


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON record and nothing else")
    parser.add_argument("--sentence", default=SENTENCE)
    parser.add_argument("--robot", default="franka")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=70, help="per worker and round, without images")
    parser.add_argument("--image-episodes", type=int, default=8, help="per worker and round, with images")
    parser.add_argument("--images", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--peer-python", help="an interpreter that has robosuite")
    return parser.parse_args()


def main() -> None:
    """Print the tables, or their record."""
    options = arguments()
    rows: list[dict[str, Any]] = []
    for images, episodes in ((False, options.episodes), *([(True, options.image_episodes)] * options.images)):
        folder = tempfile.mkdtemp(prefix="armwright-generate-")
        try:
            job = Job(options.sentence, options.robot, images, episodes, options.rounds, folder)
            rows.append(ours(job, options.workers))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if options.peer_python:
            few = max(2, episodes // 4)
            theirs = {"episodes": few, "rounds": min(2, options.rounds), "processes": options.workers}
            rows.append(peer(options.peer_python, images=images, **theirs))
    if options.images:
        rows.append(pictures(options.robot))
    if options.json:
        print(json.dumps(record(options, rows)))
        return
    show(rows)
    print(f"load of the machine, averaged over 15 min: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores")
    if not options.peer_python:
        print(f"robosuite is absent; give --peer-python ENV/bin/python after: {INSTALL}")


def record(options: argparse.Namespace, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the record of this run."""
    versions: dict[str, str | None] = {"python": platform.python_version(), "platform": platform.platform()}
    for package in ("armwright", "mujoco", "numpy", "numba"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "schema": "armwright.result/1",
        "command": "benchmarks/generate.py",
        "sentence": options.sentence,
        "robot": options.robot,
        "rows": rows,
        "absent": {} if options.peer_python else {"robosuite": INSTALL},
        "load_15_min": os.getloadavg()[2],
        "cores": os.cpu_count(),
        "versions": versions,
    }


if __name__ == "__main__":
    main()
