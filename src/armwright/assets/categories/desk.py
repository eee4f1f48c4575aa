"""Things on a desk: pen, marker, stapler, tape, book, phone, remote control, computer mouse."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._kit import (
    CREAM,
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
    surface,
)
from armwright.assets.categories._sweep import DRAWN_ON_M, add_loft, along_x
from armwright.assets.model import ObjectModel


def _draw_pen(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.125, 0.15),
        "radius_m": draw.size(0.0045, 0.006),
        "tip_m": draw.free(0.012, 0.018),
        "clip_m": draw.free(0.035, 0.045),
    }


def _build_pen(params: Params, attributes: Attributes) -> ObjectModel:
    length, radius, tip = params["length_m"], params["radius_m"], params["tip_m"]
    left, right = -0.5 * length, 0.5 * length
    axis_z = radius * np.cos(np.pi / 12)
    builder = LinkBuilder()
    x = np.array([left + tip, right - 0.003, right])
    r = radius * np.array([1.0, 1.0, 0.75])
    add_loft(builder, "body", along_x(x, r, r, z_m=axis_z), convex=True)
    x = np.array([left, left + 0.003, left + tip + 0.001])
    r = radius * np.array([0.14, 0.26, 0.96])
    add_loft(builder, "tip", along_x(x, r, r, z_m=axis_z), convex=True)
    top = axis_z + 0.95 * radius
    start = right - 0.006 - params["clip_m"]
    solid_box(builder, "clip", [start, -0.0016, top - 0.001], [right - 0.006, 0.0016, top + 0.0022])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "tip": STEEL, "clip": STEEL},
        density_kg_m3=1.05 * density(attributes),
    )
    return model("pen", [link], params, attributes)


def _draw_marker(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.115, 0.14),
        "radius_m": draw.size(0.0072, 0.0095),
        "cap": draw.free(0.30, 0.40),
    }


def _build_marker(params: Params, attributes: Attributes) -> ObjectModel:
    length, radius = params["length_m"], params["radius_m"]
    left, right = -0.5 * length, 0.5 * length
    split = left + params["cap"] * length
    builder = LinkBuilder()
    x = np.array([split - 0.002, right - 0.003, right])
    r = radius * np.array([0.93, 1.0, 0.85])
    add_loft(builder, "body", along_x(x, r, r), convex=True)
    x = np.array([left, left + 0.002, split])
    r = radius * np.array([0.8, 1.0, 1.05])
    add_loft(builder, "cap", along_x(x, r, r), convex=True)
    link = builder.link(
        colours={"*": CREAM if attributes["material"] == "plastic" else STEEL, "cap": rgba(attributes["colour"]),
                 "body": rgba(attributes["colour"], shade=1.15)},
        density_kg_m3=0.75 * density(attributes),
    )  # fmt: skip
    return model("marker", [link], params, attributes)


def _draw_stapler(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.12, 0.15),
        "width_m": draw.free(0.030, 0.038),
        "base_m": draw.free(0.010, 0.013),
        "arm_m": draw.free(0.019, 0.024),
        "rise_m": draw.free(0.010, 0.015),
    }


def _build_stapler(params: Params, attributes: Attributes) -> ObjectModel:
    half, width, base = 0.5 * params["length_m"], 0.5 * params["width_m"], params["base_m"]
    arm, rise = params["arm_m"], params["rise_m"]
    builder = LinkBuilder()
    solid_box(builder, "base", [-half, -width, 0.0], [half, width, base], bevel_m=0.002)
    solid_box(builder, "hinge", [half - 0.034, -0.75 * width, base - 0.003], [half - 0.006, 0.75 * width, base + 0.02])
    # The arm stands open over the anvil and meets the base at the hinge.
    x = np.array([-half + 0.004, -half + 0.012, 0.4 * half, half - 0.002])
    half_z = 0.5 * arm * np.array([0.7, 0.95, 1.0, 0.85])
    middle = base + np.array([rise + 0.006, rise + 0.004, 0.35 * rise + 0.001, -0.001]) + 0.5 * arm
    body = along_x(x, 0.8 * width * np.array([0.8, 0.95, 1.0, 0.95]), half_z, z_m=middle, square=True)
    add_loft(builder, "arm", body, stops=(0, 2, 3))
    magazine = along_x(x[1:3], 0.55 * width, 0.004, z_m=middle[1:3] - half_z[1:3] - 0.001, square=True)
    add_loft(builder, "magazine", magazine)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "base": DARK, "magazine": STEEL, "hinge": STEEL},
        mass_kg=0.05 + 1500.0 * builder.volume_m3,
    )
    return model("stapler", [link], params, attributes)


def _draw_tape(draw: Draw) -> dict[str, float]:
    outer = draw.size(0.026, 0.0325)
    return {
        "radius_m": outer,
        "core_m": outer * draw.free(0.56, 0.66),
        "width_m": draw.free(0.018, 0.046),
    }


def _build_tape(params: Params, attributes: Attributes) -> ObjectModel:
    outer, core, width = params["radius_m"], params["core_m"], params["width_m"]
    edge = 0.0006
    builder = LinkBuilder()
    section = np.array(
        [[core, 0.0], [outer - edge, 0.0], [outer, edge], [outer, width - edge], [outer - edge, width], [core, width]]
    )
    builder.add("body", solids.lathe([[0, 0], *section[1:5], [0, width]]))
    builder.cut("core", solids.cylinder([0, 0, -0.01], [0, 0, width + 0.01], core, segments=32))
    builder.collide("body", hulls.turned_ring(section, segments=14))
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "core": rgba("brown", shade=1.4)}, mass_kg=950.0 * builder.volume_m3
    )
    return model("tape", [link], params, attributes)


def _draw_book(draw: Draw) -> dict[str, float]:
    return {
        "height_m": draw.size(0.18, 0.24),
        "width_m": draw.size(0.12, 0.165),
        "thickness_m": draw.free(0.018, 0.038),
        "cover_m": draw.free(0.0022, 0.003),
    }


def _build_book(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, thick, cover = 0.5 * params["width_m"], 0.5 * params["height_m"], params["thickness_m"], params["cover_m"]
    inset = 0.004
    builder = LinkBuilder()
    solid_box(builder, "cover", [-x, -y, 0.0], [x, y, cover])
    builder.add("pages", solids.box([-x + inset, -y + inset, cover / 2], [x - inset, y - inset, thick - cover / 2]))
    builder.collide(
        "pages", [solids.box_corners([-x + inset, -y + inset, cover], [x - inset, y - inset, thick - cover])]
    )
    solid_box(builder, "top", [-x, -y, thick - cover], [x, y, thick])
    spine = [x - cover, -y + 2e-4, 1e-4], [x + 0.0015, y - 2e-4, thick - 1e-4]
    solid_box(builder, "spine", *spine)
    link = builder.link(colours={"*": rgba(attributes["colour"]), "pages": CREAM}, density_kg_m3=density(attributes))
    top = surface("top", (0, 0, thick), x - 0.005, y - 0.005)
    return model("book", [link], params, attributes, supports=[top])


def _draw_phone(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.138, 0.158),
        "width_m": draw.size(0.062, 0.0685),
        "thickness_m": draw.free(0.0085, 0.0115),
        "corner_m": draw.free(0.006, 0.011),
    }


def _build_phone(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, thick = 0.5 * params["length_m"], 0.5 * params["width_m"], params["thickness_m"]
    builder = LinkBuilder()
    outline = solids.rounded_rectangle(x, y, params["corner_m"], per_corner=3)
    inner = solids.rounded_rectangle(x - 0.001, y - 0.001, params["corner_m"], per_corner=3)
    loops = np.stack(
        [
            solids.at_height(o, z)
            for o, z in ((inner, 0.0), (outline, 0.0012), (outline, thick - 0.0012), (inner, thick))
        ]
    )
    add_loft(builder, "body", loops, convex=True)
    glass = solids.rounded_rectangle(x - 0.004, y - 0.0035, params["corner_m"], per_corner=3)
    loops = np.stack([solids.at_height(glass, z) for z in (thick - 0.001, thick + DRAWN_ON_M)])
    builder.add("screen", solids.loft(loops))
    solid_box(builder, "button", [0.25 * x, y - 0.001, 0.38 * thick], [0.25 * x + 0.012, y + 0.0009, 0.62 * thick])
    for at in (0.5, 0.62):
        solid_box(builder, "button", [at * x, -y - 0.0009, 0.38 * thick], [at * x + 0.006, -y + 0.001, 0.62 * thick])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "screen": DARK, "button": rgba(attributes["colour"], shade=0.7)},
        mass_kg=1900.0 * builder.volume_m3,
    )
    top = surface("screen", (0, 0, thick + DRAWN_ON_M), x - 0.008, y - 0.007)
    return model("phone", [link], params, attributes, supports=[top])


def _draw_remote(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.15, 0.20),
        "width_m": draw.size(0.040, 0.050),
        "thickness_m": draw.free(0.016, 0.021),
        "rows": float(round(draw.free(3.5, 6.5))),
    }


def _build_remote(params: Params, attributes: Attributes) -> ObjectModel:
    length, half, thick, rows = params["length_m"], 0.5 * params["width_m"], params["thickness_m"], int(params["rows"])
    builder = LinkBuilder()
    x = 0.5 * length * np.array([-1.0, -0.97, 0.9, 1.0])
    half_z = 0.5 * thick * np.array([0.8, 1.0, 1.0, 0.7])
    body = along_x(x, half * np.array([0.9, 1.0, 0.95, 0.8]), half_z, square=True)
    add_loft(builder, "body", body, convex=True)
    pitch = 0.55 * length / rows
    start = -0.42 * length
    for row in range(rows):
        for column in (-1, 0, 1):
            middle = np.array([start + row * pitch, 0.52 * half * column])
            builder.add("button", solids.box([*(middle - 0.0042), thick - 0.002], [*(middle + 0.0042), thick + 0.0014]))
        low = [start + row * pitch - 0.0042, -0.52 * half - 0.0042, thick - 0.002]
        high = [start + row * pitch + 0.0042, 0.52 * half + 0.0042, thick + 0.0014]
        builder.collide("button", [solids.box_corners(low, high)])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "button": rgba("grey", shade=1.4)},
        mass_kg=0.8 * density(attributes) * builder.volume_m3,
    )
    return model("remote_control", [link], params, attributes)


def _draw_mouse(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.095, 0.118),
        "width_m": draw.size(0.054, 0.064),
        "height_m": draw.free(0.034, 0.041),
        "hump": draw.free(0.05, 0.18),
    }


def _build_mouse(params: Params, attributes: Attributes) -> ObjectModel:
    length, half, height = params["length_m"], 0.5 * params["width_m"], params["height_m"]

    def dome(spare_m: float) -> np.ndarray:
        share = np.array([0.0, 0.12, 0.45, 0.75, 0.92, 1.0])
        scale = np.array([0.96, 1.0, 0.94, 0.74, 0.48, 0.2])
        outline = solids.ellipse(0.5 * length + spare_m, half + spare_m, points=20)
        return np.stack(
            [
                solids.at_height(s * outline, h * (height + spare_m), center_m=(params["hump"] * h * 0.5 * length, 0.0))
                for s, h in zip(scale, share, strict=True)
            ]
        )

    builder = LinkBuilder()
    add_loft(builder, "body", dome(0.0), convex=True)
    keys = solids.loft(dome(DRAWN_ON_M))
    front = -0.06 * length
    for low, high in ((-1.0, -0.0012), (0.0012, 1.0)):
        builder.add("button", keys ^ solids.box([-1.0, low, 0.45 * height], [front, high, 1.0]))
    wheel_x = -0.28 * length
    above = 0.80 * height
    wheel = solids.cylinder_loops([wheel_x, -0.003, above - 0.002], [wheel_x, 0.003, above - 0.002], 0.008, segments=14)
    builder.add("wheel", solids.loft(wheel), hulls=[wheel.reshape(-1, 3)])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "button": rgba(attributes["colour"], shade=1.15), "wheel": DARK},
        mass_kg=0.9 * density(attributes) * builder.volume_m3,
    )
    return model("computer_mouse", [link], params, attributes)


CATEGORIES = (
    Category("pen", ("plastic", "metal"), _draw_pen, _build_pen),
    Category("marker", ("plastic",), _draw_marker, _build_marker),
    Category("stapler", ("plastic", "metal"), _draw_stapler, _build_stapler),
    Category("tape", ("plastic", "paper"), _draw_tape, _build_tape),
    Category("book", ("paper",), _draw_book, _build_book),
    Category("phone", ("plastic", "metal", "glass"), _draw_phone, _build_phone),
    Category("remote_control", ("plastic",), _draw_remote, _build_remote),
    Category("computer_mouse", ("plastic",), _draw_mouse, _build_mouse),
)
