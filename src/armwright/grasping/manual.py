"""Manual grasps: ranges written down per category, drawn from at the object's true pose (AffordSim §4.1, appendix)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field

from armwright.core.pose import Array, Pose
from armwright.core.task import RegionName
from armwright.grasping.options import GraspOptions
from armwright.grasping.request import GraspRequest, SourceNeeds
from armwright.grasping.spans import span_between
from armwright.grasping.types import GraspCandidate, GraspSet

Shape = Literal["elongated", "box", "round"]
Range = tuple[float, float]
Vector = tuple[float, float, float]

# Without an entry: longer than this many times its breadth is elongated.
_ELONGATED = 1.8
# Half of the small region about the middle, and of the turn against the sides of a box.
_ABOUT_M = 0.005
_TURN_RAD = 0.17


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BodyRange(_Strict):
    """Positions as shares of the bounding box, vectors in the object's frame."""

    frame: Literal["body"]
    x: Range
    y: Range
    z: Range
    closing: Vector
    approach: tuple[Vector, ...] = Field(min_length=1)


class RingRange(_Strict):
    """Positions around the object's z axis, vectors outward, along the ring, up."""

    frame: Literal["ring"]
    radius: Range
    azimuth_deg: Range
    z: Range
    closing: Vector
    approach: tuple[Vector, ...] = Field(min_length=1)


AnyRange = Annotated[BodyRange | RingRange, Field(discriminator="frame")]


class Annotations(_Strict):
    """Everything that was written down: shapes of simple objects, ranges per category and region."""

    simple: Mapping[str, Shape]
    regions: Mapping[str, Mapping[RegionName, tuple[AnyRange, ...]]]


@lru_cache(maxsize=1)
def built_in_annotations() -> Annotations:
    """Return the annotations that come with the package."""
    text = files("armwright.grasping").joinpath("data", "manual.yaml").read_text(encoding="utf-8")
    return Annotations.model_validate(yaml.safe_load(text))


@dataclass(frozen=True)
class ManualGrasps:
    """Grasps drawn from per-category ranges; nothing is predicted, and nothing but the fingers' gap is looked up.

    A category without an entry is grasped as a simple object of the shape of its bounding box when its body is asked
    for; asked for any other region there is no annotation, and no grasp.

    Attributes:
        count: How many are drawn, each in both rolls of the hand.
    """

    annotations: Annotations = field(default_factory=built_in_annotations)
    options: GraspOptions = field(default_factory=GraspOptions)
    count: int = 48
    name: str = "manual"
    needs: SourceNeeds = field(default_factory=lambda: SourceNeeds(region=False, whole=True))

    def sample(self, request: GraspRequest) -> GraspSet:
        """Return grasps drawn from the ranges; those that the hand does not span are dropped."""
        rng = request.rng if request.rng is not None else np.random.default_rng(0)
        count = 3 * self.count if request.thorough else self.count
        ranges = self.annotations.regions.get(request.category, {}).get(request.region or "Graspable Body", ())
        if ranges:
            drawn = [_draw(request, ranges[int(rng.integers(len(ranges)))], rng) for _ in range(count)]
        elif request.region in (None, "Graspable Body", "Pushable Surface"):
            shape = self.annotations.simple.get(request.category) or shape_of(request)
            drawn = [_draw_simple(request, shape, rng) for _ in range(count)]
        else:
            return GraspSet((), {"no_annotation": 1}, self.name)
        dropped: Counter[str] = Counter()
        candidates: list[GraspCandidate] = []
        for position, rotation in drawn:
            low, high = span_between(request, position, rotation)
            if low >= high:
                dropped["nothing_between"] += 1
                continue
            widest = request.gripper.opening_m[1]
            reach = 2 * max(abs(low), abs(high))
            if reach > widest - 2 * self.options.min_clearance_m:
                dropped["too_wide"] += 1
                continue
            for flip in (1.0, -1.0):
                candidates.append(
                    GraspCandidate(
                        pose_object_pads=Pose.from_rotation(rotation * np.array([flip, flip, 1.0]), position),
                        width_m=high - low,
                        opening_m=min(reach + 2 * self.options.clearance_m, widest),
                        contact_m=position,
                        normal=-rotation[:, 2],
                        quality=1.0,
                    )
                )
        return GraspSet(tuple(candidates), dict(dropped), self.name)


def shape_of(request: GraspRequest) -> Shape:
    """Classify a simple object by its bounding box."""
    size = np.sort(np.ptp(request.corners_m, axis=0))
    return "elongated" if size[2] > _ELONGATED * size[1] else "box"


def _draw(request: GraspRequest, written: AnyRange, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw one grasp of a functional region: position and rotation in the object's frame."""
    low, high = request.corners_m
    axes = np.eye(3)
    if isinstance(written, BodyRange):
        share = np.array([rng.uniform(*r) for r in (written.x, written.y, written.z)])
        position = low + share * (high - low)
    else:
        azimuth = np.deg2rad(rng.uniform(*written.azimuth_deg))
        c, s = np.cos(azimuth), np.sin(azimuth)
        radius = rng.uniform(*written.radius) * 0.5 * (high[1] - low[1])
        position = np.array([radius * c, radius * s, low[2] + rng.uniform(*written.z) * (high[2] - low[2])])
        axes = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    approach = axes @ np.array(written.approach[int(rng.integers(len(written.approach)))])
    return position, _frame(approach, axes @ np.array(written.closing))


def _draw_simple(request: GraspRequest, shape: Shape, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw one top-down grasp of a simple object: position and rotation in the object's frame."""
    low, high = request.corners_m
    size, up = high - low, request.up
    flat = size - np.abs(size * up)  # how far each side reaches along the support
    position = 0.5 * (low + high)
    longest = int(np.argmax(flat))
    if shape == "elongated":
        position = position + rng.uniform(-1, 1) / 6 * size[longest] * np.eye(3)[longest]
        closing = np.cross(up, np.eye(3)[longest])
    else:
        position = position + rng.uniform(-_ABOUT_M, _ABOUT_M, 3)
        first = np.eye(3)[longest] - up[longest] * up
        across = np.cross(up, first)
        turn = rng.uniform(-np.pi, np.pi) if shape == "round" else rng.uniform(-_TURN_RAD, _TURN_RAD)
        closing = np.cos(turn) * across + np.sin(turn) * first
    return _within_reach(request, position), _frame(-up, closing)


def _within_reach(request: GraspRequest, position: Array) -> Array:
    """Move a top-down grasp up or down until the palm clears the top, and then the fingertips the support."""
    hand, up, slack = request.gripper, request.up, 0.003
    top = float((request.points_m @ up).max())
    height = max(float(position @ up), top - hand.palm_depth_m + slack)
    if request.support_plane is not None:
        height = max(height, hand.finger_depth_m + slack - float(request.support_plane[3]))
    return np.asarray(position + (height - float(position @ up)) * up)


def _frame(approach: Array, closing: Array) -> Array:
    z = approach / np.linalg.norm(approach)
    y = closing - (closing @ z) * z
    y /= np.linalg.norm(y)
    return np.stack([np.cross(y, z), y, z], axis=1)
