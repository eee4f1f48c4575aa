"""Turned vessels without a lid: mug, cup, paper cup, bowl."""

from __future__ import annotations

import numpy as np

from armwright.assets.build import LinkBuilder
from armwright.assets.categories._hollow import Hollow, offset_profile
from armwright.assets.categories._kit import (
    CREAM,
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
)
from armwright.assets.model import ObjectModel

FINGER_GAP_M = 0.025
"""Free depth between body and handle bar: a finger pad with its finger behind it is 10 to 14 mm thick."""
FINGER_WIDTH_M = 0.046
"""Free height inside a handle: a finger is 20 to 25 mm wide and comes at an angle."""


def _tumbler(
    *, base_m: float, top_m: float, bulge_m: float, height_m: float, wall_m: float, floor_m: float, rim_m: float
) -> Hollow:
    """Return a nearly straight vessel; ``bulge_m`` swells its middle."""
    foot, lip = 0.003, 0.35 * wall_m
    middle = 0.5 * (base_m + top_m) + bulge_m
    outer = [[base_m - foot, 0.0], [base_m, foot]]
    if bulge_m > 2e-4:
        outer.append([middle, 0.5 * height_m])
    outer += [[top_m, height_m - lip], [top_m - lip, height_m]]
    inner_base = float(np.interp(floor_m, [0.0, height_m / 2, height_m], [base_m, middle, top_m])) - wall_m
    inner = [[inner_base - foot, floor_m], [inner_base, floor_m + foot]]
    if bulge_m > 2e-4:
        inner.append([middle - wall_m, 0.5 * height_m])
    inner += [[top_m - wall_m, height_m - lip], [top_m - wall_m + lip, height_m]]
    return Hollow(np.array(outer), np.array(inner), height_m - rim_m)


def _draw_mug(draw: Draw) -> dict[str, float]:
    height = draw.size(0.086, 0.104)
    top = draw.size(0.037, 0.043)
    return {
        "height_m": height,
        "top_radius_m": top,
        "base_radius_m": top * draw.free(0.86, 1.0),
        "bulge_m": max(0.0, draw.free(-0.002, 0.002)),
        "wall_m": draw.free(0.0036, 0.005),
        "floor_m": draw.free(0.005, 0.007),
        "handle_gap_m": draw.free(FINGER_GAP_M + 0.002, 0.032),
        "handle_hole_m": min(draw.free(FINGER_WIDTH_M + 0.002, 0.058), height - 0.034),
        "handle_thickness_m": draw.free(0.008, 0.010),
        "handle_width_m": draw.free(0.011, 0.015),
    }


def _build_mug(params: Params, attributes: Attributes) -> ObjectModel:
    p = params
    shape = _tumbler(
        base_m=p["base_radius_m"],
        top_m=p["top_radius_m"],
        bulge_m=p["bulge_m"],
        height_m=p["height_m"],
        wall_m=p["wall_m"],
        floor_m=p["floor_m"],
        rim_m=0.014,
    )
    builder = LinkBuilder()
    shape.add(builder)
    thickness = p["handle_thickness_m"]
    low = 0.5 * (p["height_m"] - p["handle_hole_m"] - thickness) + 0.001
    high = low + p["handle_hole_m"] + thickness
    sunk = 0.6 * p["wall_m"]
    ends = [np.array([shape.radius(z) - sunk, 0.0, z]) for z in (low, high)]
    widest = max(shape.radius(z) for z in np.linspace(low, high, 5))
    reach = widest + p["handle_gap_m"] + thickness / 2 - max(end[0] for end in ends)
    path, stops = loop_path(ends[0], ends[1], (1.0, 0.0, 0.0), reach, 0.014)
    bar(builder, "handle", path, stops, side=(0, 1, 0), width_m=p["handle_width_m"], thickness_m=thickness)
    shape.cut(builder)
    shape.collide(builder)
    colour = attributes["colour"]
    link = builder.link(
        colours={"*": rgba(colour), "interior": CREAM if colour != "black" else rgba(colour)},
        density_kg_m3=density(attributes),
    )
    inside = round_container(shape.floor_z_m, shape.top_z_m, float(shape.inner[0, 0]))
    return model("mug", [link], params, attributes, containers=[inside])


def _draw_cup(draw: Draw) -> dict[str, float]:
    top = draw.size(0.0295, 0.0328)
    return {
        "height_m": draw.size(0.085, 0.115),
        "top_radius_m": top,
        "base_radius_m": top * draw.free(0.84, 0.96),
        "bulge_m": max(0.0, draw.free(-0.001, 0.0012)),
        "wall_m": draw.free(0.0024, 0.0034),
        "floor_m": draw.free(0.006, 0.009),
    }


def _build_cup(params: Params, attributes: Attributes) -> ObjectModel:
    shape = _tumbler(
        base_m=params["base_radius_m"],
        top_m=params["top_radius_m"],
        bulge_m=params["bulge_m"],
        height_m=params["height_m"],
        wall_m=params["wall_m"],
        floor_m=params["floor_m"],
        rim_m=0.014,
    )
    builder = LinkBuilder()
    shape.add(builder)
    shape.cut(builder)
    shape.collide(builder, segments=10)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": rgba(attributes["colour"], shade=1.25)},
        density_kg_m3=density(attributes),
    )
    inside = round_container(shape.floor_z_m, shape.top_z_m, float(shape.inner[0, 0]))
    return model("cup", [link], params, attributes, containers=[inside])


PAPER_CUP_KG_PER_M2 = 0.9
"""Board, lining and a rest of drink, per square metre of wall: an empty board cup alone weighs 10 g."""


def _draw_paper_cup(draw: Draw) -> dict[str, float]:
    return {
        "height_m": draw.size(0.085, 0.115),
        "top_radius_m": draw.size(0.0345, 0.038),
        "base_radius_m": draw.size(0.0255, 0.0285),
        "wall_m": 0.0016,
        "lip_m": draw.free(0.0012, 0.0018),
    }


def _build_paper_cup(params: Params, attributes: Attributes) -> ObjectModel:
    base, top, height, wall = (params[k] for k in ("base_radius_m", "top_radius_m", "height_m", "wall_m"))
    lip, floor = params["lip_m"], 0.005
    rim_z = height - 0.012
    outer = np.array(
        [
            [base, 0.0],
            [top - lip, height - 2.6 * lip],
            [top, height - 1.9 * lip],
            [top, height - 0.6 * lip],
            [top - lip, height],
        ]
    )
    inner_floor = base + (top - base) * floor / height - wall
    inner = np.array([[inner_floor, floor], [top - lip - wall, height]])
    shape = Hollow(outer, inner, rim_z, bevel=0)
    builder = LinkBuilder()
    shape.add(builder)
    shape.cut(builder)
    # A 1.6 mm wall lets a fast finger pass between two steps: the wedges are 1.5 mm thicker on the inside.
    thicker = Hollow(outer, inner - [0.0015, 0.0], rim_z, bevel=0)
    thicker.collide(builder, segments=10)
    colour = attributes["colour"]
    link = builder.link(
        colours={"*": rgba(colour), "rim": CREAM, "interior": CREAM},
        mass_kg=PAPER_CUP_KG_PER_M2 * np.pi * (base + top) * height,
    )
    inside = round_container(floor, height, inner_floor - 0.003)
    return model("paper_cup", [link], params, attributes, containers=[inside])


def _draw_bowl(draw: Draw) -> dict[str, float]:
    rim = draw.size(0.072, 0.087)
    return {
        "rim_radius_m": rim,
        "foot_radius_m": rim * draw.free(0.44, 0.54),
        "height_m": draw.size(0.052, 0.068),
        "wall_m": draw.free(0.0038, 0.0046),
        "floor_m": draw.free(0.005, 0.006),
    }


def _build_bowl(params: Params, attributes: Attributes) -> ObjectModel:
    rim, foot, height, wall = (params[k] for k in ("rim_radius_m", "foot_radius_m", "height_m", "wall_m"))
    floor, lip = params["floor_m"], 0.3 * params["wall_m"]
    # A quarter ellipse, so that the wall stands upright at the rim, where fingers take it.
    angle = np.radians([0, 20, 38, 55, 72, 90])
    curve = np.column_stack([foot + (rim - foot) * np.sin(angle), 0.003 + (height - lip - 0.003) * (1 - np.cos(angle))])
    outer = np.array([[foot - 0.001, 0.0], *curve, [rim - lip, height]])
    inside = offset_profile(curve, wall)
    inside = inside[inside[:, 1] > floor + 0.002]
    start = max(float(inside[0, 0]) - 0.012, 0.5 * foot)
    inner = np.array([[start, floor], *inside[:-1], [rim - wall, height - lip], [rim - wall + lip, height]])
    shape = Hollow(outer, inner, height - 0.024, bevel=0)
    builder = LinkBuilder()
    shape.add(builder)
    shape.cut(builder)
    bands = [float(curve[2, 1]), shape.rim_z_m]
    shape.collide(builder, bands_m=bands, segments=11)
    link = builder.link(
        colours={"*": rgba(attributes["colour"]), "interior": rgba(attributes["colour"], shade=1.3)},
        density_kg_m3=density(attributes),
    )
    return model("bowl", [link], params, attributes, containers=[round_container(floor, height, start)])


CATEGORIES = (
    Category("mug", ("ceramic", "metal", "plastic"), _draw_mug, _build_mug),
    Category("cup", ("plastic", "glass", "ceramic", "metal"), _draw_cup, _build_cup),
    Category("paper_cup", ("paper",), _draw_paper_cup, _build_paper_cup),
    Category("bowl", ("ceramic", "plastic", "wood", "metal", "glass"), _draw_bowl, _build_bowl),
)
