"""What washes and brushes: toothbrush, brush, comb, sponge, soap dispenser, spray bottle."""

from __future__ import annotations

import numpy as np

from armwright.assets import solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._kit import (
    CREAM,
    DARK,
    Attributes,
    Category,
    Draw,
    Params,
    density,
    model,
    rgba,
    solid_box,
    solid_turned,
    surface,
)
from armwright.assets.categories._sweep import DRAWN_ON_M, add_loft, add_slab, along_x
from armwright.assets.model import ObjectModel


def _draw_toothbrush(draw: Draw) -> dict[str, float]:
    return {
        "handle_m": draw.size(0.135, 0.16),
        "width_m": draw.free(0.012, 0.015),
        "thickness_m": draw.free(0.008, 0.010),
        "head_m": draw.free(0.024, 0.032),
        "bristles_m": draw.free(0.010, 0.012),
    }


def _build_toothbrush(params: Params, attributes: Attributes) -> ObjectModel:
    handle, head = params["handle_m"], params["head_m"]
    half_y, half_z = 0.5 * params["width_m"], 0.5 * params["thickness_m"]
    x0 = -0.5 * (handle + head)
    builder = LinkBuilder()
    x = x0 + head + handle * np.array([-0.01, 0.16, 0.34, 0.7, 0.98, 1.0])
    wide = half_y * np.array([0.42, 0.42, 0.95, 1.0, 0.85, 0.6])
    tall = half_z * np.array([0.5, 0.5, 0.95, 1.0, 0.9, 0.7])
    add_loft(builder, "handle", along_x(x, wide, tall, square=True), stops=(0, 1, 2, 5))
    outline = solids.rounded_rectangle(0.5 * head, 0.0062, 0.004, per_corner=3)
    add_slab(builder, "head", outline, 0.0002, 0.9 * half_z, center_m=(x0 + 0.5 * head, 0.0))
    tuft = solids.rounded_rectangle(0.5 * head - 0.002, 0.0048, 0.003, per_corner=2)
    add_slab(builder, "bristles", tuft, 0.7 * half_z, 0.9 * half_z + params["bristles_m"],
             center_m=(x0 + 0.5 * head, 0.0))  # fmt: skip
    link = builder.link(colours={"*": rgba(attributes["colour"]), "bristles": CREAM}, density_kg_m3=density(attributes))
    return model("toothbrush", [link], params, attributes)


def _draw_brush(draw: Draw) -> dict[str, float]:
    return {
        "handle_m": draw.size(0.11, 0.14),
        "width_m": draw.free(0.020, 0.025),
        "thickness_m": draw.free(0.015, 0.019),
        "head_m": draw.size(0.075, 0.10),
        "head_width_m": draw.size(0.045, 0.060),
        "bristles_m": draw.free(0.015, 0.022),
    }


def _build_brush(params: Params, attributes: Attributes) -> ObjectModel:
    handle, head, bristles = params["handle_m"], params["head_m"], params["bristles_m"]
    half_y, half_z = 0.5 * params["width_m"], 0.5 * params["thickness_m"]
    x0 = -0.5 * (handle + head)
    builder = LinkBuilder()
    x = x0 + head + handle * np.array([-0.10, 0.08, 0.3, 0.65, 0.95, 1.0])
    wide = half_y * np.array([0.75, 0.62, 0.8, 1.0, 0.85, 0.55])
    tall = half_z * np.array([0.72, 0.72, 0.85, 1.0, 0.9, 0.6])
    add_loft(builder, "handle", along_x(x, wide, tall), stops=(0, 1, 2, 5))
    back = 0.010
    outline = solids.ellipse(0.5 * head, 0.5 * params["head_width_m"], points=16)
    center = (x0 + 0.5 * head, 0.0)
    loops = np.stack([solids.at_height(outline * s, z, center_m=center)
                      for s, z in ((0.9, 0.0), (1.0, 0.003), (1.0, back))])  # fmt: skip
    add_loft(builder, "head", loops, convex=True)
    loops = np.stack([solids.at_height(outline * s, z, center_m=center)
                      for s, z in ((0.82, back - 0.002), (0.88, back + bristles))])  # fmt: skip
    add_loft(builder, "bristles", loops, convex=True)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "bristles": DARK if attributes["colour"] != "black" else CREAM},
        density_kg_m3=0.8 * density(attributes),
    )
    return model("brush", [link], params, attributes)


def _draw_comb(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.14, 0.18),
        "spine_m": draw.free(0.011, 0.015),
        "tooth_m": draw.free(0.016, 0.022),
        "thickness_m": draw.free(0.0034, 0.0045),
        "teeth": float(round(draw.free(15.5, 22.5))),
    }


def _build_comb(params: Params, attributes: Attributes) -> ObjectModel:
    length, spine, tooth, thick = (params[k] for k in ("length_m", "spine_m", "tooth_m", "thickness_m"))
    builder = LinkBuilder()
    outline = solids.rounded_rectangle(0.5 * length, 0.5 * spine, 0.4 * spine, per_corner=3)
    add_slab(builder, "spine", outline, 0.0, thick, center_m=(0.0, 0.5 * tooth))
    count = int(params["teeth"])
    pitch = (length - 0.020) / (count - 1)
    reach_y = (0.5 * tooth - 0.4 * spine, -0.5 * (tooth + spine))
    for i in range(count):
        x = -0.5 * length + 0.010 + i * pitch
        half = 0.28 * pitch if 0 < i < count - 1 else 0.42 * pitch
        corners = np.array(
            [
                [x + sx * half * (1.0 if y > 0 else 0.55), y, z]
                for sx in (-1, 1)
                for y in reach_y
                for z in (3e-4, thick - 3e-4)
            ]
        )
        builder.add("teeth", solids.convex(corners))
    # Gaps of 4 mm between teeth are too small for anything to enter: four hulls stand for all of them.
    for low, high in zip(np.linspace(-0.5, 0.5, 5)[:-1], np.linspace(-0.5, 0.5, 5)[1:], strict=True):
        span = length - 0.014
        builder.collide(
            "teeth", [solids.box_corners([low * span, reach_y[1], 3e-4], [high * span, reach_y[0], thick - 3e-4])]
        )
    link = builder.link(colours={"*": rgba(attributes["colour"])}, density_kg_m3=density(attributes))
    return model("comb", [link], params, attributes)


def _draw_sponge(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.088, 0.115),
        "width_m": draw.size(0.055, 0.066),
        "height_m": draw.free(0.026, 0.034),
        "pad_m": draw.free(0.006, 0.009),
        "density_kg_m3": draw.free(90.0, 160.0),
    }


def _build_sponge(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, height, pad = 0.5 * params["length_m"], 0.5 * params["width_m"], params["height_m"], params["pad_m"]
    builder = LinkBuilder()
    solid_box(builder, "body", [-x, -y, 0.0], [x, y, height - pad + 0.001], bevel_m=0.003)
    solid_box(builder, "pad", [-x + 3e-4, -y + 3e-4, height - pad], [x - 3e-4, y - 3e-4, height])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "pad": rgba("green", shade=0.8)},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    top = surface("pad", (0, 0, height), x - 0.004, y - 0.004)
    return model("sponge", [link], params, attributes, supports=[top])


def _draw_dispenser(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.027, 0.0325),
        "height_m": draw.size(0.11, 0.15),
        "neck_radius_m": draw.free(0.011, 0.014),
        "stem_m": draw.free(0.020, 0.028),
        "nozzle_m": draw.free(0.034, 0.044),
        "fill": draw.free(0.35, 0.8),
    }


def _build_dispenser(params: Params, attributes: Attributes) -> ObjectModel:
    radius, height, neck = params["radius_m"], params["height_m"], params["neck_radius_m"]
    builder = LinkBuilder()
    profile = [
        [radius - 0.003, 0.0],
        [radius, 0.004],
        [radius, height - 0.018],
        [radius - 0.005, height - 0.005],
        [neck, height],
    ]
    solid_turned(builder, "body", profile)
    label = radius + DRAWN_ON_M
    builder.add(
        "label",
        solids.lathe(
            [[0.01, 0.2 * height], [label, 0.2 * height], [label, 0.7 * height], [0.01, 0.7 * height]], segments=24
        ),
    )
    volume = builder.volume_m3
    solid_turned(builder, "collar", [[neck + 0.002, height - 0.001], [neck + 0.002, height + 0.013]], segments=16)
    top = height + 0.013 + params["stem_m"]
    solid_turned(builder, "pump", [[0.0042, height + 0.012], [0.0042, top]], segments=12)
    solid_turned(builder, "pump", [[0.0115, top - 0.001], [0.0125, top + 0.004], [0.0105, top + 0.010]], segments=16)
    x = np.array([-params["nozzle_m"], -params["nozzle_m"] + 0.008, -0.004])
    spout = along_x(
        x, [0.0034, 0.0042, 0.0055], [0.003, 0.0036, 0.0042], z_m=top + np.array([0.0005, 0.004, 0.005]), points=10
    )
    add_loft(builder, "nozzle", spout)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "label": CREAM, "pump": DARK, "collar": DARK, "nozzle": DARK},
        mass_kg=0.045 + 1000.0 * params["fill"] * volume,
    )
    return model("soap_dispenser", [link], params, attributes)


def _draw_spray(draw: Draw) -> dict[str, float]:
    return {
        "half_depth_m": draw.size(0.036, 0.044),
        "half_width_m": draw.size(0.024, 0.031),
        "height_m": draw.size(0.13, 0.165),
        "neck_m": draw.free(0.045, 0.055),
        "neck_radius_m": draw.free(0.0135, 0.0165),
        "head_m": draw.free(0.075, 0.09),
        "fill": draw.free(0.3, 0.7),
    }


def _build_spray(params: Params, attributes: Attributes) -> ObjectModel:
    deep, wide, height, neck = (params[k] for k in ("half_depth_m", "half_width_m", "height_m", "neck_m"))
    round_m = params["neck_radius_m"]
    builder = LinkBuilder()
    steps = ((0.93, 0.0), (1.0, 0.005), (1.0, 0.72 * height), (0.86, 0.88 * height), (0.55, height))
    loops = np.stack([solids.at_height(solids.ellipse(deep * s, wide * s, points=20), z) for s, z in steps])
    add_loft(builder, "body", loops, convex=True)
    volume = builder.volume_m3
    top = height + neck
    rises = ((1.0, height - 0.006), (0.94, height + 0.4 * neck), (1.0, top + 0.004))
    loops = np.stack([solids.at_height(solids.ellipse(round_m * s, round_m * s, points=14), z) for s, z in rises])
    add_loft(builder, "neck", loops)
    back = 0.028
    front = back - params["head_m"]
    high = top + 0.026
    stations = ((back, top + 0.004, 0.011), (back - 0.02, top, 0.0145), (front + 0.012, top + 0.006, 0.012))
    head = np.array(
        [[x, y, z] for x, low, half in stations for y in (-half, half) for z in (low, high - 0.004 * (x == back))]
    )
    builder.add("head", solids.convex(head), hulls=[head])
    tip = solids.cylinder_loops([front + 0.014, 0, high - 0.010], [front, 0, high - 0.010], 0.0085, segments=12)
    builder.add("nozzle", solids.loft(tip), hulls=[tip.reshape(-1, 3)])
    path = np.array(
        [[-round_m - 0.012, 0, top + 0.012], [-round_m - 0.019, 0, top - 0.018], [-round_m - 0.014, 0, top - 0.036]]
    )
    rings = solids.rings_along(path, solids.rounded_rectangle(0.006, 0.0026, 0.002, per_corner=2), side=(0, 1, 0))
    add_loft(builder, "trigger", rings)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "head": rgba("grey", shade=1.5), "trigger": DARK, "nozzle": DARK},
        mass_kg=0.06 + 1000.0 * params["fill"] * volume,
    )
    return model("spray_bottle", [link], params, attributes)


CATEGORIES = (
    Category("toothbrush", ("plastic", "bamboo", "wood"), _draw_toothbrush, _build_toothbrush),
    Category("brush", ("plastic", "wood"), _draw_brush, _build_brush),
    Category("comb", ("plastic", "wood"), _draw_comb, _build_comb),
    Category("sponge", ("rubber",), _draw_sponge, _build_sponge),
    Category("soap_dispenser", ("plastic", "glass", "ceramic"), _draw_dispenser, _build_dispenser),
    Category("spray_bottle", ("plastic",), _draw_spray, _build_spray),
)
