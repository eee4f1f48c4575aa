"""RobotSpec: one YAML per arm; data, not code."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GripperSpec(_Model):
    """A parallel gripper, seen from the tool frame (z out of the palm, y along the closing motion).

    Attributes:
        name: ``panda_hand``, ``robotiq_2f85`` …
        actuator: Name of the one actuator that drives both fingers.
        joints: Finger joints, in the baked model's names.
        opening_m: Smallest and largest gap between the pads [m].
        table: Rows (actuator control, pad gap [m], z of the pads' middle in the tool frame [m]), measured at bake
            time, gap falling; interpolate between rows. A linkage gripper's pads travel along z as they close.
        pad_geoms: Geoms that may touch what is held: left pads, right pads.
        pad_size_m: Pad extent along the tool's x (width) and z (height).
        finger_depth_m: How far the finger tips reach beyond the pads' middle along z.
        finger_thickness_m: Thickness of a finger along y behind its pad, at the pads' height.
        palm_depth_m: Free depth from the pads' middle back to the palm.
        force_n: Largest closing force at the pads.
    """

    name: str
    actuator: str
    joints: tuple[str, ...]
    opening_m: tuple[float, float]
    table: tuple[tuple[float, float, float], ...] = ()
    pad_geoms: tuple[tuple[str, ...], tuple[str, ...]]
    pad_size_m: tuple[float, float]
    finger_depth_m: float
    finger_thickness_m: float
    palm_depth_m: float
    force_n: float


class RobotSpec(_Model):
    """An arm with its gripper.

    Attributes:
        name: ``franka``.
        title: What people call it.
        source: Data wheel(s) its meshes and constants come from.
        joints: Arm joints from base to tip, in the baked model's names.
        home_rad: Home configuration, (n,).
        velocity_rad_s, acceleration_rad_s2: Limits per joint.
        limits_rad: Joint range per joint; a continuous joint is given as (-2 pi, 2 pi).
        payload_kg: Rated payload.
        reach_m: Reach from the base.
        base_height_m: Height of the base above the table top (0: bolted to it).
        wrist_camera: Pose of the wrist camera in the tool frame: xyz [m] and wxyz (OpenCV axes).
        wrist_camera_fovy_deg: Its vertical field of view [deg].
        workspace_center_m: x, y in the base frame [m] of the 30 cm window that the arm reaches best on the table.
    """

    name: str
    title: str
    source: tuple[str, ...]
    joints: tuple[str, ...]
    home_rad: tuple[float, ...]
    velocity_rad_s: tuple[float, ...]
    acceleration_rad_s2: tuple[float, ...]
    limits_rad: tuple[tuple[float, float], ...]
    payload_kg: float
    reach_m: float
    base_height_m: float = 0.0
    wrist_camera: tuple[float, float, float, float, float, float, float] = Field(
        default=(0.06, 0.0, -0.08, 1.0, 0.0, 0.0, 0.0)
    )
    wrist_camera_fovy_deg: float = 60.0
    workspace_center_m: tuple[float, float] = (0.5, 0.0)
    gripper: GripperSpec


ArmName = Literal["franka", "kinova", "sawyer", "ur5e", "xarm7"]
