"""Inverse kinematics of each arm, to 1 mm and 0.5 degrees, judged by MuJoCo, beside mink and ssik.

Usage: ``python benchmarks/ik.py [--json] [--robots franka,ur5e] [--poses 500] [--peer-poses 40]``
Targets: 99.8 % solved, 0.05 ms each. Poses are the tool's at configurations drawn over the whole joint range. mink gets
5 starts of 40 steps; ssik is asked for one solution of the native solver that it ships for the arm. Times are CPU times
of one thread. Peers: ``pip install "armwright[bench]" ssik``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import mujoco
import numpy as np

from _common import arguments, arms, quantiles, record, timed
from armwright.core.pose import Array
from armwright.core.seeds import rng_for
from armwright.planning.planner import Planner
from armwright.robots.bake import BakedRobot

WITHIN_M = 1e-3
WITHIN_RAD = np.deg2rad(0.5)
Solve = Callable[[Array], Array | None]
SSIK_MODULES = {
    "franka": "ssik.prebuilt.franka.panda_ik",
    "kinova": "ssik.prebuilt.kinova.gen3_ik",
    "ur5e": "ssik.prebuilt.universal_robots.ur5e_ik",
    "xarm7": "ssik.prebuilt.ufactory.xarm7_ik",
}


class Judge:
    """Forward kinematics by MuJoCo."""

    def __init__(self, arm: BakedRobot) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(arm.xml_path))
        self.data = mujoco.MjData(self.model)
        self.addresses = self.model.jnt_qposadr[[self.model.joint(name).id for name in arm.spec.joints]]
        self.limits = np.array(arm.spec.limits_rad)

    def tool(self, q_rad: Array) -> Array:
        self.data.qpos[self.addresses] = q_rad
        mujoco.mj_kinematics(self.model, self.data)
        pose = np.eye(4)
        pose[:3, :3] = self.data.site("tool").xmat.reshape(3, 3)
        pose[:3, 3] = self.data.site("tool").xpos
        return pose

    def accepts(self, q_rad: Array | None, pose: Array) -> bool:
        if q_rad is None or (q_rad < self.limits[:, 0] - 1e-6).any() or (q_rad > self.limits[:, 1] + 1e-6).any():
            return False
        found = self.tool(q_rad)
        cosine = (np.trace(found[:3, :3].T @ pose[:3, :3]) - 1) / 2
        near = bool(np.linalg.norm(found[:3, 3] - pose[:3, 3]) < WITHIN_M)
        return near and bool(np.arccos(np.clip(cosine, -1, 1)) < WITHIN_RAD)


def ours(arm: BakedRobot, poses: Array, judge: Judge, seed: int) -> dict[str, Any]:
    """Solve all poses in one call, one solution each."""
    planner = Planner(arm.kinematics, opening_m=arm.spec.gripper.opening_m[1], seed=seed)
    planner.ik(poses[:2], n_seeds=50, max_solutions=1)
    result, milliseconds = min(
        (timed(lambda: planner.ik(poses, n_seeds=50, max_solutions=1)) for _ in range(3)), key=lambda pair: pair[1]
    )
    solved = [judge.accepts(result.q_rad[i, 0] if result.count[i] else None, pose) for i, pose in enumerate(poses)]
    return {"solver": "armwright", "solved": float(np.mean(solved)), "mean_ms": milliseconds / len(poses)}


def peer(name: str, solve: Solve, poses: Array, judge: Judge) -> dict[str, Any]:
    """Solve pose by pose."""
    solve(poses[0])
    answers = [timed(lambda pose=pose: solve(pose)) for pose in poses]
    solved = [judge.accepts(q, pose) for (q, _), pose in zip(answers, poses, strict=True)]
    times = [milliseconds for _, milliseconds in answers]
    return {"solver": name, "solved": float(np.mean(solved)), "mean_ms": float(np.mean(times)), **quantiles(times)}


def mink_solver(arm: BakedRobot, judge: Judge, seed: int) -> Solve:
    """Return differential IK from up to five starts."""
    import mink

    model = judge.model
    configuration = mink.Configuration(model)
    task = mink.FrameTask("tool", "site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-3)
    limits = [mink.ConfigurationLimit(model)]
    rng = rng_for(seed, "benchmarks", "mink")
    rest = configuration.q.copy()

    def solve(pose: Array) -> Array | None:
        task.set_target(mink.SE3.from_matrix(pose))
        for start in range(5):
            q = rest.copy()
            q[judge.addresses] = arm.spec.home_rad if start == 0 else rng.uniform(*judge.limits.T)
            configuration.update(q)
            for _ in range(40):
                velocity = mink.solve_ik(configuration, [task], 1.0, "daqp", damping=1e-6, limits=limits)
                configuration.integrate_inplace(velocity, 1.0)
                error = task.compute_error(configuration)
                if np.linalg.norm(error[:3]) < WITHIN_M / 2 and np.linalg.norm(error[3:]) < WITHIN_RAD / 2:
                    return np.array(configuration.q[judge.addresses])
        return None

    return solve


def ssik_solver(arm: BakedRobot, judge: Judge) -> Solve:
    """Return the analytic solver that ssik ships for the arm, or, where it is of other measures, one of our chain."""
    import ssik

    target = None
    if arm.spec.name in SSIK_MODULES:
        module = import_module(SSIK_MODULES[arm.spec.name])
        zero = np.zeros(arm.kinematics.dof)
        flange_tool = np.linalg.inv(module.fk(zero)) @ judge.tool(zero)
        far = rng_for(0, "benchmarks", "ssik").uniform(*judge.limits.T, (20, arm.kinematics.dof))
        if max(np.abs(module.fk(q) @ flange_tool - judge.tool(q)).max() for q in far) < WITHIN_M / 10:
            solver, target = module.solve, np.linalg.inv(flange_tool)
    if target is None:
        chain = np.concatenate([arm.kinematics.offset, arm.kinematics.tool[None]])
        solver = ssik.Manipulator.from_transforms(chain, limits=np.array(arm.spec.limits_rad)).solve
        target = np.eye(4)

    def solve(pose: Array) -> Array | None:
        found = solver(pose @ target, max_solutions=1)
        return np.asarray(found[0].q, float) if found else None

    return solve


def main() -> None:
    """Print the table, or its record."""
    options = arguments(__doc__, poses=500, peer_poses=40)
    rows: list[dict[str, Any]] = []
    absent: dict[str, str] = {}
    for arm in arms(options):
        judge = Judge(arm)
        rng = rng_for(options.seed, "benchmarks", "ik", arm.spec.name)
        poses = np.array([judge.tool(q) for q in rng.uniform(*judge.limits.T, (options.poses, arm.kinematics.dof))])
        mine = ours(arm, poses, judge, options.seed)
        table = [mine]
        for name, build in (
            ("mink", lambda arm=arm, judge=judge: mink_solver(arm, judge, options.seed)),
            ("ssik", lambda arm=arm, judge=judge: ssik_solver(arm, judge)),
        ):
            try:
                solver = build()
            except ImportError as error:
                absent[name] = f"{error}; pip install {name}" + (" daqp" if name == "mink" else "")
                continue
            table.append(peer(name, solver, poses[: options.peer_poses], judge))
        for row in table:
            row |= {"robot": arm.spec.name, "ratio": row["mean_ms"] / mine["mean_ms"]}
            rows.append(row)
            if not options.json:
                print(
                    f"{arm.spec.name:8} {row['solver']:10} solved {100 * row['solved']:6.2f} %  "
                    f"{row['mean_ms']:8.4f} ms  {row['ratio']:7.1f} x ours"
                )
    if options.json:
        print(record("benchmarks/ik.py", rows, absent, options.seed))
    for name, hint in absent.items() if not options.json else ():
        print(f"{name} is absent: {hint}")


if __name__ == "__main__":
    main()
