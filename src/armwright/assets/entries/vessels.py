"""Open vessels: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, HANDLE, RIM, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "mug",
        ("mug", "coffee mug", "mugcup", "mug cup", "coffee cup", "beer mug", "tankard", "stein"),
        {
            HANDLE: ("handle",),
            BODY: ("body",),
            RIM: ("rim",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
            "Hanging Handle": ("handle",),
        },
        HANDLE,
        (0.12, 0.085, 0.095),
        receives_in=True,
    ),
    CategoryInfo(
        "cup",
        (
            "cup",
            "teacup",
            "tea cup",
            "drinking cup",
            "tumbler",
            "glass",
            "drinking glass",
            "beaker",
        ),
        {
            BODY: ("body",),
            RIM: ("rim",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        BODY,
        (0.063, 0.063, 0.10),
        receives_in=True,
    ),
    CategoryInfo(
        "paper_cup",
        ("paper cup", "papercup", "disposable cup", "takeaway cup", "takeout cup", "to go cup", "cardboard cup"),
        {
            BODY: ("body",),
            RIM: ("rim",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        BODY,
        (0.075, 0.075, 0.11),
        ("white", "brown", "green"),
        receives_in=True,
    ),
    CategoryInfo(
        "bowl",
        ("bowl", "dish", "basin", "soup bowl", "salad bowl", "mixing bowl", "cereal bowl"),
        {
            RIM: ("rim",),
            BODY: ("body",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        RIM,
        (0.16, 0.16, 0.065),
        receives_in=True,
    ),
)
