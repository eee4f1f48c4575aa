"""Boxes and bags to put things in: paper box, handbag, trash can with a hinged lid and a pedal."""

from __future__ import annotations

import numpy as np

from armwright.assets import solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._hollow import walled
from armwright.assets.categories._kit import (
    DARK,
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
from armwright.assets.categories._trough import add_trough
from armwright.assets.model import Container, JointModel, ObjectModel


def _open_box(
    builder: LinkBuilder,
    half_x: float,
    half_y: float,
    height: float,
    *,
    wall: float,
    floor: float,
    flare: float,
    corner: float,
    rim: float,
) -> Container:
    """Add an open box whose walls lean out by ``flare`` and return its cavity."""

    def loop(inset: float) -> np.ndarray:
        return solids.rounded_rectangle(half_x - inset, half_y - inset, max(corner - inset, 0.001), per_corner=2)

    add_trough(
        builder,
        foot_m=loop(flare),
        brim_m=loop(0.0),
        inner_foot_m=loop(flare + wall),
        inner_brim_m=loop(wall),
        heights_m=(floor, height - rim, height),
        floor_part="interior",
        body_part="body",
    )
    inset = flare + wall + 0.5 * corner
    return Container("interior", np.array([0.0, 0.0, floor]), floor, height, (half_x - inset, half_y - inset))


def _draw_box(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.24, 0.32),
        "width_m": draw.size(0.17, 0.23),
        "height_m": draw.size(0.075, 0.12),
        "wall_m": draw.free(0.0038, 0.0048),
    }


def _build_box(params: Params, attributes: Attributes) -> ObjectModel:
    builder = LinkBuilder()
    inside = _open_box(
        builder, 0.5 * params["width_m"], 0.5 * params["length_m"], params["height_m"],
        wall=params["wall_m"], floor=params["wall_m"], flare=0.0005, corner=0.003, rim=0.018,
    )  # fmt: skip
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": rgba(attributes["colour"], shade=1.2)},
        density_kg_m3=0.7 * density(attributes),
    )
    return model("paper_box", [link], params, attributes, containers=[inside])


def _draw_bag(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.22, 0.29),
        "width_m": draw.size(0.105, 0.135),
        "height_m": draw.size(0.17, 0.22),
        "wall_m": draw.free(0.0032, 0.0042),
        "flare_m": draw.free(0.002, 0.010),
        "handle_rise_m": draw.free(0.075, 0.10),
    }


def _build_bag(params: Params, attributes: Attributes) -> ObjectModel:
    half_x, half_y, height = 0.5 * params["width_m"], 0.5 * params["length_m"], params["height_m"]
    wall = params["wall_m"]
    builder = LinkBuilder()
    for sign in (-1.0, 1.0):
        x = sign * (half_x - 0.5 * wall)
        ends = [np.array([x, y, height - 0.008]) for y in (-0.055, 0.055)]
        path, stops = loop_path(ends[0], ends[1], (0.0, 0.0, 1.0), params["handle_rise_m"], 0.035)
        bar(builder, "handle", path, stops, side=(1, 0, 0), width_m=0.0065, thickness_m=0.012)
    inside = _open_box(
        builder, half_x, half_y, height, wall=wall, floor=0.005, flare=params["flare_m"], corner=0.018, rim=0.025
    )
    link = builder.link(
        colours={
            "*": rgba(attributes["colour"]),
            "handle": rgba(attributes["colour"], shade=0.6),
            "rim": rgba(attributes["colour"], shade=0.8),
        },
        density_kg_m3=0.45 * density(attributes),
    )
    return model("handbag", [link], params, attributes, containers=[inside])


def _draw_trash(draw: Draw) -> dict[str, float]:
    return {
        "top_radius_m": draw.size(0.085, 0.105),
        "base_share": draw.free(0.84, 0.94),
        "height_m": draw.size(0.22, 0.28),
        "wall_m": draw.free(0.0030, 0.0038),
        "pedal_m": draw.free(0.026, 0.034),
    }


def _build_trash(params: Params, attributes: Attributes) -> ObjectModel:
    top, height, wall = params["top_radius_m"], params["height_m"], params["wall_m"]
    base = top * params["base_share"]
    outer = np.array([[base - 0.003, 0.0], [base, 0.003], [top, height - 0.35 * wall]])
    shape = walled(outer, wall_m=wall, floor_m=0.006, rim_m=0.016)
    builder = LinkBuilder()
    shape.add(builder)
    solid_box(
        builder, "pedal", [-base - params["pedal_m"], -0.022, 0.006], [-base + 0.012, 0.022, 0.014], bevel_m=0.002
    )
    solid_box(
        builder,
        "hinge",
        [shape.radius(height - 0.02) - 0.5 * wall, -0.03, height - 0.022],
        [top + 0.014, 0.03, height - 0.006],
    )
    shape.cut(builder)
    shape.collide(builder)
    colours = {
        "*": rgba(attributes["colour"]),
        "pedal": DARK,
        "hinge": DARK,
        "interior": rgba(attributes["colour"], shade=0.75),
    }
    base_link = builder.link(colours=colours, density_kg_m3=density(attributes))
    lid = LinkBuilder("lid")
    seat = height + 0.0012
    profile = [[top + 0.002, seat], [top + 0.002, seat + 0.004], [0.8 * top, seat + 0.014], [0.4 * top, seat + 0.019]]
    solid_turned(lid, "lid", profile)
    solid_box(lid, "handle", [-top - 0.026, -0.024, seat + 2e-4], [-top + 0.010, 0.024, seat + 0.0065], bevel_m=0.002)
    solid_box(lid, "lid", [top - 0.012, -0.024, seat + 4e-4], [top + 0.012, 0.024, seat + 0.006])
    hinge = JointModel(
        kind="hinge",
        axis=np.array([0.0, 1.0, 0.0]),
        anchor_m=np.array([top + 0.010, 0.0, height]),
        range=(0.0, 1.75),
        damping=0.02,
        frictionloss=0.02,
    )
    lid_link = lid.link(colours=colours, density_kg_m3=0.5 * density(attributes), parent="base", joint=hinge)
    inside = round_container(shape.floor_z_m, height, float(shape.inner[0, 0]) - 0.002)
    return model("trash_can", [base_link, lid_link], params, attributes, containers=[inside])


CATEGORIES = (
    Category("paper_box", ("cardboard", "paper"), _draw_box, _build_box),
    Category("handbag", ("plastic", "paper"), _draw_bag, _build_bag),
    Category("trash_can", ("plastic", "metal"), _draw_trash, _build_trash),
)
