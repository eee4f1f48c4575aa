"""Small hollow heads on long handles: spoon and ladle."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._hollow import Hollow, offset_profile
from armwright.assets.categories._kit import (
    Attributes,
    Category,
    Draw,
    Params,
    density,
    model,
    rgba,
    round_container,
)
from armwright.assets.model import ObjectModel
from armwright.core.pose import Array


def _head(radius_m: float, height_m: float, wall_m: float, rim_m: float) -> Hollow:
    """Return a quarter ellipse turned about z that stands on a flat spot."""
    lip = 0.3 * wall_m
    angle = np.radians([0, 22, 42, 60, 76, 90])
    foot = 0.42 * radius_m
    curve = np.column_stack(
        [foot + (radius_m - foot) * np.sin(angle), 0.001 + (height_m - lip - 0.001) * (1 - np.cos(angle))]
    )
    outer = np.array([[foot - 0.001, 0.0], *curve, [radius_m - lip, height_m]])
    inside = offset_profile(curve, wall_m)
    inside = inside[inside[:, 1] > wall_m + 0.001]
    start = max(float(inside[0, 0]) - 0.006, 0.4 * foot)
    inner = np.array(
        [[start, wall_m], *inside[:-1], [radius_m - wall_m, height_m - lip], [radius_m - wall_m + lip, height_m]]
    )
    return Hollow(outer, inner, height_m - rim_m, bevel=0)


def _handle_path(start_m: Array, length_m: float, thickness_m: float, rise_m: float) -> Array:
    """Return a path that leaves a head, arches by ``rise_m`` and comes down until its end lies on the table."""
    drop = start_m[2] - thickness_m / 2
    fall = np.arctan2(drop + 2 * rise_m, 0.75 * length_m)
    end = np.array([start_m[0] + length_m, 0.0, thickness_m / 2 * np.cos(fall) + 1e-5])
    arch = 0.75 * start_m + 0.25 * end
    arch[2] = start_m[2] + rise_m
    return np.stack([start_m, arch, end])


def _build(
    category: str, params: Params, attributes: Attributes, *, rim_m: float, flare: float, rise_m: float
) -> ObjectModel:
    radius, height, wall = params["radius_m"], params["height_m"], params["wall_m"]
    shape = _head(radius, height, wall, rim_m)
    builder = LinkBuilder()
    shape.add(builder)
    thick = params["handle_thickness_m"]
    level = height - 0.6 * thick
    start = np.array([shape.radius(level) - 0.6 * wall, 0.0, level])
    path = _handle_path(start, params["handle_length_m"], thick, rise_m)
    section = solids.rounded_rectangle(params["handle_width_m"] / 2, thick / 2, 0.4 * thick, per_corner=2)
    widths = np.array([1.0, 0.8, flare])
    sections = np.stack([section * [w, 1.0] for w in widths])
    rings = solids.rings_along(path, sections, side=(0, 1, 0))
    rings[-1, :, 2] -= rings[-1, :, 2].min()
    builder.add("handle", solids.loft(rings), hulls=hulls.chain(rings))
    shape.cut(builder)
    shape.collide(builder, bands_m=[0.32 * height, shape.rim_z_m], segments=10)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": rgba(attributes["colour"], shade=1.2)},
        density_kg_m3=density(attributes),
    )
    inside = round_container(shape.floor_z_m, height, float(shape.inner[0, 0]))
    return model(category, [link], params, attributes, containers=[inside])


def _draw_spoon(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.019, 0.023),
        "height_m": draw.free(0.0135, 0.016),
        "wall_m": draw.free(0.0018, 0.0022),
        "handle_length_m": draw.size(0.115, 0.145),
        "handle_width_m": draw.free(0.009, 0.012),
        "handle_thickness_m": draw.free(0.0038, 0.005),
        "flare": draw.free(1.2, 1.6),
    }


def _build_spoon(params: Params, attributes: Attributes) -> ObjectModel:
    return _build("spoon", params, attributes, rim_m=0.004, flare=params["flare"], rise_m=0.003)


def _draw_ladle(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.036, 0.044),
        "height_m": draw.size(0.030, 0.038),
        "wall_m": draw.free(0.0022, 0.0028),
        "handle_length_m": draw.size(0.20, 0.25),
        "handle_width_m": draw.free(0.015, 0.019),
        "handle_thickness_m": draw.free(0.006, 0.008),
    }


def _build_ladle(params: Params, attributes: Attributes) -> ObjectModel:
    return _build("ladle", params, attributes, rim_m=0.008, flare=1.15, rise_m=0.012)


CATEGORIES = (
    Category("spoon", ("metal", "steel", "plastic", "wood"), _draw_spoon, _build_spoon),
    Category("ladle", ("metal", "plastic", "wood"), _draw_ladle, _build_ladle),
)
