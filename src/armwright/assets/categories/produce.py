"""Food that lies about, and toy blocks: banana, carrot, cube."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._kit import (
    Attributes,
    Category,
    Draw,
    Params,
    density,
    model,
    rgba,
    surface,
)
from armwright.assets.model import ObjectModel
from armwright.core.pose import Array


def _draw_banana(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.138, 0.165),
        "radius_m": draw.size(0.0186, 0.0206),
        "bend_rad": draw.free(0.75, 1.15),
        "stem_m": draw.free(0.018, 0.026),
        "density_kg_m3": draw.free(940.0, 1010.0),
    }


def _build_banana(params: Params, attributes: Attributes) -> ObjectModel:
    length, radius, bend = params["length_m"], params["radius_m"], params["bend_rad"]
    arc = length / bend
    share = np.array([-1.0, -0.86, -0.62, -0.32, 0.0, 0.32, 0.62, 0.86, 1.0])
    swell = np.array([0.32, 0.68, 0.93, 1.0, 1.0, 1.0, 0.93, 0.7, 0.36])
    angle = 0.5 * bend * share
    level = radius * np.cos(np.pi / 8)
    middle = arc * (1 - np.cos(angle))
    path = np.column_stack([arc * np.sin(angle), middle - 0.45 * middle.max(), np.full(len(angle), level)])
    ring = solids.ellipse(1.0, 1.0, points=8, phase=0.5)
    side = (0.0, 0.0, 1.0)
    rings = solids.rings_along(path, radius * swell[:, None, None] * ring, side=side)
    builder = LinkBuilder()
    builder.add("body", solids.loft(rings), hulls=hulls.chain(rings, every=(0, 1, 2, 3, 5, 6, 7, 8)))
    away = path[-1] - path[-2]
    away /= np.linalg.norm(away)
    turned = np.array([away[0], away[1], 0.25])
    stem_path = np.stack([path[-1] - 0.004 * away, path[-1] + params["stem_m"] * turned])
    sections = radius * np.array([0.3, 0.27])[:, None, None] * ring
    stem = solids.rings_along(stem_path, sections, side=side)
    builder.add("stem", solids.loft(stem), hulls=[stem.reshape(-1, 3)])
    tip_path = np.stack(
        [
            path[0] + 0.002 * (path[1] - path[0]) / np.linalg.norm(path[1] - path[0]),
            path[0] - 0.004 * (path[1] - path[0]) / np.linalg.norm(path[1] - path[0]),
        ]
    )
    builder.add("tip", solids.loft(solids.rings_along(tip_path, 0.22 * radius * ring, side=side)))
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "stem": (0.55, 0.52, 0.18, 1.0), "tip": (0.25, 0.19, 0.10, 1.0)},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    return model("banana", [link], params, attributes)


def _draw_carrot(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.12, 0.16),
        "radius_m": draw.size(0.0135, 0.0175),
        "tip_radius_m": draw.free(0.0035, 0.005),
        "leaves_m": draw.free(0.035, 0.05),
        "density_kg_m3": draw.free(980.0, 1040.0),
    }


def _lying(x_m: Array, radius_m: Array) -> Array:
    """Return octagonal rings about a line along x whose lowest facets lie on z = 0."""
    ring = solids.ellipse(1.0, 1.0, points=12, phase=0.5)
    loops = radius_m[:, None, None] * ring
    height = loops[..., 1] - loops[..., 1].min(1, keepdims=True)
    along = np.broadcast_to(x_m[:, None], height.shape)
    return np.stack([along, loops[..., 0], height], 2)


def _build_carrot(params: Params, attributes: Attributes) -> ObjectModel:
    length, radius, tip = params["length_m"], params["radius_m"], params["tip_radius_m"]
    share = np.array([0.0, 0.06, 0.55, 1.0])
    root = _lying(length * (share - 0.5), np.array([0.62 * tip, tip, 0.5 * (tip + radius) + 0.0012, radius]))
    crown = _lying(length * np.array([0.5, 0.5]) + [-0.001, 0.006], radius * np.array([0.98, 0.62]))
    crown[..., 2] += radius * np.cos(np.pi / 12) - crown[..., 2].mean(1, keepdims=True)
    builder = LinkBuilder()
    builder.add("body", solids.loft(root), hulls=[root.reshape(-1, 3)])
    builder.add("body", solids.loft(crown), hulls=[crown.reshape(-1, 3)])
    start = length / 2
    for spread, rise, size in ((-0.009, 0.003, 0.92), (0.0, 0.008, 1.0), (0.009, 0.003, 0.88)):
        reach = params["leaves_m"] * size
        middle = np.array([start, 0.25 * spread, radius])
        leaf = np.array([reach, spread, rise])
        path = np.stack([middle, middle + np.array([0.5, 0.5, 0.6]) * leaf, middle + leaf])
        sections = np.array([0.0028, 0.0055, 0.0034])[:, None, None] * solids.ellipse(1.0, 1.0, points=6)
        rings = solids.rings_along(path, sections, side=(0, 0, 1))
        builder.add("leaves", solids.loft(rings), hulls=hulls.chain(rings))
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "leaves": rgba("green")},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    return model("carrot", [link], params, attributes)


def _draw_cube(draw: Draw) -> dict[str, float]:
    return {"side_m": draw.size(0.034, 0.05), "bevel_m": draw.free(0.001, 0.0025)}


def _build_cube(params: Params, attributes: Attributes) -> ObjectModel:
    half, side, bevel = params["side_m"] / 2, params["side_m"], params["bevel_m"]
    low, high = [-half, -half, 0.0], [half, half, side]
    builder = LinkBuilder()
    builder.add("body", solids.box(low, [half, half, side + 0.004], bevel_m=bevel))
    builder.cut("top", solids.box([-1, -1, side], [1, 1, side + 0.02]))
    builder.collide("body", [solids.box_corners(low, high, bevel_m=bevel)])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "top": rgba(attributes["colour"], shade=1.12)},
        density_kg_m3=density(attributes),
    )
    top = surface("top", (0, 0, side), half - bevel, half - bevel)
    return model("cube", [link], params, attributes, supports=[top])


CATEGORIES = (
    Category("banana", ("food",), _draw_banana, _build_banana),
    Category("carrot", ("food",), _draw_carrot, _build_carrot),
    Category("cube", ("wood", "plastic", "rubber", "metal"), _draw_cube, _build_cube),
)
