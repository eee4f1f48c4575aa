"""Hollow ware to keep things in: wine glass, jar with a loose lid, vase, flower pot, bucket."""

from __future__ import annotations

import numpy as np

from armwright.assets.build import LinkBuilder
from armwright.assets.categories._hollow import Hollow, walled
from armwright.assets.categories._kit import (
    SEAT_M,
    STEEL,
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
    solid_box,
    solid_turned,
)
from armwright.assets.model import ObjectModel


def _free_radius(shape: Hollow) -> float:
    """Return the radius of the widest straight column from the floor through the rim, less 3 mm."""
    return float(shape.inner[:, 0].min()) - 0.003


def _draw_glass(draw: Draw) -> dict[str, float]:
    bowl = draw.size(0.0300, 0.0335)
    return {
        "bowl_radius_m": bowl,
        "rim_radius_m": bowl * draw.free(0.80, 0.95),
        "bowl_height_m": draw.size(0.085, 0.105),
        "stem_m": draw.size(0.065, 0.085),
        "stem_radius_m": draw.free(0.0042, 0.0052),
        "foot_radius_m": draw.size(0.031, 0.036),
        "wall_m": draw.free(0.0022, 0.0028),
    }


def _build_glass(params: Params, attributes: Attributes) -> ObjectModel:
    bowl, rim, stem, wall = (params[k] for k in ("bowl_radius_m", "rim_radius_m", "stem_m", "wall_m"))
    high = params["bowl_height_m"]
    low = 0.006 + stem
    angle = np.radians([15, 38, 62, 90])
    curve = [[bowl * np.sin(a), low + 0.42 * high * (1 - np.cos(a))] for a in angle]
    outer = np.array([*curve, [0.5 * (bowl + rim) + 0.001, low + 0.72 * high], [rim, low + high - 0.35 * wall]])
    shape = walled(outer, wall_m=wall, floor_m=float(outer[0, 1]) + 0.004, rim_m=0.014)
    builder = LinkBuilder()
    shape.add(builder)
    thin, foot = params["stem_radius_m"], params["foot_radius_m"]
    solid_turned(builder, "foot", [[foot, 0.0], [foot, 0.002], [1.6 * thin, 0.006]], segments=24)
    solid_turned(builder, "stem", [[thin, 0.004], [thin, float(outer[0, 1]) + 0.001]], segments=12)
    shape.cut(builder)
    shape.collide(builder, bands_m=[float(outer[1, 1]), float(outer[2, 1]), float(outer[3, 1])], segments=8)
    link = builder.link(
        colours={"*": rgba(attributes["colour"], shade=1.15), "interior": rgba(attributes["colour"], shade=1.3)},
        density_kg_m3=density(attributes),
    )
    inside = round_container(shape.floor_z_m, shape.top_z_m, float(shape.inner[0, 0]) - 0.001)
    return model("wine_glass", [link], params, attributes, containers=[inside])


def _draw_jar(draw: Draw) -> dict[str, float]:
    radius = draw.size(0.0285, 0.0330)
    return {
        "radius_m": radius,
        "mouth_radius_m": radius * draw.free(0.84, 0.94),
        "height_m": draw.size(0.085, 0.125),
        "wall_m": draw.free(0.0030, 0.0038),
        "lid_m": draw.free(0.012, 0.016),
    }


def _build_jar(params: Params, attributes: Attributes) -> ObjectModel:
    radius, mouth, height, wall = (params[k] for k in ("radius_m", "mouth_radius_m", "height_m", "wall_m"))
    outer = np.array(
        [
            [radius - 0.004, 0.0],
            [radius, 0.005],
            [radius, height - 0.022],
            [mouth, height - 0.012],
            [mouth, height - 0.35 * wall],
        ]
    )
    shape = walled(outer, wall_m=wall, floor_m=0.005, rim_m=0.010)
    builder = LinkBuilder()
    shape.add(builder)
    shape.cut(builder)
    shape.collide(builder, bands_m=[height - 0.022], segments=10)
    colours = {"*": rgba(attributes["colour"], shade=1.2), "lid": rgba(attributes["colour"], shade=0.7)}
    links = [builder.link(colours=colours, density_kg_m3=density(attributes))]
    if attributes["lid"] == "on":
        lid = LinkBuilder("lid")
        seat, deep = height + SEAT_M, params["lid_m"]
        edge = mouth + 0.0015
        solid_turned(
            lid, "lid", [[mouth, seat], [edge, seat + 0.001], [edge, seat + deep - 0.001], [mouth, seat + deep]]
        )
        plug = mouth - wall - 0.005
        solid_turned(lid, "plug", [[plug - 0.001, seat - 0.006], [plug, seat - 0.004], [plug, seat + 0.001]])
        links.append(lid.link(colours=colours, density_kg_m3=900.0, parent="base"))
    inside = round_container(shape.floor_z_m, height, _free_radius(shape))
    return model("jar", links, params, attributes, containers=[inside])


def _draw_vase(draw: Draw) -> dict[str, float]:
    belly = draw.size(0.042, 0.052)
    return {
        "belly_radius_m": belly,
        "foot_radius_m": belly * draw.free(0.62, 0.75),
        "neck_radius_m": draw.free(0.0185, 0.024),
        "lip_radius_m": draw.free(0.027, 0.032),
        "height_m": draw.size(0.17, 0.23),
        "wall_m": draw.free(0.0038, 0.0048),
    }


def _build_vase(params: Params, attributes: Attributes) -> ObjectModel:
    belly, foot, neck, lip = (params[k] for k in ("belly_radius_m", "foot_radius_m", "neck_radius_m", "lip_radius_m"))
    height, wall = params["height_m"], params["wall_m"]
    outer = np.array(
        [
            [foot - 0.003, 0.0],
            [foot, 0.003],
            [0.5 * (foot + belly) + 0.001, 0.15 * height],
            [belly, 0.34 * height],
            [neck, 0.70 * height],
            [neck, 0.84 * height],
            [lip, height - 0.35 * wall],
        ]
    )
    shape = walled(outer, wall_m=wall, floor_m=0.007, rim_m=0.012)
    builder = LinkBuilder()
    shape.add(builder)
    shape.cut(builder)
    shape.collide(builder, bands_m=[0.34 * height, 0.70 * height, 0.84 * height], segments=9)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": rgba(attributes["colour"], shade=0.8)},
        density_kg_m3=density(attributes),
    )
    inside = round_container(shape.floor_z_m, height, _free_radius(shape))
    return model("vase", [link], params, attributes, containers=[inside])


def _draw_pot(draw: Draw) -> dict[str, float]:
    top = draw.size(0.048, 0.062)
    return {
        "top_radius_m": top,
        "base_radius_m": top * draw.free(0.62, 0.72),
        "height_m": draw.size(0.085, 0.115),
        "wall_m": draw.free(0.0040, 0.0050),
        "collar_m": draw.free(0.018, 0.026),
        "step_m": draw.free(0.0022, 0.0034),
    }


def _build_pot(params: Params, attributes: Attributes) -> ObjectModel:
    top, base, height, wall = (params[k] for k in ("top_radius_m", "base_radius_m", "height_m", "wall_m"))
    collar, step = params["collar_m"], params["step_m"]
    lip = 0.35 * wall
    slim = top - step
    outer = np.array(
        [
            [base - 0.002, 0.0],
            [base, 0.002],
            [slim, height - collar - 0.001],
            [top, height - collar],
            [top, height - lip],
            [top - lip, height],
        ]
    )
    floor = 0.007
    start = float(np.interp(floor, outer[:, 1], outer[:, 0])) - wall - 0.002
    inner = np.array([[start, floor], [slim - wall, height - lip], [slim - wall + lip, height]])
    shape = Hollow(outer, inner, height - collar, bevel=0)
    builder = LinkBuilder()
    shape.add(builder)
    shape.cut(builder)
    shape.collide(builder, bands_m=[shape.rim_z_m], segments=11)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": rgba(attributes["colour"], shade=0.75)},
        density_kg_m3=0.85 * density(attributes),
    )
    return model("flower_pot", [link], params, attributes, containers=[round_container(floor, height, start - 0.001)])


def _draw_bucket(draw: Draw) -> dict[str, float]:
    top = draw.size(0.066, 0.082)
    return {
        "top_radius_m": top,
        "base_radius_m": top * draw.free(0.74, 0.82),
        "height_m": draw.size(0.115, 0.15),
        "wall_m": draw.free(0.0026, 0.0034),
        "handle_gap_m": draw.free(0.028, 0.034),
    }


def _build_bucket(params: Params, attributes: Attributes) -> ObjectModel:
    top, base, height, wall = (params[k] for k in ("top_radius_m", "base_radius_m", "height_m", "wall_m"))
    outer = np.array([[base - 0.002, 0.0], [base, 0.002], [top, height - 0.35 * wall]])
    shape = walled(outer, wall_m=wall, floor_m=0.004, rim_m=0.014)
    builder = LinkBuilder()
    shape.add(builder)
    # The bail hangs on two ears and has swung down over one side, so that the mouth is free.
    level = height - 0.020
    radius = shape.radius(level)
    ear = radius + 0.009
    for sign in (-1.0, 1.0):
        ends = sorted((sign * (radius - 0.6 * wall), sign * ear))
        solid_box(builder, "ear", [-0.008, ends[0], level - 0.009], [0.008, ends[1], level + 0.009])
    reach = radius + params["handle_gap_m"] + 0.0045
    ends_m = [np.array([0.0, sign * (ear - 0.003), level]) for sign in (-1.0, 1.0)]
    path, _ = loop_path(ends_m[0], ends_m[1], (1.0, 0.0, 0.0), reach, 0.55 * radius, steps=5)
    path[:, 2] -= 0.012 * path[:, 0] / reach
    bar(builder, "handle", path, range(len(path)), side=(0, 0, 1), width_m=0.009, thickness_m=0.009)
    shape.cut(builder)
    shape.collide(builder, segments=12)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "handle": STEEL, "interior": rgba(attributes["colour"], shade=1.2)},
        density_kg_m3=density(attributes),
    )
    inside = round_container(shape.floor_z_m, height, float(shape.inner[0, 0]) - 0.001)
    return model("bucket", [link], params, attributes, containers=[inside])


CATEGORIES = (
    Category("wine_glass", ("glass", "plastic"), _draw_glass, _build_glass),
    Category("jar", ("glass", "ceramic", "plastic"), _draw_jar, _build_jar, {"lid": ("on", "none")}),
    Category("vase", ("ceramic", "glass"), _draw_vase, _build_vase),
    Category("flower_pot", ("ceramic", "plastic"), _draw_pot, _build_pot),
    Category("bucket", ("plastic", "metal"), _draw_bucket, _build_bucket),
)
