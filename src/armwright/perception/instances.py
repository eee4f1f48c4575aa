"""The instance map: detections of many views become objects with a volume, a name and attributes (OMAR §IV-B)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.perception.association import (
    MAX_CENTER_M,
    MIN_OVERLAP,
    association_cost,
    center_distance,
    geometric_candidates,
    greedy_assignment,
    semantic_veto,
)
from armwright.perception.boxes import box_overlap, points_box, upright_extent
from armwright.perception.descriptions import (
    ATTRIBUTES,
    SAME_MEANING,
    Description,
    Likeness,
    conflict,
    exactly,
    normalised,
)
from armwright.perception.evidence import (
    CONFIDENT,
    SUPPORTING_VIEWS,
    Hypotheses,
    canonical,
    extent_penalty_m,
    extent_weight,
    pooled,
    ranked,
    supported,
    with_evidence,
)
from armwright.perception.masks import Patch, patch
from armwright.perception.surface import near_surface
from armwright.perception.tsdf import Tsdf, add, empty_tsdf, integrate, prepare_view

MERGE_OVERLAP = 0.5
Votes = Mapping[str, Mapping[str, float]]
"""Evidence of each value of each attribute, gathered as that of labels."""


@dataclass(frozen=True, eq=False)
class Detection:
    """One object in one image.

    Attributes:
        mask: (H, W) bool.
        description: What the describer says of it.
        confidence: s_d, of the segmentation, 0 to 1.
    """

    mask: NDArray[np.bool_]
    description: Description
    confidence: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise UsageError(
                f"the confidence of a mask must be from 0 to 1, got {self.confidence}.",
                hint="Divide percentages by 100.",
            )


@dataclass(frozen=True, eq=False)
class Instance:
    """One object of the map; a later state is another `Instance` that shares the volume.

    Attributes:
        number: Its name in the map, never used again.
        volume: What was fused of it.
        box_m: (2, 3) around its surface in the world.
        extent_m: (3,) sides [m], height last.
        hypotheses: Proposed labels.
        votes: Evidence for attributes.
        views: Frames in which it was detected.
    """

    number: int
    volume: Tsdf
    box_m: Array
    extent_m: Array
    hypotheses: Hypotheses = field(default_factory=dict)
    votes: Votes = field(default_factory=dict)
    views: tuple[int, ...] = ()


@dataclass(frozen=True)
class MappingOptions:
    """Numbers of the mapping; those that the paper prints are its own.

    Attributes:
        voxel_m: Of the objects' volumes.
        max_depth_m: Readings beyond are left out.
        max_center_m, min_overlap: Bounds of `geometric_candidates`.
        merge_overlap: Instances whose boxes share this much of the smaller one are one object.
    """

    voxel_m: float = 0.004
    max_depth_m: float = 3.0
    max_center_m: float = MAX_CENTER_M
    min_overlap: float = MIN_OVERLAP
    merge_overlap: float = MERGE_OVERLAP


@dataclass(eq=False)
class InstanceMap:
    """All objects found so far. Begin with an empty one and give it to `observe` with every frame.

    Attributes:
        instances: By number.
        frames: How many frames it has seen.
        next_number: The next instance's.
        joined: Number gone -> number kept, of instances that turned out to be one.
    """

    instances: dict[int, Instance] = field(default_factory=dict)
    frames: int = 0
    next_number: int = 0
    joined: dict[int, int] = field(default_factory=dict)

    def shown_in(self, report: FrameReport) -> dict[int, int]:
        """Return detection -> number of the instance that it shows by now, of one frame's report."""
        first = {d: n for d, n, _ in report.matched} | dict(report.created)
        return {d: self._present(n) for d, n in first.items()}

    def _present(self, number: int) -> int:
        while number in self.joined:
            number = self.joined[number]
        return number


@dataclass(frozen=True)
class FrameReport:
    """What one frame did to the map.

    Attributes:
        matched: (detection, instance number, cost [m]).
        created: (detection, instance number).
        merged: (number kept, number gone).
        ignored: (detection, why).
    """

    matched: tuple[tuple[int, int, float], ...]
    created: tuple[tuple[int, int], ...]
    merged: tuple[tuple[int, int], ...]
    ignored: tuple[tuple[int, Literal["no_depth", "hidden"]], ...]


def instance_description(instance: Instance) -> Description:
    """Return what the map believes: the canonical label, the attributes with most evidence, the mean typical extent.

    The confidence is the canonical label's share of all evidence.
    """
    best = canonical(instance.hypotheses)
    values = {name: _elected(instance.votes.get(name, {})) for name in ATTRIBUTES}
    total = sum(h.evidence for h in instance.hypotheses.values())
    return Description(
        label="" if best is None else best.label,
        content=values["content"],
        packaging=values["packaging"],
        edible=None if not values["edible"] else values["edible"] == "yes",
        orientation=values["orientation"],
        extent_m=None if best is None else best.extent_m,
        confidence=0.0 if best is None or total <= 0 else min(best.evidence / total, 1.0),
    )


def alternative_labels(instance: Instance) -> tuple[str, ...]:
    """Return all labels proposed for an instance, the most evidence first."""
    return tuple(hypothesis.label for hypothesis in ranked(instance.hypotheses))


def observe(
    scene: InstanceMap,
    frame: RgbdFrame,
    detections: Sequence[Detection],
    *,
    alike: Likeness = exactly,
    options: MappingOptions | None = None,
) -> FrameReport:
    """Take one frame into the map: associate, fuse, gather evidence, merge.

    Args:
        scene: Changed.
        frame: What the camera saw.
        detections: What was found in it.
        alike: Compares labels and contents; `by_meaning()` for texts from a model.
        options: Numbers.

    Raises:
        UsageError: A mask of another size than the image.
    """
    options = options or MappingOptions()
    patches: dict[int, Patch] = {}
    ignored: list[tuple[int, Literal["no_depth", "hidden"]]] = []
    for index, detection in enumerate(detections):
        seen = patch(frame, detection.mask, max_depth_m=options.max_depth_m)
        if seen is None:
            ignored.append((index, "no_depth"))
        else:
            patches[index] = seen
    used, known = list(patches), list(scene.instances.values())
    cost = match_costs([patches[d] for d in used], [detections[d] for d in used], known, alike=alike, options=options)
    matches = {used[d]: (known[i].number, float(cost[d, i])) for d, i in greedy_assignment(cost)}
    created: dict[int, int] = {}
    for d in used:
        if d not in matches:
            created[d] = scene.next_number
            volume = empty_tsdf(options.voxel_m)
            scene.instances[scene.next_number] = Instance(
                scene.next_number, volume, patches[d].box_m, patches[d].extent_m
            )
            scene.next_number += 1
    target = {d: matches[d][0] if d in matches else created[d] for d in used}
    _fuse(scene, frame, {target[d]: (patches[d], detections[d].confidence) for d in used}, options)
    for d in used:
        number = target[d]
        instance = _remembered(scene.instances[number], detections[d], patches[d], scene.frames)
        if instance is None:
            # Another mask of higher confidence covered it whole: nothing of it was fused.
            ignored.append((d, "hidden"))
            matches.pop(d, None)
            if d in created:
                del scene.instances[number], created[d]
            continue
        scene.instances[number] = instance
    merged = merge_instances(scene, alike=alike, min_overlap=options.merge_overlap)
    scene.frames += 1
    return FrameReport(
        matched=tuple((d, *matches[d]) for d in used if d in matches),
        created=tuple(created.items()),
        merged=tuple(merged),
        ignored=tuple(ignored),
    )


def match_costs(
    patches: Sequence[Patch],
    detections: Sequence[Detection],
    instances: Sequence[Instance],
    *,
    alike: Likeness = exactly,
    options: MappingOptions | None = None,
) -> Array:
    """Return (d, i) C(d, i) [m], infinite where geometry or semantics rules the match out.

    A detection counts as supported when its label has been observed before, anywhere in the map, and it is confident
    itself; so a label that comes up once vetoes nothing.
    """
    options = options or MappingOptions()
    shape = (len(detections), len(instances))
    if 0 in shape:
        return np.full(shape, np.inf)
    seen = np.stack([p.box_m for p in patches])
    known = np.stack([i.box_m for i in instances])
    candidate = geometric_candidates(seen, known, max_center_m=options.max_center_m, min_overlap=options.min_overlap)
    believed = [instance_description(instance) for instance in instances]
    conflicting, penalty = np.zeros(shape, bool), np.zeros(shape)
    for d, i in np.argwhere(candidate):
        conflicting[d, i] = conflict(detections[d].description, believed[i], alike=alike)
        penalty[d, i] = extent_penalty_m(patches[d].extent_m, believed[i].extent_m)
    backed = np.array([_backed(detection, instances, alike) for detection in detections])
    firm = np.array([supported(canonical(instance.hypotheses)) for instance in instances])
    candidate &= ~semantic_veto(conflicting, backed, firm)
    return association_cost(center_distance(seen, known), penalty, candidate)


def may_merge(a: Instance, b: Instance, *, alike: Likeness = exactly, min_overlap: float = MERGE_OVERLAP) -> bool:
    """Return whether two instances are one object: |a ∩ b| / min(|a|, |b|) >= 0.5 and no firm conflict (OMAR §IV-B).

    A conflict is firm when both canonical labels have two observations, one of them with confidence >= 0.7.
    """
    if float(box_overlap(a.box_m, b.box_m)) < min_overlap:
        return False
    firm = supported(canonical(a.hypotheses)) and supported(canonical(b.hypotheses))
    return not (firm and conflict(instance_description(a), instance_description(b), alike=alike))


def merge_instances(
    scene: InstanceMap, *, alike: Likeness = exactly, min_overlap: float = MERGE_OVERLAP
) -> list[tuple[int, int]]:
    """Merge instances until no two may be; return (kept, gone), of the largest overlap first."""
    merged: list[tuple[int, int]] = []
    while True:
        pairs = _overlapping(scene, min_overlap)
        found = scene.instances
        pair = next(
            (p for p in pairs if may_merge(found[p[0]], found[p[1]], alike=alike, min_overlap=min_overlap)), None
        )
        if pair is None:
            return merged
        join(scene, *pair)
        merged.append(pair)


def join(scene: InstanceMap, kept: int, gone: int) -> None:
    """Make two instances one under the first's number: volumes, evidence, votes and views add up."""
    first, second = scene.instances[kept], scene.instances[gone]
    add(first.volume, second.volume)
    votes: dict[str, Mapping[str, float]] = {
        name: _summed(first.votes.get(name, {}), second.votes.get(name, {})) for name in ATTRIBUTES
    }
    views = tuple(sorted({*first.views, *second.views}))
    one = replace(first, hypotheses=pooled(first.hypotheses, second.hypotheses), votes=votes, views=views)
    scene.instances[kept] = _measured(one) or one
    del scene.instances[gone]
    scene.joined[gone] = kept


def _overlapping(scene: InstanceMap, min_overlap: float) -> list[tuple[int, int]]:
    """Return pairs of instance numbers whose boxes overlap enough, the most first."""
    numbers = sorted(scene.instances)
    if len(numbers) < 2:
        return []
    boxes = np.stack([scene.instances[number].box_m for number in numbers])
    shares = np.triu(box_overlap(boxes[:, None], boxes[None]), 1)
    found = np.argwhere(shares >= min_overlap)
    order = np.lexsort((found[:, 1], found[:, 0], -shares[tuple(found.T)]))
    return [(numbers[a], numbers[b]) for a, b in found[order]]


def _backed(detection: Detection, instances: Sequence[Instance], alike: Likeness) -> bool:
    if min(detection.confidence, detection.description.confidence) < CONFIDENT:
        return False
    label = detection.description.label
    before = sum(
        hypothesis.observations
        for instance in instances
        for hypothesis in instance.hypotheses.values()
        if label and alike(label, hypothesis.label) >= SAME_MEANING
    )
    return before + 1 >= SUPPORTING_VIEWS


def _fuse(
    scene: InstanceMap, frame: RgbdFrame, targets: Mapping[int, tuple[Patch, float]], options: MappingOptions
) -> None:
    """Fuse every object's pixels into its volume; all others learn what is free."""
    numbers = list(scene.instances)
    owner = np.full(frame.depth_m.shape, -1, np.int32)
    for number, (seen, _) in sorted(targets.items(), key=lambda item: item[1][1]):
        owner[seen.rows, seen.columns][seen.kept] = numbers.index(number)
    view = prepare_view(frame, owner, owners=len(numbers))
    for index, number in enumerate(numbers):
        integrate(scene.instances[number].volume, view, index, max_depth_m=options.max_depth_m)


def _remembered(instance: Instance, detection: Detection, seen: Patch, view: int) -> Instance | None:
    """Return the instance after a detection: its evidence, its views and its new measure; None without a surface."""
    said = detection.description
    weight = extent_weight(seen.extent_m, said.extent_m)
    hypotheses = with_evidence(instance.hypotheses, said, confidence=detection.confidence, weight=weight)
    votes = {name: dict(values) for name, values in instance.votes.items()}
    for name in ATTRIBUTES:
        if said.value(name):
            votes[name] = _summed(votes.get(name, {}), {said.value(name): detection.confidence * weight})
    views = (*instance.views, view)
    return _measured(replace(instance, hypotheses=hypotheses, votes=votes, views=views))


def _measured(instance: Instance) -> Instance | None:
    points = near_surface(instance.volume)
    if len(points) == 0:
        return None
    return replace(instance, box_m=points_box(points), extent_m=upright_extent(points))


def _summed(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return {key: first.get(key, 0.0) + second.get(key, 0.0) for key in [*first, *(k for k in second if k not in first)]}


def _elected(votes: Mapping[str, float]) -> str:
    """Return the value with most evidence; the alphabet settles a tie."""
    return min(votes, key=lambda value: (-votes[value], normalised(value))) if votes else ""
