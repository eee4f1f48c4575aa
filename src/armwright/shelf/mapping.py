"""From views of a shelf to its objects: segment, describe, map, and read in the shelf frame (OMAR §IV-A, IV-B)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.perception.boxes import points_box
from armwright.perception.describers import Describer
from armwright.perception.descriptions import ATTRIBUTES, Description, Likeness, by_meaning, normalised
from armwright.perception.forgetting import Recall, forget
from armwright.perception.instances import (
    Detection,
    FrameReport,
    Instance,
    InstanceMap,
    MappingOptions,
    alternative_labels,
    instance_description,
    observe,
)
from armwright.perception.masks import MIN_PIXELS
from armwright.perception.segmenters import Segmenter
from armwright.perception.sizes import size_contradictions
from armwright.perception.surface import Surface, surface
from armwright.perception.tops import join_tops
from armwright.perception.tsdf import Tsdf, empty_tsdf, integrate, prepare_view, region_tsdf
from armwright.shelf.boards import find_shelf
from armwright.shelf.completion import complete
from armwright.shelf.records import (
    ORIENTATIONS,
    PACKAGINGS,
    Box,
    Described,
    Shelf,
    ShelfObject,
)

COARSE_M = 0.015
"""Voxels of the map of everything, for planning."""
_AROUND_M = 0.05
_FLAT_M = 0.012
_PANEL_M = 0.007
"""Depth this near to a panel of the shelf is the panel."""
_LEAST_SHARE = 0.35
_LARGEST_M = 0.42
_SLIVER_M = 0.021
"""Of what is thinner than this in two directions only a strip was seen: too little to be called an object."""
_REST_M = 0.03
_ROOM_VOXEL_M = 0.02


@dataclass(frozen=True, eq=False)
class MappedView:
    """One view and what was made of it.

    Attributes:
        frame: What the camera saw.
        detections: Masks with descriptions, of what stands in the shelf.
        report: What the map did with them.
    """

    frame: RgbdFrame
    detections: tuple[Detection, ...]
    report: FrameReport


@dataclass(frozen=True, eq=False)
class ShelfMap:
    """A shelf as it was seen.

    Attributes:
        shelf: Its boards.
        pose_world_shelf: Its frame.
        objects: What stands on it, left to right on each board from the lowest.
        numbers: Object id -> instance number in the map.
        alternatives: Object id -> other labels that were proposed.
        instances: The instance map.
        coarse: Distances to everything in and around the shelf.
        views: In order.
        forgotten: Instances that too few views found again.
        notes: What the user should know.
        seconds: Wall time by step [s].
    """

    shelf: Shelf
    pose_world_shelf: Pose
    objects: tuple[ShelfObject, ...]
    numbers: Mapping[str, int]
    alternatives: Mapping[str, tuple[str, ...]]
    instances: InstanceMap
    coarse: Tsdf
    views: tuple[MappedView, ...]
    forgotten: tuple[Recall, ...]
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


def map_shelf(
    frames: Sequence[RgbdFrame],
    *,
    segmenter: Segmenter,
    describer: Describer,
    shelf: Shelf | None = None,
    pose_world_shelf: Pose | None = None,
    up: Array | None = None,
    alike: Likeness | None = None,
    options: MappingOptions | None = None,
) -> ShelfMap:
    """Map what stands on a shelf.

    Args:
        frames: Views of it with their cameras' poses.
        segmenter, describer: Who finds masks, and who says what they show.
        shelf, pose_world_shelf: The boards and their frame; both or neither. Where they are not given they are found.
        up: (3,) the vertical in the world, for a shelf that has to be found; None to find that too.
        alike: Compares labels and contents; by the meaning of their words unless given.
        options: Of the instance map.

    Raises:
        UsageError: No view, or no boards given and none to be seen.
    """
    if not frames:
        raise UsageError("no view of the shelf was taken.", hint="See why the arm could not get there, or add views.")
    seconds: dict[str, float] = {}
    with _timed(seconds, "boards"):
        if shelf is None or pose_world_shelf is None:
            found = find_shelf(_room(frames), [f.camera for f in frames], cell_m=_ROOM_VOXEL_M, up=up)
            shelf, pose_world_shelf = found.shelf, found.pose_world_shelf
    vertical = pose_world_shelf.rotation[:, 2]
    alike = alike or by_meaning()
    scene, views, notes = InstanceMap(), [], []
    low, high = _region(shelf, pose_world_shelf)
    coarse = region_tsdf(low, high, COARSE_M)
    for frame in frames:
        with _timed(seconds, "segment"):
            kept = [
                (mask, segment.confidence)
                for segment in segmenter.segment(frame)
                if (mask := on_shelf(frame, segment.mask, shelf, pose_world_shelf)) is not None
            ]
        with _timed(seconds, "describe"):
            said = describer.describe(frame, [mask for mask, _ in kept], up=vertical) if kept else []
            if describer.note and describer.note not in notes:
                notes.append(describer.note)
        with _timed(seconds, "map"):
            detections = [
                Detection(mask, d, evidence_confidence(sure, d)) for (mask, sure), d in zip(kept, said, strict=True)
            ]
            report = observe(scene, frame, detections, alike=alike, options=options)
            integrate(coarse, prepare_view(frame))
        views.append(MappedView(frame, tuple(detections), report))
    with _timed(seconds, "forget"):
        forgotten = forget(scene, frames)
        to_shelf = pose_world_shelf.inverse()
        join_tops(scene, box_of=lambda instance: _whole(instance, to_shelf))
    with _timed(seconds, "objects"):
        placed = _placed(scene, shelf, pose_world_shelf)
    named = _named(placed, shelf)
    whole = [(instance_description(i), np.asarray(box.size_m)) for i, box in named.values()]
    if contradiction := size_contradictions([d for d, _ in whole], [size for _, size in whole]):
        notes.append(contradiction)
    objects = tuple(ShelfObject(name, box, _nature(i)) for name, (i, box) in named.items())
    return ShelfMap(
        shelf,
        pose_world_shelf,
        objects,
        {name: i.number for name, (i, _) in named.items()},
        {name: alternative_labels(i)[1:] for name, (i, _) in named.items()},
        scene,
        coarse,
        tuple(views),
        tuple(forgotten),
        tuple(notes),
        seconds,
    )


def described(said: Description, votes: Mapping[str, Mapping[str, float]]) -> Described:
    """Return a map's belief in the shelf's own terms; a value that it has no word for is left out.

    Args:
        said: What the map believes.
        votes: Evidence of each value of each attribute; the winner's share is its confidence.
    """
    sure: dict[str, float] = {name: _share(votes.get(name, {})) for name in ATTRIBUTES if votes.get(name)}
    packaging, orientation = said.value("packaging"), said.value("orientation")
    return Described(
        label=said.label or None,
        content=said.content or None,
        packaging=next((p for p in PACKAGINGS if p == packaging), None),
        edible=said.edible,
        orientation=next((o for o in ORIENTATIONS if o == orientation), None),
        confidences={"label": said.confidence, **sure},
    )


def evidence_confidence(mask_confidence: float, said: Description) -> float:
    """Return s_d: how sure the mask is, times how sure the label is where one was read.

    The paper's segmenter is prompted with the label, so its confidence holds both; ours finds masks without words.
    """
    return mask_confidence * said.confidence if said.label else mask_confidence


def _nature(instance: Instance) -> Described:
    return described(instance_description(instance), instance.votes)


def _share(votes: Mapping[str, float]) -> float:
    total = sum(votes.values())
    return max(votes.values()) / total if total > 0 else 0.0


def _room(frames: Sequence[RgbdFrame]) -> Surface:
    volume = empty_tsdf(_ROOM_VOXEL_M)
    for frame in frames:
        integrate(volume, prepare_view(frame), max_depth_m=3.0)
    return surface(volume, min_weight=min(2.0, len(frames)))


def _region(shelf: Shelf, pose: Pose) -> tuple[Array, Array]:
    """Return the corners of the box in the world around the shelf and the space before it."""
    x, y = (-0.25, shelf.depth_m + _AROUND_M), shelf.width_m / 2 + _AROUND_M
    z = (shelf.boards_m[0] - _AROUND_M, shelf.top_m + _AROUND_M)
    corners = pose.transform([[a, b, c] for a in x for b in (-y, y) for c in z])
    return corners.min(0), corners.max(0)


def on_shelf(
    frame: RgbdFrame, mask: NDArray[np.bool_], shelf: Shelf, pose_world_shelf: Pose
) -> NDArray[np.bool_] | None:
    """Return the part of a mask that shows a thing in the shelf, None where that is little of it.

    What lies on the shelf's own boards, sides or back is taken out; nothing is left of a mask of the shelf itself, of
    what stands elsewhere, or of something larger than packages are.
    """
    mask = mask & (frame.depth_m > 0)
    v, u = np.nonzero(mask)
    if len(v) < MIN_PIXELS:
        return None
    points = pose_world_shelf.inverse().transform(frame.camera.deproject(u, v, frame.depth_m[v, u]))
    x, y, height = points.T
    boards = np.array([*shelf.boards_m, shelf.top_m])
    # A board's upper face, or the board itself seen from in front or below.
    over = height[:, None] - boards[None]
    free = ((over > _PANEL_M) | (over < -shelf.thickness_m - _PANEL_M)).all(1)
    free &= (x < shelf.depth_m - _PANEL_M) & (np.abs(y) < shelf.width_m / 2 - _PANEL_M) & (x > -_AROUND_M)
    free &= (height > boards[0]) & (height < boards[-1])
    if free.sum() < max(MIN_PIXELS, _LEAST_SHARE * len(v)):
        return None
    kept = points[free]
    spans = np.ptp(np.quantile(kept, (0.02, 0.98), axis=0), axis=0)
    if spans.max() > _LARGEST_M or spans[2] < _FLAT_M:
        return None
    out = np.zeros_like(mask)
    out[v[free], u[free]] = True
    return out


def _placed(scene: InstanceMap, shelf: Shelf, pose: Pose) -> list[tuple[Instance, Box]]:
    """Return instances inside the shelf with their boxes in its frame, boxes resting on a board reaching down to it."""
    to_shelf = pose.inverse()
    out = []
    for instance in scene.instances.values():
        box = _whole(instance, to_shelf)
        if box is None or np.sort(box[1] - box[0])[1] < _SLIVER_M:
            continue
        low, high = box
        middle = (low + high) / 2
        if not (-_AROUND_M < middle[0] < shelf.depth_m and abs(middle[1]) < shelf.width_m / 2):
            continue
        beneath = [b for b in shelf.boards_m if b < middle[2]]
        if not beneath or middle[2] > shelf.top_m:
            continue
        if abs(low[2] - beneath[-1]) < _REST_M:
            low[2] = beneath[-1]
        high[0] = max(min(high[0], shelf.depth_m), low[0] + _FLAT_M)
        out.append((instance, Box.between(tuple(low.tolist()), tuple(high.tolist()))))
    return out


def _whole(instance: Instance, to_shelf: Pose) -> Array | None:
    """Return the completed box (2, 3) of an instance in the shelf frame, None without a surface."""
    cloud = surface(instance.volume)
    if len(cloud.points_m) == 0:
        return None
    points, normals = to_shelf.transform(cloud.points_m), to_shelf.rotate(cloud.normals)
    low, high = points_box(points)
    return complete(points, normals, low_m=low, high_m=high).box_m


def _named(placed: Sequence[tuple[Instance, Box]], shelf: Shelf) -> dict[str, tuple[Instance, Box]]:
    """Return the instances under readable ids, by board and from left to right."""
    order: Callable[[tuple[Instance, Box]], tuple[float, float]] = lambda p: (  # noqa: E731
        shelf.board_of(p[1].low_m[2]),
        -p[1].center_m[1],
    )
    count: dict[str, int] = {}
    out: dict[str, tuple[Instance, Box]] = {}
    for instance, box in sorted(placed, key=order):
        label = re.sub(r"\W+", "_", normalised(instance_description(instance).label)).strip("_") or "object"
        count[label] = count.get(label, 0) + 1
        out[f"{label}_{count[label]}"] = (instance, box)
    return out


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start
