"""The simulated world, built from a solved SceneSpec: it steps, remembers, goes back; arm, clock and cameras."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from armwright.assets.model import ObjectModel
from armwright.assets.scene import SceneSpec
from armwright.core.camera import CameraModel
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.core.settings import RendererName
from armwright.sim._stage import TableShape
from armwright.sim.arm import ArmOptions, SimulatedArm
from armwright.sim.build import ARM_PREFIX, MODELS, PhysicsOptions, model_digest
from armwright.sim.cameras import SimulatedCamera
from armwright.sim.physics import Physics, PhysicsState
from armwright.sim.truth import WorldTruth

if TYPE_CHECKING:
    from armwright.robots.bake import BakedRobot


@dataclass(frozen=True)
class WorldOptions:
    """How a world is integrated, sampled and drawn.

    Attributes:
        physics: Integration.
        arm: How the arm is driven.
        stream_hz: Rate of the state stream that cameras and ``arm.states`` read.
        keep_s: How much of the stream is kept; older samples are dropped, so memory stays flat.
        image_px: Width and height of the cameras' images.
        renderer: Renderer by name; None for the settings' choice.
        shadows, samples: As for `Renderer`.
    """

    physics: PhysicsOptions = field(default_factory=PhysicsOptions)
    arm: ArmOptions = field(default_factory=ArmOptions)
    stream_hz: float = 20.0
    keep_s: float = 120.0
    image_px: tuple[int, int] = (256, 256)
    renderer: RendererName | None = None
    shadows: bool = False
    samples: int = 0


@dataclass(frozen=True, eq=False)
class WorldState:
    """A whole world at one moment; restoring it and stepping gives bit by bit what would have come.

    Attributes:
        time_s: World time.
        qpos, qvel, act, ctrl: Copies of MuJoCo's arrays, for whoever wants to store them.
        physics: The exact state, sleeping objects included.
        target_rad: The arm's commanded joints.
    """

    time_s: float
    qpos: Array
    qvel: Array
    act: Array
    ctrl: Array
    physics: PhysicsState
    target_rad: Array


class SimulatedClock:
    """World time."""

    def __init__(self, physics: Physics) -> None:
        self._physics = physics

    @property
    def now_s(self) -> float:
        """World time [s]."""
        return self._physics.now_s

    def sleep(self, duration_s: float) -> None:
        """Let the world go on for a while."""
        self._physics.step(max(0, round(duration_s / self._physics.timestep_s)))


class World:
    """Table, objects, arm and cameras in MuJoCo.

    Args:
        scene: A solved scene: every object has a pose.
        objects: Object models by scene id.
        robot: Arm by name, or a baked one.
        station: Station by name; None takes the scene's.
        options: Integration, sampling, drawing.

    Raises:
        UsageError: The scene is not solved, an object has no model, or the rates do not fit the step.
    """

    def __init__(
        self,
        scene: SceneSpec,
        *,
        objects: Mapping[str, ObjectModel],
        robot: str | BakedRobot = "franka",
        station: str | None = None,
        options: WorldOptions | None = None,
    ) -> None:
        from armwright.robots.bake import baked_robot

        self.options = options or WorldOptions()
        baked = baked_robot(robot) if isinstance(robot, str) else robot
        place = _place(station or scene.station, baked)
        built = MODELS.get(
            scene,
            objects,
            baked,
            pose_world_base=place.pose_world_base,
            table=place.table,
            options=self.options.physics,
        )
        self.station = station or scene.station
        self.objects: Mapping[str, ObjectModel] = built.objects
        self._physics = Physics(built, sample_hz=self.options.stream_hz, keep_s=self.options.keep_s)
        self.arm = SimulatedArm(self._physics, self.options.arm)
        self.clock = SimulatedClock(self._physics)
        self._truth = WorldTruth(self._physics, self.arm.map)
        self.cameras: Mapping[str, SimulatedCamera] = self._cameras(place)
        self.table = place.table
        self.scene = scene
        self.reset(scene)

    @property
    def truth(self) -> WorldTruth:
        """What is really so; only for judges, scoring, randomisation and `oracle` or `simulated` fillings."""
        return self._truth

    @property
    def built(self) -> object:
        """The compiled scene that this world shares with others of the same instances."""
        return self._physics.built

    def reset(self, scene: SceneSpec) -> None:
        """Put the same instances at new poses, the arm at home, the time at 0; nothing is compiled.

        Raises:
            UsageError: The scene has other objects than this world was built from.
        """
        ids = tuple(node.id for node in scene.objects)
        if ids != tuple(node.id for node in self.scene.objects):
            raise UsageError(
                f"this world was built for {', '.join(node.id for node in self.scene.objects)}; the scene has "
                f"{', '.join(ids)}.",
                hint="Build a new World for other objects.",
            )
        self._physics.reset(scene)
        self.arm.go_home()
        self.scene = scene
        self._physics.sample()

    def fits(self, scene: SceneSpec, objects: Mapping[str, ObjectModel]) -> bool:
        """Say whether `reset` can take this scene: the same ids with the same instances."""
        ids = [node.id for node in scene.objects]
        return ids == [node.id for node in self.scene.objects] and all(
            model_digest(objects[i]) == model_digest(self.objects[i]) for i in ids
        )

    def step(self, n: int = 1) -> None:
        """Advance by n physics steps.

        Raises:
            DivergedError: The simulation blew up.
        """
        self._physics.step(n)

    def snapshot(self) -> WorldState:
        """Copy the whole state."""
        d = self._physics.data
        return WorldState(
            time_s=self._physics.now_s,
            qpos=d.qpos.copy(),
            qvel=d.qvel.copy(),
            act=d.act.copy(),
            ctrl=d.ctrl.copy(),
            physics=self._physics.snapshot(),
            target_rad=self.arm.command(),
        )

    def restore(self, state: WorldState) -> None:
        """Go back to a copied state."""
        self._physics.restore(state.physics)
        self.arm.set_command(state.target_rad)

    def _cameras(self, place: _Place) -> dict[str, SimulatedCamera]:
        o = self.options
        width, height = o.image_px
        mounts: dict[str, CameraModel | str] = {
            name: CameraModel.from_fov(width=width, height=height, fovy_deg=fovy, pose_world_camera=pose)
            for name, (pose, fovy) in place.cameras.items()
        }
        mounts["wrist"] = ARM_PREFIX + "wrist"
        return {
            name: SimulatedCamera(
                name,
                self._physics,
                mount,
                width=width,
                height=height,
                backend=o.renderer,
                shadows=o.shadows,
                samples=o.samples,
            )
            for name, mount in mounts.items()
        }


@dataclass(frozen=True, eq=False)
class _Place:
    """What of a station the simulator needs."""

    pose_world_base: Pose
    table: TableShape
    cameras: Mapping[str, tuple[Pose, float]]


def _place(name: str, robot: BakedRobot) -> _Place:
    front = looking_at((1.35, 0.55, 0.75), (0.38, 0.0, 0.12))
    return _Place(Pose(np.array([0.0, 0.0, robot.spec.base_height_m])), TableShape(), {"front": (front, 45.0)})


def looking_at(eye_m: tuple[float, float, float], at_m: tuple[float, float, float]) -> Pose:
    """Return the pose of a camera (OpenCV axes) at one point that looks at another, upright."""
    z = np.asarray(at_m, float) - np.asarray(eye_m, float)
    z /= np.linalg.norm(z)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x /= np.linalg.norm(x)
    return Pose.from_rotation(np.stack([x, np.cross(z, x), z], 1), eye_m)
