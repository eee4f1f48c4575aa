"""Flat and shallow things that carry others: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import HANDLE, RIM, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "plate",
        ("plate", "saucer", "dinner plate", "side plate", "platter"),
        {RIM: ("rim",), "Support Surface": ("top",)},
        RIM,
        (0.22, 0.22, 0.025),
        receives_on=True,
    ),
    CategoryInfo(
        "cutting_board",
        ("cutting board", "chopping board", "board", "chopping block", "breadboard", "bread board"),
        {RIM: ("edge",), HANDLE: ("handle",), "Support Surface": ("top",)},
        HANDLE,
        (0.30, 0.19, 0.018),
        ("brown", "white"),
        receives_on=True,
    ),
    CategoryInfo(
        "tray",
        ("tray", "serving tray", "tea tray"),
        {RIM: ("rim",), HANDLE: ("handle",), "Support Surface": ("top",)},
        RIM,
        (0.23, 0.33, 0.065),
        ("grey", "brown", "black"),
        receives_on=True,
    ),
    CategoryInfo(
        "basket",
        ("basket", "bin", "container", "hamper", "crate", "bread basket", "fruit basket"),
        {
            HANDLE: ("handle",),
            RIM: ("rim",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        HANDLE,
        (0.18, 0.24, 0.145),
        ("brown", "white", "grey"),
        receives_in=True,
    ),
)
