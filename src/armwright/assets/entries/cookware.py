"""What cooks and pours: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, HANDLE, RIM, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "pan",
        ("pan", "frying pan", "skillet", "fry pan", "frypan", "wok"),
        {
            HANDLE: ("handle",),
            RIM: ("rim",),
            BODY: ("body",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        HANDLE,
        (0.38, 0.20, 0.06),
        ("black", "grey", "red"),
        receives_in=True,
    ),
    CategoryInfo(
        "pot",
        ("pot", "cooking pot", "saucepan", "stockpot", "stew pot", "soup pot", "casserole"),
        {
            HANDLE: ("handle",),
            "Graspable Lid": ("lid_knob",),
            BODY: ("body",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
            RIM: ("rim",),
        },
        HANDLE,
        (0.26, 0.18, 0.14),
        ("grey", "red", "blue", "black"),
        receives_in=True,
    ),
    CategoryInfo(
        "kettle",
        ("kettle", "tea kettle", "teakettle", "electric kettle"),
        {HANDLE: ("handle",), BODY: ("body",), "Pour Out": ("spout",), "Graspable Lid": ("lid_knob",)},
        HANDLE,
        (0.21, 0.14, 0.19),
        ("grey", "white", "blue", "red"),
    ),
    CategoryInfo(
        "scoop",
        ("scoop", "measuring scoop", "ice cream scoop", "flour scoop"),
        {HANDLE: ("handle",), "Pour Out": ("rim",), "Containment": ("interior",)},
        HANDLE,
        (0.19, 0.06, 0.04),
        ("grey", "white", "red"),
    ),
)
