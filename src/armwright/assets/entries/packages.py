"""Packaged goods: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "can",
        ("can", "soup can", "tin", "tin can", "soupcan", "coffee can", "soda can", "canister"),
        {BODY: ("body",), "Support Surface": ("top", "seam"), "Pushable Surface": ("body",)},
        BODY,
        (0.066, 0.066, 0.10),
        ("red", "blue", "green", "yellow"),
        receives_on=True,
    ),
    CategoryInfo(
        "bottle",
        ("bottle", "water bottle", "wine bottle", "flask"),
        {
            BODY: ("body", "label"),
            "Graspable Lid": ("cap",),
            "Pour Out": ("cap",),
            "Pushable Surface": ("body", "label"),
        },
        BODY,
        (0.065, 0.065, 0.20),
        ("blue", "green", "white", "red"),
    ),
    CategoryInfo(
        "box",
        (
            "box",
            "cardboard box",
            "package",
            "packet",
            "parcel",
            "cracker box",
            "sugar box",
            "cereal box",
            "chocolate box",
        ),
        {BODY: ("body", "label"), "Support Surface": ("top",), "Pushable Surface": ("body", "label")},
        BODY,
        (0.06, 0.10, 0.14),
        ("brown", "red", "yellow", "blue"),
        receives_on=True,
    ),
    CategoryInfo(
        "carton",
        ("carton", "milk carton", "juice carton", "milk box", "juice box"),
        {BODY: ("body", "label"), "Pour Out": ("spout",), "Pushable Surface": ("body", "label")},
        BODY,
        (0.065, 0.065, 0.18),
        ("white", "blue", "green", "orange"),
    ),
    CategoryInfo(
        "tube",
        ("tube", "toothpaste", "toothpaste tube"),
        {BODY: ("body",), "Graspable Lid": ("cap",)},
        BODY,
        (0.16, 0.045, 0.035),
        ("white", "blue", "red"),
    ),
)
