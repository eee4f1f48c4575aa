"""Flared open troughs with straight sides: trays, baskets, boxes, bags."""

from __future__ import annotations

import numpy as np

from armwright.assets import hulls, solids
from armwright.assets.build import LinkBuilder
from armwright.core.pose import Array


def add_trough(
    builder: LinkBuilder,
    *,
    foot_m: Array,
    brim_m: Array,
    inner_foot_m: Array,
    inner_brim_m: Array,
    heights_m: tuple[float, float, float],
    floor_part: str,
    body_part: str,
) -> None:
    """Add a flared open trough: outer loops at the floor's underside and brim, inner ones likewise, (n, 2) each.

    ``heights_m`` are floor, beginning of the rim, and brim.
    """
    floor, rim, brim = heights_m
    share = rim / brim
    split = foot_m + share * (brim_m - foot_m)
    inner_share = (rim - floor) / (brim - floor)
    inner_split = inner_foot_m + inner_share * (inner_brim_m - inner_foot_m)
    above = inner_brim_m + 0.3 * (inner_brim_m - inner_split)
    dip = 0.001
    lift = solids.at_height
    builder.add(body_part, solids.loft([lift(foot_m, 0.0), lift(split, rim)]))
    builder.add("rim", solids.loft([lift(0.995 * split, rim - dip), lift(split, rim), lift(brim_m, brim)]))
    builder.cut(
        "rim", solids.loft([lift(inner_split, rim), lift(inner_brim_m, brim), lift(above, brim + 0.3 * (brim - rim))])
    )
    builder.cut(
        floor_part,
        solids.loft([lift(inner_foot_m, floor), lift(inner_split, rim), lift(0.995 * inner_split, rim + dip)]),
    )
    floor_outer = foot_m + floor / brim * (brim_m - foot_m)
    builder.collide(body_part, [np.concatenate([lift(foot_m, 0.0), lift(floor_outer, floor)])])
    builder.collide(
        "rim",
        hulls.walls(
            [lift(floor_outer, floor), lift(brim_m, brim), lift(inner_foot_m, floor), lift(inner_brim_m, brim)]
        ),
    )
