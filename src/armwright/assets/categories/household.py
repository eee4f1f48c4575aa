"""Other things about the house: lamp, stool, toy ring."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._kit import (
    CREAM,
    DARK,
    Attributes,
    Category,
    Draw,
    Params,
    density,
    model,
    rgba,
    round_surface,
    solid_turned,
)
from armwright.assets.categories._sweep import add_loft
from armwright.assets.model import ObjectModel


def _draw_lamp(draw: Draw) -> dict[str, float]:
    return {
        "foot_radius_m": draw.size(0.062, 0.075),
        "height_m": draw.size(0.29, 0.36),
        "post_radius_m": draw.free(0.008, 0.011),
        "shade_m": draw.free(0.095, 0.12),
        "shade_low_m": draw.size(0.066, 0.080),
        "shade_high_m": draw.free(0.038, 0.050),
    }


def _build_lamp(params: Params, attributes: Attributes) -> ObjectModel:
    foot, height, post = params["foot_radius_m"], params["height_m"], params["post_radius_m"]
    low, high, tall = params["shade_low_m"], params["shade_high_m"], params["shade_m"]
    wall, start = 0.003, height - tall
    builder = LinkBuilder()
    solid_turned(builder, "base", [[foot, 0.0], [foot, 0.010], [foot - 0.008, 0.018]])
    solid_turned(builder, "post", [[post, 0.012], [post, height - 0.020]], segments=16)
    builder.add("shade", solids.lathe(np.array([[0.0, start], [low, start], [high, height], [0.0, height]])))
    inner, roof = low - wall, height - wall
    hollow = np.array([[0.0, start - 0.01], [inner, start - 0.01], [inner, start], [high - wall, roof], [0, roof]])
    core = np.array([[0.0, 0.0], [post, 0.0], [post, height], [0.0, height]])
    cavity = solids.lathe(hollow) - solids.lathe(core, segments=16)
    builder.cut("inside", cavity)
    section = np.array([[low - wall, start], [low, start], [high, height - wall], [high - wall, height - wall]])
    builder.collide("shade", hulls.turned_ring(section, segments=12))
    builder.collide("shade", [hulls.turned([[high, height - wall], [high, height]], segments=16)])
    switch = solids.cylinder_loops([-0.72 * foot, 0, 0.008], [-0.72 * foot, 0, 0.022], 0.007, segments=12)
    builder.add("button", solids.loft(switch), hulls=[switch.reshape(-1, 3)])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "inside": CREAM, "button": DARK},
        mass_kg=0.35 + 0.9 * density(attributes) * builder.volume_m3,
    )
    return model("lamp", [link], params, attributes)


def _draw_stool(draw: Draw) -> dict[str, float]:
    return {
        "seat_radius_m": draw.size(0.145, 0.17),
        "seat_m": draw.free(0.022, 0.03),
        "height_m": draw.size(0.38, 0.46),
        "leg_radius_m": draw.free(0.013, 0.017),
        "splay": draw.free(0.06, 0.14),
    }


def _build_stool(params: Params, attributes: Attributes) -> ObjectModel:
    seat, thick, height, leg = (params[k] for k in ("seat_radius_m", "seat_m", "height_m", "leg_radius_m"))
    builder = LinkBuilder()
    low = height - thick
    solid_turned(builder, "seat", [[seat - 0.006, low], [seat, low + 0.008], [seat, height + 0.002]])
    builder.cut("top", solids.box([-1, -1, height], [1, 1, height + 0.1]))
    for turn in np.radians([45.0, 135.0, 225.0, 315.0]):
        out = np.array([np.cos(turn), np.sin(turn)])
        foot, head = (0.72 + params["splay"]) * seat * out, 0.68 * seat * out
        ring = solids.ellipse(1.0, 1.0, points=10, phase=0.5)
        loops = np.stack(
            [
                solids.at_height(leg * s * ring, z, center_m=tuple(at))
                for s, z, at in ((0.8, 0.0, foot), (1.0, low + 0.006, head))
            ]
        )
        add_loft(builder, "leg", loops)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "leg": rgba(attributes["colour"], shade=0.8)},
        density_kg_m3=density(attributes),
    )
    return model("stool", [link], params, attributes, supports=[round_surface("top", height, 0.97 * seat)])


def _draw_ring(draw: Draw) -> dict[str, float]:
    return {"radius_m": draw.size(0.030, 0.046), "bar_m": draw.free(0.0085, 0.0115)}


def _build_ring(params: Params, attributes: Attributes) -> ObjectModel:
    radius, half = params["radius_m"], params["bar_m"]
    section = solids.ellipse(half, half, points=12, phase=0.5) + np.array([radius, half * np.cos(np.pi / 12)])
    builder = LinkBuilder()
    builder.add("body", solids.lathe(section), hulls=hulls.turned_ring(section, segments=14))
    link = builder.link(colours={"*": rgba(attributes["colour"])}, density_kg_m3=density(attributes))
    return model("ring", [link], params, attributes)


CATEGORIES = (
    Category("lamp", ("plastic", "metal", "ceramic"), _draw_lamp, _build_lamp),
    Category("stool", ("wood", "plastic"), _draw_stool, _build_stool),
    Category("ring", ("plastic", "wood"), _draw_ring, _build_ring),
)
