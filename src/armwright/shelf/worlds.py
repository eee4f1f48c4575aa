"""A drawn scene as a simulated world: shelf, products, the unknown target on a table, an arm with a wrist camera."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product as combinations

import numpy as np

from armwright.assets.model import LinkModel, ObjectModel
from armwright.assets.scene import ObjectSpec, PoseSpec, SceneSpec
from armwright.control.protocols import Camera, Clock
from armwright.core.errors import SceneError
from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for
from armwright.core.settings import get_settings
from armwright.planning.backend import PlanningBackend, make_planner
from armwright.planning.types import Obstacle, WorldSpec
from armwright.robots.bake import BakedRobot, baked_robot
from armwright.robots.station import station
from armwright.shelf.product_models import product_model, standing
from armwright.shelf.products import Product
from armwright.shelf.records import Box, Orientation, Shelf, Vector
from armwright.shelf.scenes import ShelfScene
from armwright.sim.arm import SimulatedArm
from armwright.sim.sensor_noise import NoisyCamera, noise_model
from armwright.sim.world import World, WorldOptions

ROBOT = "ur5e"
TARGET = "target"
SHELF_ID = "shelf"
SHELF_AT_M: Vector = (0.70, 0.0, -0.30)
"""The shelf frame in the world: far enough for the camera, near enough for the arm (`benchmarks/shelf_station.py`)."""
TARGET_AT_M = (-0.06, 0.56)
TARGET_HALF_M = (0.08, 0.08)
TARGET_HEIGHT_M = 0.30
"""The target lies somewhere in this part of the table, and is no taller than that."""
TARGET_YAW_RAD = np.deg2rad(30.0)
"""How far the target's front may be turned away from the arm."""
IMAGE_PX = (640, 480)
STAND_M = 0.44
"""What the shelf stands on is this high [m]."""
SETTLE_S = 0.4
DRIFT_M = 0.002
"""A scene in which something moves farther than this while it settles is refused."""
_WOOD, _BACK = (0.80, 0.72, 0.60, 1.0), (0.90, 0.88, 0.84, 1.0)


@dataclass(frozen=True)
class Panel:
    """A part of the shelf: a box in the shelf frame, named ``shelf/board_0`` and so on."""

    name: str
    box: Box


@dataclass(frozen=True)
class TargetRegion:
    """Where on the table the target lies, known beforehand: corners in the world [m]."""

    low_m: Vector
    high_m: Vector

    @property
    def center_m(self) -> Vector:
        """Its middle [m]."""
        return Box.between(self.low_m, self.high_m).center_m


@dataclass(frozen=True, eq=False)
class TruthObject:
    """What really is there; for judges only.

    Attributes:
        id: Its id in the scene, or ``target``.
        product: What it is.
        orientation: In which it was set up.
        pose_world: Pose of its frame now.
        box: The box around it now, aligned with the shelf frame.
    """

    id: str
    product: Product
    orientation: Orientation
    pose_world: Pose
    box: Box


@dataclass(frozen=True, eq=False)
class ShelfWorld:
    """A scene with a robot in it.

    Attributes:
        scene: What was drawn; all of it is truth.
        world: The simulated world.
        robot: The arm, baked.
        planner: A planner for it, shared between scenes: empty-handed and wide open when one is opened; its world is
            whatever was set last.
        camera: The wrist camera, with a real one's errors.
        pose_world_shelf: The shelf frame (`shelf.records`) in the world; the robot knows it.
        pose_tool_camera: Where the camera sits on the hand.
        shelf: Its boards and sizes; the robot knows them.
        table: Where the target lies.
    """

    scene: ShelfScene
    world: World
    robot: BakedRobot
    planner: PlanningBackend
    camera: Camera
    pose_world_shelf: Pose
    pose_tool_camera: Pose
    shelf: Shelf
    table: TargetRegion

    @property
    def arm(self) -> SimulatedArm:
        """The arm."""
        return self.world.arm

    @property
    def gripper(self) -> SimulatedArm:
        """The gripper, which the arm carries and drives."""
        return self.world.arm

    @property
    def clock(self) -> Clock:
        """World time."""
        return self.world.clock

    def planner_world(self) -> WorldSpec:
        """Return what the robot knows beforehand: table and shelf, panel by panel, in the arm's base frame."""
        pose_base_world = self.arm.pose_world_base.inverse()
        pose_base_shelf = pose_base_world @ self.pose_world_shelf
        (x, y), (a, b) = self.world.table.center_m, self.world.table.half_extents_m
        table = Box.between((x - a, y - b, -self.world.table.thickness_m), (x + a, y + b, 0.0))
        panels = (Obstacle(p.name, pose_base_shelf, (corners_of(p.box),)) for p in panels_of(self.shelf))
        return WorldSpec((Obstacle("table", pose_base_world, (corners_of(table),)), *panels))

    def truth_objects(self) -> tuple[TruthObject, ...]:
        """Return what really stands where now, the target last; only for judges and `simulated` fillings."""
        drawn = {o.id: (o.product, o.orientation) for o in self.scene.objects}
        drawn[TARGET] = (self.scene.target, self.scene.target_orientation)
        pose_shelf_world = self.pose_world_shelf.inverse()
        found: list[TruthObject] = []
        for object_id, (product, orientation) in drawn.items():
            pose = self.world.truth.pose(object_id)
            points = (pose_shelf_world @ pose).transform(product_model(product).root.vertices_m)
            low, high = points.min(0).tolist(), points.max(0).tolist()
            found.append(TruthObject(object_id, product, orientation, pose, Box.between(tuple(low), tuple(high))))
        return tuple(found)


def open_scene(
    scene: ShelfScene,
    *,
    noise: str = "stereo",
    target_at_m: tuple[float, float] | None = None,
    options: WorldOptions | None = None,
) -> ShelfWorld:
    """Build a drawn scene in the simulator, with everything at rest and the arm at home.

    Args:
        scene: From `shelf.scenes`.
        noise: What the wrist camera gets wrong, by name (`sim.sensor_noise.NOISES`).
        target_at_m: Where the target lies, (x, y) in the world; by default drawn within the known region.
        options: Of the world; by default pictures are 640x480.

    Raises:
        UnknownNameError: There is no such noise.
        SceneError: Something moved by more than 2 mm while the scene settled.
    """
    errors = noise_model(noise)
    robot, planner = _arm(str(get_settings().cache_dir))
    # What an earlier scene left in the hand must not decide what this one's arm can reach.
    planner.detach()
    planner.set_opening(robot.spec.gripper.opening_m[1])
    place = station("shelf")
    assert place.wrist_camera is not None
    pose_world_shelf = Pose(np.array(SHELF_AT_M))
    solved, models = _solved(scene, pose_world_shelf, target_at_m)
    world = World(
        solved, objects=models, robot=robot, station=place, options=options or WorldOptions(image_px=IMAGE_PX)
    )
    world.step(round(SETTLE_S / world.options.physics.timestep_s))
    _check_rest(world, solved)
    (x, y), (a, b) = TARGET_AT_M, TARGET_HALF_M
    return ShelfWorld(
        scene=scene,
        world=world,
        robot=robot,
        planner=planner,
        camera=NoisyCamera(world.cameras["wrist"], errors, seed=scene.seed),
        pose_world_shelf=pose_world_shelf,
        pose_tool_camera=place.wrist_camera.pose_tool_camera,
        shelf=scene.shelf,
        table=TargetRegion((x - a, y - b, 0.0), (x + a, y + b, TARGET_HEIGHT_M)),
    )


def panels_of(shelf: Shelf) -> tuple[Panel, ...]:
    """Return the boards, the top, the sides and the back of a shelf."""
    return tuple(_panels(shelf))


def _panels(shelf: Shelf) -> Iterator[Panel]:
    half, depth, t = shelf.width_m / 2, shelf.depth_m, shelf.thickness_m
    for k, height in enumerate(shelf.boards_m):
        yield Panel(f"{SHELF_ID}/board_{k}", Box.between((0.0, -half, height - t), (depth, half, height)))
    top = shelf.top_m
    yield Panel(f"{SHELF_ID}/top", Box.between((0.0, -half, top), (depth, half, top + t)))
    floor = shelf.boards_m[0] - t
    yield Panel(f"{SHELF_ID}/left", Box.between((0.0, half, floor), (depth, half + t, top + t)))
    yield Panel(f"{SHELF_ID}/right", Box.between((0.0, -half - t, floor), (depth, -half, top + t)))
    yield Panel(f"{SHELF_ID}/stand", Box.between((0.02, -half, floor - STAND_M), (depth, half, floor)))
    yield Panel(f"{SHELF_ID}/back", Box.between((depth, -half - t, floor), (depth + 0.01, half + t, top + t)))


def corners_of(box: Box) -> Array:
    """Return the (8, 3) corners of a box [m], x slowest."""
    return np.array(list(combinations(*zip(box.low_m, box.high_m, strict=True))), float)


@lru_cache(maxsize=16)
def shelf_model(shelf: Shelf) -> ObjectModel:
    """Return a shelf as a fixed object in its own frame."""
    cube = np.array(
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
         [1, 5, 7], [1, 7, 3]], np.int32,
    )  # fmt: skip
    panels = panels_of(shelf)
    boxes = [corners_of(panel.box) for panel in panels]
    names = tuple(panel.name.partition("/")[2] for panel in panels)
    link = LinkModel(
        name="base",
        vertices_m=np.concatenate(boxes),
        faces=np.concatenate([cube + 8 * k for k in range(len(boxes))]),
        part_names=names,
        face_part=np.repeat(np.arange(len(boxes), dtype=np.int32), len(cube)),
        part_rgba={name: _BACK if name == "back" else _WOOD for name in names},
        hulls=tuple(boxes),
        hull_part=names,
        mass_kg=20.0,
    )
    return ObjectModel("shelf", (link,), {}, {}, {}, friction=0.6, static=True)


def placed_pose(scene: ShelfScene, index: int) -> Pose:
    """Return the frame of the scene's ``index``-th object in the shelf frame."""
    placed = scene.objects[index]
    x, y, _ = placed.box.center_m
    return _stood(placed.product, placed.orientation, (x, y, placed.box.low_m[2]), placed.yaw_rad)


def _stood(product: Product, orientation: Orientation, at_m: Vector, yaw_rad: float) -> Pose:
    """Return a product's frame, its footprint's middle at a point and turned about the vertical."""
    own = standing(orientation, product.extent_m[1])
    middle = own.transform(product_model(product).root.vertices_m)
    away = (middle.min(0) + middle.max(0)) / 2
    return Pose.from_yaw(np.asarray(at_m), yaw_rad) @ Pose(own.position_m - [away[0], away[1], 0.0], own.quat_wxyz)


def _solved(
    scene: ShelfScene, pose_world_shelf: Pose, target_at_m: tuple[float, float] | None
) -> tuple[SceneSpec, dict[str, ObjectModel]]:
    models = {SHELF_ID: shelf_model(scene.shelf)}
    poses = {SHELF_ID: pose_world_shelf}
    for index, placed in enumerate(scene.objects):
        models[placed.id] = product_model(placed.product)
        poses[placed.id] = pose_world_shelf @ placed_pose(scene, index)
    rng = rng_for(scene.seed, "shelf", "target", scene.name)
    drawn = np.array(TARGET_AT_M) + rng.uniform(-0.5, 0.5, 2) * TARGET_HALF_M
    x, y = (float(v) for v in (drawn if target_at_m is None else target_at_m))
    # Its front (-x) towards the arm, give or take.
    yaw = float(np.arctan2(y, x)) + float(rng.uniform(-TARGET_YAW_RAD, TARGET_YAW_RAD))
    models[TARGET] = product_model(scene.target)
    poses[TARGET] = _stood(scene.target, scene.target_orientation, (x, y, 0.0), yaw)
    nodes = tuple(
        ObjectSpec(id=name, category=models[name].category, manipulated=name == TARGET, pose=PoseSpec.from_pose(pose))
        for name, pose in poses.items()
    )
    return SceneSpec(objects=nodes, station="shelf"), models


def _check_rest(world: World, solved: SceneSpec) -> None:
    for node in solved.objects:
        assert node.pose is not None
        drawn, now = node.pose.to_pose(), world.truth.pose(node.id)
        if now.distance_to(drawn) > DRIFT_M:
            raise SceneError(
                f"{node.id} moved by {1e3 * now.distance_to(drawn):.1f} mm while the scene settled.",
                hint="Use another seed, or products with wider feet.",
            )


@lru_cache(maxsize=2)
def _arm(cache_dir: str) -> tuple[BakedRobot, PlanningBackend]:
    robot = baked_robot(ROBOT)
    opening = robot.spec.gripper.opening_m[1]
    return robot, make_planner(robot.kinematics, opening_m=opening, backend=get_settings().planner)
