"""Furniture that stands fixed: shelf, mug rack, cabinet with drawers."""

from __future__ import annotations

from armwright.assets.build import LinkBuilder
from armwright.assets.categories._kit import (
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
from armwright.assets.model import ObjectModel

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


CATEGORIES = (Category("shelf", ("wood", "metal", "plastic"), _draw_shelf, _build_shelf),)
