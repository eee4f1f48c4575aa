"""What one process keeps between episodes: the baked arm, its planner, the library, compiled worlds."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

import numpy as np

from armwright.assets.library import Library, default_library
from armwright.core.pose import Array, Pose
from armwright.core.settings import get_settings
from armwright.generate.solve import Solved
from armwright.planning.backend import PlanningBackend, make_planner
from armwright.planning.types import Obstacle, WorldSpec
from armwright.planning.verify import Verifier, Verifiers
from armwright.robots.bake import BakedRobot, baked_robot
from armwright.sim.oracle import table_obstacle
from armwright.sim.world import World, WorldOptions

# Compiled scenes kept per process; one takes a few tens of megabytes.
WORLDS_KEPT = 8
# Gap of the fingers that pass over a handle when a scene is judged.
HANDLE_GAP_M = 0.03
# Freed memory goes back to the system this often; the C library alone keeps hundreds of megabytes of it.
EPISODES_PER_TIDY = 8
# Directions of approach that a hand may come from, as the tool's z in the base frame.
APPROACHES = ((0.0, 0.0, -1.0), (0.7, 0.0, -0.7), (0.0, 0.7, -0.7), (0.0, -0.7, -0.7), (1.0, 0.0, 0.0))


@dataclass(eq=False)
class Session:
    """One arm in one station, with everything that is worth keeping between episodes."""

    robot: BakedRobot
    library: Library
    planner: PlanningBackend
    options: WorldOptions
    _worlds: OrderedDict[tuple[object, ...], World] = field(default_factory=OrderedDict)
    _episodes: int = 0

    def __post_init__(self) -> None:
        self._verifiers = Verifiers(self.robot.xml_path, self.robot.spec)

    @classmethod
    def open(cls, robot: str, *, options: WorldOptions | None = None, progress: object = None) -> Session:
        """Load (or bake, the first time) an arm and make its planner, the one that the settings name."""
        baked = baked_robot(robot, progress=progress)  # type: ignore[arg-type]
        planner = make_planner(
            baked.kinematics, opening_m=baked.spec.gripper.opening_m[1], backend=get_settings().planner
        )
        return cls(baked, default_library(), planner, options or WorldOptions())

    def world(self, solved: Solved) -> World:
        """Return a world in the solved scene's initial state, compiled only if its instances are new."""
        key = tuple(
            (n.id, n.category, n.instance, tuple(sorted(n.attributes.items())), n.contents)
            for n in solved.scene.objects
        )
        world = self._worlds.get(key)
        if world is None:
            world = World(solved.scene, objects=solved.objects, robot=self.robot, options=self.options)
            self._worlds[key] = world
            while len(self._worlds) > WORLDS_KEPT:
                self._worlds.popitem(last=False)
        else:
            self._worlds.move_to_end(key)
            world.reset(solved.scene)
        return world

    def verifier(self, world: WorldSpec, opening_m: float) -> Verifier:
        """Return a verifier of a planner's world; one that only differs in poses is built once."""
        return self._verifiers(world, opening_m)

    def begin_episode(self) -> None:
        """Count an episode, and keep the process small over many of them."""
        self._episodes += 1
        if self._episodes % EPISODES_PER_TIDY == 0:
            _release_freed_memory()

    def reach(self, points_base_m: Array) -> np.ndarray:
        """Return (n,) whether the tool gets to each point (n, 3) in the base frame from any usual direction."""
        frames = np.stack([_look(np.asarray(d, float)) for d in APPROACHES])
        points = np.asarray(points_base_m, float)
        poses = np.tile(frames, (len(points), 1, 1))
        poses[:, :3, 3] = np.repeat(points, len(frames), axis=0)
        found = self.planner.ik(poses, n_seeds=6, max_solutions=1)
        return np.asarray((found.count > 0).reshape(len(points), -1).any(1))

    def follow(self, arcs: Sequence[Sequence[Array]], obstacles: Sequence[Obstacle] | None = None) -> bool:
        """Return whether the arm can go through the tool poses of any of several arcs, in order, on one branch.

        Args:
            arcs: (4, 4) poses each, in the base frame.
            obstacles: What the arm must be clear of at each of them, besides the table; None: not even of that.
        """
        placed = False
        for path in (path for arc in arcs for path in self._branches(arc)):
            if obstacles is None:
                return True
            if not placed:
                self.planner.detach()
                self.planner.set_world(WorldSpec((table_obstacle(), *obstacles)))
                self.planner.set_opening(HANDLE_GAP_M)
                placed = True
            if self.planner.check(path).all():
                return True
        return False

    def _branches(self, arc: Sequence[Array]) -> Iterator[Array]:
        """Yield the configurations (k, n) at the poses of an arc, for each branch on which it can be followed."""
        last = self.planner.ik(np.stack(arc[-1:]), n_seeds=8, max_solutions=1)
        if not last.count[0]:
            return
        first = self.planner.ik(np.stack(arc[:1]), n_seeds=12, max_solutions=6)
        for k in range(int(first.count[0])):
            path = [first.q_rad[0, k]]
            for pose in arc[1:]:
                part = self.planner.linear(path[-1], pose, step_m=0.04, check=False)
                if not part.ok:
                    break
                path.append(part.path_rad[-1])
            else:
                yield np.stack(path)


def _look(z: Array) -> Array:
    z = z / np.linalg.norm(z)
    helper = np.array([0.0, 1.0, 0.0]) if abs(z[1]) < 0.6 else np.array([1.0, 0.0, 0.0])
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return Pose.from_rotation(np.stack([x, np.cross(z, x), z], axis=1)).matrix()


@lru_cache(maxsize=1)
def _malloc_trim() -> Callable[[int], int] | None:
    """Return glibc's ``malloc_trim``, or None where the C library is another."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return cast("Callable[[int], int]", trim)


def _release_freed_memory() -> None:
    trim = _malloc_trim()
    if trim is not None:
        trim(0)
