"""Judge a motion with MuJoCo's exact geometry, in a model built from the planner's own world."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.control.protocols import Trajectory
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.planning.types import Obstacle, WorldSpec
from armwright.robots.fit import settle_gripper
from armwright.robots.spec import RobotSpec

if TYPE_CHECKING:
    import mujoco

STEP_RAD = 0.01
OVER_LIMIT = 0.02
HELD = "held object"
_OBSTACLE = "obstacle/"
_HELD_GEOM = "held/"
_SAMPLED_OPENINGS = 9
_FLAT_M = 1e-4

_Allowed = tuple[NDArray[np.bool_], NDArray[np.bool_]]
VerifyStatus = Literal["ok", "verify_collision", "verify_limits"]


@dataclass(frozen=True, eq=False)
class VerifyReport:
    """What the verifier saw.

    Attributes:
        ok, status: Whether the motion stands.
        colliding: The first pair that touches: a body of the robot or the held object, and what it touches.
        index: Row of the path or trajectory at or after which it goes wrong; -1 if nowhere.
        depth_m: How deep the pair overlaps [m].
        states: Configurations that were checked.
        detail: One sentence.
    """

    ok: bool
    status: VerifyStatus
    colliding: tuple[str, str] | None = None
    index: int = -1
    depth_m: float = 0.0
    states: int = 0
    detail: str = ""


class Verifier:
    """Exact collision and limit checks of one arm in one world.

    Building it compiles the robot's collision geoms and the world's hulls into a model of its own, about 20 ms for 200
    hulls; ``set_world`` only moves bodies where the same hulls stand in other places.

    Args:
        xml_path: The baked ``robot.xml``.
        spec: Its spec, with the gripper's table measured.
        world: Obstacles in the arm's base frame.
        opening_m: Gap between the pads [m].
    """

    def __init__(self, xml_path: Path, spec: RobotSpec, world: WorldSpec, *, opening_m: float) -> None:
        self.spec = spec
        self._robot = _load_robot(str(xml_path), spec)
        self._world = world
        self._opening_m = opening_m
        self._strict: _Allowed | None = None
        self._scene = self._build(())
        self._held: tuple[Array, ...] = ()
        self._held_scene: _Scene | None = None

    @property
    def world(self) -> WorldSpec:
        """The world it was built for."""
        return self._world

    def set_opening(self, opening_m: float) -> None:
        """Set the gap between the pads [m]."""
        self._opening_m = opening_m
        self._strict = None

    def set_world(self, world: WorldSpec) -> None:
        """Take another world; cheap if only poses of the same hulls differ."""
        same = len(world.obstacles) == len(self._world.obstacles) and all(
            new.name == old.name and new.hulls is old.hulls
            for new, old in zip(world.obstacles, self._world.obstacles, strict=True)
        )
        self._world = world
        self._strict = None
        if same:
            self._scene.place(world.obstacles)
            if self._held_scene is not None:
                self._held_scene.place(world.obstacles)
        else:
            self._held_scene = None
            self._scene = self._build(())

    def check_path(
        self,
        q_rad: ArrayLike,
        *,
        ignore: frozenset[str] = frozenset(),
        held_ignore: frozenset[str] = frozenset(),
        attached: Sequence[Array] | None = None,
        pose_tool_attached: Pose | None = None,
        step_rad: float = STEP_RAD,
    ) -> VerifyReport:
        """Check a joint path at every ``step_rad`` of its fastest joint.

        Args:
            q_rad: (t, n) way points; one row checks one configuration.
            ignore: Obstacles that may be touched by anything.
            held_ignore: Obstacles that only the held object may touch (what it stands on, before and after).
            attached: Convex hulls (k, 3) of the held object in its own frame [m]; the same arrays are compiled once.
            pose_tool_attached: The held object's frame in the tool frame; the tool frame itself where None.
            step_rad: Largest step of any joint between checked configurations.

        Raises:
            UsageError: Wrong shape, values that are not finite, or names that the world does not have.
        """
        q = self._path(q_rad)
        if step_rad <= 0:
            raise UsageError(f"step_rad must be positive, got {step_rad}.")
        names = {obstacle.name for obstacle in self._world.obstacles}
        unknown = (ignore | held_ignore) - names
        if unknown:
            raise UsageError(f"the world has no obstacle {sorted(unknown)}.", hint=f"It has: {sorted(names)[:30]}.")
        scene = self._scene_with(attached)
        if attached:
            scene.hold(pose_tool_attached or Pose())
        scene.open(self._robot.qpos_at(self._opening_m))
        allowed = scene.allowed(ignore, held_ignore)
        dense, rows = interpolate(q, step_rad)
        for state, configuration in enumerate(dense):
            found = scene.touching(configuration, allowed)
            if found is not None:
                first, second, depth = found
                return VerifyReport(
                    False,
                    "verify_collision",
                    (first, second),
                    int(rows[state]),
                    depth,
                    state + 1,
                    f"{first} overlaps {second} by {depth * 1e3:.1f} mm after way point {int(rows[state])}.",
                )
        return VerifyReport(True, "ok", states=len(dense))

    def is_free(self, q_rad: Array, *, clearance_m: float = 0.0) -> bool:
        """Tell whether one configuration (n,) touches nothing, or comes no nearer than ``clearance_m``.

        The hand is empty and nothing is ignored: the fast way for planners that ask for every sample.
        """
        if self._strict is None:
            self._scene.open(self._robot.qpos_at(self._opening_m))
            self._strict = self._scene.allowed(frozenset(), frozenset())
        return self._scene.touching(q_rad, self._strict, clearance_m=clearance_m) is None

    def check_limits(self, trajectory: Trajectory, *, over: float = OVER_LIMIT) -> VerifyReport:
        """Check joint range, speed and acceleration at every sample; ``over`` is the share by which they may pass.

        Speed is judged from the samples' velocities and from position differences, acceleration from differences of
        velocity; the range may be passed by ``over`` of its width, capped at 1 mrad.
        """
        time, q, v = trajectory.time_s, trajectory.position_rad, trajectory.velocity_rad_s
        limits = np.asarray(self.spec.limits_rad, float)
        speed = np.asarray(self.spec.velocity_rad_s, float)
        acceleration = np.asarray(self.spec.acceleration_rad_s2, float)
        slack = np.minimum(over * (limits[:, 1] - limits[:, 0]), 1e-3)
        dt = np.diff(time)[:, None]
        if len(time) > 1 and (dt <= 0).any():
            return _limit_report(int(np.argmax(dt[:, 0] <= 0)), "time does not rise")
        outside = np.maximum(limits[:, 0] - slack - q, q - limits[:, 1] - slack)
        if (outside > 0).any():
            row, joint = np.unravel_index(int(outside.argmax()), outside.shape)
            return _limit_report(
                int(row), f"{self.spec.joints[joint]} is at {q[row, joint]:.4f} rad, outside {tuple(limits[joint])}"
            )
        checks = [("speed", np.abs(v) / speed)]
        if len(time) > 1:
            checks.append(("speed between samples", np.abs(np.diff(q, axis=0) / dt) / speed))
            checks.append(("acceleration", np.abs(np.diff(v, axis=0) / dt) / acceleration))
        for what, ratio in checks:
            if ratio.max() > 1 + over:
                row, joint = np.unravel_index(int(ratio.argmax()), ratio.shape)
                share = 100 * float(ratio[row, joint])
                return _limit_report(int(row), f"{self.spec.joints[joint]} reaches {share:.1f} % of its {what} limit")
        return VerifyReport(True, "ok", states=len(time))

    def _path(self, q_rad: ArrayLike) -> Array:
        q = np.atleast_2d(np.asarray(q_rad, float))
        n = len(self.spec.joints)
        if q.ndim != 2 or q.shape[1] != n or len(q) == 0 or not np.isfinite(q).all():
            raise UsageError(f"a path of {self.spec.name} is (t, {n}) finite radians, got shape {q.shape}.")
        return q

    def _scene_with(self, attached: Sequence[Array] | None) -> _Scene:
        if not attached:
            return self._scene
        held = tuple(attached)
        if self._held_scene is None or not (
            len(held) == len(self._held) and all(a is b for a, b in zip(held, self._held, strict=True))
        ):
            self._held, self._held_scene = held, self._build(held)
        return self._held_scene

    def _build(self, held: tuple[Array, ...]) -> _Scene:
        return _Scene(self._robot, self.spec, self._world.obstacles, held)


def interpolate(q_rad: Array, step_rad: float) -> tuple[Array, NDArray[np.int64]]:
    """Return (m, n) configurations no more than a step apart on a path (t, n), and the way point before each."""
    if len(q_rad) == 1:
        return q_rad, np.zeros(1, np.int64)
    delta = np.diff(q_rad, axis=0)
    counts = np.maximum(np.ceil(np.abs(delta).max(axis=1) / step_rad).astype(np.int64), 1)
    rows = np.repeat(np.arange(len(delta)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    dense = q_rad[rows] + delta[rows] * (within / counts[rows])[:, None]
    return np.concatenate([dense, q_rad[-1:]]), np.append(rows, len(q_rad) - 1)


def _limit_report(index: int, what: str) -> VerifyReport:
    return VerifyReport(False, "verify_limits", index=index, detail=f"at sample {index} {what}.")


@dataclass(frozen=True, eq=False)
class _Robot:
    """A robot's collision geoms as an editable spec, and its gripper's joints over the gap."""

    spec: mujoco.MjSpec
    openings_m: Array
    qpos: Array

    def qpos_at(self, opening_m: float) -> Array:
        return np.array([np.interp(opening_m, self.openings_m, column) for column in self.qpos.T])


@lru_cache(maxsize=16)
def _load_robot(xml_path: str, spec: RobotSpec) -> _Robot:
    import mujoco

    robot = mujoco.MjSpec.from_file(xml_path)
    needed = set()
    for geom in list(robot.geoms):
        if geom.contype == 0 and geom.conaffinity == 0:
            robot.delete(geom)
        elif geom.meshname:
            needed.add(geom.meshname)
    for mesh in list(robot.meshes):
        if mesh.name not in needed:
            robot.delete(mesh)
    for group in (robot.textures, robot.materials, robot.sensors, robot.cameras, robot.lights, robot.keys):
        for element in list(group):
            robot.delete(element)
    low, high = spec.gripper.opening_m
    openings = np.linspace(low, high, _SAMPLED_OPENINGS)
    model = robot.copy().compile()
    return _Robot(robot, openings, np.array([settle_gripper(model, spec.gripper, gap) for gap in openings]))


class _Scene:
    """A compiled model of robot, obstacles and held object."""

    def __init__(
        self, robot: _Robot, spec: RobotSpec, obstacles: tuple[Obstacle, ...], held: tuple[Array, ...]
    ) -> None:
        import mujoco

        self._mujoco = mujoco
        self._obstacles = obstacles
        try:
            model = self._compile(robot, held, thicken=False)
        except ValueError:
            # Hulls without volume cannot be compiled; a tenth of a millimetre makes them bodies.
            model = self._compile(robot, held, thicken=True)
        self.model = model
        self.data = mujoco.MjData(model)
        self._clearance_m = 0.0
        self._addresses = model.jnt_qposadr[[model.joint(name).id for name in spec.joints]]
        self._body = np.array(model.geom_bodyid)
        self._names = [model.body(body).name for body in range(model.nbody)]
        tool = robot.spec.site("tool")
        self._pose_link_tool = Pose(np.array(tool.pos), np.array(tool.quat))
        self._is_held = np.array([model.geom(g).name.startswith(_HELD_GEOM) for g in range(model.ngeom)])
        last = int(model.body_weldid[model.jnt_bodyid[model.joint(spec.joints[-1]).id]])
        self._is_hand = np.array([self._below(int(body), last) for body in self._body]) & ~self._is_held

    def _compile(self, robot: _Robot, held: tuple[Array, ...], *, thicken: bool) -> mujoco.MjModel:
        spec = robot.spec.copy()
        for number, obstacle in enumerate(self._obstacles):
            body = spec.worldbody.add_body(
                name=f"{_OBSTACLE}{number}",
                pos=obstacle.pose_base_obstacle.position_m,
                quat=obstacle.pose_base_obstacle.quat_wxyz,
            )
            for part, hull in enumerate(obstacle.hulls):
                self._add_hull(spec, body, f"{_OBSTACLE}{number}/{part}", hull, thicken=thicken)
        if held:
            site = spec.site("tool")
            body = site.parent.add_body(name=HELD, pos=site.pos, quat=site.quat)
            for part, hull in enumerate(held):
                self._add_hull(spec, body, f"{_HELD_GEOM}{part}", hull, thicken=thicken)
        return spec.compile()

    def _add_hull(self, spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, hull: Array, *, thicken: bool) -> None:
        points = np.asarray(hull, float)
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 3 or not np.isfinite(points).all():
            raise UsageError(f"a hull is (k, 3) finite metres with k >= 3, got shape {points.shape} for {name!r}.")
        if thicken:
            _, extent, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
            if extent[-1] < 1e-5:
                points = np.concatenate([points + _FLAT_M * axes[-1], points - _FLAT_M * axes[-1]])
        mesh = spec.add_mesh(name=name)
        mesh.uservert = points.ravel().tolist()
        body.add_geom(name=name, type=self._mujoco.mjtGeom.mjGEOM_MESH, meshname=name, mass=0)

    def _below(self, body: int, ancestor: int) -> bool:
        while body > 0 and body != ancestor:
            body = int(self.model.body_parentid[body])
        return body == ancestor

    def place(self, obstacles: tuple[Obstacle, ...]) -> None:
        """Move the obstacles' bodies."""
        self._obstacles = obstacles
        for number, obstacle in enumerate(obstacles):
            body = self.model.body(f"{_OBSTACLE}{number}").id
            self.model.body_pos[body] = obstacle.pose_base_obstacle.position_m
            self.model.body_quat[body] = obstacle.pose_base_obstacle.quat_wxyz

    def hold(self, pose_tool_held: Pose) -> None:
        """Move the held object in the hand."""
        pose = self._pose_link_tool @ pose_tool_held
        body = self.model.body(HELD).id
        self.model.body_pos[body], self.model.body_quat[body] = pose.position_m, pose.quat_wxyz

    def open(self, qpos: Array) -> None:
        self.data.qpos[: len(qpos)] = qpos

    def allowed(self, ignore: frozenset[str], held_ignore: frozenset[str]) -> _Allowed:
        """Return per geom: may anything touch it; may the held object touch it."""
        names = [self._obstacle_name(int(body)) for body in self._body]
        free = np.array([name in ignore for name in names])
        return free, free | np.array([name in held_ignore for name in names]) | self._is_hand

    def touching(self, q_rad: Array, allowed: _Allowed, *, clearance_m: float = 0.0) -> tuple[str, str, float] | None:
        """Return the deepest contact that is not allowed at one configuration (n,)."""
        mujoco, model, data = self._mujoco, self.model, self.data
        if clearance_m != self._clearance_m:
            model.geom_margin[:] = clearance_m
            model.body_margin[:] = clearance_m
            self._clearance_m = clearance_m
        data.qpos[self._addresses] = q_rad
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        if data.ncon == 0:
            return None
        geoms, distance = data.contact.geom, data.contact.dist
        a, b = geoms[:, 0], geoms[:, 1]
        anything, by_held = allowed
        fine = anything[a] | anything[b] | (self._is_hand[a] & self._is_hand[b])
        fine |= (self._is_held[a] & (by_held[b] | self._is_held[b])) | (self._is_held[b] & by_held[a])
        wrong = np.flatnonzero((distance < clearance_m) & ~fine)
        if len(wrong) == 0:
            return None
        deepest = wrong[int(np.argmin(distance[wrong]))]
        names = [self._name(int(g)) for g in geoms[deepest]]
        if names[0][1]:
            names.reverse()
        return names[0][0], names[1][0], -float(distance[deepest])

    def _name(self, geom: int) -> tuple[str, bool]:
        """Return what to call a geom, and whether it is an obstacle."""
        obstacle = self._obstacle_name(int(self._body[geom]))
        return (self._names[self._body[geom]], False) if obstacle is None else (obstacle, True)

    def _obstacle_name(self, body: int) -> str | None:
        name = self._names[body]
        return self._obstacles[int(name.removeprefix(_OBSTACLE))].name if name.startswith(_OBSTACLE) else None


class Verifiers:
    """Verifiers of one arm, the last few kept: a world that only differs in poses is built once.

    Args:
        xml_path: The baked ``robot.xml``.
        spec: Its spec, with the gripper's table measured.
        keep: How many.
    """

    def __init__(self, xml_path: Path, spec: RobotSpec, *, keep: int = 16) -> None:
        self._xml_path, self._spec, self._keep = xml_path, spec, keep
        self._kept: OrderedDict[tuple[tuple[str, int], ...], Verifier] = OrderedDict()

    def __call__(self, world: WorldSpec, opening_m: float) -> Verifier:
        """Return a verifier of a planner's world, with the pads that far apart [m]."""
        key = tuple((obstacle.name, id(obstacle.hulls)) for obstacle in world.obstacles)
        found = self._kept.pop(key, None)
        if found is None:
            found = Verifier(self._xml_path, self._spec, world, opening_m=opening_m)
        else:
            found.set_world(world)
            found.set_opening(opening_m)
        self._kept[key] = found
        while len(self._kept) > self._keep:
            self._kept.popitem(last=False)
        return found
