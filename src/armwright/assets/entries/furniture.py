"""Furniture that stands fixed: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "mug_rack",
        (
            "mug rack",
            "rack",
            "mug tree",
            "cup rack",
            "cup tree",
            "mug hook",
            "hook",
            "mug holder",
            "cup holder",
            "mug stand",
        ),
        {"Hook": ("hook",), BODY: ("post",)},
        BODY,
        (0.20, 0.16, 0.34),
        ("brown", "black"),
        static=True,
        fits_in_hand=False,
    ),
    CategoryInfo(
        "shelf",
        ("shelf", "bookshelf", "woodshelf", "rack shelf", "bookcase", "shelving unit"),
        {"Support Surface": ("board",), BODY: ("side",)},
        BODY,
        (0.26, 0.60, 0.42),
        ("brown", "white"),
        static=True,
        receives_on=True,
        fits_in_hand=False,
    ),
    CategoryInfo(
        "cabinet",
        ("cabinet", "drawer cabinet", "drawer", "chest of drawers", "cupboard", "dresser", "drawer unit"),
        {
            "Openable Handle": ("handle",),
            "Pushable Surface": ("front",),
            "Support Surface": ("top",),
            "Containment": ("interior",),
        },
        "Openable Handle",
        (0.30, 0.34, 0.34),
        ("brown", "white"),
        static=True,
        receives_in=True,
        receives_on=True,
        fits_in_hand=False,
    ),
)
