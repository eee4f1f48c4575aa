"""The words a task is made of: primitives, relations, regions, roles, affordance queries (AffordSim §3.1)."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

PrimitiveName = Literal["pick", "place", "pour", "push", "pull", "open", "close", "hang", "hold"]
RelationName = Literal["on", "in", "above", "under", "left_of", "right_of", "in_front_of", "behind", "next_to"]
RoleName = Literal["grasp", "use", "receive"]
SpotName = Literal["top", "middle", "bottom"]
RegionName = Literal[
    "Graspable Handle",
    "Graspable Body",
    "Graspable Rim",
    "Graspable Lid",
    "Pour Out",
    "Pour In",
    "Support Surface",
    "Containment",
    "Openable Handle",
    "Pushable Surface",
    "Hanging Handle",
    "Hook",
    "Button",
]

TABLE = "table"
"""Id of the table: always there, never listed among a scene's objects."""

PRIMITIVES: tuple[str, ...] = get_args(PrimitiveName)
RELATIONS: tuple[str, ...] = get_args(RelationName)
REGIONS: tuple[str, ...] = get_args(RegionName)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Primitive(_Frozen):
    """One step of a task: ``place mug_1 on plate_1``.

    Attributes:
        name: One of the nine primitives.
        object: Id of the object acted on.
        target: Id of the reference object, if the primitive has one.
        relation: How the object should stand to the target afterwards.
        spot: Which of several like parts is meant, such as a cabinet's drawers.
        distance_m: How far to push or pull [m].
    """

    name: PrimitiveName
    object: str
    target: str | None = None
    relation: RelationName | None = None
    spot: SpotName | None = None
    distance_m: float | None = Field(default=None, gt=0)


class AffordanceQuery(_Frozen):
    """One functional region of one object and what it is for.

    Attributes:
        object: Object id.
        region: Region name, from the published list.
        role: ``grasp`` the hand holds it, ``use`` the object acts through it, ``receive`` it is acted upon.
        stated: True if the sentence named the region, False if it was inferred.
    """

    object: str
    region: RegionName
    role: RoleName
    stated: bool = False
