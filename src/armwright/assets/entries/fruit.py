"""Fruit and vegetables: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, HANDLE, CategoryInfo

_ON_A_STEM = {BODY: ("body",), HANDLE: ("stem",)}

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo("apple", ("apple",), _ON_A_STEM, BODY, (0.065, 0.065, 0.07), ("red", "green", "yellow")),
    CategoryInfo(
        "mandarin",
        ("mandarin", "tangerine", "clementine", "orange fruit"),
        {BODY: ("body",)},
        BODY,
        (0.064, 0.064, 0.06),
        ("orange",),
    ),
    CategoryInfo("pear", ("pear",), _ON_A_STEM, BODY, (0.062, 0.062, 0.107), ("green", "yellow")),
    CategoryInfo("lemon", ("lemon", "lime"), {BODY: ("body",)}, BODY, (0.077, 0.053, 0.053), ("yellow", "green")),
    CategoryInfo("egg", ("egg",), {BODY: ("body",)}, BODY, (0.057, 0.044, 0.044), ("white", "brown")),
    CategoryInfo(
        "bell_pepper",
        ("bell pepper", "bellpepper", "sweet pepper", "capsicum", "pepper"),
        _ON_A_STEM,
        BODY,
        (0.062, 0.062, 0.096),
        ("green", "red", "yellow", "orange"),
    ),
    CategoryInfo("eggplant", ("eggplant", "aubergine"), _ON_A_STEM, BODY, (0.21, 0.06, 0.06), ("purple",)),
    CategoryInfo(
        "corn",
        ("corn", "corn cob", "corncob", "ear of corn"),
        {BODY: ("body",), HANDLE: ("husk",)},
        BODY,
        (0.215, 0.05, 0.05),
        ("yellow",),
    ),
    CategoryInfo(
        "leek",
        ("leek", "spring onion", "scallion"),
        {BODY: ("stalk",), HANDLE: ("leaves",)},
        BODY,
        (0.265, 0.07, 0.035),
        ("white", "green"),
    ),
)
