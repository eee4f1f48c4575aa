"""What cuts, picks and turns food: knife, fork, spatula, rolling pin."""

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
    density,
    model,
    rgba,
    surface,
)
from armwright.assets.categories._sweep import add_loft, add_slab, along_x
from armwright.assets.model import ObjectModel


def _draw_knife(draw: Draw) -> dict[str, float]:
    return {
        "blade_m": draw.size(0.13, 0.19),
        "blade_width_m": draw.size(0.026, 0.040),
        "blade_thickness_m": draw.free(0.0022, 0.003),
        "handle_m": draw.size(0.10, 0.125),
        "handle_width_m": draw.free(0.022, 0.027),
        "handle_thickness_m": draw.free(0.014, 0.018),
        "belly": draw.free(0.45, 0.75),
    }


def _build_knife(params: Params, attributes: Attributes) -> ObjectModel:
    blade, width, thin = params["blade_m"], params["blade_width_m"], params["blade_thickness_m"]
    handle = params["handle_m"]
    heel = 0.5 * (blade - handle)
    tip = heel - blade
    # The back is straight, the edge runs up to it along a belly.
    back, edge = 0.42 * params["handle_width_m"], 0.42 * params["handle_width_m"] - width
    share = np.linspace(0.0, 1.0, 5)
    belly_x = heel - blade * (params["belly"] + (1 - params["belly"]) * np.sin(share * np.pi / 2))
    belly_y = edge + (back - 0.003 - edge) * (1 - np.cos(share * np.pi / 2))
    outline = np.array(
        [[tip + 0.001, back], *np.column_stack([belly_x, belly_y])[::-1], [heel + 0.004, edge], [heel + 0.004, back]]
    )
    builder = LinkBuilder()
    add_slab(builder, "blade", outline, 0.0, thin)
    x = heel + handle * np.array([0.0, 0.03, 0.45, 0.9, 1.0])
    half_y = 0.5 * params["handle_width_m"] * np.array([0.85, 0.95, 1.0, 0.95, 0.8])
    grip = along_x(x, half_y, 0.5 * params["handle_thickness_m"] * np.array([0.8, 0.95, 1.0, 1.0, 0.8]), square=True)
    add_loft(builder, "handle", grip, convex=True)
    link = builder.link(
        colours={"handle": rgba(attributes["colour"]), "*": STEEL}, mass_kg=0.03 + 2200.0 * builder.volume_m3
    )
    return model("knife", [link], params, attributes)


def _draw_fork(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.17, 0.21),
        "head_width_m": draw.free(0.022, 0.027),
        "thickness_m": draw.free(0.0032, 0.0042),
        "handle_width_m": draw.free(0.012, 0.016),
        "arch_m": draw.free(0.007, 0.012),
    }


def _build_fork(params: Params, attributes: Attributes) -> ObjectModel:
    length, width, thick = params["length_m"], params["head_width_m"], params["thickness_m"]
    x0 = -0.5 * length
    tine, head = 0.26 * length, 0.11 * length
    builder = LinkBuilder()
    low = 0.5 * thick
    for y in np.linspace(-1, 1, 4) * (0.5 * width - 0.0016):
        x = np.array([x0, x0 + 0.25 * tine, x0 + tine + 0.002])
        tines = along_x(x, [0.0008, 0.0015, 0.0016], [0.3 * thick, 0.42 * thick, 0.45 * thick], y_m=y, square=True,
                        z_m=[low, low, low])  # fmt: skip
        tines[..., 2] += 0.05 * thick - tines[..., 2].min()
        add_loft(builder, "tines", tines, convex=True)
    # The root of the tines lies on the table, the neck arches up from it and the handle's end comes down again.
    x = x0 + tine + np.array([0.0, head, 2.1 * head])
    z = low + np.array([0.0, 0.3, 1.0]) * params["arch_m"]
    neck = along_x(x, [0.5 * width, 0.42 * width, 0.0042], 0.5 * thick, z_m=z, square=True)
    add_loft(builder, "neck", neck)
    start, end = float(x[-1]) - 0.004, x0 + length
    x = np.array([start, start + 0.3 * (end - start), end - 0.01, end])
    z = low + np.array([1.0, 0.9, 0.0, 0.0]) * params["arch_m"] * 1.0
    half_y = 0.5 * params["handle_width_m"] * np.array([0.62, 0.75, 1.0, 0.8])
    handle = along_x(x, half_y, 0.5 * thick * np.array([0.94, 1.0, 1.0, 1.0]), z_m=z, square=True)
    add_loft(builder, "handle", handle)
    link = builder.link(colours={"*": rgba(attributes["colour"])}, density_kg_m3=density(attributes))
    return model("fork", [link], params, attributes)


def _draw_spatula(draw: Draw) -> dict[str, float]:
    return {
        "blade_m": draw.size(0.075, 0.10),
        "blade_width_m": draw.size(0.065, 0.085),
        "blade_thickness_m": draw.free(0.0028, 0.0036),
        "neck_m": draw.free(0.05, 0.07),
        "neck_rise_m": draw.free(0.018, 0.026),
        "handle_m": draw.size(0.12, 0.15),
        "handle_width_m": draw.free(0.020, 0.026),
        "handle_thickness_m": draw.free(0.011, 0.014),
    }


def _build_spatula(params: Params, attributes: Attributes) -> ObjectModel:
    blade, half, thin = params["blade_m"], params["blade_width_m"] / 2, params["blade_thickness_m"]
    neck, rise, handle = params["neck_m"], params["neck_rise_m"], params["handle_m"]
    x0 = -0.5 * (blade + neck + handle)
    outline = np.array(
        [
            [x0, -0.9 * half],
            [x0 + 0.004, -half],
            [x0 + 0.75 * blade, -0.8 * half],
            [x0 + blade, -0.35 * half],
            [x0 + blade, 0.35 * half],
            [x0 + 0.75 * blade, 0.8 * half],
            [x0 + 0.004, half],
            [x0, 0.9 * half],
        ]
    )
    builder = LinkBuilder()
    add_slab(builder, "blade", outline, 0.0, thin)
    start = x0 + blade - 0.006
    path = np.array(
        [[start, 0, 0.5 * thin + 0.0006], [start + 0.35 * neck, 0, 0.7 * rise], [start + neck + 0.012, 0, rise]]
    )
    rings = solids.rings_along(path, solids.rounded_rectangle(0.006, 0.002, 0.0015, per_corner=2), side=(0, 1, 0))
    add_loft(builder, "neck", rings)
    thick = params["handle_thickness_m"]
    x = start + neck + handle * np.array([0.0, 0.06, 0.6, 1.0])
    z = np.array([rise, rise - 0.001, 0.5 * (rise + 0.5 * thick), 0.5 * thick])
    half_y = 0.5 * params["handle_width_m"] * np.array([0.6, 0.85, 1.0, 0.85])
    grip = along_x(x, half_y, 0.5 * thick * np.array([0.7, 0.95, 1.0, 1.0]), z_m=z, square=True)
    grip[..., 2] -= min(0.0, float(grip[..., 2].min()))
    add_loft(builder, "handle", grip)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "handle": DARK},
        density_kg_m3=density(attributes),
    )
    top = surface("blade", (x0 + 0.42 * blade, 0, thin), 0.36 * blade, 0.7 * half)
    return model("spatula", [link], params, attributes, supports=[top])


def _draw_pin(draw: Draw) -> dict[str, float]:
    return {
        "body_m": draw.size(0.20, 0.26),
        "radius_m": draw.size(0.021, 0.027),
        "handle_m": draw.free(0.075, 0.095),
        "handle_radius_m": draw.free(0.010, 0.013),
    }


def _build_pin(params: Params, attributes: Attributes) -> ObjectModel:
    body, radius, handle, grip = (params[k] for k in ("body_m", "radius_m", "handle_m", "handle_radius_m"))
    axis_z = radius * np.cos(np.pi / 12)
    builder = LinkBuilder()
    x = np.array([-0.5 * body, -0.5 * body + 0.004, 0.5 * body - 0.004, 0.5 * body])
    edge = radius * np.array([0.93, 1.0, 1.0, 0.93])
    add_loft(builder, "body", along_x(x, edge, edge, z_m=axis_z), convex=True)
    for sign in (-1.0, 1.0):
        x = sign * (0.5 * body + handle * np.array([-0.05, 0.15, 0.6, 0.94, 1.0]))
        r = grip * np.array([0.6, 0.62, 1.0, 0.9, 0.55])
        add_loft(builder, "handle", along_x(x, r, r, z_m=axis_z))
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "handle": rgba(attributes["colour"], shade=0.7)},
        density_kg_m3=density(attributes),
    )
    return model("rolling_pin", [link], params, attributes)


CATEGORIES = (
    Category("knife", ("steel",), _draw_knife, _build_knife),
    Category("fork", ("steel", "metal", "plastic", "wood"), _draw_fork, _build_fork),
    Category("spatula", ("plastic", "metal", "wood"), _draw_spatula, _build_spatula),
    Category("rolling_pin", ("wood", "plastic"), _draw_pin, _build_pin),
)
