"""What a grasp source is asked: a cloud, a region, a hand, and where the object stands and is seen from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.core.task import RegionName
from armwright.robots.spec import GripperSpec


@dataclass(frozen=True)
class SourceNeeds:
    """What a grasp source looks at.

    Attributes:
        region: It works inside the queried region, so that an empty mask is the end of it.
        whole: It must see the whole object, where the region of a large one would do for others.
        affordance: The affordance model that it insists on, whatever is chosen for the episode.
        camera: It needs to know where the station's third-person camera is.
    """

    region: bool = True
    whole: bool = False
    affordance: str | None = None
    camera: bool = False


@dataclass(frozen=True, eq=False)
class GraspRequest:
    """One question to a grasp source; lengths in metres, everything in the object's frame unless its name says else.

    Attributes:
        points_m: (n, 3) float, the object's cloud.
        normals: (n, 3) outward unit normals.
        mask: (n,) bool, the predicted region.
        gripper: The hand.
        support_plane: (4,) n, d with n·p + d >= 0 where the gripper may be.
        obstacles: Convex hulls of other things, (k, 3) vertices each.
        thorough: Ask for more candidates, after none of the first could be used.
        short: The straight approach may be short, since the object stands in a narrow place.
        category: What kind of thing it is.
        region: Which region was queried.
        bounds_m: (2, 3) corners of the object, or of the one of its links that is to be moved; those of the cloud
            where None.
        pose_world_object: Where the object stands.
        camera: The station's third-person camera.
        rng: Source of randomness; a fixed one where None.
    """

    points_m: Array
    normals: Array
    mask: NDArray[np.bool_]
    gripper: GripperSpec
    support_plane: Array | None = None
    obstacles: tuple[Array, ...] = ()
    thorough: bool = False
    short: bool = False
    category: str = ""
    region: RegionName | None = None
    bounds_m: Array | None = None
    pose_world_object: Pose = field(default_factory=Pose)
    camera: CameraModel | None = None
    rng: np.random.Generator | None = None

    def __post_init__(self) -> None:
        points, normals, mask = (np.shape(a) for a in (self.points_m, self.normals, self.mask))
        if len(points) != 2 or points[1] != 3 or normals != points or mask != points[:1]:
            raise UsageError(f"points and normals are (n, 3) and the mask (n,); got {points}, {normals}, {mask}.")

    @property
    def corners_m(self) -> Array:
        """Return (2, 3) lowest and highest corner of what is to be moved."""
        if self.bounds_m is not None:
            return np.asarray(self.bounds_m, float)
        return np.stack([self.points_m.min(0), self.points_m.max(0)])

    @property
    def up(self) -> Array:
        """Return (3,) the unit vector that points up in the object's frame."""
        return np.asarray(self.pose_world_object.rotation[2], float)
