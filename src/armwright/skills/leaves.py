"""Drawers and doors as skills see them: which link moves, how far, and where its handle and panel are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.protocol import AffordanceMask, ObjectCloud
from armwright.assets.articulation import joint_motion
from armwright.assets.model import JointModel, LinkModel
from armwright.core.pose import Array, Pose
from armwright.core.task import TABLE, AffordanceQuery, SpotName
from armwright.planning.types import WorldSpec
from armwright.skills.context import SkillContext

# Fewer points of a region on a link are noise of the mask.
MIN_POINTS = 12
# Open so far nothing is left to pull, shut so far nothing is left to push.
OPEN_SHARE = 0.75
SHUT_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Leaf:
    """A link that opens: a drawer or a door.

    Attributes:
        object_id: The object that it is a part of.
        link: The moving link.
        joint: How it moves.
        value: Its joint's value now [m or rad].
        region: (n,) bool, the queried region's points on it.
        own: (n,) bool, all its points.
    """

    object_id: str
    link: LinkModel
    joint: JointModel
    value: float
    region: NDArray[np.bool_]
    own: NDArray[np.bool_]

    @property
    def name(self) -> str:
        """Name of its obstacle in the planner's world."""
        return f"{self.object_id}/{self.link.name}"

    @property
    def share(self) -> float:
        """How far it is open, from 0 to 1."""
        low, high = self.joint.range
        return (self.value - low) / (high - low)

    def value_at(self, share: float) -> float:
        """Return the joint's value at a share of its travel [m or rad]."""
        low, high = self.joint.range
        return low + share * (high - low)

    def moved(self, value: float) -> Pose:
        """Return how the link moves from where it is now to a joint value, in the object's frame."""
        return joint_motion(self.joint, value) @ joint_motion(self.joint, self.value).inverse()

    def opening_directions(self, points_m: Array) -> Array:
        """Return (n, 3) unit vectors along which points (n, 3) of the link move when it opens, object's frame."""
        axis = np.asarray(self.joint.axis, float)
        if self.joint.kind == "slide":
            return np.broadcast_to(axis, points_m.shape)
        way = np.cross(axis, points_m - np.asarray(self.joint.anchor_m, float))
        return np.asarray(way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9))

    def lever_m(self, points_m: Array) -> Array:
        """Return (n,) travel of points per unit of the joint [m or 1]."""
        if self.joint.kind == "slide":
            return np.ones(len(points_m))
        axis = np.asarray(self.joint.axis, float)
        return np.asarray(np.linalg.norm(np.cross(axis, points_m - np.asarray(self.joint.anchor_m, float)), axis=1))


def leaves_of(ctx: SkillContext, query: AffordanceQuery) -> tuple[ObjectCloud, AffordanceMask, list[Leaf]]:
    """Find the moving links of an object that have points of the queried region on them."""
    cloud = ctx.scene.cloud(query.object)
    mask = ctx.affordance.predict(cloud, query)
    model = ctx.scene.model(query.object)
    found = []
    for link in model.links:
        if link.joint is None or cloud.link is None:
            continue
        own = cloud.link == link.name
        region = own & mask.mask
        if region.sum() >= MIN_POINTS:
            found.append(Leaf(query.object, link, link.joint, ctx.scene.joint(query.object, link.name), region, own))
    return cloud, mask, found


def in_order(leaves: Sequence[Leaf], cloud: ObjectCloud, *, opening: bool, which: SpotName | None = None) -> list[Leaf]:
    """Return the leaves that have something left to do, those with most of it first, upper before lower.

    Args:
        leaves: Of one object.
        cloud: The object's points.
        opening: What is to be done with them.
        which: Only the one at this place among them.
    """
    meant = meant_of(leaves, cloud, which)
    left = [leaf for leaf in meant if (leaf.share < OPEN_SHARE if opening else leaf.share > SHUT_SHARE)]
    return sorted(left, key=lambda leaf: (round(leaf.share, 1) * (1 if opening else -1), -_height_m(leaf, cloud)))


def meant_of(leaves: Sequence[Leaf], cloud: ObjectCloud, which: SpotName | None) -> list[Leaf]:
    """Return the leaves that are meant, the lowest first: all of them, or the one at a place among them."""
    meant = sorted(leaves, key=lambda leaf: _height_m(leaf, cloud))
    if which is not None and meant:
        meant = [meant[{"bottom": 0, "middle": len(meant) // 2, "top": -1}[which]]]
    return meant


def _height_m(leaf: Leaf, cloud: ObjectCloud) -> float:
    return float(cloud.points_m[leaf.region][:, 2].mean())


def world_with_target(ctx: SkillContext, leaf: Leaf) -> WorldSpec:
    """Return the planner's world in which only this link may be touched."""
    return WorldSpec(ctx.scene.world_spec().obstacles, frozenset({leaf.name}))


def rest_of(leaf: Leaf, world: WorldSpec) -> frozenset[str]:
    """Return the obstacles that are the other links of a leaf's object: it slides and turns within hairs of them."""
    return frozenset(
        o.name for o in world.obstacles if o.name.partition("/")[0] == leaf.object_id and o.name != leaf.name
    )


def world_to_swing(ctx: SkillContext, leaf: Leaf) -> WorldSpec:
    """Return the planner's world in which the link, once attached, may graze the rest of its object and the table.

    Its spheres are padded; whether it really clears the table is for the verifier to say.
    """
    world = ctx.scene.world_spec()
    grazed = rest_of(leaf, world) | ({TABLE} & {o.name for o in world.obstacles})
    return WorldSpec(world.obstacles, frozenset(grazed))
