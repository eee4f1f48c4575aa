"""One arm in one world, asked in batches: where is the tool, how does it get there, is that free, what collides."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.core.seeds import int_seed
from armwright.planning._arrays import SPHERE_PAD_M, RobotArrays, Scene, axis_reach, robot_arrays
from armwright.planning._jit import F64, I32, I64
from armwright.planning.kernels_check import check_batch, nearest_pair
from armwright.planning.kernels_edges import check_edge_batch
from armwright.planning.kernels_frames import tool_poses
from armwright.planning.kernels_ik import ArmChain, solve_batch
from armwright.planning.kernels_random import random_state
from armwright.planning.types import Bools, IkResult, WorldSpec
from armwright.planning.world import WorldModel
from armwright.robots.kinematics import Kinematics, SphereSet

# Solutions stay this far inside the joint limits, or single precision would put them outside.
LIMIT_MARGIN_RAD = 1e-4
# Free space kept around the arm's reach in the coarse grid, for held objects [m].
REGION_MARGIN_M = 0.15
# A start this far outside its limits is taken as sensor noise [rad].
START_SLACK_RAD = 0.05
# What a ball loses where a touch of the padding alone does not count.
_GRAZE = np.array([0.0, 0.0, 0.0, SPHERE_PAD_M], np.float32)


class ArmInWorld:
    """An arm with its gripper at one opening, what it holds, and the obstacles around it.

    Args:
        kinematics: The arm.
        opening_m: Gap between the pads [m].
        seed: Of every random choice; the same call gives the same answer.
    """

    def __init__(self, kinematics: Kinematics, *, opening_m: float, seed: int = 0) -> None:
        if not kinematics.spheres:
            raise UsageError(f"the kinematics of {kinematics.name!r} have no collision spheres.")
        self.kinematics = kinematics
        self.seed = seed
        self._chain = ArmChain(
            np.ascontiguousarray(kinematics.offset, np.float64),
            np.ascontiguousarray(kinematics.tool, np.float64),
            kinematics.lower_rad + LIMIT_MARGIN_RAD,
            kinematics.upper_rad - LIMIT_MARGIN_RAD,
        )
        self._held: Array | None = None
        self._held_name: str | None = None
        self._robots: dict[float, RobotArrays] = {}
        self._scenes: dict[bool, Scene] = {}
        self.opening_m = 0.0
        self._pairs = kinematics.self_pairs
        self._robot = self._with_opening(opening_m)
        low, high = self._reach()
        largest = max(float(s.radius_m.max(initial=0.0)) for s in kinematics.spheres.values())
        self._world = WorldModel(low, high, largest_sphere_m=max(largest + SPHERE_PAD_M, 0.06))
        self._pairs = self._apart_at_home()
        self._robot = self._with_opening(opening_m)

    @property
    def world(self) -> WorldSpec:
        """The obstacles as they were given."""
        return self._world.spec

    @property
    def held_name(self) -> str | None:
        """Name of what is held, if it was named."""
        return self._held_name

    def set_world(self, world: WorldSpec) -> None:
        """Replace the obstacles; poses are in the arm's base frame.

        Raises:
            UsageError: Names clash, a target is unknown, or a hull is unusable.
        """
        self._world.load(world)
        self._scenes.clear()

    def set_opening(self, opening_m: float) -> None:
        """Use the spheres of the gripper at this gap."""
        self._robot = self._with_opening(opening_m)
        self._scenes.clear()

    def attach(self, center_tool_m: ArrayLike, radius_m: ArrayLike, *, name: str | None = None) -> None:
        """Hold an object, given as spheres in the tool frame.

        With a ``name``, the obstacle of that name leaves the world while it is held, the held object and the arm are
        checked against all others, and ``without_targets`` lets the held object alone touch the targets. Without one,
        the held object never sees the targets (it may be one) and ``without_targets`` applies to the arm.

        Args:
            center_tool_m: (k, 3).
            radius_m: (k,).
            name: Scene id of the held object.
        """
        center = np.asarray(center_tool_m, float)
        radius = np.asarray(radius_m, float)
        if center.ndim != 2 or center.shape[1:] != (3,) or radius.shape != (len(center),) or len(center) == 0:
            raise UsageError(f"a held object needs (k, 3) centres and (k,) radii, got {center.shape}, {radius.shape}.")
        if not (np.isfinite(center).all() and np.isfinite(radius).all() and (radius > 0).all()):
            raise UsageError("a held object's spheres must be finite, with positive radii.")
        tool = self.kinematics.tool
        self._held = np.column_stack([center @ tool[:3, :3].T + tool[:3, 3], radius + SPHERE_PAD_M])
        self._held_name = name
        self._world.allow_sphere(float(radius.max()) + SPHERE_PAD_M)
        self.set_opening(self.opening_m)

    def detach(self) -> None:
        """Hold nothing."""
        self._held = None
        self._held_name = None
        self.set_opening(self.opening_m)

    def fk(self, q_rad: ArrayLike) -> Array:
        """Return (b, 4, 4) poses of the tool in the base frame at q (b, n)."""
        q = self._joints(q_rad, "q")
        n = self.kinematics.dof
        out = np.empty((len(q), 4, 4))
        tool_poses(self._chain.offset, self._chain.tool, q, np.empty((n + 1, 3, 4)), out)
        return out

    def ik(
        self,
        poses_base_tool: ArrayLike,
        *,
        seeds: ArrayLike | None = None,
        n_seeds: int = 16,
        max_solutions: int = 8,
    ) -> IkResult:
        """Solve for tool poses (b, 4, 4), inside the joint limits, to 0.2 mm and 0.12 degrees.

        Args:
            poses_base_tool: (b, 4, 4).
            seeds: (s, n) configurations to start from; solutions are sorted by distance to the first. Home if None.
            n_seeds: Attempts per pose in all; those past ``seeds`` are random.
            max_solutions: Distinct solutions kept per pose.
        """
        poses = self._poses(poses_base_tool, "poses_base_tool")
        given = self._joints(self.kinematics.home_rad[None] if seeds is None else seeds, "seeds")
        if len(given) == 0 or n_seeds < 1 or max_solutions < 1:
            raise UsageError(f"ik needs a seed and counts >= 1, got {len(given)}, {n_seeds}, {max_solutions}.")
        batch, n = len(poses), self.kinematics.dof
        out = np.zeros((batch, max_solutions, n))
        count: I64 = np.zeros(batch, np.int64)
        best = np.zeros((batch, n))
        error = np.zeros((batch, 2))
        state = random_state(int_seed(self.seed, "ik"))
        solve_batch(self._chain, poses, given[:n_seeds], max(n_seeds - len(given), 0), out, count, best, error, state)
        return IkResult(out, count, best, error[:, 0].copy(), error[:, 1].copy())

    def check(self, q_rad: ArrayLike, *, without_targets: bool = False) -> Bools:
        """Return (b,) True where q (b, n) touches neither the world nor the arm itself."""
        q = self._joints(q_rad, "q").astype(np.float32)
        out = np.zeros(len(q), np.bool_)
        check_batch(self._scene(without_targets), q, out)
        return out

    def check_edges(
        self, a_rad: ArrayLike, b_rad: ArrayLike, *, resolution_rad: float = 0.03, without_targets: bool = False
    ) -> Bools:
        """Return (e,) True where the straight joint-space edge from a (e, n) to b (e, n) is free, ends included."""
        a, b = self._joints(a_rad, "a"), self._joints(b_rad, "b")
        if a.shape != b.shape or resolution_rad <= 0:
            raise UsageError(f"edges need equal shapes and a step > 0, got {a.shape}, {b.shape}, {resolution_rad}.")
        out = np.zeros(len(a), np.bool_)
        scene = self._scene(without_targets)
        check_edge_batch(scene, a.astype(np.float32), b.astype(np.float32), resolution_rad, out)
        return out

    def clearance(self, q_rad: ArrayLike, *, without_targets: bool = False) -> Array:
        """Return (b,) smallest gaps [m] of the padded arm and held object at q (b, n); negative in collision."""
        return np.array([self._nearest(q, without_targets=without_targets)[0] for q in self._joints(q_rad, "q")], float)

    def colliding_pair(self, q_rad: ArrayLike, *, without_targets: bool = False) -> tuple[str, str] | None:
        """Return what collides deepest at q (n,), by name, or None.

        The arm's links are ``base``, ``link_1`` … and ``hand`` (the last link with the gripper); a held object has its
        own name, or ``held``.
        """
        q = self._joints(np.asarray(q_rad, float)[None], "q")[0]
        gap, first, second = self._nearest(q, without_targets=without_targets)
        if gap >= 0:
            return None
        if second < 0:
            return self._link_name(first), self._link_name(-1 - second)
        return self._link_name(first), self._world.spec.obstacles[self._world.part_owner[second]].name

    def first_collision(self, q_rad: ArrayLike, *, without_targets: bool = False) -> tuple[int, tuple[str, str]] | None:
        """Return the first row of q (t, n) that collides, padding left out, and the pair, or None.

        Timing re-checks with this: its samples lie between those that the path was checked at.
        """
        q = self._joints(q_rad, "q").astype(np.float32)
        free = np.zeros(len(q), np.bool_)
        scene = self._scene(without_targets)
        robot = scene.robot._replace(ball=scene.robot.ball - _GRAZE, held=scene.robot.held - _GRAZE)
        check_batch(scene._replace(robot=robot), q, free)
        if free.all():
            return None
        index = int(np.argmin(free))
        return index, self.colliding_pair(q[index], without_targets=without_targets) or ("arm", "world")

    def _nearest(self, q: F64, *, without_targets: bool) -> tuple[float, int, int]:
        """Return the smallest clearance [m] at q (n,) and whose it is, as `nearest_pair` codes it."""
        scene = self._scene(without_targets)
        pair: I64 = np.zeros(2, np.int64)
        frame = np.empty((self.kinematics.dof + 1, 3, 4), np.float32)
        place = np.empty((len(scene.robot.ball) + len(scene.robot.held), 3), np.float32)
        gap = nearest_pair(scene, q.astype(np.float32), frame, place, pair)
        return float(gap), int(pair[0]), int(pair[1])

    def _scene(self, without_targets: bool) -> Scene:
        scene = self._scenes.get(without_targets)
        if scene is None:
            targets = self._world.spec.targets if without_targets else frozenset[str]()
            if self._held_name is not None:
                own = frozenset({self._held_name})
                active = self._world.active(arm_ignores=own, held_ignores=own | targets)
            else:
                active = self._world.active(arm_ignores=targets, held_ignores=self._world.spec.targets)
            scene = Scene(self._robot, self._world.arrays, *active)
            self._scenes[without_targets] = scene
        return scene

    def _with_opening(self, opening_m: float) -> RobotArrays:
        self.opening_m = opening_m
        gap = round(opening_m, 4)
        robot = self._robots.get(gap)
        if robot is None:
            spheres: SphereSet = self.kinematics.spheres_at(gap)
            robot = self._robots[gap] = robot_arrays(self.kinematics, spheres, limit_margin_rad=LIMIT_MARGIN_RAD)
        pair = np.ascontiguousarray(self._pairs, np.int32).reshape(-1, 2)
        if self._held is None:
            return robot._replace(pair=pair)
        held = np.ascontiguousarray(self._held, np.float32)
        reach = robot.reach.copy()
        reach[:, -1] = axis_reach(self.kinematics, self._held, np.zeros(len(held)), self._held)[:, -1]
        return robot._replace(pair=pair, held=held, reach=reach)

    def _apart_at_home(self) -> I32:
        """Return the link pairs whose spheres do not touch at home: where a robot is at home nothing collides."""
        home = np.ascontiguousarray(self.kinematics.home_rad[None], np.float32)
        flags, bits = self._world.active(arm_ignores=frozenset(), held_ignores=frozenset())
        apart: list[bool] = []
        for pair in self._robot.pair:
            free = np.zeros(1, np.bool_)
            alone = self._robot._replace(pair=pair[None])
            check_batch(Scene(alone, self._world.arrays, flags, bits), home, free)
            apart.append(bool(free[0]))
        kept: I32 = self._robot.pair[np.array(apart, bool)]
        return kept

    def _reach(self) -> tuple[Array, Array]:
        """Return the corners of a box that contains the arm in every configuration, with a margin [m]."""
        joints = np.concatenate([self.kinematics.offset[:, :3, 3], self.kinematics.tool[None, :3, 3]])
        # A chain never reaches farther than the sum of its links, and robots seldom come near it: sampling is tighter.
        rng = np.random.default_rng(0)
        q = rng.uniform(self._chain.lower, self._chain.upper, (2000, self.kinematics.dof))
        place = self.fk(q)[:, :3, 3]
        shoulder = joints[0]
        radius = float(np.linalg.norm(place - shoulder, axis=1).max()) + REGION_MARGIN_M
        low = np.array([-radius, -radius, max(-radius, -0.6)])
        return shoulder + low, shoulder + radius

    def _link_name(self, link: int) -> str:
        n = self.kinematics.dof
        if link > n:
            return self._held_name or "held"
        return "base" if link == 0 else "hand" if link == n else f"link_{link}"

    def _joints(self, value: ArrayLike, name: str) -> F64:
        q = np.ascontiguousarray(value, np.float64)
        if q.ndim != 2 or q.shape[1] != self.kinematics.dof:
            raise UsageError(f"{name} must be (b, {self.kinematics.dof}) joint angles [rad], got shape {q.shape}.")
        if not np.isfinite(q).all():
            raise UsageError(f"{name} holds values that are not finite.")
        return q

    def _poses(self, value: ArrayLike, name: str) -> F64:
        poses = np.ascontiguousarray(value, np.float64)
        if poses.ndim != 3 or poses.shape[1:] != (4, 4):
            raise UsageError(f"{name} must be (b, 4, 4) homogeneous matrices, got shape {poses.shape}.")
        turn = poses[:, :3, :3]
        if not np.isfinite(poses).all() or (
            len(poses) and np.abs(turn @ turn.transpose(0, 2, 1) - np.eye(3)).max() > 1e-4
        ):
            raise UsageError(f"{name} must be finite, with orthonormal rotations.")
        return poses
