"""The numbers of Stage 1 in one place, each with its reason (measurements: docs/grasping.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from armwright.core.errors import UsageError

PALM_LENGTH_M = 0.10
"""How far the palm reaches back from its front."""
SHORT_SWEEP_M = 0.04
"""Length of the straight approach under a roof: fingers are longer by little."""


@dataclass(frozen=True)
class GraspOptions:
    """Choices of `armwright.grasping.affordance.sample_grasps`.

    Attributes:
        approaches: K, approach directions per contact on the ring of tilt ``tilt_rad`` (§3.2).
        tilt_rad: theta_0, polar tilt of the ring from -n [rad].
        extra_tilts_rad: Further rings, an extension of the paper; 0 is the direction -n itself.
        neighbours: m, nearest neighbours of the PCA normal.
        contacts: Contact points over all connected pieces, shared by size, at least four each: the modes first, then
            farthest-point samples.
        bandwidth_ratio: Mean-shift bandwidth as a share of the piece's longest extent, at least ``bandwidth_min_m``.
        bandwidth_min_m: Smallest bandwidth [m]: about one pad width, below which two modes are one grasp.
        max_rise: Approaches that climb more steeply than this (sine) from the support are not tried.
        downward: Also approach every contact straight against the support: the only way to what is flatter than a
            finger's end.
        yaws: Closing axes tried per direction besides the ones from local geometry, evenly over half a turn.
        depths_m: How far beyond the contact, along the approach, the pads' middle may be [m]; as deep as the palm
            allows is always tried too.
        clearance_m: Gap left on each side while approaching [m].
        min_clearance_m: What that gap may shrink to where the gripper opens no further [m].
        friction: Coefficient whose cone the mean patch normal must stay in.
        sweep_m: Length of the straight approach that must be free [m].
        margin_m: Kept between the gripper and anything but the pads' own contact [m].
        palm_half_m: Half extents of the palm along x and y [m].
        palm_length_m: Its extent along the approach [m].
        min_quality: Candidates below are dropped.
        min_on_region: Share of the touched surface, on the worse side, that must lie in the region, if any candidate
            reaches it; a rim thinner than the pads never does, and then the best share less 0.1 is the limit.
        max_candidates: The best so many are kept, over all contacts.
    """

    approaches: int = 8
    tilt_rad: float = 0.6
    extra_tilts_rad: tuple[float, ...] = (0.0, 1.5708)
    neighbours: int = 16
    contacts: int = 12
    bandwidth_ratio: float = 0.25
    bandwidth_min_m: float = 0.015
    max_rise: float = 0.2
    downward: bool = False
    yaws: int = 0
    depths_m: tuple[float, ...] = (0.0, 0.005, 0.010, 0.016, 0.024, 0.034)
    clearance_m: float = 0.006
    min_clearance_m: float = 0.002
    friction: float = 0.5
    sweep_m: float = 0.08
    margin_m: float = 0.0015
    palm_half_m: tuple[float, float] = (0.035, 0.075)
    palm_length_m: float = PALM_LENGTH_M
    min_quality: float = 0.1
    min_on_region: float = 0.95
    max_candidates: int = 200

    def thorough(self) -> GraspOptions:
        """Return options that look longer, for when no default candidate can be used: an extension of the paper."""
        return replace(
            self,
            approaches=2 * self.approaches,
            extra_tilts_rad=(0.0, 0.3, 0.95, 1.25, 1.5708),
            contacts=3 * self.contacts,
            downward=True,
            max_candidates=3 * self.max_candidates,
        )

    def short(self) -> GraspOptions:
        """Return options for what stands in a narrow place, such as a microwave: more directions, a short approach."""
        return replace(self, approaches=24, contacts=48, sweep_m=SHORT_SWEEP_M, palm_length_m=0.06, max_candidates=600)

    def __post_init__(self) -> None:
        if self.approaches < 1 or self.contacts < 1 or self.neighbours < 3 or not self.depths_m:
            raise UsageError(
                f"approaches and contacts are at least 1, neighbours at least 3, depths_m not empty; got "
                f"{self.approaches}, {self.contacts}, {self.neighbours}, {self.depths_m}."
            )
