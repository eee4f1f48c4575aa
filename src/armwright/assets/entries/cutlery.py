"""What people eat, cook and serve with: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, HANDLE, CategoryInfo

_DIPPER = {HANDLE: ("handle",), "Pour Out": ("rim",), "Containment": ("interior",)}

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "spoon",
        ("spoon", "tablespoon", "teaspoon", "soup spoon", "serving spoon", "dessert spoon"),
        _DIPPER,
        HANDLE,
        (0.165, 0.042, 0.018),
        ("grey", "white", "red"),
    ),
    CategoryInfo("ladle", ("ladle", "soup ladle"), _DIPPER, HANDLE, (0.30, 0.08, 0.045), ("grey", "black", "red")),
    CategoryInfo(
        "knife",
        ("knife", "kitchen knife", "chef knife", "table knife", "butter knife", "bread knife"),
        {HANDLE: ("handle",), BODY: ("blade",)},
        HANDLE,
        (0.27, 0.037, 0.016),
        ("black", "brown", "red", "blue"),
    ),
    CategoryInfo(
        "fork",
        ("fork", "dinner fork", "table fork"),
        {HANDLE: ("handle",), BODY: ("neck",)},
        HANDLE,
        (0.19, 0.025, 0.014),
        ("grey", "white"),
    ),
    CategoryInfo(
        "spatula",
        ("spatula", "turner", "fish slice"),
        {HANDLE: ("handle",), "Support Surface": ("blade",)},
        HANDLE,
        (0.28, 0.075, 0.032),
        ("black", "red", "grey", "green"),
        receives_on=True,
    ),
    CategoryInfo(
        "rolling_pin",
        ("rolling pin",),
        {HANDLE: ("handle",), BODY: ("body",)},
        BODY,
        (0.40, 0.048, 0.048),
        ("brown", "white"),
    ),
)
