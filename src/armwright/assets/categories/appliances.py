"""Machines: coffee machine, and microwave with a hinged door."""

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
from armwright.assets.model import Container, JointModel, ObjectModel


def _button(builder: LinkBuilder, x_m: float, y_m: float, z_m: float, radius_m: float) -> None:
    """Add a round button that stands 4 mm out of a face looking along -x."""
    loops = solids.cylinder_loops([x_m + 0.004, y_m, z_m], [x_m - 0.004, y_m, z_m], radius_m, segments=16)
    builder.add("button", solids.loft(loops), hulls=[loops.reshape(-1, 3)])


def _draw_coffee(draw: Draw) -> dict[str, float]:
    return {
        "depth_m": draw.size(0.23, 0.27),
        "width_m": draw.size(0.18, 0.22),
        "base_m": draw.free(0.035, 0.045),
        "free_m": draw.free(0.135, 0.155),
        "head_m": draw.free(0.085, 0.10),
        "mass_kg": draw.free(3.0, 4.5),
    }


def _build_coffee(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, base = params["depth_m"] / 2, params["width_m"] / 2, params["base_m"]
    nozzle = base + params["free_m"]
    head = nozzle + 0.022
    high = head + params["head_m"]
    builder = LinkBuilder()
    column = 0.02
    solid_box(builder, "body", [-x, -y, 0.0], [x, y, base], bevel_m=0.004)
    solid_box(builder, "body", [column, -y + 0.001, base / 2], [x - 0.001, y - 0.001, high - 0.01])
    solid_box(builder, "body", [-x + 0.018, -y, head], [x, y, high], bevel_m=0.006)
    cup_x = 0.5 * (-x + column)
    spout = solids.cylinder_loops([cup_x, 0, head + 0.004], [cup_x, 0, nozzle], 0.016, end_radius_m=0.011)
    builder.add("nozzle", solids.loft(spout), hulls=[spout.reshape(-1, 3)])
    half_x, half_y = 0.5 * (column + x) - 0.010, y - 0.014
    drip = [cup_x - half_x, -half_y, base - 0.002], [cup_x + half_x, half_y, base + 0.0015]
    solid_box(builder, "tray", *drip)
    for offset in (-0.035, 0.0, 0.035):
        _button(builder, -x + 0.018, offset, head + 0.5 * params["head_m"], 0.010)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "tray": STEEL, "nozzle": STEEL, "button": rgba("orange")},
        mass_kg=params["mass_kg"],
    )
    top = base + 0.0015
    tray = surface("tray", (cup_x, 0, top), half_x, half_y, clearance_m=nozzle - top)
    return model("coffee_machine", [link], params, attributes, supports=[tray])


def _draw_microwave(draw: Draw) -> dict[str, float]:
    return {
        "depth_m": draw.size(0.29, 0.34),
        "width_m": draw.size(0.42, 0.48),
        "height_m": draw.size(0.24, 0.28),
        "panel_m": draw.free(0.085, 0.105),
        "shell_m": draw.free(0.014, 0.018),
        "door_m": draw.free(0.018, 0.024),
        "handle_gap_m": draw.free(0.032, 0.038),
        "handle_length_m": draw.free(0.12, 0.15),
        "mass_kg": draw.free(9.0, 12.0),
    }


def _build_microwave(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, high = params["depth_m"] / 2, params["width_m"] / 2, params["height_m"]
    shell, door = params["shell_m"], params["door_m"]
    foot, gap = 0.008, 0.002
    front = -x + door + gap
    split = -y + params["panel_m"]
    builder = LinkBuilder()
    # Panels overlap by half their thickness; what they leave free is then cut once more, to name it.
    for low, up in (
        ([front, -y, foot], [x, y, foot + shell]),
        ([front, y - shell, foot], [x, y, high - shell / 2]),
        ([x - shell, -y, foot], [x, y, high - shell / 2]),
        ([-x, -y, foot], [x, split, high - shell / 2]),
        ([front + 0.001, split - 0.002, foot + shell / 2], [x - shell / 2, split + shell, high - shell / 2]),
    ):
        solid_box(builder, "body", low, up)
    topped_box(builder, "body", [front, -y, high - shell], [x, y, high])
    for sx in (front + 0.012, x - 0.03):
        for sy in (-y + 0.02, y - 0.04):
            solid_box(builder, "foot", [sx, sy, 0.0], [sx + 0.018, sy + 0.02, foot + 0.002])
    inside_low = np.array([front - 0.01, split + shell, foot + shell + 0.002])
    inside_high = np.array([x - shell - 0.002, y - shell - 0.002, high - shell - 0.002])
    builder.add(
        "body",
        solids.box([front + 0.001, split - 0.002, foot + shell / 2], [x - shell / 2, y - shell / 2, high - shell / 2]),
    )
    builder.cut("interior", solids.box(inside_low, inside_high))
    panel_y = -y + 0.5 * params["panel_m"]
    builder.add("panel", solids.box([-x - 0.0004, -y + 0.012, 0.42 * high], [-x + 0.002, split - 0.012, 0.9 * high]))
    for z in (0.16, 0.29):
        _button(builder, -x, panel_y, z * high, 0.011)
    shell_link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": STEEL, "panel": DARK, "button": STEEL, "foot": DARK},
        mass_kg=params["mass_kg"],
    )

    leaf = LinkBuilder("door")
    low_y = split + gap
    solid_box(leaf, "door", [-x, low_y, foot], [-x + door, y, high])
    leaf.add("window", solids.box([-x - 0.0004, low_y + 0.075, foot + 0.045], [-x + 0.002, y - 0.035, high - 0.045]))
    handle_y, middle, half = low_y + 0.03, 0.5 * (foot + high), params["handle_length_m"] / 2
    ends = [np.array([-x + 0.004, handle_y, middle + s * half]) for s in (-1.0, 1.0)]
    path, stops = loop_path(ends[0], ends[1], (-1.0, 0.0, 0.0), params["handle_gap_m"] + 0.009, 0.012)
    bar(leaf, "handle", path, stops, side=(0, 1, 0), width_m=0.014, thickness_m=0.010)
    hinge = JointModel(
        kind="hinge",
        axis=np.array([0.0, 0.0, -1.0]),
        anchor_m=np.array([-x, y, 0.0]),
        range=(0.0, 1.9),
        damping=0.3,
        frictionloss=0.2,
    )
    door_link = leaf.link(
        colours={"*": rgba(attributes["colour"]), "window": DARK, "handle": STEEL},
        mass_kg=0.12 * params["mass_kg"],
        parent="base",
        joint=hinge,
    )
    center = 0.5 * (inside_low + inside_high)
    half_x = 0.5 * float(inside_high[0] - front) - 0.005
    half_y = 0.5 * float(inside_high[1] - inside_low[1]) - 0.005
    floor = float(inside_low[2])
    center[0], center[2] = 0.5 * (front + inside_high[0]), floor
    return model(
        "microwave",
        [shell_link, door_link],
        params,
        attributes,
        containers=[Container("interior", center, floor, float(inside_high[2]), (half_x, half_y))],
        supports=[
            surface("top", (0.5 * (front + x), 0, high), 0.5 * (x - front) - 0.005, y - 0.005),
            surface("interior", tuple(center), half_x, half_y, clearance_m=float(inside_high[2]) - floor),
        ],
    )


CATEGORIES = (
    Category("coffee_machine", ("plastic", "metal"), _draw_coffee, _build_coffee),
    Category("microwave", ("metal", "plastic"), _draw_microwave, _build_microwave),
)
