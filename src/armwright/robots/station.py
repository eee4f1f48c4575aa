"""Stations: where an arm stands, the table before it, the window it works in, the cameras that look on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from armwright.core.camera import CameraModel
from armwright.core.errors import UnknownNameError
from armwright.core.pose import Pose
from armwright.robots.spec import RobotSpec

IMAGE_SIZE_PX = 256
Point = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class StationCamera:
    """A fixed camera: its pose in the world (OpenCV axes) and vertical field of view."""

    pose_world_camera: Pose
    fovy_deg: float

    def model(self, *, width: int = IMAGE_SIZE_PX, height: int = IMAGE_SIZE_PX) -> CameraModel:
        """Return the camera at a picture size [px]."""
        return CameraModel.from_fov(
            width=width, height=height, fovy_deg=self.fovy_deg, pose_world_camera=self.pose_world_camera
        )


@dataclass(frozen=True)
class Lamp:
    """A light from far away: the direction in which it shines, in the world, and its brightness, 0 to 1."""

    direction: Point
    brightness: float


@dataclass(frozen=True, eq=False)
class WristCamera:
    """A camera on the hand: its pose in the tool frame (OpenCV axes) and vertical field of view."""

    pose_tool_camera: Pose
    fovy_deg: float


@dataclass(frozen=True, eq=False)
class Station:
    """A work place; the world's z = 0 is the table top.

    Attributes:
        name: ``table``.
        pose_world_base: Where the arm's mounting surface is (raised by the spec's ``base_height_m``).
        table_center_m: x, y of the table's middle in the world.
        table_half_m: Half extents of the table top: x, y, thickness; it lies below z = 0.
        cameras: Fixed cameras by name.
        wrist_camera: What the hand carries here instead of the camera of the arm's spec.
        lamps: Lights beside those that every place has.
    """

    name: str
    pose_world_base: Pose
    table_center_m: tuple[float, float]
    table_half_m: Point
    cameras: Mapping[str, StationCamera]
    wrist_camera: WristCamera | None = None
    lamps: tuple[Lamp, ...] = ()

    def base_pose(self, spec: RobotSpec) -> Pose:
        """Return the pose of the arm's base in the world."""
        return self.pose_world_base @ Pose(np.array([0.0, 0.0, spec.base_height_m]))

    def table_limits_m(self, *, margin_m: float = 0.0) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return (lowest, highest) x and y [m] in the world of the table top, ``margin_m`` from its edges."""
        (x, y), (half_x, half_y, _) = self.table_center_m, self.table_half_m
        half_x, half_y = half_x - margin_m, half_y - margin_m
        return (x - half_x, x + half_x), (y - half_y, y + half_y)


def looking_at(eye_m: Point, target_m: Point) -> Pose:
    """Return the pose (OpenCV axes) of an upright camera at ``eye_m`` that looks at ``target_m``, not straight down."""
    z = np.asarray(target_m, float) - np.asarray(eye_m, float)
    z /= np.linalg.norm(z)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x /= np.linalg.norm(x)
    return Pose.from_rotation(np.stack([x, np.cross(z, x), z], axis=1), eye_m)


def _table() -> Station:
    return Station(
        name="table",
        pose_world_base=Pose(),
        table_center_m=(0.45, 0.0),
        table_half_m=(0.6, 0.8, 0.02),
        cameras={"front": StationCamera(looking_at((1.12, -0.72, 0.72), (0.40, 0.03, 0.14)), 45.0)},
    )


def _shelf() -> Station:
    """Return the place before a shelf: the arm at the front edge of a table that reaches round to its left.

    The wrist camera looks along the fingers from above them, with the intrinsics of a common depth camera's colour
    sensor (about 625 pixels at 480 rows), so that print can be read from half a metre.
    """
    along = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    return Station(
        name="shelf",
        pose_world_base=Pose(),
        table_center_m=(-0.16, 0.38),
        table_half_m=(0.30, 0.62, 0.02),
        cameras={"front": StationCamera(looking_at((-0.85, -1.25, 0.85), (0.45, 0.12, 0.02)), 45.0)},
        wrist_camera=WristCamera(Pose.from_rotation(along, (0.075, 0.0, -0.06)), 42.0),
        lamps=(Lamp((0.88, -0.12, -0.35), 0.36),),
    )


_STATIONS = {"table": _table, "shelf": _shelf}


@cache
def station(name: str = "table") -> Station:
    """Return the station called ``name``.

    Raises:
        UnknownNameError: There is none.
    """
    if name not in _STATIONS:
        raise UnknownNameError("station", name, _STATIONS)
    return _STATIONS[name]()
