"""The unknown object on the table: found in the views of it, described, and made a solid with a pose (OMAR §IV-A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.perception.describers import Describer
from armwright.perception.descriptions import Description, Likeness, by_meaning
from armwright.perception.instances import (
    Detection,
    Instance,
    InstanceMap,
    MappingOptions,
    instance_description,
    observe,
)
from armwright.perception.masks import patch
from armwright.perception.segmenters import Segmenter
from armwright.perception.surface import surface
from armwright.shelf.mapping import MappedView, described, evidence_confidence
from armwright.shelf.records import Target
from armwright.shelf.target import TargetFit, fit_target, natural_orientation

VOXEL_M = 0.003
_BESIDE_M = 0.08
_LEAST_HEIGHT_M = 0.012


class Region(Protocol):
    """Where the object lies: corners in the world [m], the lower one on what it stands on."""

    @property
    def low_m(self) -> tuple[float, float, float]: ...
    @property
    def high_m(self) -> tuple[float, float, float]: ...


@dataclass(frozen=True, eq=False)
class SeenTarget:
    """The object to place, as it was seen.

    Attributes:
        target: As the reasoner takes it.
        description: What the describer says of it.
        fit: Its shape and pose.
        instance: What was fused of it.
        instances: The map of all that stood there.
        views: In order.
        front_known: A label was read, so that it is known which side faces the front.
    """

    target: Target
    description: Description
    fit: TargetFit
    instance: Instance
    instances: InstanceMap
    views: tuple[MappedView, ...]
    front_known: bool = False


def see_target(
    frames: Sequence[RgbdFrame],
    *,
    segmenter: Segmenter,
    describer: Describer,
    region: Region,
    alike: Likeness | None = None,
) -> SeenTarget:
    """Find the one object that stands in a region and say what it is.

    Args:
        frames: Views of the region.
        segmenter, describer: Who finds masks, and who says what they show.
        region: Where it stands.
        alike: Compares labels; by the meaning of their words unless given.

    Raises:
        UsageError: No view, or nothing stands there.
    """
    if not frames:
        raise UsageError("no view of the target was taken.", hint="See why the arm could not get there, or add views.")
    scene, views = InstanceMap(), []
    alike = alike or by_meaning()
    for frame in frames:
        segments = [s for s in segmenter.segment(frame) if _in_region(frame, s.mask, region)]
        said = describer.describe(frame, [s.mask for s in segments]) if segments else []
        detections = [
            Detection(s.mask, d, evidence_confidence(s.confidence, d)) for s, d in zip(segments, said, strict=True)
        ]
        report = observe(scene, frame, detections, alike=alike, options=MappingOptions(voxel_m=VOXEL_M))
        views.append(MappedView(frame, tuple(detections), report))
    if not scene.instances:
        raise UsageError(
            "nothing was found where the target should be.",
            hint=f"Put it at x {_range(region, 0)}, y {_range(region, 1)} m in the world, or see what the views show.",
        )
    instance = max(scene.instances.values(), key=lambda i: (len(set(i.views)), float(np.prod(i.extent_m))))
    said_of_it = instance_description(instance)
    cloud = surface(instance.volume)
    packaging = described(said_of_it, instance.votes).packaging
    front = _front(scene, instance, views)
    fit = fit_target(
        cloud.points_m.astype(float),
        cloud.normals.astype(float),
        table_z_m=region.low_m[2],
        packaging=packaging,
        front_world=front,
    )
    nature = described(said_of_it, instance.votes)
    if nature.orientation is None:
        nature = replace(nature, orientation=natural_orientation(fit))
    return SeenTarget(fit.record(nature), said_of_it, fit, instance, scene, tuple(views), front is not None)


def _in_region(frame: RgbdFrame, mask: NDArray[np.bool_], region: Region) -> bool:
    seen = patch(frame, mask)
    if seen is None:
        return False
    middle = np.median(seen.points_m, axis=0)
    low, high = np.subtract(region.low_m, (_BESIDE_M, _BESIDE_M, 0)), np.add(region.high_m, (_BESIDE_M, _BESIDE_M, 0))
    height = float(np.quantile(seen.points_m[:, 2], 0.98)) - region.low_m[2]
    return bool((middle >= low).all() and (middle <= high).all() and height > _LEAST_HEIGHT_M)


def _range(region: Region, axis: int) -> str:
    return f"{region.low_m[axis]:.2f} to {region.high_m[axis]:.2f}"


def _front(scene: InstanceMap, instance: Instance, views: Sequence[MappedView]) -> Array | None:
    """Return where the side with the best read label faces: towards the camera that read it, in the plane."""
    best, towards = 0.0, None
    for view in views:
        numbers = scene.shown_in(view.report)
        for index, detection in enumerate(view.detections):
            said = detection.description
            if numbers.get(index) == instance.number and said.label and said.confidence > best:
                away = view.frame.camera.pose_world_camera.position_m - instance.box_m.mean(0)
                best, towards = said.confidence, np.array([away[0], away[1], 0.0])
    return towards if towards is None else towards / np.linalg.norm(towards)
