"""Grasp candidates and why others were dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from armwright.core.pose import Array, Pose


@dataclass(frozen=True, eq=False)
class GraspCandidate:
    """A gripper pose relative to an object.

    Attributes:
        pose_object_pads: Frame between the pads at contact: z approach, y closing axis, in the object's frame.
        width_m: Thickness of the object along the closing axis between the pads [m].
        opening_m: Gap to approach with [m].
        contact_m: (3,) the masked surface point that the candidate was sampled at, in the object's frame.
        normal: (3,) outward surface normal there.
        cluster: Which connected piece of the region.
        approach: Index k of the approach direction.
        region_share: Share of the surface under the pads that lies in the region, on the worse side.
        quality: Stage 1 quality in [0, 1] (normal alignment, pad centring, aperture margin); ties only.
        aside: How far beside the pads' middle the touched surface is, in pad widths, on the worse side: 0 is centred,
            0.5 at an edge.
        wedge: Force across the closing axis, without friction, per force of a pad: above 0 the object is squeezed out.
    """

    pose_object_pads: Pose
    width_m: float
    opening_m: float
    contact_m: Array
    normal: Array
    cluster: int = 0
    approach: int = 0
    quality: float = 0.0
    region_share: float = 1.0
    aside: float = 0.0
    wedge: float = 0.0

    @property
    def beyond_m(self) -> float:
        """How far the contact is beyond the pads' middle [m]: above 0 the object is held by the fingers' tips."""
        return float(self.pose_object_pads.inverse().transform(self.contact_m)[2])


@dataclass(frozen=True, eq=False)
class GraspSet:
    """Candidates of one query, and how many each filter dropped; empty is a normal answer.

    Attributes:
        candidates: The grasps.
        dropped: Filter -> how many it dropped.
        source: Who proposed them.
        order: Which of those that can be reached is taken first: the one of the best motion (AffordSim §3.2, stage
            2), or the one that the source puts first, as generic estimators are used.
    """

    candidates: tuple[GraspCandidate, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    source: str = "affordance"
    order: Literal["motion", "source"] = "motion"
