"""Flat and shallow things that carry others: plate, cutting board, tray, basket."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._kit import (
    Attributes,
    Category,
    Draw,
    Params,
    bar,
    density,
    loop_path,
    model,
    rgba,
    round_surface,
    surface,
)
from armwright.assets.categories._trough import add_trough
from armwright.assets.model import Container, ObjectModel


def _draw_plate(draw: Draw) -> dict[str, float]:
    radius = draw.size(0.098, 0.122)
    return {
        "radius_m": radius,
        "well_radius_m": radius * draw.free(0.60, 0.68),
        "height_m": draw.size(0.018, 0.024),
        "thickness_m": draw.free(0.0042, 0.0052),
    }


def _build_plate(params: Params, attributes: Attributes) -> ObjectModel:
    radius, well, height, thick = (params[k] for k in ("radius_m", "well_radius_m", "height_m", "thickness_m"))
    edge = 0.75 * thick
    builder = LinkBuilder()
    builder.add(
        "base",
        solids.lathe([[0.0, 0.0], [well, 0], [well, thick + 0.001], [0, thick + 0.001]]),
        hulls=[hulls.turned([[well, 0], [well, thick]], segments=20)],
    )
    bend = well + 0.25 * (radius - well)
    rise = thick + 0.5 * (height - thick)
    slope = np.array(
        [
            [well - 0.002, 0.0005],
            [well, 0.0005],
            [bend, rise - 1.1 * thick],
            [radius - 0.0008, height - edge],
            [radius, height - 0.5 * edge],
            [radius - 0.0008, height],
            [bend - 0.3 * thick, rise],
            [well, thick],
            [well - 0.002, thick],
        ]
    )
    builder.add("rim", solids.lathe(slope))
    inner, outer = slope[[1, 2, 6, 7]], slope[[2, 3, 4, 5, 6]]
    builder.collide("rim", hulls.turned_ring(np.concatenate([inner, outer]), segments=16))
    builder.cut("top", solids.lathe([[0, thick], [well, thick], [well, thick + 0.02], [0, thick + 0.02]]))
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "top": rgba(attributes["colour"], shade=1.2)},
        density_kg_m3=density(attributes),
    )
    return model("plate", [link], params, attributes, supports=[round_surface("top", thick, well)])


def _draw_board(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.22, 0.28),
        "width_m": draw.size(0.15, 0.19),
        "thickness_m": draw.free(0.014, 0.018),
        "handle_length_m": draw.free(0.085, 0.10),
        "handle_width_m": draw.free(0.030, 0.038),
    }


def _build_board(params: Params, attributes: Attributes) -> ObjectModel:
    half, width, thick = params["length_m"] / 2, params["width_m"] / 2, params["thickness_m"]
    handle, grip = params["handle_length_m"], params["handle_width_m"] / 2
    builder = LinkBuilder()
    # Both faces are cut off, which names them; the blank is thicker by this much on both sides.
    spare = 0.002
    outline = solids.rounded_rectangle(half, width, 0.018, per_corner=4)
    tab = solids.rounded_rectangle((handle + 0.01) / 2, grip, 0.9 * grip, per_corner=4)
    middle = (half + (handle - 0.01) / 2, 0.0)
    builder.add("edge", solids.loft([solids.at_height(outline, z) for z in (-spare, thick + spare)]))
    builder.cut("top", solids.box([-1, -1, thick], [1, 1, thick + 0.02]))
    builder.cut("bottom", solids.box([-1, -1, -0.02], [1, 1, 0.0]))
    # The handle is a hair thinner, so that it shares no face with the board.
    faces = [solids.at_height(tab, z, center_m=middle) for z in (0.0004, thick - 0.0004)]
    builder.add("handle", solids.loft(faces), hulls=[np.concatenate(faces)])
    hole = half + handle - grip - 0.002
    builder.cut("handle", solids.cylinder([hole, 0, -0.01], [hole, 0, thick + 0.01], 0.0065))
    builder.collide("edge", [np.concatenate([solids.at_height(outline, z) for z in (0.0, thick)])])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "top": rgba(attributes["colour"], shade=1.2)},
        density_kg_m3=density(attributes),
    )
    top = surface("top", (0, 0, thick), half - 0.006, width - 0.006)
    return model("cutting_board", [link], params, attributes, supports=[top])


def _draw_tray(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.29, 0.35),
        "width_m": draw.size(0.21, 0.25),
        "height_m": draw.free(0.024, 0.032),
        "wall_m": draw.free(0.0038, 0.0048),
        "floor_m": draw.free(0.0036, 0.0044),
        "handle_gap_m": draw.free(0.028, 0.034),
    }


def _build_tray(params: Params, attributes: Attributes) -> ObjectModel:
    # The long side runs along y: seen from the robot a tray lies across.
    half_x, half_y, height = params["width_m"] / 2, params["length_m"] / 2, params["height_m"]
    wall, floor = params["wall_m"], params["floor_m"]
    corner, flare = 0.022, 0.006
    builder = LinkBuilder()
    for sign in (-1.0, 1.0):
        y = sign * (half_y - 0.55 * wall)
        ends = [(-0.042, y, height - 0.004), (0.042, y, height - 0.004)]
        path, stops = loop_path(ends[0], ends[1], (0.0, 0.0, 1.0), params["handle_gap_m"] + 0.008, 0.012)
        bar(builder, "handle", path, stops, side=(0, 1, 0), width_m=0.010, thickness_m=0.008)
    add_trough(
        builder,
        foot_m=solids.rounded_rectangle(half_x - flare, half_y - flare, corner),
        brim_m=solids.rounded_rectangle(half_x, half_y, corner),
        inner_foot_m=solids.rounded_rectangle(half_x - flare - wall, half_y - flare - wall, corner - wall),
        inner_brim_m=solids.rounded_rectangle(half_x - wall, half_y - wall, corner - wall),
        heights_m=(floor, floor + 0.005, height),
        floor_part="top",
        body_part="base",
    )
    link = builder.link(
        colours={
            "*": rgba(attributes["colour"]),
            "top": rgba(attributes["colour"], shade=1.2),
            "handle": rgba(attributes["colour"], shade=0.7),
        },
        density_kg_m3=density(attributes),
    )
    inset = flare + wall + 0.006
    top = surface("top", (0, 0, floor), half_x - inset, half_y - inset)
    return model("tray", [link], params, attributes, supports=[top])


def _draw_basket(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.21, 0.26),
        "width_m": draw.size(0.16, 0.20),
        "height_m": draw.size(0.085, 0.115),
        "wall_m": draw.free(0.0045, 0.006),
        "floor_m": draw.free(0.005, 0.007),
        "flare_m": draw.free(0.008, 0.018),
        "handle_gap_m": draw.free(0.029, 0.036),
    }


def _build_basket(params: Params, attributes: Attributes) -> ObjectModel:
    half_x, half_y, height = params["width_m"] / 2, params["length_m"] / 2, params["height_m"]
    wall, floor, flare = params["wall_m"], params["floor_m"], params["flare_m"]
    corner = 0.04
    builder = LinkBuilder()
    foot = solids.rounded_rectangle(half_x - flare, half_y - flare, corner, per_corner=4)
    brim = solids.rounded_rectangle(half_x, half_y, corner, per_corner=4)
    for sign in (-1.0, 1.0):
        y = sign * (half_y - 0.55 * wall)
        ends = [(-0.036, y, height - 0.005), (0.036, y, height - 0.005)]
        path, stops = loop_path(ends[0], ends[1], (0.0, 0.0, 1.0), params["handle_gap_m"] + 0.009, 0.02)
        bar(builder, "handle", path, stops, side=(0, 1, 0), width_m=0.010, thickness_m=0.009)
    add_trough(
        builder,
        foot_m=foot,
        brim_m=brim,
        inner_foot_m=solids.rounded_rectangle(
            half_x - flare - wall, half_y - flare - wall, corner - wall, per_corner=4
        ),
        inner_brim_m=solids.rounded_rectangle(half_x - wall, half_y - wall, corner - wall, per_corner=4),
        heights_m=(floor, height - 0.022, height),
        floor_part="interior",
        body_part="body",
    )
    link = builder.link(
        colours={
            "*": rgba(attributes["colour"]),
            "interior": rgba(attributes["colour"], shade=1.2),
            "rim": rgba(attributes["colour"], shade=0.75),
            "handle": rgba(attributes["colour"], shade=0.75),
        },
        density_kg_m3=density(attributes),
    )
    inset = flare + wall + 0.012
    inside = Container("interior", np.array([0.0, 0.0, floor]), floor, height, (half_x - inset, half_y - inset))
    return model("basket", [link], params, attributes, containers=[inside])


CATEGORIES = (
    Category("plate", ("ceramic", "glass", "plastic", "wood", "metal"), _draw_plate, _build_plate),
    Category("cutting_board", ("wood", "plastic", "bamboo"), _draw_board, _build_board),
    Category("tray", ("plastic", "wood", "metal"), _draw_tray, _build_tray),
    Category("basket", ("wicker", "plastic", "wood"), _draw_basket, _build_basket),
)
