"""Furniture that stands fixed: shelf, mug rack, cabinet with drawers."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._kit import (
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
    solid_box,
    solid_turned,
    surface,
    topped_box,
)
from armwright.assets.model import Container, JointModel, LinkModel, ObjectModel
from armwright.core.pose import Array

SHELF_CLEARANCE_M = 0.22
"""Free height above the lower board: a can 11 cm tall, held at its middle by a gripper that comes in level."""


def _draw_shelf(draw: Draw) -> dict[str, float]:
    first = draw.free(0.04, 0.08)
    return {
        "depth_m": draw.size(0.22, 0.27),
        "width_m": draw.size(0.52, 0.64),
        "first_z_m": first,
        "second_z_m": first + draw.free(SHELF_CLEARANCE_M + 0.02, 0.265),
        "board_m": draw.free(0.014, 0.018),
        "side_above_m": draw.free(0.06, 0.10),
    }


def _build_shelf(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, board = params["depth_m"] / 2, params["width_m"] / 2, params["board_m"]
    tops = (params["first_z_m"], params["second_z_m"])
    high = tops[1] + params["side_above_m"]
    panel, back = 0.016, 0.008
    builder = LinkBuilder()
    solid_box(builder, "back", [x - back, -y, 0.0], [x, y, high])
    for sign in (-1.0, 1.0):
        ends = sorted((sign * y, sign * (y - panel)))
        solid_box(builder, "side", [-x, ends[0], 0.0], [x - back / 2, ends[1], high])
    for top in tops:
        # Boards reach half into sides and back, so that no two faces coincide.
        solid_box(builder, "board", [-x + 0.004, -y + panel / 2, top - board], [x - back / 2, y - panel / 2, top])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "board": rgba(attributes["colour"], shade=1.25)},
        density_kg_m3=density(attributes),
    )
    center_x = 0.5 * (-x + 0.004 + x - back)
    half_x, half_y = x - back / 2 - 0.004, y - panel - 0.002
    supports = [
        surface("board_1", (center_x, 0, tops[0]), half_x, half_y, clearance_m=tops[1] - board - tops[0]),
        surface("board_2", (center_x, 0, tops[1]), half_x, half_y),
    ]
    return model("shelf", [link], params, attributes, supports=supports)


def _draw_rack(draw: Draw) -> dict[str, float]:
    return {
        "base_radius_m": draw.size(0.075, 0.09),
        "height_m": draw.size(0.30, 0.34),
        "post_radius_m": draw.free(0.010, 0.013),
        "hook_z_m": draw.free(0.225, 0.25),
        "hook_length_m": draw.free(0.055, 0.068),
        "hook_radius_m": draw.free(0.0042, 0.0052),
        "hook_rise_rad": draw.free(0.35, 0.55),
    }


def _build_rack(params: Params, attributes: Attributes) -> ObjectModel:
    post, radius = params["post_radius_m"], params["hook_radius_m"]
    foot, high = params["base_radius_m"], params["height_m"]
    builder = LinkBuilder()
    solid_turned(builder, "base", [[foot, 0.0], [foot, 0.012], [foot - 0.004, 0.016]], segments=24)
    solid_turned(builder, "post", [[post, 0.010], [post, high - 0.006], [0.5 * post, high]], segments=16)
    section = solids.ellipse(radius, radius, points=8, phase=0.5)
    rise, length = params["hook_rise_rad"], params["hook_length_m"]
    # One hook looks at the robot, the others leave room for a mug beside it.
    for turn in np.radians([180.0, 60.0, -60.0]):
        out = np.array([np.cos(turn), np.sin(turn), 0.0])
        start = np.array([0.0, 0.0, params["hook_z_m"]]) + 0.5 * post * out
        reach = length + 0.5 * post
        bend = start + reach * np.array([out[0], out[1], np.tan(rise)])
        tip = bend + 0.014 * (0.35 * out + np.array([0.0, 0.0, 1.0]))
        path = np.stack([start, bend, tip])
        rings = solids.rings_along(path, section, side=np.cross(out, [0.0, 0.0, 1.0]))
        builder.add("hook", solids.loft(rings), hulls=hulls.chain(rings))
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "hook": rgba(attributes["colour"], shade=1.2)},
        mass_kg=0.9,
    )
    return model("mug_rack", [link], params, attributes)


def _draw_cabinet(draw: Draw) -> dict[str, float]:
    return {
        "depth_m": draw.size(0.26, 0.31),
        "width_m": draw.size(0.30, 0.36),
        "height_m": draw.size(0.28, 0.36),
        "drawers": float(round(draw.free(1.5, 3.5))),
        "panel_m": draw.free(0.010, 0.013),
        "handle_length_m": draw.free(0.085, 0.115),
        "handle_gap_m": draw.free(0.031, 0.036),
    }


def _drawer(
    name: str, box_m: tuple[Array, Array], front_m: tuple[Array, Array], params: Params, attributes: Attributes
) -> tuple[LinkModel, Container]:
    """Return a drawer: ``box_m`` are the corners of its open box, ``front_m`` those of the plate before it."""
    (low, high), (plate_low, plate_high) = box_m, front_m
    wall = 0.008
    builder = LinkBuilder(name)
    builder.add("drawer", solids.box(low, high))
    builder.add("front", solids.box(plate_low, plate_high), hulls=[solids.box_corners(plate_low, plate_high)])
    inner_low, inner_high = low + wall, np.array([high[0] - wall, high[1] - wall, high[2] + 0.01])
    inner_low[0] = plate_high[0] + 0.001
    builder.cut("interior", solids.box(inner_low, inner_high))
    builder.collide(
        "drawer",
        [
            solids.box_corners(low, [high[0], high[1], inner_low[2]]),
            solids.box_corners(low, [high[0], inner_low[1], high[2]]),
            solids.box_corners([low[0], inner_high[1], low[2]], high),
            solids.box_corners([inner_high[0], low[1], low[2]], high),
        ],
    )
    middle, half = 0.5 * (plate_low[2] + plate_high[2]), params["handle_length_m"] / 2
    ends = [np.array([plate_low[0] + 0.004, y, middle]) for y in (-half, half)]
    path, stops = loop_path(ends[0], ends[1], (-1.0, 0.0, 0.0), params["handle_gap_m"] + 0.009, 0.010)
    bar(builder, "handle", path, stops, side=(0, 0, 1), width_m=0.010, thickness_m=0.010)
    slide = JointModel(
        kind="slide",
        axis=np.array([-1.0, 0.0, 0.0]),
        anchor_m=np.array([plate_low[0], 0.0, middle]),
        range=(0.0, 0.7 * params["depth_m"]),
        damping=2.0,
        frictionloss=1.0,
    )
    link = builder.link(
        colours={"*": rgba(attributes["colour"], shade=1.15), "handle": STEEL},
        density_kg_m3=density(attributes),
        parent="base",
        joint=slide,
    )
    center = 0.5 * (inner_low + inner_high)
    center[2] = inner_low[2]
    halves = (0.5 * float(inner_high[0] - inner_low[0]) - 0.004, 0.5 * float(inner_high[1] - inner_low[1]) - 0.004)
    return link, Container("interior", center, float(inner_low[2]), float(high[2]), halves, link=name)


def _build_cabinet(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, high, panel = params["depth_m"] / 2, params["width_m"] / 2, params["height_m"], params["panel_m"]
    count = int(params["drawers"])
    plate, gap = 0.014, 0.0015
    front = -x + plate + gap
    builder = LinkBuilder()
    for sign in (-1.0, 1.0):
        ends = sorted((sign * y, sign * (y - panel)))
        solid_box(builder, "body", [front, ends[0], 0.0], [x, ends[1], high - panel / 2])
    solid_box(builder, "body", [x - panel, -y + panel / 2, 0.001], [x - 0.001, y - panel / 2, high - panel / 2])
    pitch = (high - panel) / count
    for row in range(count):
        z = row * pitch
        solid_box(
            builder, "body", [front + 0.001, -y + panel / 2, z + 0.001], [x - panel / 2, y - panel / 2, z + panel]
        )
    topped_box(builder, "body", [-x, -y, high - panel], [x, y, high])
    links = [
        builder.link(
            colours={"*": rgba(attributes["colour"]), "top": rgba(attributes["colour"], shade=1.1)},
            density_kg_m3=density(attributes),
        )
    ]
    containers = []
    side = panel + 0.003
    for row in range(count):
        z = row * pitch
        link, inside = _drawer(
            f"drawer_{row + 1}",
            (
                np.array([front - gap - 0.002, -y + side, z + panel + 0.003]),
                np.array([x - panel - 0.004, y - side, z + pitch - 0.022]),
            ),
            (np.array([-x, -y + 0.001, z + 0.003]), np.array([-x + plate, y - 0.001, z + pitch - 0.002])),
            params,
            attributes,
        )
        links.append(link)
        containers.append(inside)
    top = surface("top", (0, 0, high), x - 0.005, y - 0.005)
    return model("cabinet", links, params, attributes, containers=containers, supports=[top])


CATEGORIES = (
    Category("shelf", ("wood", "metal", "plastic"), _draw_shelf, _build_shelf),
    Category("mug_rack", ("wood", "metal"), _draw_rack, _build_rack),
    Category("cabinet", ("wood", "plastic"), _draw_cabinet, _build_cabinet),
)
