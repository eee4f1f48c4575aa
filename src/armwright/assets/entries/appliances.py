"""Machines: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "coffee_machine",
        ("coffee machine", "coffee maker", "coffeemaker", "espresso machine", "espresso maker", "coffee brewer"),
        {"Support Surface": ("tray",), "Button": ("button",), BODY: ("body",)},
        BODY,
        (0.26, 0.22, 0.32),
        ("black", "grey", "red"),
        static=True,
        receives_on=True,
        fits_in_hand=False,
    ),
    CategoryInfo(
        "microwave",
        ("microwave", "microwave oven"),
        {
            "Openable Handle": ("handle",),
            "Pushable Surface": ("door", "window"),
            "Containment": ("interior",),
            "Button": ("button",),
            "Support Surface": ("top",),
        },
        "Openable Handle",
        (0.36, 0.44, 0.26),
        ("white", "black", "grey"),
        static=True,
        receives_in=True,
        receives_on=True,
        fits_in_hand=False,
    ),
)
