"""What cooks and pours: pan, pot with a loose lid, kettle with a loose stand, scoop."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._beak import GAP, Beak
from armwright.assets.categories._hollow import Hollow
from armwright.assets.categories._kit import (
    DARK,
    SEAT_M,
    Attributes,
    Category,
    Draw,
    Params,
    bar,
    density,
    loop_path,
    model,
    rgba,
    round_container,
    solid_turned,
)
from armwright.assets.model import ObjectModel

_SHEET = 0.6
"""Real sheet is thinner than the walls drawn here; thinner ones would let fingers through in a step."""


def _draw_pan(draw: Draw) -> dict[str, float]:
    top = draw.size(0.088, 0.112)
    return {
        "top_radius_m": top,
        "base_radius_m": top * draw.free(0.78, 0.88),
        "height_m": draw.free(0.038, 0.050),
        "wall_m": draw.free(0.0024, 0.003),
        "handle_length_m": draw.size(0.14, 0.17),
        "handle_width_m": draw.free(0.018, 0.023),
        "handle_thickness_m": draw.free(0.011, 0.014),
    }


def _build_pan(params: Params, attributes: Attributes) -> ObjectModel:
    top, base, height, wall = (params[k] for k in ("top_radius_m", "base_radius_m", "height_m", "wall_m"))
    lip = 0.3 * wall
    outer = np.array([[base - 0.004, 0.0], [base, 0.004], [top, height - lip], [top - lip, height]])
    inside = base - wall
    inner = np.array(
        [[inside - 0.004, wall], [inside, wall + 0.004], [top - wall, height - lip], [top - wall + lip, height]]
    )
    shape = Hollow(outer, inner, height - 0.014)
    builder = LinkBuilder()
    shape.add(builder)
    thick = params["handle_thickness_m"]
    low = 0.62 * height
    start = shape.radius(low) - 0.6 * wall
    length = params["handle_length_m"]
    path = np.array([[start, 0, low], [start + 0.035, 0, low + 0.008], [start + length, 0, low + 0.2 * length]])
    grip = solids.rounded_rectangle(params["handle_width_m"] / 2, thick / 2, 0.45 * thick, per_corner=3)
    rings = solids.rings_along(path, np.stack([0.72 * grip, grip, 1.05 * grip]), side=(0, 1, 0))
    builder.add("handle", solids.loft(rings), hulls=hulls.chain(rings))
    shape.cut(builder)
    shape.collide(builder)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": rgba(attributes["colour"], shade=1.12), "handle": DARK},
        density_kg_m3=density(attributes),
    )
    return model("pan", [link], params, attributes, containers=[round_container(wall, height, float(inner[0, 0]))])


def _draw_pot(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.072, 0.090),
        "height_m": draw.size(0.085, 0.110),
        "wall_m": draw.free(0.0024, 0.003),
        "handle_gap_m": draw.free(0.028, 0.034),
        "handle_hole_m": draw.free(0.048, 0.058),
        "knob_radius_m": draw.free(0.012, 0.015),
    }


def _build_pot(params: Params, attributes: Attributes) -> ObjectModel:
    radius, height, wall = params["radius_m"], params["height_m"], params["wall_m"]
    lip, bend = 0.3 * wall, 0.006
    outer = np.array([[radius - bend, 0.0], [radius, bend], [radius, height - lip], [radius - lip, height]])
    bore = radius - wall
    inner = np.array([[bore - bend, wall], [bore, wall + bend], [bore, height - lip], [bore + lip, height]])
    shape = Hollow(outer, inner, height - 0.015)
    builder = LinkBuilder()
    shape.add(builder)
    thick = 0.009
    half = 0.5 * (params["handle_hole_m"] + thick)
    for sign in (-1.0, 1.0):
        x = float(np.sqrt((radius - 0.6 * wall) ** 2 - half**2))
        ends = [np.array([sign * x, y, 0.74 * height]) for y in (-half, half)]
        reach = radius + params["handle_gap_m"] + thick / 2 - x
        path, stops = loop_path(ends[0], ends[1], (sign, 0.0, 0.0), reach, 0.014)
        bar(builder, "handle", path, stops, side=(0, 0, 1), width_m=0.011, thickness_m=thick)
    shape.cut(builder)
    shape.collide(builder)
    colours = {"*": rgba(attributes["colour"]), "interior": rgba("grey", shade=1.3), "handle": DARK, "lid_knob": DARK}
    links = [builder.link(colours=colours, density_kg_m3=_SHEET * density(attributes))]
    if attributes["lid"] == "on":
        lid = LinkBuilder("lid")
        seat, knob = height + SEAT_M, params["knob_radius_m"]
        solid_turned(lid, "lid", [[radius + 0.001, seat], [radius + 0.001, seat + 0.002], [0.3 * radius, seat + 0.011]])
        # Room for the wall's wedges, which reach up to 1.6 mm inside the round bore.
        plug = bore - 0.005
        solid_turned(lid, "lid", [[plug - 0.001, seat - 0.006], [plug, seat - 0.004], [plug, seat + 0.001]])
        solid_turned(lid, "lid_knob", [[0.6 * knob, seat + 0.010], [0.6 * knob, seat + 0.018]], segments=12)
        solid_turned(
            lid,
            "lid_knob",
            [[0.6 * knob, seat + 0.016], [knob, seat + 0.020], [knob, seat + 0.030], [0.7 * knob, seat + 0.034]],
            segments=12,
        )
        links.append(lid.link(colours=colours, density_kg_m3=0.4 * density(attributes), parent="base"))
    inside = round_container(wall, height, float(inner[0, 0]))
    return model("pot", links, params, attributes, containers=[inside])


def _draw_kettle(draw: Draw) -> dict[str, float]:
    base = draw.size(0.058, 0.068)
    return {
        "base_radius_m": base,
        "top_radius_m": base * draw.free(0.70, 0.80),
        "height_m": draw.size(0.135, 0.165),
        "wall_m": draw.free(0.0024, 0.0028),
        "spout_m": draw.free(0.026, 0.034),
        "handle_gap_m": draw.free(0.034, 0.042),
        "handle_thickness_m": draw.free(0.011, 0.013),
        "handle_width_m": draw.free(0.017, 0.021),
        "stand_m": draw.free(0.016, 0.020),
    }


def _build_kettle(params: Params, attributes: Attributes) -> ObjectModel:
    base, top, height, wall = (params[k] for k in ("base_radius_m", "top_radius_m", "height_m", "wall_m"))
    with_stand = attributes["stand"] == "yes"
    ground = params["stand_m"] + SEAT_M if with_stand else 0.0
    rim = ground + height
    lip = 0.3 * wall
    outer = np.array([[base - 0.004, ground], [base, ground + 0.005], [top, rim - lip], [top - lip, rim]])
    floor = ground + 0.004
    inner = np.array(
        [
            [base - wall - 0.004, floor],
            [base - wall, floor + 0.005],
            [top - wall, rim - lip],
            [top - wall + lip, rim],
        ]
    )
    shape = Hollow(outer, inner, rim - 0.012)
    builder = LinkBuilder()
    shape.add(builder)

    beak = Beak(shape, top, wall, params["spout_m"])
    beak.add(builder)

    thick = params["handle_thickness_m"]
    heights = (ground + 0.030, rim - 0.020)
    ends = [np.array([shape.radius(z) - 0.6 * wall, 0.0, z]) for z in heights]
    reach = params["handle_gap_m"] + thick / 2
    path, stops = loop_path(ends[0], ends[1], (1.0, 0.0, 0.0), reach, 0.02)
    bar(builder, "handle", path, stops, side=(0, 1, 0), width_m=params["handle_width_m"], thickness_m=thick)

    shape.cut(builder)
    beak.cut(builder)
    shape.collide(builder, bands_m=[beak.keel_z_m], gap=GAP)
    beak.collide(builder)
    solid_turned(builder, "lid", [[top, rim - 0.0008], [top, rim + 0.0015], [0.5 * top, rim + 0.009]], segments=24)
    solid_turned(
        builder,
        "lid_knob",
        [[0.008, rim + 0.007], [0.011, rim + 0.016], [0.011, rim + 0.024], [0.008, rim + 0.027]],
        segments=16,
    )
    links = [
        builder.link(
            colours={
                "*": rgba(attributes["colour"]),
                "handle": DARK,
                "lid_knob": DARK,
                "lid": rgba(attributes["colour"], shade=0.85),
            },
            density_kg_m3=_SHEET * density(attributes),
        )
    ]
    if with_stand:
        stand = LinkBuilder("stand")
        solid_turned(
            stand,
            "stand",
            [[base + 0.006, 0.0], [base + 0.006, params["stand_m"] - 0.006], [base + 0.001, params["stand_m"]]],
        )
        links.append(stand.link(colours={"*": DARK}, density_kg_m3=900.0, parent="base"))
    return model("kettle", links, params, attributes)


def _draw_scoop(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.025, 0.032),
        "height_m": draw.size(0.028, 0.036),
        "wall_m": draw.free(0.0022, 0.0028),
        "handle_length_m": draw.size(0.105, 0.13),
        "handle_width_m": draw.free(0.012, 0.016),
        "handle_thickness_m": draw.free(0.006, 0.008),
    }


def _build_scoop(params: Params, attributes: Attributes) -> ObjectModel:
    radius, height, wall = params["radius_m"], params["height_m"], params["wall_m"]
    lip, bend = 0.3 * wall, 0.25 * height
    outer = np.array(
        [
            [radius - bend, 0.0],
            [radius - 0.3 * bend, 0.35 * bend],
            [radius, bend + 0.001],
            [radius, height - lip],
            [radius - lip, height],
        ]
    )
    bore = radius - wall
    inner = np.array(
        [
            [bore - bend, wall],
            [bore - 0.3 * bend, wall + 0.35 * bend],
            [bore, wall + bend],
            [bore, height - lip],
            [bore + lip, height],
        ]
    )
    shape = Hollow(outer, inner, height - 0.008, bevel=2)
    builder = LinkBuilder()
    shape.add(builder)
    # The handle slopes down until its end lies on the table: a level one would tip the empty scoop over.
    thick, length = params["handle_thickness_m"], params["handle_length_m"]
    start = np.array([radius - 0.6 * wall, 0.0, 0.72 * height])
    drop = start[2] - thick / 2
    fall = np.arctan2(drop, length)
    end = np.array([start[0] + length, 0.0, thick / 2 * np.cos(fall) + 1e-5])
    path = np.stack([start, 0.75 * start + 0.25 * end, end])
    section = solids.rounded_rectangle(params["handle_width_m"] / 2, thick / 2, 0.4 * thick, per_corner=2)
    rings = solids.rings_along(path, section * np.array([0.8, 1.0, 1.0])[:, None, None], side=(0, 1, 0))
    builder.add("handle", solids.loft(rings), hulls=hulls.chain(rings))
    shape.cut(builder)
    shape.collide(builder, segments=10)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": rgba(attributes["colour"], shade=1.2)},
        density_kg_m3=density(attributes),
    )
    inside = round_container(wall, height, float(inner[0, 0]))
    return model("scoop", [link], params, attributes, containers=[inside])


CATEGORIES = (
    Category("pan", ("metal", "ceramic"), _draw_pan, _build_pan),
    Category("pot", ("metal", "ceramic"), _draw_pot, _build_pot, {"lid": ("on", "none")}),
    Category("kettle", ("metal", "plastic", "glass"), _draw_kettle, _build_kettle, {"stand": ("yes", "no")}),
    Category("scoop", ("metal", "plastic", "wood"), _draw_scoop, _build_scoop),
)
