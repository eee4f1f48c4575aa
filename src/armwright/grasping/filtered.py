"""Generic grasps filtered afterwards by a 2D mask of the queried region (AffordSim §4.1, after GenManip)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.grasping.generic import GenericGrasps
from armwright.grasping.projection import inside, visible_mask
from armwright.grasping.request import GraspRequest, SourceNeeds
from armwright.grasping.types import GraspCandidate, GraspSet


@dataclass(frozen=True)
class FilteredGrasps:
    """The generic estimator's best grasps, of which those stay whose contacts fall into the region as it is seen.

    The mask is what the third-person camera sees of the predicted region. The filter cannot bring back what the
    estimator did not rank among its best.
    """

    generic: GenericGrasps = field(default_factory=GenericGrasps)
    name: str = "generic-filtered"
    needs: SourceNeeds = field(default_factory=lambda: SourceNeeds(region=True, whole=True, camera=True))

    def sample(self, request: GraspRequest) -> GraspSet:
        """Return the kept grasps in the estimator's order.

        Raises:
            UsageError: Nothing is known of a camera.
        """
        if request.camera is None:
            raise UsageError(
                f"the grasp source {self.name!r} needs a third-person camera, and there is none.",
                hint="Give the skill context one, or choose another grasp source.",
            )
        ranked = self.generic.sample(request)
        if not ranked.candidates:
            return replace(ranked, source=self.name)
        seen = visible_mask(
            request.points_m,
            request.mask,
            request.camera,
            pose_world_points=request.pose_world_object,
            hulls=request.obstacles,
        )
        touched = contact_points(ranked.candidates)
        flat = touched.reshape(-1, 3)
        kept = inside(seen, flat, request.camera, pose_world_points=request.pose_world_object)
        kept = np.asarray(kept.reshape(-1, 2).all(1))
        candidates = tuple(c for c, keep in zip(ranked.candidates, kept, strict=True) if keep)
        dropped = {**ranked.dropped, "outside_mask": int((~kept).sum()) // 2}
        return GraspSet(candidates, {k: v for k, v in dropped.items() if v}, self.name, "source")


def contact_points(candidates: tuple[GraspCandidate, ...]) -> Array:
    """Return (c, 2, 3) where the middles of the two pads touch, in the object's frame."""
    middle = np.array([c.pose_object_pads.position_m for c in candidates])
    half = np.array([0.5 * c.width_m * c.pose_object_pads.rotation[:, 1] for c in candidates])
    return np.stack([middle - half, middle + half], axis=1)
