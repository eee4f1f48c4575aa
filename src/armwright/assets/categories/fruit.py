"""Fruit and vegetables: round ones that stand on a flat spot, long ones that lie."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder, Rgba
from armwright.assets.categories._kit import Attributes, Category, Draw, Params, bar, model, rgba, solid_turned
from armwright.assets.categories._sweep import add_loft, along_x
from armwright.assets.model import ObjectModel
from armwright.core.pose import Array

_WOODY: Rgba = (0.36, 0.29, 0.14, 1.0)
_FOOT_SHARE = 0.42
"""Radius of the flat spot that a round fruit stands on, as a share of its own."""


def _oval(half_width_m: float, half_height_m: float, *, points: int = 8, foot: float = _FOOT_SHARE) -> Array:
    """Return the profile of a ball that stands on a flat spot, (points, 2) radius and height."""
    start = -np.arccos(foot)
    angle = np.linspace(start, np.arccos(0.25), points)
    return np.column_stack([half_width_m * np.cos(angle), half_height_m * (np.sin(angle) - np.sin(start))])


def _stem(builder: LinkBuilder, z_m: float, length_m: float, radius_m: float, *, part: str = "stem") -> None:
    """Add a stem that leans a little from the top of a fruit."""
    path = np.array([[0.0, 0.0, z_m - 0.006], [0.0, 0.0, z_m + 0.4 * length_m], [0.25 * length_m, 0.0, z_m + length_m]])
    rings = solids.rings_along(path, solids.ellipse(radius_m, radius_m, points=8), side=(0, 1, 0))
    add_loft(builder, part, rings)


def _draw_apple(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.0295, 0.0335),
        "flat": draw.free(0.86, 0.96),
        "stem_m": draw.free(0.012, 0.018),
        "density_kg_m3": draw.free(830.0, 900.0),
    }


def _build_apple(params: Params, attributes: Attributes) -> ObjectModel:
    builder = LinkBuilder()
    profile = _oval(params["radius_m"], params["flat"] * params["radius_m"])
    # Shoulders: an apple is widest above its middle.
    profile[1:-1, 0] *= 1.0 + 0.03 * np.linspace(-1, 1, len(profile) - 2)
    profile[:, 0] = np.minimum(profile[:, 0], params["radius_m"])
    solid_turned(builder, "body", profile)
    _stem(builder, float(profile[-1, 1]), params["stem_m"], 0.0016)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "stem": _WOODY}, mass_kg=params["density_kg_m3"] * builder.volume_m3
    )
    return model("apple", [link], params, attributes)


def _draw_mandarin(draw: Draw) -> dict[str, float]:
    return {"radius_m": draw.size(0.0300, 0.0338), "density_kg_m3": draw.free(900.0, 980.0)}


def _build_mandarin(params: Params, attributes: Attributes) -> ObjectModel:
    builder = LinkBuilder()
    profile = _oval(params["radius_m"], 0.97 * params["radius_m"])
    solid_turned(builder, "body", profile)
    high = float(profile[-1, 1])
    builder.add(
        "navel", solids.lathe([[0, high - 0.004], [0.004, high - 0.004], [0.003, high + 0.001], [0, high + 0.001]])
    )
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "navel": (0.38, 0.45, 0.16, 1.0)},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    return model("mandarin", [link], params, attributes)


def _draw_pear(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.0285, 0.0325),
        "height_m": draw.size(0.080, 0.098),
        "neck": draw.free(0.46, 0.58),
        "stem_m": draw.free(0.014, 0.022),
        "density_kg_m3": draw.free(940.0, 1000.0),
    }


def _build_pear(params: Params, attributes: Attributes) -> ObjectModel:
    radius, height, neck = params["radius_m"], params["height_m"], params["neck"]
    r = radius * np.array([0.46, 0.84, 1.0, 0.98, 0.80, neck + 0.06, neck, 0.86 * neck, 0.5 * neck])
    z = height * np.array([0.0, 0.10, 0.26, 0.40, 0.58, 0.72, 0.83, 0.94, 1.0])
    profile = np.column_stack([r, z])
    builder = LinkBuilder()
    pieces = [hulls.turned(profile[a:b], segments=16) for a, b in ((0, 5), (4, 6), (5, 9))]
    builder.add("body", solids.lathe([[0, 0], *profile, [0, height]], segments=24), hulls=pieces)
    _stem(builder, height, params["stem_m"], 0.0016)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "stem": _WOODY}, mass_kg=params["density_kg_m3"] * builder.volume_m3
    )
    return model("pear", [link], params, attributes)


def _draw_pepper(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.0285, 0.0325),
        "height_m": draw.size(0.066, 0.084),
        "lobe": draw.free(0.03, 0.055),
        "stem_m": draw.free(0.018, 0.026),
        "density_kg_m3": draw.free(420.0, 560.0),
    }


def _build_pepper(params: Params, attributes: Attributes) -> ObjectModel:
    radius, height, lobe = params["radius_m"], params["height_m"], params["lobe"]
    angle = 2 * np.pi * np.arange(24) / 24
    wave = 1.0 + lobe * np.cos(4 * angle)
    outline = np.column_stack([wave * np.cos(angle), wave * np.sin(angle)]) / (1.0 + lobe)
    share = np.array([0.62, 0.82, 0.93, 1.0, 0.98, 0.78, 0.45])
    level = np.array([0.0, 0.10, 0.30, 0.65, 0.85, 0.97, 1.0])
    loops = np.stack([solids.at_height(radius * s * outline, height * z) for s, z in zip(share, level, strict=True)])
    builder = LinkBuilder()
    add_loft(builder, "body", loops, convex=True)
    _stem(builder, height, params["stem_m"], 0.0042)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "stem": rgba("green", shade=0.75)},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    return model("bell_pepper", [link], params, attributes)


def _draw_lemon(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.068, 0.086),
        "radius_m": draw.size(0.024, 0.029),
        "density_kg_m3": draw.free(930.0, 1010.0),
    }


def _build_lemon(params: Params, attributes: Attributes) -> ObjectModel:
    length, radius = params["length_m"], params["radius_m"]
    x = length * np.array([-0.5, -0.44, -0.40, -0.27, -0.11, 0.11, 0.27, 0.40, 0.5])
    r = radius * np.array([0.16, 0.22, 0.46, 0.84, 1.0, 1.0, 0.84, 0.46, 0.10])
    loops = along_x(x, r, r, z_m=radius * np.cos(np.pi / 12))
    builder = LinkBuilder()
    add_loft(builder, "body", loops, stops=(0, 2, 8))
    link = builder.link(colours={"*": rgba(attributes["colour"])}, mass_kg=params["density_kg_m3"] * builder.volume_m3)
    return model("lemon", [link], params, attributes)


def _draw_egg(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.052, 0.062),
        "radius_m": draw.size(0.0205, 0.0235),
        "density_kg_m3": draw.free(1030.0, 1090.0),
    }


def _build_egg(params: Params, attributes: Attributes) -> ObjectModel:
    length, radius = params["length_m"], params["radius_m"]
    x = length * np.array([-0.5, -0.46, -0.36, -0.2, 0.02, 0.2, 0.36, 0.46, 0.5])
    r = radius * np.array([0.22, 0.52, 0.82, 1.0, 1.0, 0.86, 0.62, 0.36, 0.16])
    loops = along_x(x, r, r, z_m=radius * np.cos(np.pi / 12))
    builder = LinkBuilder()
    add_loft(builder, "body", loops, convex=True)
    link = builder.link(colours={"*": rgba(attributes["colour"])}, mass_kg=params["density_kg_m3"] * builder.volume_m3)
    return model("egg", [link], params, attributes)


def _draw_eggplant(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.15, 0.20),
        "radius_m": draw.size(0.027, 0.032),
        "neck": draw.free(0.55, 0.68),
        "stem_m": draw.free(0.022, 0.032),
        "density_kg_m3": draw.free(480.0, 620.0),
    }


def _build_eggplant(params: Params, attributes: Attributes) -> ObjectModel:
    length, radius, neck = params["length_m"], params["radius_m"], params["neck"]
    x = length * np.array([-0.5, -0.46, -0.36, -0.2, 0.05, 0.3, 0.5])
    r = radius * np.array([0.34, 0.66, 0.93, 1.0, 0.92, 0.5 + 0.5 * neck, neck])
    body = along_x(x, r, r)
    builder = LinkBuilder()
    add_loft(builder, "body", body, convex=True)
    # The calyx reaches over the body's end like a cap, the stem leaves from its middle.
    axis_z = float(body[-1, :, 2].mean())
    cap_r = radius * (neck + np.array([0.20, 0.03, -0.25]))
    cap = along_x(length * np.array([0.40, 0.505, 0.53]), cap_r, cap_r, z_m=axis_z + 0.0008)
    cap[..., 2] = np.maximum(cap[..., 2], 4e-4)
    add_loft(builder, "stem", cap, convex=True)
    stalk_x = np.array([0.52 * length, 0.53 * length + params["stem_m"]])
    add_loft(builder, "stem", along_x(stalk_x, 0.006, 0.006, z_m=[axis_z, axis_z + 0.004], points=8))
    link = builder.link(
        colours={"*": rgba(attributes["colour"], shade=0.8), "stem": rgba("green", shade=0.8)},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    return model("eggplant", [link], params, attributes)


def _draw_corn(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.145, 0.185),
        "radius_m": draw.size(0.0205, 0.0245),
        "husk_m": draw.free(0.045, 0.06),
        "density_kg_m3": draw.free(850.0, 950.0),
    }


def _build_corn(params: Params, attributes: Attributes) -> ObjectModel:
    length, radius = params["length_m"], params["radius_m"]
    x = length * np.array([-0.5, -0.45, -0.2, 0.2, 0.5])
    body = along_x(x, radius * np.array([0.35, 0.66, 0.94, 1.0, 0.9]), radius * np.array([0.35, 0.66, 0.94, 1.0, 0.9]))
    builder = LinkBuilder()
    add_loft(builder, "body", body, convex=True)
    end, axis_z = 0.5 * length, float(body[-1, :, 2].mean())
    for y, tip_y, tip_z in ((0.0, 0.0, 0.006), (0.45, 0.75, -0.004), (-0.45, -0.75, -0.004)):
        path = np.array(
            [
                [end - 0.30 * length, 0.94 * radius * y * 2, axis_z + (0.80 * radius if y == 0 else 0.10 * radius)],
                [end, radius * y, axis_z + 0.3 * radius],
                [end + params["husk_m"], radius * tip_y, axis_z + tip_z],
            ]
        )
        bar(builder, "husk", path, None, side=(0, 1, 0.001), width_m=0.018, thickness_m=0.006)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "husk": rgba("green", shade=1.1)},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    return model("corn", [link], params, attributes)


def _draw_leek(draw: Draw) -> dict[str, float]:
    return {
        "stalk_m": draw.size(0.15, 0.19),
        "radius_m": draw.size(0.0125, 0.0165),
        "leaves_m": draw.free(0.08, 0.11),
        "density_kg_m3": draw.free(800.0, 900.0),
    }


def _build_leek(params: Params, attributes: Attributes) -> ObjectModel:
    stalk, radius, leaves = params["stalk_m"], params["radius_m"], params["leaves_m"]
    start = -0.5 * (stalk + leaves)
    x = start + stalk * np.array([0.0, 0.05, 0.12, 0.4, 1.0])
    r = radius * np.array([0.6, 1.02, 1.05, 0.94, 1.0])
    body = along_x(x, r, r)
    builder = LinkBuilder()
    add_loft(builder, "stalk", body, convex=True)
    end = start + stalk
    for spread, rise in ((-0.030, 0.004), (0.0, 0.012), (0.030, 0.004)):
        path = np.array(
            [
                [end - 0.02, 0.12 * spread, radius],
                [end + 0.45 * leaves, 0.5 * spread, radius + rise],
                [end + leaves, spread, 0.7 * radius + rise],
            ]
        )
        section = solids.rounded_rectangle(0.0105, 0.0022, 0.0016, per_corner=2)
        rings = solids.rings_along(path, section * np.array([0.75, 1.0, 0.6])[:, None, None], side=(0, 1, 0))
        add_loft(builder, "leaves", rings)
    link = builder.link(
        colours={"*": rgba(attributes["colour"], shade=1.1), "leaves": rgba("green")},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    return model("leek", [link], params, attributes)


CATEGORIES = (
    Category("apple", ("food",), _draw_apple, _build_apple),
    Category("mandarin", ("food",), _draw_mandarin, _build_mandarin),
    Category("pear", ("food",), _draw_pear, _build_pear),
    Category("lemon", ("food",), _draw_lemon, _build_lemon),
    Category("egg", ("food",), _draw_egg, _build_egg),
    Category("bell_pepper", ("food",), _draw_pepper, _build_pepper),
    Category("eggplant", ("food",), _draw_eggplant, _build_eggplant),
    Category("corn", ("food",), _draw_corn, _build_corn),
    Category("leek", ("food",), _draw_leek, _build_leek),
)
