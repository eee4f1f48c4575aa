"""What a run's report shows, as plain data; nothing here knows how it is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.recording.episode import Image


@dataclass(frozen=True)
class GraphNode:
    """An object of the scene graph; ``color`` is any CSS colour, ``manipulated`` says that the robot moves it."""

    id: str
    category: str
    color: str | None = None
    manipulated: bool = False


@dataclass(frozen=True)
class GraphEdge:
    """``subject relation object`` in the scene; ``goal`` marks what the task is to bring about."""

    subject: str
    relation: str
    object: str
    goal: bool = False


@dataclass(frozen=True, eq=False)
class MaskView:
    """An affordance mask on an object's cloud.

    Attributes:
        object_id, region, model: What was asked of what, and who answered.
        points_m: (n, 3) cloud in the object's frame.
        mask: (n,) bool.
        normals: (n, 3) outward unit normals, for shading, or None.
        pads_m: (2, 3) where the two pads of the chosen grasp touch, in the object's frame, or None.
        approach: (3,) direction in which the hand comes, or None.
    """

    object_id: str
    region: str
    model: str
    points_m: Array
    mask: NDArray[np.bool_]
    normals: Array | None = None
    pads_m: Array | None = None
    approach: Array | None = None


@dataclass(frozen=True)
class GraspRow:
    """One evaluated grasp candidate.

    Attributes:
        score: 1 / joint-space arc length to its pre-grasp [1/rad]; 0 where it fails.
        ok: It can be reached without collision.
        status: Why not, where it cannot.
        detail: Colliding pair, or anything else that explains it.
        chosen: It was executed.
    """

    score: float
    ok: bool
    status: str = "ok"
    detail: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class TimelineBar:
    """A stretch of the run in world time: a primitive or, inside it, a stage."""

    name: str
    start_s: float
    end_s: float
    ok: bool
    status: str = "done"
    detail: str = ""
    level: int = 0


@dataclass(frozen=True, eq=False)
class KeyFrame:
    """A picture of the run, (H, W, 3) uint8, and what it shows."""

    image: Image
    label: str


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything on the page.

    Attributes:
        sentence: What was asked for.
        robot, seed: With which arm and seed.
        success: Judged success.
        compliance: Judged compliance with the named region; None where the sentence implies none.
        verdict: One sentence that says why.
        nodes, edges: Scene graph.
        masks: Affordance masks.
        grasps: Evaluated candidates, in any order.
        grasps_dropped: Filter -> how many candidates it dropped before evaluation.
        timeline: Primitives (level 0) and stages (level 1).
        frames: Key frames, in order.
        time_s: (t,) time of the columns.
        joint_names: n names.
        position_rad: (t, n) joint positions.
        opening_m: (t,) gap between the pads.
        numbers: Label -> figure, for the run.
        versions: Name -> version.
        files: Label -> path relative to the report.
        notes: Anything to be said, such as words that were not understood.
    """

    sentence: str
    robot: str
    seed: int
    success: bool
    compliance: bool | None = None
    verdict: str = ""
    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    masks: tuple[MaskView, ...] = ()
    grasps: tuple[GraspRow, ...] = ()
    grasps_dropped: Mapping[str, int] = field(default_factory=dict)
    timeline: tuple[TimelineBar, ...] = ()
    frames: tuple[KeyFrame, ...] = ()
    time_s: Array = field(default_factory=lambda: np.zeros(0))
    joint_names: tuple[str, ...] = ()
    position_rad: Array = field(default_factory=lambda: np.zeros((0, 0)))
    opening_m: Array = field(default_factory=lambda: np.zeros(0))
    numbers: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str | None] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
