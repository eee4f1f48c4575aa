"""Packaged goods and other things that stand or lie closed: can, bottle, box, carton, tube."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.assets.categories._hollow import between
from armwright.assets.categories._kit import (
    CREAM,
    STEEL,
    Attributes,
    Category,
    Draw,
    Params,
    model,
    rgba,
    round_surface,
    solid_box,
    solid_turned,
    surface,
)
from armwright.assets.model import ObjectModel

_PRINT_M = 2.5e-4
"""How far a label stands out of what it is glued to."""


def _draw_can(draw: Draw) -> dict[str, float]:
    return {
        "radius_m": draw.size(0.0295, 0.0322),
        "height_m": draw.size(0.088, 0.108),
        "density_kg_m3": draw.free(980.0, 1100.0),
    }


def _build_can(params: Params, attributes: Attributes) -> ObjectModel:
    radius, height = params["radius_m"], params["height_m"]
    seam, seam_height = 0.0007, 0.0032
    builder = LinkBuilder()
    builder.add("seam", solids.lathe([[0.0, 0.0], [radius, 0], [radius, height], [0, height]]))
    body = hulls.turned([[radius, 0], [radius, height]], segments=24)
    low, high = seam_height + 0.003, height - seam_height - 0.003
    label = radius + _PRINT_M
    builder.add("body", solids.lathe([[0, low], [label, low], [label, high], [0, high]]), hulls=[body])
    for z in (0.0, height - seam_height):
        edge = [
            [0.004, z],
            [radius, z],
            [radius + seam, z + 0.0008],
            [radius + seam, z + seam_height - 0.0008],
            [radius, z + seam_height],
            [0.004, z + seam_height],
        ]
        builder.add("seam", solids.lathe(edge))
    recess = 0.0015
    builder.cut(
        "top",
        solids.lathe(
            [
                [0, height - recess],
                [radius - 0.002, height - recess],
                [radius - 0.002, height + 0.01],
                [0, height + 0.01],
            ]
        ),
    )
    link = builder.link(
        colours={"body": rgba(attributes["colour"]), "*": STEEL},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    # What stands on a can stands on its seam.
    return model("can", [link], params, attributes, supports=[round_surface("top", height, radius)])


def _draw_bottle(draw: Draw) -> dict[str, float]:
    radius = draw.size(0.0275, 0.0325)
    height = draw.size(0.165, 0.215)
    return {
        "radius_m": radius,
        "height_m": height,
        "shoulder_m": height * draw.free(0.62, 0.7),
        "neck_radius_m": draw.free(0.0115, 0.0135),
        "cap_height_m": draw.free(0.018, 0.024),
        "fill": draw.free(0.35, 0.75),
    }


def _build_bottle(params: Params, attributes: Attributes) -> ObjectModel:
    radius, height, shoulder = params["radius_m"], params["height_m"], params["shoulder_m"]
    neck, cap_height = params["neck_radius_m"], params["cap_height_m"]
    cap_z = height - cap_height
    angle = np.radians([0, 30, 60, 85])
    arch = np.column_stack(
        [neck + (radius - neck) * np.cos(angle), shoulder + (cap_z - 0.006 - shoulder) * np.sin(angle)]
    )
    body = np.array([[radius - 0.003, 0.0], [radius, 0.004], *arch, [neck, cap_z + 0.001]])
    builder = LinkBuilder()
    bend = float(arch[-1, 1])
    builder.add(
        "body",
        solids.lathe([[0.0, 0.0], *body, [0, cap_z + 0.001]]),
        hulls=[
            hulls.turned(between(body, 0.0, bend), segments=20),
            hulls.turned([[neck, bend - 0.004], [neck, cap_z]], segments=12),
        ],
    )
    label = radius + _PRINT_M
    low, high = 0.16 * shoulder, 0.86 * shoulder
    builder.add("label", solids.lathe([[0.01, low], [label, low], [label, high], [0.01, high]]))
    solid_turned(
        builder, "cap", [[neck + 0.0025, cap_z], [neck + 0.0025, height - 0.0015], [neck + 0.001, height]], segments=20
    )
    link = builder.link(
        colours={"body": rgba(attributes["colour"]), "label": CREAM, "cap": rgba(attributes["colour"], shade=0.55)},
        mass_kg=0.03 + 1000.0 * params["fill"] * builder.volume_m3,
    )
    return model("bottle", [link], params, attributes)


def _draw_box(draw: Draw) -> dict[str, float]:
    return {
        "depth_m": draw.size(0.046, 0.064),
        "width_m": draw.size(0.075, 0.115),
        "height_m": draw.size(0.105, 0.155),
        "density_kg_m3": draw.free(260.0, 420.0),
    }


def _build_box(params: Params, attributes: Attributes) -> ObjectModel:
    x, y, z = params["depth_m"] / 2, params["width_m"] / 2, params["height_m"]
    builder = LinkBuilder()
    outline = solids.rounded_rectangle(x, y, 0.0015, per_corner=2)
    builder.add(
        "body",
        solids.loft([solids.at_height(outline, 0.0), solids.at_height(outline, z + 0.001)]),
        hulls=[np.concatenate([solids.at_height(outline, 0.0), solids.at_height(outline, z)])],
    )
    for sign in (-1.0, 1.0):
        ends = sorted((sign * (x - 0.002), sign * (x + _PRINT_M)))
        builder.add("label", solids.box([ends[0], -0.72 * y, 0.35 * z], [ends[1], 0.72 * y, 0.82 * z]))
    builder.cut("top", solids.box([-1, -1, z], [1, 1, z + 0.01]))
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "label": CREAM, "top": rgba(attributes["colour"], shade=1.15)},
        mass_kg=params["density_kg_m3"] * builder.volume_m3,
    )
    return model("box", [link], params, attributes, supports=[surface("top", (0, 0, z), x - 0.001, y - 0.001)])


def _draw_carton(draw: Draw) -> dict[str, float]:
    return {
        "side_m": draw.size(0.054, 0.064),
        "height_m": draw.size(0.115, 0.145),
        "gable_m": draw.free(0.026, 0.034),
        "fill": draw.free(0.4, 0.7),
    }


def _build_carton(params: Params, attributes: Attributes) -> ObjectModel:
    half, height, gable = params["side_m"] / 2, params["height_m"], params["gable_m"]
    ridge, fin = height + gable, 0.014
    outline = solids.rounded_rectangle(half, half, 0.002, per_corner=2)
    eaves = [solids.at_height(outline, 0.0), solids.at_height(outline, height)]
    builder = LinkBuilder()
    builder.add("body", solids.loft(eaves))
    roof = np.array(
        [[sx * half, sy * half, height] for sx in (-1, 1) for sy in (-1, 1)]
        + [[sx * 0.0012, sy * half, ridge] for sx in (-1, 1) for sy in (-1, 1)]
    )
    # The roof reaches into the body, so that the two share an edge and no face.
    keel = np.array([[sx * (half - 0.003), sy * (half - 0.003), height - 0.003] for sx in (-1, 1) for sy in (-1, 1)])
    builder.add("gable", solids.convex(np.concatenate([roof, keel])))
    builder.collide("body", [np.concatenate([*eaves, roof[4:]])])
    solid_box(builder, "gable", [-0.0012, -half, ridge - 0.002], [0.0012, half, ridge + fin])
    slope = np.array([-gable, 0.0, half]) / np.hypot(gable, half)
    foot = np.array([-half * 0.5, 0.0, height + gable * 0.5])
    cap = solids.cylinder_loops(foot - 0.004 * slope, foot + 0.011 * slope, 0.0125, segments=20)
    builder.add("spout", solids.loft(cap), hulls=[cap.reshape(-1, 3)])
    band = half + _PRINT_M
    builder.add("label", solids.box([-band, -half * 0.8, 0.2 * height], [band, half * 0.8, 0.78 * height]))
    link = builder.link(
        colours={
            "body": rgba(attributes["colour"]),
            "gable": rgba(attributes["colour"], shade=0.85),
            "label": CREAM if attributes["colour"] != "white" else rgba("blue"),
            "spout": CREAM if attributes["colour"] != "white" else rgba("red"),
        },
        mass_kg=0.02 + 1030.0 * params["fill"] * builder.volume_m3,
    )
    return model("carton", [link], params, attributes)


def _draw_tube(draw: Draw) -> dict[str, float]:
    return {
        "length_m": draw.size(0.115, 0.15),
        "head_radius_m": draw.size(0.0155, 0.019),
        "tail_half_m": draw.free(0.019, 0.024),
        "cap_length_m": draw.free(0.02, 0.028),
        "cap_radius_m": draw.free(0.011, 0.0135),
        "fill": draw.free(0.6, 1.0),
    }


def _build_tube(params: Params, attributes: Attributes) -> ObjectModel:
    length, head, tail = params["length_m"], params["head_radius_m"], params["tail_half_m"]
    cap_length, cap_radius = params["cap_length_m"], params["cap_radius_m"]
    x_tail, x_head = -length / 2, length / 2 - cap_length
    loops = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        half_width, half_height = tail + (head - tail) * share, 0.0015 + (head - 0.0015) * share
        ring = solids.ellipse(half_width, half_height, points=16, phase=0.5)
        # The lowest facet lies on the table all along, as a lying tube's does.
        z = ring[:, 1] - ring[:, 1].min()
        loops.append(np.column_stack([np.full(len(ring), x_tail + share * (x_head - x_tail)), ring[:, 0], z]))
    body = np.stack(loops)
    builder = LinkBuilder()
    builder.add("body", solids.loft(body), hulls=[body[[0, -1]].reshape(-1, 3)])
    axis_z = float(body[-1, :, 2].mean())
    cap = solids.cylinder_loops(
        [x_head - 0.003, 0, axis_z], [length / 2, 0, axis_z], cap_radius, end_radius_m=0.9 * cap_radius, segments=16
    )
    builder.add("cap", solids.loft(cap), hulls=[cap.reshape(-1, 3)])
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "cap": rgba("blue" if attributes["colour"] == "white" else "white")},
        mass_kg=0.015 + 1200.0 * params["fill"] * builder.volume_m3,
    )
    return model("tube", [link], params, attributes)


CATEGORIES = (
    Category("can", ("steel",), _draw_can, _build_can),
    Category("bottle", ("plastic", "glass"), _draw_bottle, _build_bottle),
    Category("box", ("cardboard",), _draw_box, _build_box),
    Category("carton", ("cardboard",), _draw_carton, _build_carton),
    Category("tube", ("plastic",), _draw_tube, _build_tube),
)
