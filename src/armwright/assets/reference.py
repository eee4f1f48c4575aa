"""Reference affordances: regions that a person drew on named objects, as simple bodies in the object's frame.

They stand in for the human annotations of AffordSim's 50-object subset (§4.1): nothing in them comes from part labels.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import numpy as np
import yaml
from numpy.typing import NDArray

from armwright.core.errors import UnknownNameError
from armwright.core.pose import Array
from armwright.core.task import REGIONS

Facing = Literal["any", "in", "out", "up", "down"]
_FILE = "reference_affordances.yaml"
_FACING_COS = 0.3


@dataclass(frozen=True)
class Body:
    """A box, or a ring about an axis, whose surface points belong to a region.

    Attributes:
        low_mm, high_mm: Corners x, y, z of the box that bounds it.
        axis: ``x``, ``y`` or ``z`` for a ring about that direction, empty for a plain box.
        center_mm: Where the axis passes, in the other two coordinates in order.
        radius_mm: Smallest and largest distance from the axis.
        facing: Only points whose normal looks so: towards (``in``) or away from (``out``) the axis, up, or down.
    """

    low_mm: tuple[float, float, float]
    high_mm: tuple[float, float, float]
    axis: Literal["", "x", "y", "z"] = ""
    center_mm: tuple[float, float] = (0.0, 0.0)
    radius_mm: tuple[float, float] = (0.0, np.inf)
    facing: Facing = "any"

    def holds(self, points_m: Array, normals: Array) -> NDArray[np.bool_]:
        """Return which of (n, 3) points [m] with (n, 3) unit normals belong to it."""
        points = 1e3 * points_m
        inside = np.asarray(((points >= self.low_mm) & (points <= self.high_mm)).all(1))
        if self.facing == "up":
            inside &= normals[:, 2] > _FACING_COS
        elif self.facing == "down":
            inside &= normals[:, 2] < -_FACING_COS
        if self.axis:
            others = [k for k in range(3) if k != "xyz".index(self.axis)]
            away = points[:, others] - self.center_mm
            distance = np.linalg.norm(away, axis=1)
            inside &= (distance >= self.radius_mm[0]) & (distance <= self.radius_mm[1])
            radial = np.einsum("ij,ij->i", normals[:, others], away) / np.maximum(distance, 1e-9)
            if self.facing in ("in", "out"):
                inside &= radial > _FACING_COS if self.facing == "out" else radial < -_FACING_COS
        return inside


@dataclass(frozen=True)
class ReferenceRegion:
    """A region as the union of bodies, less others."""

    bodies: tuple[Body, ...]
    less: tuple[Body, ...] = ()

    def mask(self, points_m: Array, normals: Array) -> NDArray[np.bool_]:
        """Return which of (n, 3) points [m] with (n, 3) unit normals belong to the region."""
        found = np.zeros(len(points_m), bool)
        for body in self.bodies:
            found |= body.holds(points_m, normals)
        for body in self.less:
            found &= ~body.holds(points_m, normals)
        return found


_WIDE = 1e6


def _body(record: Mapping[str, Any]) -> Body:
    """Return a body from its record: ``x``, ``y``, ``z`` ranges, ``about``, ``center``, ``radius``, ``facing``."""
    ranges = [record.get(axis, (-_WIDE, _WIDE)) for axis in "xyz"]
    low, high = zip(*ranges, strict=True)
    return Body(
        low_mm=(float(low[0]), float(low[1]), float(low[2])),
        high_mm=(float(high[0]), float(high[1]), float(high[2])),
        axis=record.get("about", ""),
        center_mm=tuple(record.get("center", (0.0, 0.0))),
        radius_mm=tuple(record.get("radius", (0.0, np.inf))),
        facing=record.get("facing", "any"),
    )


def _region(record: Sequence[Mapping[str, Any]]) -> ReferenceRegion:
    return ReferenceRegion(
        tuple(_body(one) for one in record if not one.get("less")),
        tuple(_body(one) for one in record if one.get("less")),
    )


@functools.cache
def _references() -> dict[str, dict[str, ReferenceRegion]]:
    text = resources.files("armwright.assets").joinpath("data", _FILE).read_text()
    return {
        name: {region: _region(bodies) for region, bodies in regions.items()}
        for name, regions in (yaml.safe_load(text) or {}).items()
    }


def reference_instances() -> tuple[str, ...]:
    """Return the names of the objects that have reference regions (see ``index``)."""
    return tuple(_references())


def reference_regions(name: str) -> tuple[str, ...]:
    """Return the regions drawn on an object.

    Raises:
        UnknownNameError: It has none.
    """
    if name not in _references():
        raise UnknownNameError("object with reference affordances", name, _references())
    return tuple(_references()[name])


def reference_mask(name: str, region: str, points_m: Array, normals: Array) -> NDArray[np.bool_]:
    """Return which surface points of a named object belong to a region.

    Args:
        name: A named object of the index.
        region: Region name, from the published list.
        points_m: (n, 3) float points on its surface, in its frame with joints at 0 [m].
        normals: (n, 3) float outward unit normals.

    Returns:
        (n,) bool.

    Raises:
        UnknownNameError: There is no such object, or the region was not drawn on it.
    """
    if region not in reference_regions(name):
        raise UnknownNameError("region", region, reference_regions(name) or REGIONS)
    return _references()[name][region].mask(points_m, normals)


def overlap(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return intersection over union of two masks; 1 where both are empty."""
    union = int((first | second).sum())
    return float((first & second).sum() / union) if union else 1.0
