"""What pours: pitcher, teapot with a loose lid, watering can."""

from __future__ import annotations

import numpy as np

from armwright.assets import solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._beak import GAP, Beak
from armwright.assets.categories._hollow import Hollow, offset_profile, walled
from armwright.assets.categories._kit import (
    CREAM,
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
from armwright.assets.categories._sweep import add_loft
from armwright.assets.model import ObjectModel

_LOW, _HIGH = 0.24, 0.62
"""Where a teapot's belly begins and ends, as shares of its height; its collision walls meet there."""


def add_handle(
    builder: LinkBuilder,
    shape: Hollow,
    *,
    low_m: float,
    high_m: float,
    gap_m: float,
    wall_m: float,
    width_m: float,
    thickness_m: float,
    corner_m: float = 0.018,
) -> None:
    """Add a loop on the +x side of a turned vessel between two heights."""
    ends = [np.array([shape.radius(z) - 0.6 * wall_m, 0.0, z]) for z in (low_m, high_m)]
    widest = max(shape.radius(z) for z in np.linspace(low_m, high_m, 7))
    reach = widest + gap_m + thickness_m / 2 - max(end[0] for end in ends)
    path, stops = loop_path(ends[0], ends[1], (1.0, 0.0, 0.0), reach, corner_m)
    bar(builder, "handle", path, stops, side=(0, 1, 0), width_m=width_m, thickness_m=thickness_m)


def bellied(
    *,
    base_m: float,
    belly_m: float,
    top_m: float,
    height_m: float,
    belly_z_m: float,
    wall_m: float,
    floor_m: float,
    rim_m: float,
) -> Hollow:
    """Return a vessel that swells between its base and its rim."""
    foot, lip = 0.003, 0.35 * wall_m
    low = np.linspace(0.0, 1.0, 4)
    outer = [[base_m - foot, 0.0]]
    outer += [[base_m + (belly_m - base_m) * np.sin(s * np.pi / 2), foot + (belly_z_m - foot) * s] for s in low]
    rise = height_m - lip - belly_z_m
    outer += [[top_m + (belly_m - top_m) * np.cos(s * np.pi / 2) ** 1.3, belly_z_m + rise * s] for s in low[1:-1]]
    outer += [[top_m, height_m - lip], [top_m - lip, height_m]]
    profile = np.array(outer)
    inside = offset_profile(profile[1:-1], wall_m)
    inside = inside[(inside[:, 1] > floor_m + 0.004) & (inside[:, 1] < height_m - 0.004)]
    start = float(np.interp(floor_m, profile[1:-1, 1], profile[1:-1, 0])) - wall_m - 0.003
    inner = np.array([[start, floor_m], *inside, [top_m - wall_m, height_m - lip], [top_m - wall_m + lip, height_m]])
    return Hollow(profile, inner, height_m - rim_m, bevel=0, facets=24)


def _draw_pitcher(draw: Draw) -> dict[str, float]:
    base = draw.size(0.040, 0.048)
    return {
        "base_radius_m": base,
        "belly_radius_m": base * draw.free(1.08, 1.18),
        "top_radius_m": base * draw.free(0.86, 1.0),
        "height_m": draw.size(0.165, 0.215),
        "belly": draw.free(0.28, 0.42),
        "wall_m": draw.free(0.0034, 0.0044),
        "spout_m": draw.free(0.018, 0.026),
        "handle_gap_m": draw.free(0.032, 0.040),
        "handle_thickness_m": draw.free(0.010, 0.0125),
        "handle_width_m": draw.free(0.015, 0.019),
    }


def _build_pitcher(params: Params, attributes: Attributes) -> ObjectModel:
    height, wall, top = params["height_m"], params["wall_m"], params["top_radius_m"]
    shape = bellied(
        base_m=params["base_radius_m"],
        belly_m=params["belly_radius_m"],
        top_m=top,
        height_m=height,
        belly_z_m=params["belly"] * height,
        wall_m=wall,
        floor_m=0.006,
        rim_m=0.012,
    )
    builder = LinkBuilder()
    shape.add(builder)
    beak = Beak(shape, top, wall, params["spout_m"], depth_m=0.040)
    beak.add(builder)
    add_handle(
        builder, shape, low_m=0.24 * height, high_m=0.86 * height, gap_m=params["handle_gap_m"], wall_m=wall,
        width_m=params["handle_width_m"], thickness_m=params["handle_thickness_m"],
    )  # fmt: skip
    shape.cut(builder)
    beak.cut(builder)
    shape.collide(builder, bands_m=[params["belly"] * height, beak.keel_z_m], segments=(10, 10, 12), gap=GAP)
    beak.collide(builder)
    colour = attributes["colour"]
    link = builder.link(
        colours={"*": rgba(colour), "interior": rgba(colour, shade=1.25)}, density_kg_m3=0.8 * density(attributes)
    )
    inside = round_container(shape.floor_z_m, height, min(float(shape.inner[0, 0]), top - wall) - 0.004)
    return model("pitcher", [link], params, attributes, containers=[inside])


def _draw_teapot(draw: Draw) -> dict[str, float]:
    belly = draw.size(0.056, 0.066)
    return {
        "belly_radius_m": belly,
        "base_radius_m": belly * draw.free(0.62, 0.74),
        "top_radius_m": belly * draw.free(0.56, 0.64),
        "height_m": belly * draw.free(1.45, 1.7),
        "wall_m": draw.free(0.0040, 0.0048),
        "spout_m": draw.free(0.048, 0.060),
        "spout_radius_m": draw.free(0.012, 0.015),
        "handle_gap_m": draw.free(0.030, 0.036),
        "handle_thickness_m": draw.free(0.010, 0.012),
        "knob_radius_m": draw.free(0.011, 0.014),
    }


def _build_teapot(params: Params, attributes: Attributes) -> ObjectModel:
    belly, top, height, wall = (params[k] for k in ("belly_radius_m", "top_radius_m", "height_m", "wall_m"))
    outer = np.array(
        [
            [params["base_radius_m"] - 0.003, 0.0],
            [params["base_radius_m"], 0.003],
            [0.975 * belly, _LOW * height],
            [0.985 * belly, 0.5 * (_LOW + _HIGH) * height],
            [0.975 * belly, _HIGH * height],
            [top, height - 0.35 * wall],
        ]
    )
    shape = walled(outer, wall_m=wall, floor_m=0.006, rim_m=0.010, facets=20)
    builder = LinkBuilder()
    shape.add(builder)
    level = 0.36 * height
    root = np.array([-shape.radius(level) + 0.012, 0.0, level])
    mouth = np.array([-belly - params["spout_m"], 0.0, height + 0.004])
    bend = np.array([-belly - 0.45 * params["spout_m"], 0.0, 0.62 * height])
    path = np.stack([root, bend, mouth])
    ring = solids.ellipse(1.0, 1.0, points=12, phase=0.5)
    sections = params["spout_radius_m"] * np.array([1.25, 0.8, 0.62])[:, None, None] * ring
    add_loft(builder, "spout", solids.rings_along(path, sections, side=(0, 1, 0)))
    add_handle(
        builder, shape, low_m=0.20 * height, high_m=0.84 * height, gap_m=params["handle_gap_m"], wall_m=wall,
        width_m=0.013, thickness_m=params["handle_thickness_m"],
    )  # fmt: skip
    away = (mouth - bend) / np.linalg.norm(mouth - bend)
    builder.cut(
        "spout",
        solids.cylinder(mouth - 0.012 * away, mouth + 0.01 * away, 0.32 * params["spout_radius_m"], segments=10),
    )
    shape.cut(builder)
    shape.collide(builder, bands_m=[_LOW * height, _HIGH * height], segments=9)
    colours = {"*": rgba(attributes["colour"]), "interior": CREAM}
    links = [builder.link(colours=colours, density_kg_m3=density(attributes))]
    lid = LinkBuilder("lid")
    seat, knob, bore = height + SEAT_M, params["knob_radius_m"], top - wall
    solid_turned(lid, "lid", [[top, seat], [top, seat + 0.0025], [0.45 * top, seat + 0.011]], segments=20)
    plug = bore - 0.0065
    solid_turned(lid, "lid", [[plug - 0.001, seat - 0.006], [plug, seat - 0.004], [plug, seat + 0.001]], segments=16)
    ball = [[0.6 * knob, seat + 0.010], [knob, seat + 0.018], [knob, seat + 0.028], [0.6 * knob, seat + 0.033]]
    solid_turned(lid, "lid_knob", ball, segments=14)
    links.append(lid.link(colours=colours, density_kg_m3=0.8 * density(attributes), parent="base"))
    inside = round_container(shape.floor_z_m, height, min(float(shape.inner[0, 0]), bore) - 0.004)
    return model("teapot", links, params, attributes, containers=[inside])


def _draw_watering(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.050, 0.062),
        "height_m": draw.size(0.115, 0.145),
        "wall_m": draw.free(0.0026, 0.0034),
        "spout_m": draw.size(0.11, 0.14),
        "spout_radius_m": draw.free(0.009, 0.011),
        "rose_radius_m": draw.free(0.018, 0.024),
        "handle_gap_m": draw.free(0.034, 0.042),
    }


def _build_watering(params: Params, attributes: Attributes) -> ObjectModel:
    radius, height, wall, reach = (params[k] for k in ("radius_m", "height_m", "wall_m", "spout_m"))
    lip = 0.3 * wall
    outer = np.array(
        [[radius - 0.003, 0.0], [radius, 0.003], [0.96 * radius, height - lip], [0.96 * radius - lip, height]]
    )
    bore = radius - wall
    inner = np.array(
        [
            [bore - 0.004, 0.004],
            [bore, 0.008],
            [0.96 * radius - wall, height - lip],
            [0.96 * radius - wall + lip, height],
        ]
    )
    shape = Hollow(outer, inner, height - 0.012)
    builder = LinkBuilder()
    shape.add(builder)
    root = np.array([-radius + 0.010, 0.0, 0.26 * height])
    tip = np.array([-radius - reach, 0.0, height + 0.012])
    away = (tip - root) / np.linalg.norm(tip - root)
    ring = solids.ellipse(1.0, 1.0, points=12, phase=0.5)
    sections = params["spout_radius_m"] * np.array([1.25, 0.85])[:, None, None] * ring
    add_loft(builder, "spout", solids.rings_along(np.stack([root, tip]), sections, side=(0, 1, 0)))
    rose = params["rose_radius_m"]
    path = np.stack([tip - 0.004 * away, tip + 0.020 * away, tip + 0.026 * away])
    sections = np.array([0.8 * params["spout_radius_m"], rose, 0.96 * rose])[:, None, None] * ring
    add_loft(builder, "rose", solids.rings_along(path, sections, side=(0, 1, 0)), convex=True)
    add_handle(
        builder, shape, low_m=0.20 * height, high_m=0.88 * height, gap_m=params["handle_gap_m"], wall_m=wall,
        width_m=0.014, thickness_m=0.011,
    )  # fmt: skip
    shape.cut(builder)
    shape.collide(builder)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": rgba(attributes["colour"], shade=1.2)},
        density_kg_m3=density(attributes),
    )
    inside = round_container(shape.floor_z_m, height, 0.9 * float(inner[0, 0]))
    return model("watering_can", [link], params, attributes, containers=[inside])


CATEGORIES = (
    Category("pitcher", ("ceramic", "glass", "plastic", "metal"), _draw_pitcher, _build_pitcher),
    Category("teapot", ("ceramic", "metal", "glass"), _draw_teapot, _build_teapot),
    Category("watering_can", ("plastic", "metal"), _draw_watering, _build_watering),
)
