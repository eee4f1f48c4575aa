"""What a judge may look at: the true poses, speeds, supports and grips of one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from armwright.assets.export import link_inertia
from armwright.assets.model import ObjectModel
from armwright.assets.parts import loose_lids
from armwright.core.pose import Array, Pose
from armwright.core.task import TABLE as TABLE


class Truth(Protocol):
    """The part of ``world.truth`` that judges read."""

    def pose(self, object_id: str, link: str = ...) -> Pose: ...

    def joint(self, object_id: str, link: str) -> float: ...

    def joint_speed(self, object_id: str, link: str) -> float: ...

    def contents(self, object_id: str) -> Array: ...

    def velocity(self, object_id: str, link: str = ...) -> tuple[Array, Array]: ...

    def supported_by(self, object_id: str) -> frozenset[str]: ...

    def is_held(self, object_id: str) -> bool: ...

    def touched_by_robot(self, object_id: str) -> bool: ...

    def touching(self, object_id: str) -> frozenset[str]: ...


@dataclass(frozen=True, eq=False)
class ObjectEvidence:
    """One object at one moment.

    Attributes:
        pose_world: Pose of its root.
        speed_m_s, spin_rad_s: Magnitudes of its velocity.
        supported_by: Ids of what carries it directly (``table`` for the table top).
        held: Both pads touch it.
        touched: Any part of the robot touches it.
        touching: Ids of everything that it touches, itself and its contents aside.
        model: Its geometry.
        joints: Value of each jointed link's joint [m or rad], by link name.
        joint_speeds: Its speed [m/s or rad/s], by link name.
        contents_m: (k, 3) where the beads that started in it are in the world [m].
        loose: Pose of each loose lid in the world, by link name.
        loose_speeds: Its speed [m/s], by link name.
    """

    pose_world: Pose
    speed_m_s: float
    spin_rad_s: float
    supported_by: frozenset[str]
    held: bool
    touched: bool
    model: ObjectModel
    joints: Mapping[str, float] = field(default_factory=dict)
    joint_speeds: Mapping[str, float] = field(default_factory=dict)
    contents_m: Array = field(default_factory=lambda: np.zeros((0, 3)))
    touching: frozenset[str] = frozenset()
    loose: Mapping[str, Pose] = field(default_factory=dict)
    loose_speeds: Mapping[str, float] = field(default_factory=dict)

    @property
    def low_m(self) -> Array:
        """Lowest corner of the world-aligned bounding box, (3,) [m]."""
        return self._bounds()[0]

    @property
    def high_m(self) -> Array:
        """Highest corner of the world-aligned bounding box, (3,) [m]."""
        return self._bounds()[1]

    @property
    def center_m(self) -> Array:
        """Middle of the root link's mass, (3,) [m] in the world."""
        return self.pose_world.transform(link_inertia(self.model.root)[0])

    @property
    def up(self) -> Array:
        """The object's upright axis in the world, (3,)."""
        return self.pose_world.rotate(self.model.upright_axis)

    def _bounds(self) -> tuple[Array, Array]:
        points = self.pose_world.transform(self.model.root.vertices_m)
        return points.min(0), points.max(0)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All objects at one moment, and where the arm stands (left and behind are seen from its base)."""

    objects: Mapping[str, ObjectEvidence]
    pose_world_base: Pose

    def carriers(self, object_id: str) -> frozenset[str]:
        """Return everything that carries the object, directly or through others."""
        seen: set[str] = set()
        stack = [object_id]
        while stack:
            node = stack.pop()
            below = self.objects[node].supported_by if node in self.objects else frozenset()
            stack.extend(below - seen)
            seen |= below
        seen.discard(object_id)
        return frozenset(seen)


def observe(truth: Truth, models: Mapping[str, ObjectModel], pose_world_base: Pose) -> Evidence:
    """Read the evidence of this moment out of the simulator's truth."""
    objects = {}
    for object_id, model in models.items():
        linear, angular = truth.velocity(object_id)
        jointed = [link.name for link in model.links if link.joint is not None]
        lids = [link.name for link in loose_lids(model)]
        objects[object_id] = ObjectEvidence(
            pose_world=truth.pose(object_id),
            speed_m_s=float(np.linalg.norm(linear)),
            spin_rad_s=float(np.linalg.norm(angular)),
            supported_by=truth.supported_by(object_id),
            held=truth.is_held(object_id),
            touched=truth.touched_by_robot(object_id),
            model=model,
            joints={link: truth.joint(object_id, link) for link in jointed},
            joint_speeds={link: truth.joint_speed(object_id, link) for link in jointed},
            contents_m=truth.contents(object_id),
            touching=truth.touching(object_id),
            loose={link: truth.pose(object_id, link) for link in lids},
            loose_speeds={link: float(np.linalg.norm(truth.velocity(object_id, link)[0])) for link in lids},
        )
    return Evidence(objects, pose_world_base)
