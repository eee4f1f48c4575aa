"""Plan from a start to a set of goals, time and verify the motions, beside OMPL and roboplan.

Usage: ``python benchmarks/planning.py [--json] [--robots R] [--problems 100] [--peer-problems 25] [--executed 500]``
Worlds: ``easy`` (table, open shelf, six boxes) and ``narrow`` (deep shelf in compartments, eighteen boxes). The ends of
every problem are clear of everything by 1 cm in MuJoCo; whether a path exists is not known, so that a success below
100 % need not be a failure. ``tight ends`` are problems whose ends are merely free in MuJoCo: spheres refuse some.
Rows: ours (search, shortcut and check every 0.01 rad included); OMPL's RRTConnect with MuJoCo's check, and with our
check called from Python (search alone, every 0.05 rad); roboplan with our spheres, nearest goal. Times are CPU times of
one thread over the solved problems; a peer gives up after --timeout seconds. ``executed`` motions are planned, timed
and verified in MuJoCo at every 0.01 rad and against every limit plus 2 %.
Targets: median <= 1 ms, success >= 98 %, OMPL with MuJoCo >= 10 x, 0 of 500 motions touch anything or break a limit.
Peers: ``pip install "armwright[bench]" roboplan``.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any, get_args

import numpy as np

from _common import Problem, WorldName, arguments, arms, problems, quantiles, record, timed, world
from _planning_peers import Solve, ompl_solver, roboplan_solver
from armwright.planning.planner import Planner
from armwright.planning.verify import Verifier
from armwright.robots.bake import BakedRobot

CLEARANCE_M = 0.01


def summary(name: str, outcomes: list[tuple[bool, float]]) -> dict[str, Any]:
    """Return success and times of the solved problems."""
    times = [milliseconds for solved, milliseconds in outcomes if solved]
    return {
        "planner": name,
        "n": len(outcomes),
        "solved": float(np.mean([solved for solved, _ in outcomes])),
        **quantiles(times),
    }


def ours(planner: Planner, tasks: list[Problem]) -> Solve:
    """Return our planner as a solver, compiled."""
    planner.plan(tasks[0].start_rad, tasks[0].goals_rad)

    def solve(problem: Problem) -> tuple[bool, float]:
        report, milliseconds = timed(lambda: planner.plan(problem.start_rad, problem.goals_rad))
        return report.ok, milliseconds

    return solve


def compare(arm: BakedRobot, name: WorldName, options: Any, absent: dict[str, str]) -> list[dict[str, Any]]:
    """Return one row per planner."""
    spec = world(name, options.seed)
    tasks = problems(arm, spec, name, options.problems, clearance_m=CLEARANCE_M, seed=options.seed)
    tight = problems(arm, spec, name, options.problems, clearance_m=0.0, seed=options.seed)
    opening = arm.spec.gripper.opening_m[1]
    planner = Planner(arm.kinematics, opening_m=opening, seed=options.seed)
    planner.set_world(spec)
    judge = Verifier(arm.xml_path, arm.spec, spec, opening_m=opening)
    solve = ours(planner, tasks)
    rows = [
        summary("armwright", [solve(task) for task in tasks]),
        summary("armwright, tight ends", [solve(task) for task in tight]),
    ]
    few = tasks[: options.peer_problems]
    chain = arm.kinematics
    peers = {
        "ompl + mujoco": lambda: ompl_solver(chain, judge.is_free, timeout_s=options.timeout),
        "ompl + our check": lambda: ompl_solver(
            chain, lambda q: bool(planner.check(q[None])[0]), timeout_s=options.timeout
        ),
        "roboplan": lambda: roboplan_solver(chain, chain.spheres_at(opening), spec, timeout_s=options.timeout),
    }
    for peer, build in peers.items():
        try:
            rows.append(summary(peer, list(map(build(), few))))
        except ImportError as error:
            absent[peer.split()[0]] = f"{error}; pip install {peer.split()[0]}"
    for row in rows:
        row |= {"robot": arm.spec.name, "world": name, "ratio": row["median_ms"] / rows[0]["median_ms"]}
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
            motion, milliseconds = timed(partial(planner.time, path.path_rad))
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
                    print(
                        f"{arm.spec.name:7} {name:6} {row['planner']:21} {100 * row['solved']:6.1f} % of {row['n']:3}  "
                        f"median {row['median_ms']:8.3f} ms  p95 {row['p95_ms']:9.3f}  {row['ratio']:8.1f} x ours",
                        flush=True,
                    )
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
