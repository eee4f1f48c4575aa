"""SceneSpec: what stands where, by words (relations) before it is solved and by poses afterwards."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery, Primitive, RelationName


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PoseSpec(_Model):
    """A pose in the world: metres and wxyz."""

    position_m: tuple[float, float, float]
    quat_wxyz: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    @classmethod
    def from_pose(cls, pose: Pose) -> PoseSpec:
        """Copy a pose into its JSON form."""
        x, y, z, *q = pose.to_list()
        return cls(position_m=(x, y, z), quat_wxyz=(q[0], q[1], q[2], q[3]))

    def to_pose(self) -> Pose:
        """Return the pose."""
        return Pose(self.position_m, self.quat_wxyz)  # type: ignore[arg-type]


class ContentsSpec(_Model):
    """What a vessel holds at the start: equal beads that flow.

    Attributes:
        count: How many.
        radius_m: Radius of each.
    """

    count: int = Field(ge=1, le=200)
    radius_m: float = Field(gt=0.001, le=0.02)


class ObjectSpec(_Model):
    """One node of the scene graph (AffordSim §3.1).

    Attributes:
        id: ``mug_1``; unique in the scene.
        category: A category of the library.
        attributes: Asked-for attributes, such as ``colour: red``.
        manipulated: The robot moves it; others are static clutter or references.
        instance: Seed of the parameter draw; None until the scene is solved.
        pose: Pose in the world; None until the scene is solved.
        joints: Joint values of an articulated object by link name; missing ones are 0 (closed).
        parts: Poses in the world of loose links that are off their seat, such as a pot's lid, by link name.
        contents: What it holds at the start, such as what is to be poured.
    """

    id: str
    category: str
    attributes: dict[str, str] = Field(default_factory=dict)
    manipulated: bool = False
    instance: int | None = None
    pose: PoseSpec | None = None
    joints: dict[str, float] = Field(default_factory=dict)
    parts: dict[str, PoseSpec] = Field(default_factory=dict)
    contents: ContentsSpec | None = None


class Relation(_Model):
    """``subject relation object`` holds in the initial scene, e.g. soup_can_1 on table."""

    subject: str
    relation: RelationName
    object: str


class WindowSpec(_Model):
    """Pose randomisation of the manipulated object: the benchmark's window."""

    size_m: float = Field(default=0.30, ge=0)
    yaw_deg: float = Field(default=60.0, ge=0, le=360)


class SceneSpec(_Model):
    """A scene by words, or solved; JSON and YAML safe.

    Attributes:
        objects: Nodes.
        relations: Edges that the initial scene must satisfy.
        station: Station by name.
        window: Randomisation of manipulated objects.
    """

    schema_name: Literal["armwright.scene/1"] = Field(default="armwright.scene/1", alias="schema")
    objects: tuple[ObjectSpec, ...]
    relations: tuple[Relation, ...] = ()
    station: str = "table"
    window: WindowSpec = WindowSpec()

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def object(self, object_id: str) -> ObjectSpec:
        """Return the node with this id; KeyError if there is none."""
        for node in self.objects:
            if node.id == object_id:
                return node
        raise KeyError(object_id)


class ParsedTask(_Model):
    """What a sentence means.

    Attributes:
        sentence: As given.
        scene: What stands where.
        primitives: In order.
        queries: One per functional region and role.
        not_understood: Fragments of the sentence, verbatim, that nothing was made of.
        assumptions: Guesses that were made, in words: ``goblet taken as cup``.
        parser: Which parser read it.
        time_limit_s: Longest that it may take in the world [s]; None lets it take what it takes.
    """

    sentence: str
    scene: SceneSpec
    primitives: tuple[Primitive, ...]
    queries: tuple[AffordanceQuery, ...]
    not_understood: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    parser: str = "embedded"
    time_limit_s: float | None = Field(default=None, gt=0)
