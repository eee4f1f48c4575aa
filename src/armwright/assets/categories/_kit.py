"""What all categories share: parameter draws, colours, handles, putting a model together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder, Rgba
from armwright.assets.catalog import COLOURS, category_info
from armwright.assets.materials import MATERIALS
from armwright.assets.model import Container, LinkModel, ObjectModel, SupportSurface
from armwright.core.pose import Array, Pose

Params = Mapping[str, float]
Attributes = Mapping[str, str]

SIZES: tuple[str, ...] = ("small", "medium", "large")
OPEN_M = 1.0
"""Free height above a surface that has nothing over it."""

SEAT_M = 2e-4
"""Gap between a loose link and what it rests on, so that nothing starts in contact."""

STEEL: Rgba = (0.72, 0.73, 0.75, 1.0)
DARK: Rgba = (0.13, 0.13, 0.14, 1.0)
CREAM: Rgba = (0.93, 0.92, 0.88, 1.0)


class Draw:
    """Draws of one instance; the size attribute moves those that make it bigger."""

    def __init__(self, rng: np.random.Generator, size: str | None = None) -> None:
        self._rng = rng
        self._low, self._high = (0.0, 1.0) if size is None else ((i := SIZES.index(size)) / 3, (i + 1) / 3)

    def size(self, low: float, high: float) -> float:
        """Draw a length that grows with the object's size."""
        share = self._low + (self._high - self._low) * self._rng.random()
        return float(low + (high - low) * share)

    def free(self, low: float, high: float) -> float:
        """Draw a value that has nothing to do with size."""
        return float(low + (high - low) * self._rng.random())


@dataclass(frozen=True)
class Category:
    """How to draw and build one category.

    Attributes:
        name: Name in the catalog.
        materials: What it is usually made of, most usual first.
        draw: Draws the parameter vector [SI].
        build: Makes the model from parameters and complete attributes (colour, material, size).
        choices: Further attributes it knows, each with its values, the default first.
    """

    name: str
    materials: tuple[str, ...]
    draw: Callable[[Draw], dict[str, float]]
    build: Callable[[Params, Attributes], ObjectModel]
    choices: Mapping[str, tuple[str, ...]] | None = None


def rgba(colour: str, *, shade: float = 1.0) -> Rgba:
    """Return a named colour, darkened by ``shade`` below 1 or mixed with white above 1."""
    r, g, b = COLOURS[colour]
    if shade <= 1:
        return (r * shade, g * shade, b * shade, 1.0)
    mix = min(shade - 1, 1.0)
    return (r + (1 - r) * mix, g + (1 - g) * mix, b + (1 - b) * mix, 1.0)


def model(
    category: str,
    links: Sequence[LinkModel],
    params: Params,
    attributes: Attributes,
    *,
    containers: Sequence[Container] = (),
    supports: Sequence[SupportSurface] = (),
) -> ObjectModel:
    """Put an object together, with the catalog's regions that its parts make up."""
    info = category_info(category)
    have = {part for link in links for part in link.part_names}
    regions = {region: kept for region, parts in info.regions.items() if (kept := tuple(p for p in parts if p in have))}
    return ObjectModel(
        category=category,
        links=tuple(links),
        attributes=dict(attributes),
        regions=regions,
        params=dict(params),
        friction=MATERIALS[attributes["material"]].friction,
        rolling_m=MATERIALS[attributes["material"]].rolling_m,
        containers=tuple(containers),
        supports=tuple(supports),
        static=info.static,
    )


def density(attributes: Attributes) -> float:
    """Return the density of the object's material [kg/m^3]."""
    return MATERIALS[attributes["material"]].density_kg_m3


def surface(
    name: str,
    center_m: Sequence[float],
    half_x_m: float,
    half_y_m: float,
    *,
    clearance_m: float = OPEN_M,
    link: str = "base",
) -> SupportSurface:
    """Return a level support surface."""
    return SupportSurface(
        name=name,
        pose_object_surface=Pose(np.asarray(center_m, float)),
        half_extents_m=(half_x_m, half_y_m),
        clearance_m=clearance_m,
        link=link,
    )


def round_surface(name: str, z_m: float, radius_m: float) -> SupportSurface:
    """Return the square that fits a round top centred on the axis."""
    half = float(radius_m / np.sqrt(2))
    return surface(name, (0.0, 0.0, z_m), half, half)


def round_container(floor_z_m: float, rim_z_m: float, floor_radius_m: float, *, part: str = "interior") -> Container:
    """Return a turned cavity by the square that fits its floor."""
    half = float(floor_radius_m / np.sqrt(2))
    return Container(part, np.array([0.0, 0.0, floor_z_m]), floor_z_m, rim_z_m, (half, half))


def loop_path(
    start_m: ArrayLike, end_m: ArrayLike, outward: ArrayLike, reach_m: float, corner_m: float, *, steps: int = 4
) -> tuple[Array, tuple[int, ...]]:
    """Return the centre line of a handle: out from ``start``, around two corners, back in to ``end``.

    Args:
        start_m: (3,) where it leaves the body.
        end_m: (3,) where it comes back.
        outward: (3,) unit direction away from the body.
        reach_m: How far the bar runs from the farther of the two ends, along ``outward``.
        corner_m: Radius of the two corners.
        steps: Chords per corner.

    Returns:
        (k, 3) points and the indices at which collision hulls begin and end.
    """
    start, end, out = (np.asarray(v, float) for v in (start_m, end_m, outward))
    along = (end - start) - ((end - start) @ out) * out
    along /= np.linalg.norm(along)
    level = max(float(start @ out), float(end @ out)) + reach_m
    corners = [p + (level - float(p @ out)) * out for p in (start, end)]
    points = [start]
    for corner, before, after in ((corners[0], out, along), (corners[1], along, -out)):
        center = corner - corner_m * before + corner_m * after
        for angle in np.linspace(0, np.pi / 2, steps + 1):
            points.append(center - corner_m * np.cos(angle) * after + corner_m * np.sin(angle) * before)
    points.append(end)
    stops = (0, 1, steps + 1, steps + 2, 2 * steps + 2, 2 * steps + 3)
    return np.asarray(points), stops


def bar(
    builder: LinkBuilder,
    part: str,
    path_m: Array,
    stops: Sequence[int] | None,
    *,
    side: ArrayLike,
    width_m: float,
    thickness_m: float,
) -> None:
    """Sweep a rounded bar along a path: ``width_m`` along ``side``, ``thickness_m`` across it."""
    round_m = 0.42 * min(width_m, thickness_m)
    section = solids.rounded_rectangle(width_m / 2, thickness_m / 2, round_m, per_corner=2)
    rings = solids.rings_along(path_m, section, side=side)
    builder.add(part, solids.loft(rings), hulls=hulls.chain(rings, every=stops))


def solid_box(
    builder: LinkBuilder, part: str, low_m: Sequence[float], high_m: Sequence[float], *, bevel_m: float = 0.0
) -> None:
    """Add a box and its collision hull."""
    builder.add(
        part, solids.box(low_m, high_m, bevel_m=bevel_m), hulls=[solids.box_corners(low_m, high_m, bevel_m=bevel_m)]
    )


def topped_box(
    builder: LinkBuilder, part: str, low_m: Sequence[float], high_m: Sequence[float], *, top: str = "top"
) -> None:
    """Add a box whose upper face alone is named ``top``, and its collision hull; call it before what stands on it."""
    (x, y, _), (far_x, far_y, level) = low_m, high_m
    # What is cut off needs a thickness, or the face that is left would keep its name.
    spare = 0.002
    builder.add(part, solids.box(low_m, [far_x, far_y, level + spare]))
    builder.cut(top, solids.box([x - spare, y - spare, level], [far_x + spare, far_y + spare, level + 2 * spare]))
    builder.collide(part, [solids.box_corners(low_m, high_m)])


def solid_turned(builder: LinkBuilder, part: str, profile_rz_m: ArrayLike, *, segments: int = 24) -> None:
    """Add a convex solid of revolution, given without its two axis points, and its collision hull."""
    profile = np.asarray(profile_rz_m, float)
    closed: list[Any] = [[0.0, profile[0, 1]], *profile, [0.0, profile[-1, 1]]]
    builder.add(part, solids.lathe(closed, segments=segments), hulls=[hulls.turned(profile, segments=segments)])
