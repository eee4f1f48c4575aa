"""robosuite's own Can task with a scripted policy, for `benchmarks/generate.py`; runs in robosuite's interpreter.

The policy reads the can's true pose and steers the hand by proportional control of the delta action at 20 Hz: over the
can, down, close, up, over the bin, down, open. The scene holds one can and no clutter, nothing is planned or checked
for collision, and nothing is written. Prints one JSON record.

Setup: ``python -m venv ENV; ENV/bin/pip install robosuite==1.5.2 mujoco==3.3.7``
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time

import numpy as np

CAMERAS = ("agentview", "robot0_eye_in_hand")
GAIN = 20.0  # of the delta action per metre: a whole action moves the hand's goal by 5 cm
MAX_STEPS = 400
CLOSE_STEPS = 8


def make(images: bool, seed: int):
    import robosuite

    return robosuite.make(
        "PickPlaceCan",
        robots="Panda",
        has_renderer=False,
        has_offscreen_renderer=images,
        use_camera_obs=images,
        camera_names=list(CAMERAS),
        camera_heights=256,
        camera_widths=256,
        control_freq=20,
        horizon=MAX_STEPS,
        ignore_done=True,
        hard_reset=False,
        seed=seed,
    )


def run(env) -> tuple[bool, int]:
    """Run one episode and return success and its number of steps."""
    obs = env.reset()
    can = obs["Can_pos"].copy()
    bin_ = env.target_bin_placements[env.object_to_id["can"]]
    up = np.array([0.0, 0.0, 1.0])
    carry = can + 0.25 * up
    over = np.array([*bin_[:2], carry[2]])
    # (where the hand goes, how near, gripper command, steps to wait there)
    script = [
        (can + 0.06 * up, 0.02, -1.0, 0),
        (can, 0.01, -1.0, 0),
        (can, 0.01, 1.0, CLOSE_STEPS),
        (carry, 0.04, 1.0, 0),
        (over, 0.03, 1.0, 0),
        (over - 0.08 * up, 0.03, 1.0, 0),
        (over, 0.0, -1.0, MAX_STEPS),
    ]
    steps = 0
    for goal, near_m, grip, wait in script:
        left = wait
        while steps < MAX_STEPS:
            error = goal - obs["robot0_eef_pos"]
            if (left <= 0) if wait else np.linalg.norm(error) < near_m:
                break
            obs, _, _, _ = env.step(np.array([*np.clip(GAIN * error, -1, 1), 0.0, 0.0, 0.0, grip]))
            steps, left = steps + 1, left - 1
            if env._check_success():
                return True, steps
    return False, steps


def work(images: bool, episodes: int, rounds: int, seed: int, gate, results) -> None:
    started = time.perf_counter()
    env = make(images, seed)
    run(env)
    startup = time.perf_counter() - started
    for _ in range(rounds):
        gate.wait()
        wall, cpu = time.perf_counter(), time.process_time()
        outcomes = [run(env) for _ in range(episodes)]
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        results.put((sum(ok for ok, _ in outcomes), sum(n for _, n in outcomes), wall, cpu, startup))
        gate.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=30, help="per process and round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--images", action="store_true")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    gate, results = context.Barrier(options.processes), context.Queue()
    workers = [
        context.Process(target=work, args=(options.images, options.episodes, options.rounds, seed, gate, results))
        for seed in range(options.processes)
    ]
    for worker in workers:
        worker.start()
    rows = []
    for _ in range(options.rounds):
        part = [results.get(timeout=1800) for _ in workers]
        rows.append(
            {
                "successes": sum(p[0] for p in part),
                "attempts": options.episodes * options.processes,
                "steps": sum(p[1] for p in part),
                "wall_s": max(p[2] for p in part),
                "cpu_s": sum(p[3] for p in part),
                "startup_s": max(p[4] for p in part),
            }
        )
    for worker in workers:
        worker.join()
    import mujoco
    import robosuite

    versions = {"robosuite": robosuite.__version__, "mujoco": mujoco.__version__}
    print(json.dumps({"images": options.images, "rounds": rows, "versions": versions, "hard_reset": False}))


if __name__ == "__main__":
    main()
