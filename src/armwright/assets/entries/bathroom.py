"""What washes and brushes: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, HANDLE, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "toothbrush",
        ("toothbrush",),
        {HANDLE: ("handle",), BODY: ("head",)},
        HANDLE,
        (0.175, 0.0135, 0.0135),
        ("blue", "green", "red", "white", "pink"),
    ),
    CategoryInfo(
        "brush",
        ("brush", "hairbrush", "scrubbing brush", "scrub brush", "dish brush"),
        {HANDLE: ("handle",), BODY: ("head",)},
        HANDLE,
        (0.21, 0.053, 0.028),
        ("brown", "blue", "red", "black", "white"),
    ),
    CategoryInfo(
        "comb",
        ("comb", "hair comb"),
        {BODY: ("spine",)},
        BODY,
        (0.16, 0.032, 0.004),
        ("black", "brown", "blue", "red"),
    ),
    CategoryInfo(
        "sponge",
        ("sponge", "scouring pad", "scrubbing pad"),
        {BODY: ("body",), "Support Surface": ("pad",)},
        BODY,
        (0.10, 0.061, 0.030),
        ("yellow", "pink", "blue"),
        receives_on=True,
    ),
    CategoryInfo(
        "soap_dispenser",
        ("soap dispenser", "soap bottle", "hand soap", "soap pump", "lotion bottle", "shampoo bottle", "pump bottle"),
        {BODY: ("body", "label"), "Button": ("pump",), "Pour Out": ("nozzle",)},
        BODY,
        (0.07, 0.060, 0.177),
        ("white", "green", "blue", "pink", "orange"),
    ),
    CategoryInfo(
        "spray_bottle",
        ("spray bottle", "cleaning bottle", "scrub bottle", "scrubbottle"),
        {BODY: ("body",), HANDLE: ("neck",), "Button": ("trigger",), "Pour Out": ("nozzle",)},
        BODY,
        (0.095, 0.055, 0.223),
        ("blue", "green", "yellow", "pink", "white"),
    ),
)
