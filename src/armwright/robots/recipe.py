"""How an arm and its gripper are read out of the data wheels: the `bake` half of the YAML files."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

Vector = tuple[float, float, float]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceFile(_Model):
    """An MJCF file inside a data wheel.

    Attributes:
        wheel: Name of the data wheel.
        folder: Folder inside the wheel that holds the file and its meshes; nothing else is read.
        file: The MJCF file, relative to the folder.
        meshes: Path prefixes, relative to the folder, that the file refers to; all by default.
        replace: Text replaced in the file before it is parsed (old -> new), for what MuJoCo 4 refuses.
    """

    wheel: str
    folder: str
    file: str
    meshes: tuple[str, ...] = ("",)
    replace: dict[str, str] = Field(default_factory=dict)


class Cut(_Model):
    """A plane of a body's own frame that splits its collision meshes into two convex pieces.

    Attributes:
        body: Body name in the baked model.
        axis: 0, 1, 2 for x, y, z.
        at_m: Where.
        keep: ``both`` halves, or only what lies ``above`` or ``below``.
    """

    body: str
    axis: int
    at_m: float
    keep: str = "both"


class PadRecipe(_Model):
    """One finger's pads: boxes stacked along the finger.

    Attributes:
        body: Source body that carries them.
        center_m, half_m: Centre and half extents of the whole pad in that body's frame.
        stack_axis: Axis along which the pad is split in two, so that a tilting object meets two patches.
    """

    body: str
    center_m: Vector
    half_m: Vector
    stack_axis: int = 2


class GripperRecipe(_Model):
    """What is changed of a gripper.

    Attributes:
        source: Its file.
        driver: Joint that the one actuator drives.
        driver_range: Range of the driver joint [m or rad], and of the control.
        open_at_upper: True if the pads are apart at the upper end of the range.
        couple: Joint -> factor: joint value = factor * driver value, an equality.
        weld: Joints removed (their value stays 0).
        joint_range: Ranges of coupled joints that differ from the source's.
        kp, dampratio, force: Position servo of the driver joint and its largest force [N or N m].
        armature, damping: Of all finger joints.
        left, right: Pads; left lies on the tool's +y side.
        drop_geoms: Source collision geoms that the pads replace.
        mesh_collision: Source bodies whose visual meshes, joined, replace their collision geoms.
        cuts: Planes that split or trim collision meshes.
    """

    source: SourceFile
    driver: str
    driver_range: tuple[float, float]
    open_at_upper: bool
    couple: dict[str, float]
    weld: tuple[str, ...] = ()
    kp: float
    dampratio: float = 1.0
    force: float
    armature: float
    damping: float = 0.0
    left: PadRecipe
    right: PadRecipe
    drop_geoms: tuple[str, ...] = ()
    mesh_collision: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()


class ArmRecipe(_Model):
    """What is changed of an arm.

    Attributes:
        source: Its file.
        mount_body: Body the gripper is attached to.
        mount_pos_m, mount_quat_wxyz: Pose of the gripper's root in that body.
        base_yaw_rad: Turn of the whole arm about z that makes it look along +x.
        gripper: Name of the gripper recipe.
        kp: Position servo per joint.
        dampratio: Damping ratio of the servos.
        torque_nm: Largest torque per joint.
        armature: Per joint [kg m^2].
        damping: Passive joint damping.
        visual_faces: Budget of visual faces for arm and gripper together.
        cuts: Planes that split collision meshes.
        convex_pieces: Most convex pieces that one collision mesh of the arm is split into.
        mesh_collision: Source bodies whose visual meshes, joined, replace their collision geoms.
        drop_bodies: Source bodies whose geoms are left out.
    """

    source: SourceFile
    mount_body: str
    mount_pos_m: Vector = (0.0, 0.0, 0.0)
    mount_quat_wxyz: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    base_yaw_rad: float = 0.0
    gripper: str
    kp: tuple[float, ...]
    dampratio: float = 1.0
    torque_nm: tuple[float, ...]
    armature: tuple[float, ...]
    damping: float = 0.1
    visual_faces: int = 25000
    cuts: tuple[Cut, ...] = ()
    convex_pieces: int = 1
    mesh_collision: tuple[str, ...] = ()
    drop_bodies: tuple[str, ...] = ()
