"""The peers of the planning benchmark behind one call: a problem in, whether it was solved and in what time out.

Times are CPU milliseconds of one thread: of the search alone, and with the shortening of the path that follows it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
import trimesh

from _common import CORNERS, Problem, timed
from armwright.core.pose import Array
from armwright.planning.types import WorldSpec
from armwright.robots.bake import BakedRobot
from armwright.robots.fit import settle_gripper
from armwright.robots.kinematics import Kinematics

OMPL_STEP_RAD = 0.05


class Outcome(NamedTuple):
    """One problem: was it solved, in what time, and in what time together with shortening the path."""

    solved: bool
    search_ms: float
    total_ms: float


Solve = Callable[[Problem], Outcome]


def ompl_solver(kinematics: Kinematics, is_free: Callable[[Array], bool], *, timeout_s: float) -> Solve:
    """Return OMPL's RRTConnect over all goals of a problem, with a validity check of ours."""
    from ompl import base, geometric, util

    util.noOutputHandler()
    n = kinematics.dof
    space = base.RealVectorStateSpace(n)
    bounds = base.RealVectorBounds(n)
    for joint in range(n):
        bounds.setLow(joint, float(kinematics.lower_rad[joint]))
        bounds.setHigh(joint, float(kinematics.upper_rad[joint]))
    space.setBounds(bounds)

    def state_of(q: Array) -> object:
        state = space.allocState()
        # A hair outside the bounds makes a state invalid, and the planner then waits for another until its time is up.
        inside = np.clip(q, kinematics.lower_rad + 1e-4, kinematics.upper_rad - 1e-4)
        for joint in range(n):
            state[joint] = float(inside[joint])
        return state

    def solve(problem: Problem) -> Outcome:
        setup = geometric.SimpleSetup(space)
        information = setup.getSpaceInformation()
        setup.setStateValidityChecker(lambda state: is_free(np.array([state[joint] for joint in range(n)])))
        information.setStateValidityCheckingResolution(OMPL_STEP_RAD / space.getMaximumExtent())
        setup.setStartState(state_of(problem.start_rad))
        goal = base.GoalStates(information)
        for q in problem.goals_rad:
            goal.addState(state_of(q))
        setup.setGoal(goal)
        planner = geometric.RRTConnect(information)
        planner.setRange(1.0)
        setup.setPlanner(planner)
        _, search_ms = timed(lambda: setup.solve(timeout_s))
        solved = bool(setup.haveExactSolutionPath())
        shorten_ms = timed(setup.simplifySolution)[1] if solved else 0.0
        return Outcome(solved, search_ms, search_ms + shorten_ms)

    return solve


def roboplan_solver(arm: BakedRobot, world: WorldSpec, folder: Path, *, opening_m: float, timeout_s: float) -> Solve:
    """Return roboplan's RRT-Connect for the same chain, with the hulls that MuJoCo collides, nearest goal only.

    Args:
        arm: The arm.
        world: Boxes.
        folder: Where the hulls are written for it to read.
        opening_m: Gap between the pads [m].
        timeout_s: When it gives up.
    """
    from roboplan import core, rrt

    kinematics = arm.kinematics
    n = kinematics.dof
    scene = core.Scene(
        kinematics.name, core.loadUrdfSceneDescriptionFromXml(hull_urdf(arm, folder, opening_m=opening_m))
    )
    names = [f"joint_{k}" for k in range(1, n + 1)]
    scene.addGroup("arm", names)
    tested = {tuple(map(int, pair)) for pair in kinematics.self_pairs}
    untested = [(f"link_{a}", f"link_{b}") for a in range(n + 1) for b in range(a + 1, n + 1) if (a, b) not in tested]
    scene.setCollisions(untested, False)
    for obstacle in world.obstacles:
        half = np.abs(obstacle.hulls[0]).max(axis=0)
        pose = np.asfortranarray(obstacle.pose_base_obstacle.matrix())
        scene.addBoxGeometry(obstacle.name, "universe", core.Box(*(2 * half)), pose, np.ones(4))
    fixed = [*(obstacle.name for obstacle in world.obstacles), "link_0"]
    scene.setCollisions([(a, b) for i, a in enumerate(fixed) for b in fixed[i + 1 :]], False)

    def solve(problem: Problem) -> Outcome:
        lower, upper = kinematics.lower_rad + 1e-4, kinematics.upper_rad - 1e-4
        start = np.clip(problem.start_rad, lower, upper)
        near = np.argmin(np.linalg.norm(problem.goals_rad - start, axis=1))
        goal = np.clip(problem.goals_rad[near], lower, upper)
        if scene.hasCollisions(start) or scene.hasCollisions(goal):
            return Outcome(False, 0.0, 0.0)
        options = rrt.RRTOptions()
        options.group_name = "arm"
        options.collision_check_step_size = OMPL_STEP_RAD
        options.max_connection_distance = 1.0
        options.max_planning_time = timeout_s
        options.rrt_connect = True
        planner = rrt.RRT(scene, options)

        def run() -> bool:
            try:
                path = planner.plan(core.JointConfiguration(names, start), core.JointConfiguration(names, goal))
            except RuntimeError:
                return False
            return path is not None and len(path.positions) > 1

        solved, milliseconds = timed(run)
        return Outcome(solved, milliseconds, milliseconds)

    return solve


def hull_urdf(arm: BakedRobot, folder: Path, *, opening_m: float) -> str:
    """Write the arm's collision hulls into ``folder`` and return a URDF of its chain with them."""
    kinematics = arm.kinematics
    model = mujoco.MjModel.from_xml_path(str(arm.xml_path))
    joints = [model.joint(name).id for name in arm.spec.joints]
    data = mujoco.MjData(model)
    data.qpos[:] = settle_gripper(model, arm.spec.gripper, opening_m)
    data.qpos[model.jnt_qposadr[joints]] = 0.0
    mujoco.mj_kinematics(model, data)
    frames = [np.eye(4)]
    for offset in kinematics.offset:
        frames.append(frames[-1] @ offset)
    shapes: list[list[str]] = [[] for _ in frames]
    for geom in range(model.ngeom):
        if not (model.geom_contype[geom] or model.geom_conaffinity[geom]):
            continue
        points = geom_points(model, geom) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
        link = link_of(model, joints, int(model.geom_bodyid[geom]))
        to_link = np.linalg.inv(frames[link])
        path = folder / f"{arm.spec.name}_{geom}.stl"
        trimesh.convex.convex_hull(points @ to_link[:3, :3].T + to_link[:3, 3]).export(path)
        shapes[link].append(f'<collision><geometry><mesh filename="{path}"/></geometry></collision>')
    parts = [f'<robot name="{kinematics.name}">']
    parts += [f'<link name="link_{link}">{"".join(own)}</link>' for link, own in enumerate(shapes)]
    for joint, offset in enumerate(kinematics.offset):
        r = offset[:3, :3]
        turn = np.arctan2(r[2, 1], r[2, 2]), -np.arcsin(np.clip(r[2, 0], -1, 1)), np.arctan2(r[1, 0], r[0, 0])
        place, rpy = (" ".join(f"{value:.9f}" for value in row) for row in (offset[:3, 3], turn))
        parts.append(
            f'<joint name="joint_{joint + 1}" type="revolute"><parent link="link_{joint}"/>'
            f'<child link="link_{joint + 1}"/><origin xyz="{place}" rpy="{rpy}"/>'
            f'<axis xyz="0 0 1"/><limit lower="{kinematics.lower_rad[joint]:.6f}" '
            f'upper="{kinematics.upper_rad[joint]:.6f}" effort="100" velocity="2"/></joint>'
        )
    return "\n".join([*parts, "</robot>"])


def geom_points(model: mujoco.MjModel, geom: int) -> Array:
    """Return points whose hull is a geom, in its own frame; round shapes are close polyhedra."""
    size = model.geom_size[geom]
    kind = model.geom_type[geom]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first = model.mesh_vertadr[mesh]
        return np.asarray(model.mesh_vert[first : first + model.mesh_vertnum[mesh]], float)
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return CORNERS * size
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return np.asarray(trimesh.creation.icosphere(2, size[0]).vertices)
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return np.asarray(trimesh.creation.capsule(2 * size[1], size[0]).vertices)
    return np.asarray(trimesh.creation.cylinder(size[0], 2 * size[1]).vertices)


def link_of(model: mujoco.MjModel, joints: list[int], body: int) -> int:
    """Return the link of the chain that a body moves with."""
    while body > 0:
        for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
            if joint in joints:
                return joints.index(joint) + 1
        body = int(model.body_parentid[body])
    return 0
