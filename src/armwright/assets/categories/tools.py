"""Hand tools: hammer, screwdriver, wrench, scissors, drill."""

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
    solid_box,
)
from armwright.assets.categories._sweep import add_loft, add_ring, add_slab, along_x
from armwright.assets.model import ObjectModel


def _draw_hammer(draw: Draw) -> dict[str, float]:
    return {
        "handle_m": draw.size(0.20, 0.26),
        "handle_width_m": draw.free(0.028, 0.034),
        "handle_thickness_m": draw.free(0.020, 0.024),
        "head_m": draw.size(0.095, 0.12),
        "head_side_m": draw.free(0.024, 0.028),
        "claw": draw.free(0.45, 0.6),
    }


def _build_hammer(params: Params, attributes: Attributes) -> ObjectModel:
    handle, head, side = params["handle_m"], params["head_m"], params["head_side_m"]
    half = 0.5 * side
    x_head = -0.5 * handle
    builder = LinkBuilder()
    x = x_head + handle * np.array([0.0, 0.25, 0.5, 0.85, 0.97, 1.0])
    half_y = 0.5 * params["handle_width_m"] * np.array([0.66, 0.7, 0.8, 1.0, 0.95, 0.8])
    half_z = 0.5 * params["handle_thickness_m"] * np.array([0.8, 0.85, 0.95, 1.0, 1.0, 0.85])
    z = half + (half_z[-2] - half) * np.array([0.0, 0.25, 0.5, 0.85, 1.0, 1.0])
    add_loft(builder, "handle", along_x(x, half_y, half_z, z_m=z, square=True))
    solid_box(builder, "head", [x_head - half, -0.28 * head, 0.0], [x_head + half, 0.30 * head, side], bevel_m=0.003)
    face = solids.cylinder_loops([x_head, 0.29 * head, half], [x_head, 0.55 * head, half], 0.9 * half, segments=12)
    face[..., 2] = np.maximum(face[..., 2], 4e-4)
    builder.add("face", solids.loft(face), hulls=[face.reshape(-1, 3)])
    # The claw thins out to two prongs that bend towards the handle.
    reach = 0.45 * head
    for sign in (-1.0, 1.0):
        prong = np.array(
            [
                [x_head + dx, -y * head, half + sign * half * wide]
                for y, near, far, wides in (
                    (0.26, -half + 0.001, half - 0.001, (0.0, 0.9)),
                    (0.26 + 0.6 * reach / head, -0.4 * half, 0.6 * half, (0.12, 0.85)),
                    (0.26 + reach / head, 0.15 * half, 0.35 * half + 0.012 * params["claw"], (0.22, 0.75)),
                )
                for dx in (near, far)
                for wide in wides
            ]
        )
        builder.add("claw", solids.convex(prong), hulls=[prong])
    link = builder.link(
        colours={"*": STEEL, "handle": rgba(attributes["colour"])}, mass_kg=0.06 + 2600.0 * builder.volume_m3
    )
    return model("hammer", [link], params, attributes)


def _draw_screwdriver(draw: Draw) -> dict[str, float]:
    return {
        "handle_m": draw.size(0.095, 0.115),
        "radius_m": draw.size(0.0135, 0.017),
        "shaft_m": draw.size(0.07, 0.12),
        "shaft_radius_m": draw.free(0.0026, 0.0036),
    }


def _build_screwdriver(params: Params, attributes: Attributes) -> ObjectModel:
    handle, radius, shaft, thin = (params[k] for k in ("handle_m", "radius_m", "shaft_m", "shaft_radius_m"))
    axis_z = radius * np.cos(np.pi / 12)
    builder = LinkBuilder()
    x = handle * np.array([-0.5, -0.46, -0.38, 0.12, 0.28, 0.40, 0.5])
    r = radius * np.array([0.7, 0.92, 1.0, 1.0, 0.72, 0.76, 0.6])
    add_loft(builder, "handle", along_x(x, r, r, z_m=axis_z), stops=(0, 3, 4, 6))
    end = 0.5 * handle
    x = np.array([end - 0.004, end + shaft])
    add_loft(builder, "shaft", along_x(x, thin, thin, z_m=axis_z, points=8))
    x = end + shaft + np.array([-0.001, 0.008, 0.010])
    add_loft(builder, "tip", along_x(x, thin * np.array([1.06, 1.3, 1.2]), thin * np.array([1.06, 0.5, 0.25]),
                                     z_m=axis_z, points=8))  # fmt: skip
    link = builder.link(
        colours={"*": STEEL, "handle": rgba(attributes["colour"])}, mass_kg=0.02 + 1100.0 * builder.volume_m3
    )
    return model("screwdriver", [link], params, attributes)


def _draw_wrench(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.15, 0.20),
        "bore_m": draw.size(0.0075, 0.0105),
        "thickness_m": draw.free(0.008, 0.0105),
        "handle_width_m": draw.size(0.015, 0.020),
    }


def _build_wrench(params: Params, attributes: Attributes) -> ObjectModel:
    length, bore, thick = params["length_m"], params["bore_m"], params["thickness_m"]
    half = 0.5 * length
    outer = 1.95 * bore
    builder = LinkBuilder()
    inset = 0.12 * thick
    bar_half = half + 0.3 * (outer - bore)
    outline = solids.rounded_rectangle(bar_half - bore, 0.5 * params["handle_width_m"], 0.002, per_corner=2)
    add_slab(builder, "handle", outline, inset, thick - inset)
    # The ring at one end, the open jaw at the other: a ring that lacks the wedges before it.
    add_ring(builder, "ring", bore, outer, 0.0, thick, center_m=(half, 0.0))
    add_ring(builder, "jaw", bore, outer, 0.0, thick, center_m=(-half, 0.0), segments=12, gap=(5, 6))
    for x in (-half, half):
        builder.cut("jaw" if x < 0 else "ring", solids.cylinder([x, 0, -0.01], [x, 0, thick + 0.01], 1.02 * bore))
    mouth = solids.box([-half - 2 * outer, -0.86 * bore, -0.01], [-half, 0.86 * bore, thick + 0.01])
    builder.cut("jaw", mouth)
    link = builder.link(colours={"*": rgba(attributes["colour"], shade=1.1)}, mass_kg=4500.0 * builder.volume_m3)
    return model("wrench", [link], params, attributes)


def _draw_scissors(draw: Draw) -> dict[str, float]:
    return {
        "blade_m": draw.size(0.075, 0.11),
        "blade_width_m": draw.free(0.013, 0.017),
        "blade_thickness_m": draw.free(0.003, 0.0038),
        "ring_m": draw.free(0.0125, 0.0155),
        "ring_width_m": draw.free(0.006, 0.0075),
        "ring_thickness_m": draw.free(0.009, 0.011),
        "shank_m": draw.free(0.040, 0.050),
    }


def _build_scissors(params: Params, attributes: Attributes) -> ObjectModel:
    blade, width, thin = params["blade_m"], params["blade_width_m"], params["blade_thickness_m"]
    inner, outer = params["ring_m"], params["ring_m"] + params["ring_width_m"]
    thick, shank = params["ring_thickness_m"], params["shank_m"]
    shift = 0.5 * (shank + 2 * outer - blade)
    pivot = -shift + 0.0
    middle_y = outer + 0.0012
    center_x = pivot + shank + 0.55 * outer
    builder = LinkBuilder()
    for sign in (-1.0, 1.0):
        add_ring(builder, "handle", inner, outer, 0.0, thick, center_m=(center_x, sign * middle_y), segments=10)
        ring = np.array([center_x, sign * middle_y])
        start = np.array([pivot - 0.004, 0.0])
        toward = (ring - start) / np.linalg.norm(ring - start)
        end = ring - (inner + 0.5 * params["ring_width_m"]) * toward
        path = np.array([[*start, 0.42 * thick], [*end, 0.5 * thick]])
        section = solids.rounded_rectangle(0.0052, 0.36 * thick, 0.0018, per_corner=2)
        rings = solids.rings_along(path, section, side=np.array([-toward[1], toward[0], 0.0]))
        add_loft(builder, "handle", rings)
    # Closed blades: one lies on the other, each with its edge outwards.
    level = 0.42 * thick
    for sign in (-1.0, 1.0):
        low = level - (thin if sign < 0 else 0.0) + (0.0 if sign < 0 else -2e-4)
        outline = np.array(
            [
                [pivot + 0.010, -0.30 * sign * width],
                [pivot + 0.010, 0.52 * sign * width],
                [pivot - 0.35 * blade, 0.50 * sign * width],
                [pivot - 0.8 * blade, 0.28 * sign * width],
                [pivot - blade, 0.04 * sign * width],
                [pivot - blade, -0.10 * sign * width],
                [pivot - 0.5 * blade, -0.28 * sign * width],
            ]
        )
        add_slab(builder, "blade", outline, low, low + thin)
    screw = solids.cylinder_loops(
        [pivot, 0, max(level - thin - 0.001, 4e-4)], [pivot, 0, level + thin + 0.001], 0.0045, segments=12
    )
    builder.add("pivot", solids.loft(screw), hulls=[screw.reshape(-1, 3)])
    foot = solids.cylinder_loops([pivot - 0.3 * blade, 0, 0.0], [pivot - 0.3 * blade, 0, level], 0.0035, segments=8)
    builder.add("pivot", solids.loft(foot), hulls=[foot.reshape(-1, 3)])
    link = builder.link(
        colours={"*": STEEL, "handle": rgba(attributes["colour"])}, mass_kg=0.02 + 2500.0 * builder.volume_m3
    )
    return model("scissors", [link], params, attributes)


def _draw_drill(draw: Draw) -> dict[str, float]:
    return {
        "body_m": draw.size(0.13, 0.155),
        "body_radius_m": draw.size(0.026, 0.031),
        "grip_m": draw.size(0.095, 0.115),
        "grip_depth_m": draw.free(0.036, 0.043),
        "grip_width_m": draw.free(0.030, 0.035),
        "battery_m": draw.free(0.040, 0.050),
        "chuck_m": draw.free(0.035, 0.045),
    }


def _build_drill(params: Params, attributes: Attributes) -> ObjectModel:
    body, radius, grip = params["body_m"], params["body_radius_m"], params["grip_m"]
    battery, chuck = params["battery_m"], params["chuck_m"]
    axis_z = battery + grip + radius
    builder = LinkBuilder()
    solid_box(builder, "battery", [-0.055, -0.036, 0.0], [0.050, 0.036, battery], bevel_m=0.006)
    depth, width = 0.5 * params["grip_depth_m"], 0.5 * params["grip_width_m"]
    section = solids.rounded_rectangle(depth, width, 0.8 * width, per_corner=3)
    lean = 0.018
    levels = np.array([battery - 0.004, battery + 0.35 * grip, battery + grip + 0.6 * radius])
    loops = np.stack(
        [
            solids.at_height(section * scale, z, center_m=(x, 0.0))
            for scale, z, x in zip((1.06, 0.96, 1.0), levels, (0.0, 0.35 * lean, lean), strict=True)
        ]
    )
    add_loft(builder, "handle", loops)
    x = np.array([-0.42, -0.36, 0.3, 0.5]) * body
    r = radius * np.array([0.86, 1.0, 1.0, 0.72])
    tube = along_x(-x[::-1], r[::-1], r[::-1], z_m=axis_z, points=16)
    add_loft(builder, "body", tube, convex=True)
    nose = -0.5 * body
    x = nose + np.array([0.004, -0.35 * chuck, -chuck])
    chuck_r = radius * np.array([0.34, 0.58, 0.60])
    add_loft(builder, "chuck", along_x(x[::-1], chuck_r, chuck_r, z_m=axis_z), convex=True)
    x = nose - chuck + np.array([0.004, -0.045])
    add_loft(builder, "bit", along_x(x[::-1], [0.0025, 0.003], [0.0025, 0.003], z_m=axis_z, points=8))
    high = battery + 0.78 * grip
    front = 0.35 * lean - depth
    solid_box(
        builder, "trigger", [front - 0.008, -0.008, high - 0.014], [front + 0.016, 0.008, high + 0.014], bevel_m=0.002
    )
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "battery": DARK, "trigger": DARK, "chuck": DARK, "bit": STEEL},
        mass_kg=0.25 + density(attributes) * builder.volume_m3,
    )
    return model("drill", [link], params, attributes)


CATEGORIES = (
    Category("hammer", ("wood", "plastic", "rubber"), _draw_hammer, _build_hammer),
    Category("screwdriver", ("plastic", "wood", "rubber"), _draw_screwdriver, _build_screwdriver),
    Category("wrench", ("steel",), _draw_wrench, _build_wrench),
    Category("scissors", ("plastic", "steel"), _draw_scissors, _build_scissors),
    Category("drill", ("plastic",), _draw_drill, _build_drill),
)
