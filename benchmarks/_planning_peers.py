"""The peers of the planning benchmark behind one call: a problem in, whether it was solved and in what time out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from _common import Problem, timed
from armwright.core.pose import Array
from armwright.planning.types import WorldSpec
from armwright.robots.kinematics import Kinematics, SphereSet

OMPL_STEP_RAD = 0.05
Solve = Callable[[Problem], tuple[bool, float]]


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

    def solve(problem: Problem) -> tuple[bool, float]:
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
        _, milliseconds = timed(lambda: setup.solve(timeout_s))
        return bool(setup.haveExactSolutionPath()), milliseconds

    return solve


def roboplan_solver(kinematics: Kinematics, spheres: SphereSet, world: WorldSpec, *, timeout_s: float) -> Solve:
    """Return roboplan's RRT-Connect for the same chain with the same spheres as collision geometry, nearest goal only.

    It checks self-collision without our slack, so ends that it calls colliding count as not solved at no cost.
    """
    from roboplan import core, rrt

    n = kinematics.dof
    scene = core.Scene(kinematics.name, core.loadUrdfSceneDescriptionFromXml(sphere_urdf(kinematics, spheres)))
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

    def solve(problem: Problem) -> tuple[bool, float]:
        lower, upper = kinematics.lower_rad + 1e-4, kinematics.upper_rad - 1e-4
        start = np.clip(problem.start_rad, lower, upper)
        near = np.argmin(np.linalg.norm(problem.goals_rad - start, axis=1))
        goal = np.clip(problem.goals_rad[near], lower, upper)
        if scene.hasCollisions(start) or scene.hasCollisions(goal):
            return False, 0.0
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

        return timed(run)

    return solve


def sphere_urdf(kinematics: Kinematics, spheres: SphereSet) -> str:
    """Return a URDF of the chain whose links collide as spheres."""
    parts = [f'<robot name="{kinematics.name}">']
    for link in range(kinematics.dof + 1):
        parts.append(f'<link name="link_{link}">')
        for center, radius, owner in zip(spheres.center_m, spheres.radius_m, spheres.link, strict=True):
            if owner == link:
                place = " ".join(f"{value:.6f}" for value in center)
                shape = f'<geometry><sphere radius="{radius:.6f}"/></geometry>'
                parts.append(f'<collision><origin xyz="{place}"/>{shape}</collision>')
        parts.append("</link>")
    for joint, offset in enumerate(kinematics.offset):
        r = offset[:3, :3]
        roll, pitch, yaw = (
            np.arctan2(r[2, 1], r[2, 2]),
            -np.arcsin(np.clip(r[2, 0], -1, 1)),
            np.arctan2(r[1, 0], r[0, 0]),
        )
        place = " ".join(f"{value:.9f}" for value in offset[:3, 3])
        parts.append(
            f'<joint name="joint_{joint + 1}" type="revolute"><parent link="link_{joint}"/>'
            f'<child link="link_{joint + 1}"/><origin xyz="{place}" rpy="{roll:.9f} {pitch:.9f} {yaw:.9f}"/>'
            f'<axis xyz="0 0 1"/><limit lower="{kinematics.lower_rad[joint]:.6f}" '
            f'upper="{kinematics.upper_rad[joint]:.6f}" effort="100" velocity="2"/></joint>'
        )
    return "\n".join([*parts, "</robot>"])
