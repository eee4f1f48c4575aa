"""Food that lies about, and toy blocks: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, HANDLE, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "banana",
        ("banana",),
        {BODY: ("body",), "Graspable Handle": ("stem",)},
        BODY,
        (0.18, 0.05, 0.035),
        ("yellow",),
    ),
    CategoryInfo(
        "carrot",
        ("carrot", "parsnip"),
        {BODY: ("body",), HANDLE: ("leaves",)},
        BODY,
        (0.17, 0.035, 0.035),
        ("orange",),
    ),
    CategoryInfo(
        "cube",
        ("cube", "block", "toy block", "building block", "brick", "dice"),
        {BODY: ("body",), "Support Surface": ("top",)},
        BODY,
        (0.04, 0.04, 0.04),
        ("red", "green", "blue", "yellow"),
        receives_on=True,
    ),
)
