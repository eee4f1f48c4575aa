"""Plan from a start to a set of goals, time and verify the motions, beside OMPL and roboplan.

Usage: ``python benchmarks/planning.py [--json] [--robots R] [--problems 100] [--peer-problems 25] [--executed 500]``
Worlds: ``easy`` (table, open shelf, six boxes) and ``narrow`` (deep shelf in compartments, eighteen boxes). The ends of
every problem are clear of everything by 1 cm in MuJoCo; whether a path exists is not known, so that a success below
100 % need not be a failure. ``tight ends`` are problems whose ends are merely free in MuJoCo: spheres refuse some.
Rows: ours with the default budget and, ``patient``, with 100,000 iterations; OMPL's RRTConnect with MuJoCo's check, and
with our check called from Python; roboplan with the hulls that MuJoCo collides and the nearest goal alone (no
shortening). Peers check an edge every 0.05 rad of joint-space distance, about what our search does (every 0.03 rad of
the fastest joint); our shortening and last check go every 0.01 rad. A peer runs on the first problems, for --timeout
seconds at most. Times are CPU times of one thread over the solved problems. ``x ours`` compares medians on the problems
that both solved: search with search (ours: another draw of the same search), then the whole call with search and
shortening.
``executed`` motions are planned with the default, timed, and verified in MuJoCo at every
0.01 rad and against every limit plus 2 %.
Targets: median <= 1 ms, success >= 98 %, OMPL with MuJoCo >= 10 x, 0 of 500 motions touch anything or break a limit.
Peers: ``pip install "armwright[bench]" roboplan``.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np

from _common import Problem, WorldName, arguments, arms, problems, quantiles, record, timed, world
from _planning_peers import Outcome, Solve, ompl_solver, roboplan_solver
from armwright.planning.kernels_random import random_state
from armwright.planning.kernels_tree import connect_sets
from armwright.planning.planner import MAX_ITERATIONS, RESOLUTION_RAD, Planner
from armwright.planning.timing import time_path
from armwright.planning.verify import Verifier
from armwright.robots.bake import BakedRobot

CLEARANCE_M = 0.01
PATIENT = 100_000


def summary(name: str, outcomes: list[Outcome], reference: list[Outcome]) -> dict[str, Any]:
    """Return success, times of the solved problems, and ratios over what the reference solved of the same ones."""
    both = [(one, other) for one, other in zip(outcomes, reference, strict=False) if one.solved and other.solved]

    def ratio(stage: str) -> float | None:
        pairs = np.array([(getattr(one, stage), getattr(other, stage)) for one, other in both]).reshape(-1, 2)
        return float(np.divide(*np.median(pairs, axis=0))) if both else None

    return {
        "planner": name,
        "n": len(outcomes),
        "solved": float(np.mean([one.solved for one in outcomes])),
        "refused": sum(not one.solved and one.search_ms == 0.0 for one in outcomes),
        "search": quantiles([one.search_ms for one in outcomes if one.solved]),
        "total": quantiles([one.total_ms for one in outcomes if one.solved]),
        "ours_solved_of_same": float(np.mean([other.solved for other in reference[: len(outcomes)]])),
        "paired": len(both),
        "ratio_search": ratio("search_ms"),
        "ratio_total": ratio("total_ms"),
    }


def ours(planner: Planner, tasks: list[Problem], *, max_iterations: int) -> list[Outcome]:
    """Return our planner's outcomes, compiled before the clock runs."""
    scene = planner._scene(False)

    def search(task: Problem) -> None:
        order = np.argsort(np.linalg.norm(task.goals_rad - task.start_rad, axis=1), kind="stable")
        ends = task.start_rad[None].astype(np.float32), task.goals_rad[order].astype(np.float32)
        connect_sets(scene, *ends, RESOLUTION_RAD, max_iterations, random_state(planner.seed))

    search(tasks[0])
    planner.plan(tasks[0].start_rad, tasks[0].goals_rad)
    outcomes = []
    for task in tasks:
        _, search_ms = timed(partial(search, task))
        report, milliseconds = timed(
            partial(planner.plan, task.start_rad, task.goals_rad, max_iterations=max_iterations)
        )
        outcomes.append(Outcome(report.ok, search_ms, milliseconds))
    return outcomes


def compare(arm: BakedRobot, name: WorldName, options: Any, absent: dict[str, str]) -> list[dict[str, Any]]:
    """Return one row per planner."""
    spec = world(name, options.seed)
    tasks = problems(arm, spec, name, options.problems, clearance_m=CLEARANCE_M, seed=options.seed)
    tight = problems(arm, spec, name, options.problems, clearance_m=0.0, seed=options.seed)
    opening = arm.spec.gripper.opening_m[1]
    planner = Planner(arm.kinematics, opening_m=opening, seed=options.seed)
    planner.set_world(spec)
    judge = Verifier(arm.xml_path, arm.spec, spec, opening_m=opening)
    default = ours(planner, tasks, max_iterations=MAX_ITERATIONS)
    patient = ours(planner, tasks, max_iterations=PATIENT)
    hard = ours(planner, tight, max_iterations=MAX_ITERATIONS)
    rows = [
        summary("armwright", default, default),
        summary("armwright, patient", patient, default),
        summary("tight ends", hard, default),
    ]
    few = tasks[: options.peer_problems]
    chain = arm.kinematics
    peers: dict[str, Callable[[], Solve]] = {
        "ompl + mujoco": lambda: ompl_solver(chain, judge.is_free, timeout_s=options.timeout),
        "ompl + our check": lambda: ompl_solver(
            chain, lambda q: bool(planner.check(q[None])[0]), timeout_s=options.timeout
        ),
        "roboplan": lambda: roboplan_solver(arm, spec, folder, opening_m=opening, timeout_s=options.timeout),
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for peer, build in peers.items():
            try:
                rows.append(summary(peer, list(map(build(), few)), default))
            except ImportError as error:
                absent[peer.split()[0]] = f"{error}; pip install {peer.split()[0]}"
    for row in rows:
        row |= {"robot": arm.spec.name, "world": name}
    return rows


def execute(arm: BakedRobot, options: Any, count: int) -> dict[str, Any]:
    """Plan, time and verify motions until ``count`` were timed."""
    opening = arm.spec.gripper.opening_m[1]
    outcome: Counter[str] = Counter()
    times, worst = [], ""
    for name in get_args(WorldName):
        spec = world(name, options.seed + 1)
        planner = Planner(arm.kinematics, opening_m=opening, seed=options.seed)
        planner.set_world(spec)
        judge = Verifier(arm.xml_path, arm.spec, spec, opening_m=opening)
        for task in problems(arm, spec, name, count, clearance_m=0.0, seed=options.seed + 1):
            if sum(outcome[key] for key in ("ok", "touches", "breaks a limit")) >= (
                count if name == "narrow" else count // 2
            ):
                break
            path = planner.plan(task.start_rad, task.goals_rad)
            if not path.ok:
                outcome["no plan"] += 1
                continue
            motion, milliseconds = timed(
                partial(time_path, path.path_rad, arm.kinematics, first_collision=planner.first_collision)
            )
            times.append(milliseconds)
            if not motion.ok or motion.trajectory is None:
                outcome[f"not timed: {motion.status}"] += 1
                continue
            touches = judge.check_path(motion.trajectory.position_rad)
            limits = judge.check_limits(motion.trajectory)
            worst = touches.detail or limits.detail or worst
            outcome["touches" if not touches.ok else "ok" if limits.ok else "breaks a limit"] += 1
    done = outcome["ok"] + outcome["touches"] + outcome["breaks a limit"]
    return {
        "robot": arm.spec.name,
        "executed": done,
        "touches": outcome["touches"],
        "breaks_limit": outcome["breaks a limit"],
        "outcome": dict(outcome),
        "timing": quantiles(times),
        "worst": worst,
    }


def line(row: dict[str, Any]) -> str:
    """Return a row of ``compare`` as text."""
    ratios = "/".join("-" if row[key] is None else f"{row[key]:.1f}" for key in ("ratio_search", "ratio_total"))
    return (
        f"{row['robot']:7} {row['world']:6} {row['planner']:20} {100 * row['solved']:5.1f} % of {row['n']:3}"
        f"{' (' + str(row['refused']) + ' ends refused)' if row['refused'] else ''}  "
        f"search {row['search']['median_ms']:8.3f} p95 {row['search']['p95_ms']:9.3f}  "
        f"with shortening {row['total']['median_ms']:8.3f} ms  {ratios} x ours on {row['paired']}"
    )


def main() -> None:
    """Print the tables, or their record."""
    options = arguments(__doc__, problems=100, peer_problems=25, timeout=2, executed=500)
    rows: list[dict[str, Any]] = []
    absent: dict[str, str] = {}
    chosen = arms(options)
    for arm in chosen:
        for name in get_args(WorldName):
            for row in compare(arm, name, options, absent):
                rows.append(row)
                if not options.json:
                    print(line(row), flush=True)
    for arm in chosen if options.executed else ():
        row = execute(arm, options, -(-options.executed // len(chosen)))
        rows.append(row)
        if not options.json:
            print(
                f"{arm.spec.name:7} executed {row['executed']}: {row['touches']} touch something, "
                f"{row['breaks_limit']} break a limit; timing {row['timing']}; {row['outcome']} {row['worst']}",
                flush=True,
            )
    if options.json:
        print(record("benchmarks/planning.py", rows, absent, options.seed))
    for name, hint in absent.items() if not options.json else ():
        print(f"{name} is absent: {hint}")


if __name__ == "__main__":
    main()
