"""The simulated world, built from a solved SceneSpec: it steps, remembers, goes back; arm, clock and cameras."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from armwright.assets.model import ObjectModel
from armwright.assets.randomise import Looks
from armwright.assets.scene import SceneSpec
from armwright.core.camera import CameraModel
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.core.settings import RendererName, get_settings
from armwright.sim._stage import TableShape
from armwright.sim.arm import ArmOptions, SimulatedArm
from armwright.sim.build import ARM_PREFIX, MODELS, BuiltScene, PhysicsOptions, model_digest
from armwright.sim.cameras import Beside, SimulatedCamera
from armwright.sim.dress import Wardrobe
from armwright.sim.looks import Appearance
from armwright.sim.physics import Physics, PhysicsState, Sample
from armwright.sim.truth import WorldTruth

if TYPE_CHECKING:
    from armwright.robots.bake import BakedRobot
    from armwright.robots.station import Station


@dataclass(frozen=True)
class WorldOptions:
    """How a world is integrated, sampled and drawn.

    Attributes:
        physics: Integration.
        arm: How the arm is driven.
        stream_hz: Rate of the state stream that cameras and ``arm.states`` read.
        keep_s: How much of the stream is kept; older samples are dropped, so memory stays flat, and asking for them
            raises.
        image_px: Width and height of the cameras' images.
        renderer: Renderer by name; None for the settings' choice.
        shadows, samples: As for `Renderer`.
    """

    physics: PhysicsOptions = field(default_factory=PhysicsOptions)
    arm: ArmOptions = field(default_factory=ArmOptions)
    stream_hz: float = 20.0
    keep_s: float = 600.0
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
        station: Station, or its name; None takes the scene's.
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
        station: str | Station | None = None,
        options: WorldOptions | None = None,
    ) -> None:
        from armwright.robots.station import station as station_by_name

        self.options = options or WorldOptions()
        baked = _baked(robot, get_settings().cache_dir) if isinstance(robot, str) else robot
        place = station_by_name(station or scene.station) if station is None or isinstance(station, str) else station
        self.table = TableShape(
            center_m=place.table_center_m,
            half_extents_m=place.table_half_m[:2],
            thickness_m=2 * place.table_half_m[2],
        )
        built = MODELS.get(
            scene,
            objects,
            baked,
            pose_world_base=place.base_pose(baked.spec),
            table=self.table,
            options=self.options.physics,
            lamps=place.lamps,
        )
        self.station = place
        self.objects: Mapping[str, ObjectModel] = built.objects
        self._physics = Physics(built, sample_hz=self.options.stream_hz, keep_s=self.options.keep_s)
        self.arm = SimulatedArm(self._physics, self.options.arm)
        self.clock = SimulatedClock(self._physics)
        self._truth = WorldTruth(self._physics, self.arm.map)
        self.cameras: Mapping[str, SimulatedCamera] = self._cameras(place)
        self.scene = scene
        self._wardrobe = Wardrobe(built, scene, table=self.table, options=self.options.physics, lamps=place.lamps)
        self.reset(scene)

    @property
    def truth(self) -> WorldTruth:
        """What is really so; only for judges, scoring, randomisation and `oracle` or `simulated` fillings."""
        return self._truth

    @property
    def built(self) -> BuiltScene:
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
        if [node.contents for node in scene.objects] != [node.contents for node in self.scene.objects]:
            raise UsageError("this world was built with other contents.", hint="Build a new World for other contents.")
        self._physics.reset(scene)
        self.arm.go_home()
        self.scene = scene
        self.dress(None)
        self._physics.sample()

    def dress(self, looks: Looks | None) -> None:
        """Let the cameras draw with an episode's looks until the next reset; what is simulated stays as it is.

        Raises:
            UsageError: A file that the looks name is gone or has changed.
        """
        appearance = None
        if looks is not None:
            appearance = Appearance(
                looks,
                owners=self.built.body_object,
                wardrobe=self._wardrobe,
                pose_world_base=self.arm.pose_world_base,
            )
        for camera in self.cameras.values():
            camera.dress(appearance)

    def fits(self, scene: SceneSpec, objects: Mapping[str, ObjectModel]) -> bool:
        """Say whether `reset` can take this scene: the same ids with the same instances."""
        ids = [(node.id, node.contents) for node in scene.objects]
        return ids == [(node.id, node.contents) for node in self.scene.objects] and all(
            model_digest(objects[i]) == model_digest(self.objects[i]) for i, _ in ids
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

    def stream(self, since_s: float = float("-inf")) -> list[Sample]:
        """Return the samples of the state stream after ``since_s``, oldest first.

        Raises:
            StreamLostError: The stream no longer reaches back to ``since_s``.
        """
        return self._physics.since(since_s)

    @property
    def resets(self) -> int:
        """How often this world was put into a new scene; whoever keeps a world can tell whether it is still theirs."""
        return self._physics.resets

    def set_state(self, *, time_s: float, qpos: Array, qvel: Array, ctrl: Array) -> None:
        """Put the world into a recorded state.

        Raises:
            UsageError: The arrays do not fit this world's model.
        """
        d = self._physics.data
        shapes = {"qpos": (qpos, d.qpos), "qvel": (qvel, d.qvel), "ctrl": (ctrl, d.ctrl)}
        for name, (given, own) in shapes.items():
            if np.shape(given) != own.shape:
                raise UsageError(f"{name} is {np.shape(given)}; this world has {own.shape}.")
        self._physics.set_state(time_s=time_s, qpos=qpos, qvel=qvel, ctrl=ctrl)
        self.arm.set_command(np.asarray(ctrl)[self.arm.map.act])

    def track(self, pose_base_tool: Pose, *, opening_m: float, duration_s: float) -> None:
        """Let the arm obey an absolute tool command for this long while the world goes on."""
        self.arm.track(pose_base_tool, opening_m=opening_m, duration_s=duration_s)

    @property
    def model_hash(self) -> str:
        """SHA-256 of what the compiled model was made from: arm, objects, physics."""
        parts = [self._physics.built.robot.digest, repr(self.options.physics)]
        parts += [f"{object_id}:{model_digest(model)}" for object_id, model in self.objects.items()]
        parts += [f"{node.id} holds {node.contents}" for node in self.scene.objects if node.contents is not None]
        return hashlib.sha256("|".join(parts).encode()).hexdigest()

    def _cameras(self, place: Station) -> dict[str, SimulatedCamera]:
        o = self.options
        width, height = o.image_px
        mounts: dict[str, CameraModel | str | Beside] = {
            name: camera.model(width=width, height=height) for name, camera in place.cameras.items()
        }
        mounts["wrist"] = ARM_PREFIX + "wrist"
        if place.wrist_camera is not None:
            x, y, z, *quat = self.built.robot.spec.wrist_camera
            pose_spec_tool = Pose(np.array([x, y, z]), np.array(quat)).inverse()
            carried = place.wrist_camera
            mounts["wrist"] = Beside(ARM_PREFIX + "wrist", pose_spec_tool @ carried.pose_tool_camera, carried.fovy_deg)
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


@lru_cache(maxsize=8)
def _baked(name: str, cache_dir: Path) -> BakedRobot:
    """Load an arm once per process; its files are checked against their hashes each time it is loaded."""
    from armwright.robots.bake import baked_robot

    return baked_robot(name, cache_dir=cache_dir)
