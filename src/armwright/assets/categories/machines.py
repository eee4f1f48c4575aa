"""Machines with a cavity: oven with a drop-down door, fridge, toaster, laptop."""

from __future__ import annotations

import numpy as np

from armwright.assets import solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._kit import (
    DARK,
    STEEL,
    Attributes,
    Category,
    Draw,
    Params,
    bar,
    loop_path,
    model,
    rgba,
    solid_box,
    surface,
    topped_box,
)
from armwright.assets.categories._sweep import DRAWN_ON_M
from armwright.assets.model import Container, JointModel, LinkModel, ObjectModel
from armwright.core.pose import Array

_GAP_M = 0.002


def _shell(
    builder: LinkBuilder,
    front_m: float,
    half_x: float,
    half_y: float,
    low_m: float,
    high_m: float,
    shell_m: float,
    *,
    split_y: float,
) -> tuple[Array, Array]:
    """Add a carcass open to -x and return the corners of its cavity; below ``split_y`` it is solid for controls.

    Panels overlap by half their thickness, and what they leave free is then cut once more, to name it.
    """
    x, y, s = half_x, half_y, shell_m
    for low, up in (
        ([front_m, -y, low_m], [x, y, low_m + s]),
        ([front_m, y - s, low_m], [x, y, high_m - s / 2]),
        ([x - s, -y, low_m], [x, y, high_m - s / 2]),
        ([front_m, -y, low_m], [x, split_y + s, high_m - s / 2]),
    ):
        solid_box(builder, "body", low, up)
    topped_box(builder, "body", [front_m, -y, high_m - s], [x, y, high_m])
    fill = [front_m + 0.001, -y + s / 2, low_m + s / 2], [x - s / 2, y - s / 2, high_m - s / 2]
    builder.add("body", solids.box(*fill))
    inside_low = np.array([front_m - 0.01, split_y + s, low_m + s + 0.002])
    inside_high = np.array([x - s - 0.002, y - s - 0.002, high_m - s - 0.002])
    builder.cut("interior", solids.box(inside_low, inside_high))
    return inside_low, inside_high


def _feet(builder: LinkBuilder, front_m: float, half_x: float, half_y: float, foot_m: float) -> None:
    for x in (front_m + 0.012, half_x - 0.030):
        for y in (-half_y + 0.02, half_y - 0.04):
            solid_box(builder, "foot", [x, y, 0.0], [x + 0.018, y + 0.02, foot_m + 0.002])


def _cavity(front_m: float, low: Array, high: Array) -> tuple[Array, float, float]:
    """Return centre on the floor and half extents of a cavity."""
    half_x = 0.5 * float(high[0] - front_m) - 0.006
    half_y = 0.5 * float(high[1] - low[1]) - 0.006
    return np.array([0.5 * (front_m + high[0]), 0.5 * (low[1] + high[1]), low[2]]), half_x, half_y


def _knob(builder: LinkBuilder, x_m: float, y_m: float, z_m: float, radius_m: float) -> None:
    loops = solids.cylinder_loops([x_m + 0.004, y_m, z_m], [x_m - 0.012, y_m, z_m], radius_m, segments=14)
    builder.add("button", solids.loft(loops), hulls=[loops.reshape(-1, 3)])


def _draw_oven(draw: Draw) -> dict[str, float]:
    return {
        "depth_m": draw.size(0.30, 0.36),
        "width_m": draw.size(0.40, 0.48),
        "height_m": draw.size(0.25, 0.30),
        "panel_m": draw.free(0.075, 0.095),
        "shell_m": draw.free(0.014, 0.018),
        "door_m": draw.free(0.016, 0.020),
        "handle_gap_m": draw.free(0.032, 0.038),
        "mass_kg": draw.free(6.0, 9.0),
    }


def _build_oven(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, high = 0.5 * params["depth_m"], 0.5 * params["width_m"], params["height_m"]
    shell, door, foot = params["shell_m"], params["door_m"], 0.012
    front = -x + door + _GAP_M
    split = -y + params["panel_m"]
    builder = LinkBuilder()
    low, up = _shell(builder, front, x, y, foot, high, shell, split_y=split)
    _feet(builder, front, x, y, foot)
    for z in (0.25, 0.5, 0.75):
        _knob(builder, front, -y + 0.5 * params["panel_m"], foot + z * (high - foot), 0.014)
    colours = {"*": rgba(attributes["colour"]), "interior": STEEL, "button": DARK, "foot": DARK}
    base = builder.link(colours=colours, mass_kg=params["mass_kg"])

    leaf = LinkBuilder("door")
    left, right = split + _GAP_M, y
    solid_box(leaf, "door", [-x, left, foot], [-x + door, right, high])
    leaf.add(
        "window", solids.box([-x - DRAWN_ON_M, left + 0.035, foot + 0.045], [-x + 0.002, right - 0.035, high - 0.065])
    )
    middle, half = 0.5 * (left + right), 0.32 * (right - left)
    ends = [np.array([-x + 0.004, middle + sign * half, high - 0.032]) for sign in (-1.0, 1.0)]
    path, stops = loop_path(ends[0], ends[1], (-1.0, 0.0, 0.0), params["handle_gap_m"] + 0.009, 0.012)
    bar(leaf, "handle", path, stops, side=(0, 0, 1), width_m=0.012, thickness_m=0.010)
    hinge = JointModel(
        kind="hinge",
        axis=np.array([0.0, -1.0, 0.0]),
        anchor_m=np.array([-x + 0.5 * door, 0.0, foot]),
        range=(0.0, 1.5708),
        damping=0.4,
        frictionloss=0.4,
    )
    door_link = leaf.link(
        colours={"*": rgba(attributes["colour"]), "window": DARK, "handle": STEEL},
        mass_kg=0.1 * params["mass_kg"],
        parent="base",
        joint=hinge,
    )
    center, half_x, half_y = _cavity(front, low, up)
    return model(
        "oven", [base, door_link], params, attributes,
        containers=[Container("interior", center, float(low[2]), float(up[2]), (half_x, half_y))],
        supports=[
            surface("top", (0.5 * (front + x), 0, high), 0.5 * (x - front) - 0.005, y - 0.005),
            surface("interior", tuple(center), half_x, half_y, clearance_m=float(up[2] - low[2])),
        ],
    )  # fmt: skip


def _draw_fridge(draw: Draw) -> dict[str, float]:
    return {
        "depth_m": draw.size(0.36, 0.42),
        "width_m": draw.size(0.38, 0.45),
        "height_m": draw.size(0.46, 0.56),
        "shell_m": draw.free(0.028, 0.034),
        "door_m": draw.free(0.030, 0.038),
        "shelf": draw.free(0.45, 0.58),
        "handle_gap_m": draw.free(0.032, 0.038),
        "handle_length_m": draw.free(0.14, 0.20),
        "mass_kg": draw.free(12.0, 16.0),
    }


def _build_fridge(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, high = 0.5 * params["depth_m"], 0.5 * params["width_m"], params["height_m"]
    shell, door, foot = params["shell_m"], params["door_m"], 0.012
    front = -x + door + _GAP_M
    builder = LinkBuilder()
    low, up = _shell(builder, front, x, y, foot, high, shell, split_y=-y)
    shelf = float(low[2] + params["shelf"] * (up[2] - low[2]))
    solid_box(builder, "shelf", [front + 0.02, -y + shell / 2, shelf - 0.006], [x - shell / 2, y - shell / 2, shelf])
    _feet(builder, front, x, y, foot)
    colours = {"*": rgba(attributes["colour"]), "interior": (0.93, 0.95, 0.96, 1.0), "shelf": STEEL, "foot": DARK}
    base = builder.link(colours=colours, mass_kg=params["mass_kg"])

    leaf = LinkBuilder("door")
    solid_box(leaf, "door", [-x, -y, foot], [-x + door, y, high], bevel_m=0.004)
    middle, half = 0.55 * (foot + high), 0.5 * params["handle_length_m"]
    ends = [np.array([-x + 0.004, -y + 0.035, middle + sign * half]) for sign in (-1.0, 1.0)]
    path, stops = loop_path(ends[0], ends[1], (-1.0, 0.0, 0.0), params["handle_gap_m"] + 0.009, 0.012)
    bar(leaf, "handle", path, stops, side=(0, 1, 0), width_m=0.014, thickness_m=0.010)
    hinge = JointModel(
        kind="hinge",
        axis=np.array([0.0, 0.0, -1.0]),
        anchor_m=np.array([-x, y, 0.0]),
        range=(0.0, 1.9),
        damping=0.4,
        frictionloss=0.3,
    )
    door_link = leaf.link(
        colours={"*": rgba(attributes["colour"]), "handle": STEEL},
        mass_kg=0.15 * params["mass_kg"],
        parent="base",
        joint=hinge,
    )
    center, half_x, half_y = _cavity(front, low, up)
    on_shelf = (0.5 * (front + 0.02 + float(up[0])), 0.0, shelf)
    shelf_half_x = 0.5 * (float(up[0]) - front - 0.02) - 0.006
    return model(
        "fridge", [base, door_link], params, attributes,
        containers=[Container("interior", center, float(low[2]), shelf - 0.006, (half_x, half_y))],
        supports=[
            surface("top", (0.5 * (front + x), 0, high), 0.5 * (x - front) - 0.005, y - 0.005),
            surface("shelf", on_shelf, shelf_half_x, half_y, clearance_m=float(up[2]) - shelf),
            surface("interior", tuple(center), half_x, half_y, clearance_m=shelf - 0.006 - float(low[2])),
        ],
    )  # fmt: skip


def _draw_toaster(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.24, 0.29),
        "width_m": draw.size(0.145, 0.175),
        "height_m": draw.size(0.165, 0.195),
        "slot_m": draw.free(0.026, 0.032),
        "corner_m": draw.free(0.020, 0.035),
        "mass_kg": draw.free(1.0, 1.5),
    }


def _build_toaster(params: Params, attributes: Attributes) -> ObjectModel:
    # The slots run along y and the lever looks at the robot.
    x, y, high = 0.5 * params["width_m"], 0.5 * params["length_m"], params["height_m"]
    slot, corner = params["slot_m"], params["corner_m"]
    outline = solids.rounded_rectangle(x, y, corner, per_corner=4)
    builder = LinkBuilder()
    builder.add("body", solids.loft([solids.at_height(outline, z) for z in (0.0, high)]))
    floor, wall = 0.040, 0.5 * (2 * x - 2 * slot - 0.024)
    long = y - 0.034
    for sign in (-1.0, 1.0):
        middle = sign * 0.5 * (slot + 0.024)
        builder.cut("interior", solids.box([middle - slot / 2, -long, floor], [middle + slot / 2, long, high + 0.01]))
    inner_x = x - wall
    corners = [solids.at_height(outline, z) for z in (0.0, floor)]
    builder.collide("body", [np.concatenate(corners)])
    ring = outline[np.argsort(np.arctan2(outline[:, 1], outline[:, 0]))]
    sides = {
        "left": ring[ring[:, 0] < -inner_x + 1e-9],
        "right": ring[ring[:, 0] > inner_x - 1e-9],
    }
    for sign, points in ((-1.0, sides["left"]), (1.0, sides["right"])):
        edge = np.concatenate([points, [[sign * inner_x, -y], [sign * inner_x, y]]])
        builder.collide("body", [np.concatenate([solids.at_height(edge, z) for z in (floor, high)])])
    solid = [[-inner_x, -y, floor], [inner_x, -long, high]], [[-inner_x, long, floor], [inner_x, y, high]]
    builder.collide("body", [solids.box_corners(*ends) for ends in solid])
    builder.collide("body", [solids.box_corners([-0.012, -long, floor], [0.012, long, high])])
    solid_box(
        builder, "lever", [-x - 0.024, -0.020, 0.66 * high], [-x + 0.006, 0.020, 0.66 * high + 0.012], bevel_m=0.002
    )
    knob = solids.cylinder_loops([-x + 0.004, 0.045, 0.3 * high], [-x - 0.010, 0.045, 0.3 * high], 0.012, segments=14)
    builder.add("button", solids.loft(knob), hulls=[knob.reshape(-1, 3)])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": DARK, "lever": DARK, "button": DARK},
        mass_kg=params["mass_kg"],
    )
    return model("toaster", [link], params, attributes)


def _draw_laptop(draw: Draw) -> dict[str, float]:
    return {
        "width_m": draw.size(0.29, 0.36),
        "depth_m": draw.size(0.205, 0.245),
        "base_m": draw.free(0.013, 0.017),
        "lid_m": draw.free(0.006, 0.008),
        "mass_kg": draw.free(1.1, 1.7),
    }


def _build_laptop(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, base, thin = 0.5 * params["depth_m"], 0.5 * params["width_m"], params["base_m"], params["lid_m"]
    gap, keys = 0.0022, 0.0010
    builder = LinkBuilder()
    solid_box(builder, "body", [-x, -y, 0.0], [x, y, base], bevel_m=0.002)
    solid_box(builder, "button", [-0.05 * x, -0.86 * y, base - 0.002], [0.72 * x, 0.86 * y, base + keys])
    solid_box(builder, "pad", [-0.78 * x, -0.24 * y, base - 0.002], [-0.22 * x, 0.24 * y, base + DRAWN_ON_M])
    colours = {
        "*": rgba(attributes["colour"]),
        "button": DARK,
        "pad": rgba(attributes["colour"], shade=0.8),
        "screen": DARK,
    }
    links: list[LinkModel] = [builder.link(colours=colours, mass_kg=0.7 * params["mass_kg"])]
    lid = LinkBuilder("lid")
    low = base + gap
    solid_box(lid, "lid", [-x, -y, low], [x, y, low + thin], bevel_m=0.0015)
    lid.add("screen", solids.box([-0.9 * x, -0.95 * y, low - DRAWN_ON_M], [0.86 * x, 0.95 * y, low + 0.002]))
    solid_box(lid, "lip", [-x - 0.008, -0.05, low + 0.0008], [-x + 0.004, 0.05, low + thin - 0.0008])
    hinge = JointModel(
        kind="hinge",
        axis=np.array([0.0, 1.0, 0.0]),
        anchor_m=np.array([x, 0.0, low]),
        range=(0.0, 2.1),
        damping=0.05,
        frictionloss=0.25,
    )
    links.append(lid.link(colours=colours, mass_kg=0.3 * params["mass_kg"], parent="base", joint=hinge))
    top = surface("lid", (0, 0, low + thin), x - 0.008, y - 0.008, link="lid")
    return model("laptop", links, params, attributes, supports=[top])


CATEGORIES = (
    Category("oven", ("metal", "plastic"), _draw_oven, _build_oven),
    Category("fridge", ("metal", "plastic"), _draw_fridge, _build_fridge),
    Category("toaster", ("metal", "plastic"), _draw_toaster, _build_toaster),
    Category("laptop", ("metal", "plastic"), _draw_laptop, _build_laptop),
)
